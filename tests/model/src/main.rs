//! Explores the delivery protocol for its bounds and prints what was visited and every property's
//! verdict; a violation is printed as the shortest run that leads to it, and the exit code says so.

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

use ackbox_model::{
    Bounds, Destination, Explored, Guards, Protocol, Verdict, explore, pausing, shortest_violation,
};

const DESTINATIONS: [(Destination, &str); 4] = [
    (Destination::None, "no keys, unknown is held"),
    (
        Destination::WindowHold,
        "keys for a window, unknown is held",
    ),
    (
        Destination::WindowRetry,
        "keys for a window, unknown is retried",
    ),
    (Destination::Asked, "no keys, unknown is asked about"),
];

fn main() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut clean = true;
    for (destination, name) in DESTINATIONS {
        let bounds = Bounds::full(destination).alone();
        clean &= run(&mut out, name, bounds, Protocol::new(bounds, Guards::ALL))?;
    }
    for (destination, name) in DESTINATIONS {
        let bounds = Bounds::operated(destination);
        let name = format!("{name}; with operators");
        clean &= run(&mut out, &name, bounds, Protocol::new(bounds, Guards::ALL))?;
    }
    let bounds = Bounds {
        dispatchers: 2,
        crashes: 0,
        records: 1,
        operator_acts: 2,
        ..Bounds::operated(Destination::WindowRetry)
    };
    let name = "keys for a window, unknown is retried; two operators";
    clean &= run(&mut out, name, bounds, Protocol::new(bounds, Guards::ALL))?;
    let bounds = Bounds::wider_clocks(Destination::None);
    let name = "no keys; wider clocks";
    clean &= run(&mut out, name, bounds, Protocol::new(bounds, Guards::ALL))?;
    for (destination, name) in DESTINATIONS {
        let bounds = Bounds {
            dispatchers: 2,
            crashes: u8::from(destination == Destination::None),
            records: 1,
            operator_acts: 0,
            ..Bounds::full(destination)
        };
        let bounds = match destination {
            Destination::Asked => bounds.shorter(),
            _ => bounds,
        };
        let model = Protocol::new(bounds, Guards::ALL).in_full();
        clean &= run(&mut out, &format!("{name}; in full"), bounds, model)?;
    }
    for bounds in [
        pausing::Bounds::TWO,
        pausing::Bounds::THREE,
        pausing::Bounds::OPERATED,
    ] {
        clean &= pauses(&mut out, bounds)?;
    }
    Ok(if clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The pause of a destination, a model of its own.
fn pauses(out: &mut impl Write, bounds: pausing::Bounds) -> io::Result<bool> {
    writeln!(out, "== a destination that is paused")?;
    writeln!(
        out,
        "   bounds: processes {}, entries {}, failures {} ({} in a row pause), silences {}, deaths {}, \
         an operator's pauses {}",
        bounds.processes,
        bounds.entries,
        bounds.failures,
        bounds.after,
        bounds.silences,
        bounds.deaths,
        bounds.operators
    )?;
    out.flush()?;
    let began = Instant::now();
    let explored = pausing::explore(bounds, pausing::Guards::ALL);
    let took = began.elapsed().as_secs_f64();
    writeln!(
        out,
        "   visited {} different states, in {took:.1} s",
        explored.states
    )?;
    match &explored.broken {
        None => {
            for property in pausing::Property::ALL {
                writeln!(out, "   holds      {}", property.in_words())?;
            }
        }
        Some((property, story)) => {
            writeln!(out, "   VIOLATED   {}", property.in_words())?;
            writeln!(out, "{story}")?;
        }
    }
    Ok(explored.broken.is_none())
}

fn heading(out: &mut impl Write, name: &str, bounds: &Bounds) -> io::Result<()> {
    writeln!(out, "== {name}")?;
    writeln!(
        out,
        "   bounds: dispatchers {}, reconcilers {}, crashes {}, records {}, operator's acts {}, clocks \
         apart {}",
        bounds.dispatchers,
        bounds.reconcilers,
        bounds.crashes,
        bounds.records,
        bounds.operator_acts,
        bounds.clock_off
    )?;
    writeln!(
        out,
        "   steps:  timeout {}, margin {}, lease {}, window {}, retry for {}, backoff {}, asked for {}",
        bounds.timeout,
        bounds.margin,
        bounds.lease,
        bounds.window,
        bounds.retry_for,
        bounds.backoff,
        bounds.give_up
    )?;
    out.flush()
}

/// Explores and reports; whether the run is clean.
fn run(out: &mut impl Write, name: &str, bounds: Bounds, model: Protocol) -> io::Result<bool> {
    heading(out, name, &bounds)?;
    let threads = available_parallelism().map_or(1, usize::from);
    let explored = explore(model, threads);
    report(out, &explored)?;
    if explored.has_violation()
        && let Some((broken, story)) = shortest_violation(model)
    {
        writeln!(out, "   the shortest violation ({}):", broken.join("; "))?;
        writeln!(out, "{story}")?;
    }
    out.flush()?;
    Ok(!explored.has_violation() && (!model.has_everything() || explored.has_seen_everything()))
}

fn report(out: &mut impl Write, explored: &Explored) -> io::Result<()> {
    writeln!(
        out,
        "   visited {} states, {} different, {} steps deep, in {:.1} s",
        explored.states,
        explored.unique,
        explored.depth,
        explored.took.as_secs_f64()
    )?;
    for (name, verdict) in &explored.verdicts {
        let verdict = match verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "VIOLATED",
            Verdict::NotAsked => "not asked",
            Verdict::Seen => "seen",
            Verdict::NeverSeen => "never seen",
        };
        writeln!(out, "   {verdict:<10} {name}")?;
    }
    Ok(())
}
