//! The performance figures, each a ratio of two things measured side by side in this run, or a count.
//!
//! The engine runs in a process of its own, as DynamoDB does. Runs are interleaved, and a figure is the
//! median of its runs.

mod cost;
mod figure;
pub(crate) mod handler;
mod process;

pub(crate) use figure::{Figure, median, print};

use std::path::Path;

use crate::engine;

/// How often each of two things is measured, by turns.
const RUNS: usize = 60;

/// Measures, prints, and says whether every goal is met.
pub(crate) async fn measure() -> Result<bool, String> {
    let engine = engine::Process::start().await?;
    let [receiver, dispatcher] = process::starts(engine.endpoint()).await?;
    let figures = vec![
        handler::ratio(engine.endpoint()).await?,
        receiver,
        dispatcher,
        process::memory(engine.endpoint()).await?,
        cost::write_units(engine.endpoint()).await?,
    ];
    print(&figures);
    Ok(figures.iter().all(Figure::is_met))
}

/// Measures the dispatcher's start beside that of another build, and says whether it is no slower.
pub(crate) async fn measure_start(other: &Path) -> Result<bool, String> {
    let engine = engine::Process::start().await?;
    let figure = process::start_against(engine.endpoint(), other).await?;
    print(std::slice::from_ref(&figure));
    Ok(figure.is_met())
}
