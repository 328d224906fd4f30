//! `ackbox demo`: the whole way of a message, over real HTTP, with trouble on it; and a verdict that does
//! not take the table's word for it.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`setting`] | the configuration, the destinations and how they fail |
//! | [`parcel`], [`sender`], [`ledger`] | what is sent, who sends it, what they were answered |
//! | [`job`], [`application`] | what the application has submitted elsewhere, and whom it tells of it |
//! | [`destination`], [`status`] | scripted HTTP servers with a log |
//! | [`stage`], [`scenario`] | everything that runs; what happens, step by step |
//! | [`evidence`], [`verdict`] | what is known afterwards, and what it comes to |
//! | [`report`] | what a person reads |

pub mod application;
pub mod destination;
pub mod evidence;
pub mod job;
pub mod ledger;
pub mod parcel;
pub mod report;
pub mod scenario;
pub mod sender;
pub mod setting;
pub mod stage;
pub mod status;
pub mod verdict;
pub mod wire;

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;
use tracing_subscriber::EnvFilter;

use crate::commands::CommandError;
use crate::edge;
use crate::output::Terminal;
use evidence::Evidence;
use report::Report;
use scenario::{Place, Step};
use stage::{Stage, StageError};
use verdict::{Counts, Verdict};

/// The demo takes a few seconds; after this it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

const MORE: &str = "\
Everything runs in this process: an engine in memory, the receiver, the
registrar, the dispatcher, the sweeper and the reconciler, and ten destinations
of which eight are in trouble; three of these can be asked what became of an
action, and one is paused for a while. An application has submitted four jobs
elsewhere: one is told by two endpoints, one before the application has written
it down, one twice and each time otherwise, and one by nobody until it is asked
about.
Nothing leaves this machine, and nothing is written to disk.

The verdict compares what the senders were told with what the destinations saw
and said; the table's own opinion decides nothing. In --json, `requests` is the
sum of `accepted`, `duplicates`, `conflicts`, `refused` and `ignored` (a message
that is too large is in `refused`, and in `too_large`; one that waited for its
job to be bound is in `accepted`, and in `parked`), and `accepted` is the sum of
`delivered`, `unknown`, `held` and `dead`. `asked` are the accepted facts about
which a destination was asked, by `questions` in all. `polled` are the jobs
whose end no message brought: their system was asked, by `lookups` in all; they
are in none of the sums. `workflow_actions` are the actions that the ends of all
jobs made, one for each step.

Examples:
  ackbox demo
  ackbox demo --json | jq .lost
  ackbox demo --json | jq '{parked, polled, workflow_actions}'
  ackbox demo --verbose 2>demo.log   the functions' own log, a JSON object a line

Exit code: 0 where every count is as it must be, 1 where not.";

/// The options of `ackbox demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    /// Print one JSON object instead of the tables
    #[arg(long)]
    json: bool,
    /// Show the functions' own log, on standard error
    #[arg(long)]
    verbose: bool,
}

/// Plays the demo, prints what came of it.
///
/// # Errors
///
/// The demo could not be set up, or did not come to its end.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    if args.verbose {
        log_to_stderr();
    }
    let report = Report::new(terminal, width());
    let print = |lines: Vec<String>| -> Result<(), CommandError> {
        if !args.json {
            terminal.line(lines.join("\n"))?;
        }
        Ok(())
    };
    print(report.opening())?;
    let began = Instant::now();
    let tell = |step: Step| {
        // A reader that went away does not stop the demo; the lines at the end will notice it.
        let _ = print(vec![report.step(&step)]);
    };
    let evidence = played(tell).await?;
    let verdict = verdict::judge(&evidence, &scenario::expected());
    let took = began.elapsed();
    if args.json {
        terminal.line(json(&verdict, took)?)?;
    } else {
        print(report.closing(&evidence, &verdict, took))?;
    }
    Ok(if verdict.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn played(tell: impl Fn(Step)) -> Result<Evidence, CommandError> {
    let unset = |error: StageError| CommandError::failed("the demo cannot be played", error);
    let stage = Stage::set().await.map_err(unset)?;
    let place = Place::default();
    let play = scenario::play(&stage, &place, tell);
    let played = tokio::time::timeout(PATIENCE, play).await;
    let evidence = match played {
        Ok(Ok(())) => stage.evidence().await.map_err(unset),
        Ok(Err(error)) => Err(unset(error)),
        Err(late) => {
            let (step, patience) = (place.title(), PATIENCE.as_secs());
            let what =
                format!("the demo did not come to its end within {patience} s; it hung at: {step}");
            Err(CommandError::failed(what, late))
        }
    };
    stage.strike().await;
    evidence
}

#[derive(Serialize)]
struct Told<'v> {
    #[serde(flatten)]
    counts: &'v Counts,
    verdict: &'static str,
    /// Every claim that does not hold, with what speaks against it.
    failed: Vec<Failed<'v>>,
    took_ms: u128,
}

#[derive(Serialize)]
struct Failed<'v> {
    claim: &'static str,
    against: &'v [String],
}

fn json(verdict: &Verdict, took: Duration) -> Result<String, CommandError> {
    let failed = verdict
        .claims
        .iter()
        .filter(|claim| !claim.against.is_empty());
    let told = Told {
        counts: &verdict.counts,
        verdict: if verdict.is_good() { "good" } else { "bad" },
        failed: failed
            .map(|claim| Failed {
                claim: claim.holds,
                against: &claim.against,
            })
            .collect(),
        took_ms: took.as_millis(),
    };
    serde_json::to_string(&told)
        .map_err(|error| CommandError::failed("the verdict is no JSON", error))
}

/// The terminal's width in columns; 80 where there is no terminal.
fn width() -> usize {
    let table = comfy_table::Table::new();
    table.width().map_or(80, usize::from)
}

fn log_to_stderr() {
    // The engine logs every refused condition as a warning, and conditions are how duplicates are found.
    const WANTED: &str = "info,dynoxide=error";
    let wanted = edge::environment("RUST_LOG").unwrap_or_else(|| WANTED.to_owned());
    // Whoever has set up another log keeps it.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new(WANTED)))
        .with_writer(std::io::stderr)
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .try_init();
}
