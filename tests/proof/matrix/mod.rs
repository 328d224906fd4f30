//! The crash matrix: the functions' own binaries are killed, frozen and cut off at every call that
//! touches the network, and what stands in the end is judged from outside. Cells go in, a table comes
//! out; any violation fails the run.

mod case;
mod cell;
mod cells;
mod disturb;
mod judge;
mod paused;
mod report;
mod run;
mod told;
mod words;

use std::path::{Path, PathBuf};

use futures_util::{StreamExt as _, stream};

use crate::engine;
use case::Machine;

/// How many cells are played at once: most of a cell is waiting for a lease to run out.
const AT_ONCE: usize = 12;

/// What is done with the document.
#[derive(Clone, Debug)]
pub(crate) enum Document {
    /// Written.
    Write(PathBuf),
    /// Compared: it is to list the cells that were played.
    Compare(PathBuf),
}

/// Plays the cells whose line holds `only`, and prints the table. `false`: a violation.
pub(crate) async fn play(only: &str, document: Option<Document>) -> Result<bool, String> {
    let engine = engine::Process::start().await?;
    let machine = Machine::new(engine.endpoint())?;
    let mut cells = cells::all();
    cells.retain(|cell| format!("{}: {}", cell.function(), cell.what()).contains(only));
    if cells.is_empty() {
        return Err(format!("no cell's line holds {only:?}"));
    }
    println!("{} cells, {AT_ONCE} at once", cells.len());
    let playing = cells.iter().map(|cell| async {
        let row = run::play(&machine, cell).await;
        for violation in &row.violations {
            println!("VIOLATION  {}  {violation}", report::line(&row));
        }
        row
    });
    let rows: Vec<judge::Row> = stream::iter(playing).buffered(AT_ONCE).collect().await;
    let played = report::document(&rows);
    print!("{played}");
    match document {
        None => {}
        Some(Document::Write(path)) => {
            std::fs::write(&path, played).map_err(|error| failed(&path, &error))?;
        }
        Some(Document::Compare(path)) => {
            let written = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
            if report::cells(&written) != report::cells(&played) {
                let path = path.display();
                return Err(format!(
                    "{path} lists other cells; write it anew: make crash-matrix"
                ));
            }
        }
    }
    let violations: usize = rows.iter().map(|row| row.violations.len()).sum();
    let accepted: usize = rows.iter().map(|row| row.accepted).sum();
    let lost: usize = rows.iter().map(|row| row.lost).sum();
    println!(
        "\n{} cells, {accepted} accepted, {lost} lost, {violations} violations",
        rows.len()
    );
    Ok(violations == 0)
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
