//! The crash matrix: the functions' own binaries are killed, frozen and cut off at every call that
//! touches the network, and what stands in the end is judged from outside. Cells go in, a table comes
//! out; any violation fails the run.

mod case;
mod cell;
mod judge;
mod report;
mod run;

use std::path::Path;

use futures_util::{StreamExt as _, stream};

use crate::engine;
use case::Machine;

/// How many cells are played at once: most of a cell is waiting for a lease to run out.
const AT_ONCE: usize = 12;

/// Plays the cells whose line holds `only`, prints the table, and writes the document where all were
/// played. `false`: a violation.
pub(crate) async fn play(only: &str, document: Option<&Path>) -> Result<bool, String> {
    let engine = engine::Process::start().await?;
    let machine = Machine::new(engine.endpoint())?;
    let mut cells = cell::all();
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
    print!("{}", report::document(&rows));
    if let Some(path) = document {
        std::fs::write(path, report::document(&rows))
            .map_err(|error| format!("{}: {error}", path.display()))?;
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
