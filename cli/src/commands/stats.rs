//! `ackbox stats`: how much waits, by class and name, and since when; counted by index up to a bound, never by
//! a scan. Which destinations are paused is said beside it.

use std::collections::BTreeMap;
use std::process::ExitCode;

use ackbox_domain::{Name, Timestamp};
use ackbox_store::{Counted, Figure, Gauge, Gauged, Store, StoreError};
use futures_util::TryStreamExt as _;
use serde_json::{Map, Value, json};

use crate::commands::CommandError;
use crate::commands::filter::{config_if_any, unknown_name};
use crate::commands::paused::Paused;
use crate::commands::table::{self, Opened, TableChoice};
use crate::commands::watch::Watch;
use crate::edge;
use crate::output::{self, Entry, Terminal, Tone, age};

const EXAMPLES: &str = "\
Examples:
  ackbox stats                            how much waits, and the oldest of it
  ackbox stats --watch 5                  the same every 5 seconds, on a terminal
  ackbox stats --destination mailer
  ackbox stats --json | jq '.totals.dead.count'
  ackbox stats --aws --table ackbox

open: waits for its next attempt, or is being attempted; unknown: its destination is to be asked; held: waits for an operator; dead: given up; conflict: other content under a known key; parked: the end of a job that is not bound yet; silent: a job that was given up; overdue: of open and unknown, what was due more than two minutes ago. The oldest is by acceptance. Counted up to 10000 for each; 10000+ says that there are more.

Exit code: 0, also where nothing waits; 1 where the table cannot be read; 2 for a wrong command line.";

/// The options of `ackbox stats`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only what is of this destination
    #[arg(long, value_name = "NAME")]
    destination: Option<Name>,
    /// Only what is of this source: its conflicts
    #[arg(long, value_name = "NAME", conflicts_with = "destination")]
    source: Option<Name>,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    table: TableChoice,
}

/// Counts.
///
/// # Errors
///
/// The table cannot be opened or read.
pub async fn run(args: Args, terminal: &Terminal) -> Result<ExitCode, CommandError> {
    if args.watch.is_wanted()? {
        let draw = async || {
            let stats = stats(&args, args.table.open().await?).await?;
            let text = stats.text(terminal);
            Ok(stats
                .note
                .iter()
                .fold(text, |text, note| format!("{text}\n{note}")))
        };
        return args.watch.draw(terminal, draw).await;
    }
    let stats = stats(&args, args.table.open().await?).await?;
    if args.json {
        terminal.line(stats.json().to_string())?;
    } else {
        terminal.line(stats.text(terminal))?;
    }
    if let Some(note) = &stats.note {
        output::note(note);
    }
    Ok(ExitCode::SUCCESS)
}

async fn stats(args: &Args, opened: Opened) -> Result<Stats, CommandError> {
    let stats = Stats::of(&opened.store, args).await;
    opened.close().await;
    stats.map_err(table::unread)
}

/// What was counted.
struct Stats {
    /// In the order in which they are told; those of pauses are left out.
    gauges: Vec<Gauge>,
    paused: Vec<Paused>,
    /// What there is to say of the name that is asked for.
    note: Option<String>,
    now: Timestamp,
}

impl Stats {
    async fn of(store: &Store, args: &Args) -> Result<Self, StoreError> {
        let now = edge::now();
        let meta = store.meta().await?;
        let (destination, source) = (args.destination.as_ref(), args.source.as_ref());
        let note = unknown_name(&meta, destination, source, config_if_any);
        let mut gauged = Gauged::from(meta);
        // One that the table never had is counted all the same: 0 is the answer.
        if let Some(destination) = &args.destination {
            gauged = Gauged {
                destinations: [destination.clone()].into(),
                ..Gauged::default()
            };
        }
        if let Some(source) = &args.source {
            gauged = Gauged {
                sources: [source.clone()].into(),
                ..Gauged::default()
            };
        }
        let paused = Paused::among(store, &gauged.destinations).await?;
        let counted = store.gauges_but_pauses(&gauged, now);
        let mut gauges: Vec<Gauge> = counted.try_collect().await?;
        gauges.sort_by(|a, b| (place(a.figure), &a.name).cmp(&(place(b.figure), &b.name)));
        Ok(Self {
            gauges,
            paused,
            note,
            now,
        })
    }

    fn text(&self, terminal: &Terminal) -> String {
        const HEADINGS: &[&str] = &["CLASS", "NAME", "COUNT", "OLDEST"];
        let rows = self.gauges.iter().filter(|gauge| gauge.counted.count > 0);
        let rows: Vec<Vec<Entry>> = rows.map(|gauge| self.cells(gauge)).collect();
        let mut lines = match rows.is_empty() {
            true => vec!["nothing waits for attention".to_owned()],
            false => vec![terminal.table(HEADINGS, rows)],
        };
        let paused = self.paused.iter().map(|paused| paused.line(self.now));
        lines.extend(paused.map(|line| terminal.paint(Tone::Warn, &line)));
        lines.join("\n")
    }

    fn cells(&self, gauge: &Gauge) -> Vec<Entry> {
        let tone = match gauge.figure.as_str() {
            "dead" => Tone::Bad,
            "open" => Tone::Dim,
            _ => Tone::Warn,
        };
        let Counted {
            count,
            more,
            oldest,
        } = gauge.counted;
        let more = if more { "+" } else { "" };
        let oldest = oldest.map(|oldest| age(oldest, self.now));
        vec![
            Entry::new(gauge.figure.as_str()).toned(tone),
            Entry::new(gauge.name.as_str()),
            Entry::new(format!("{count}{more}")),
            Entry::new(oldest.unwrap_or_default()),
        ]
    }

    fn json(&self) -> Value {
        let mut totals: BTreeMap<&str, Counted> = BTreeMap::new();
        for figure in Figure::ALL.into_iter().filter(|f| *f != Figure::Paused) {
            totals.insert(figure.as_str(), Counted::default());
        }
        for gauge in &self.gauges {
            let total = totals.entry(gauge.figure.as_str()).or_default();
            *total = total.and(gauge.counted);
        }
        let counts: Vec<Value> = self
            .gauges
            .iter()
            .map(|gauge| {
                let mut object = self.counted(gauge.counted);
                object["class"] = json!(gauge.figure.as_str());
                object["name"] = json!(gauge.name);
                object
            })
            .collect();
        let totals: Map<String, Value> = totals
            .into_iter()
            .map(|(class, counted)| (class.to_owned(), self.counted(counted)))
            .collect();
        let paused: Vec<Value> = self.paused.iter().map(|p| p.json(self.now)).collect();
        json!({"counts": counts, "totals": totals, "paused": paused})
    }

    fn counted(&self, counted: Counted) -> Value {
        let oldest = counted.oldest;
        json!({
            "count": counted.count,
            "more": counted.more,
            "oldest_accepted_at": oldest.map(|oldest| oldest.to_string()),
            "oldest_age_seconds": oldest.map(|oldest| self.now.since(oldest).as_secs()),
        })
    }
}

fn place(figure: Figure) -> usize {
    let all = Figure::ALL.iter();
    all.take_while(|other| **other != figure).count()
}

#[cfg(test)]
mod tests {
    use ackbox_store::Class;

    use super::*;

    #[test]
    fn where_there_are_more_than_were_counted_it_is_said() {
        let now = Timestamp::from_unix_ms(10_000_000);
        let stats = Stats {
            gauges: vec![Gauge {
                figure: Figure::Of(Class::Dead),
                name: "mailer".parse().unwrap(),
                counted: Counted {
                    count: 10_000,
                    more: true,
                    oldest: Some(Timestamp::from_unix_ms(9_940_000)),
                },
            }],
            paused: Vec::new(),
            note: None,
            now,
        };
        let text = stats.text(&Terminal::plain());
        assert!(text.contains("10000+") && text.contains("1m ago"), "{text}");
        let object = stats.json();
        assert_eq!(object["counts"][0]["count"], 10_000);
        assert_eq!(object["counts"][0]["more"], true);
        assert_eq!(object["totals"]["dead"]["more"], true);
        assert_eq!(object["counts"][0]["oldest_age_seconds"], 60);
    }
}
