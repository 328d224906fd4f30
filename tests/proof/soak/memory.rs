//! What one receiver and one dispatcher occupy while they work, sample by sample, and whether it grows.

use std::sync::Arc;

use ackbox_tests::function::Function;

/// The samples, by the number of messages sent.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    receiver: Vec<(f64, f64)>,
    dispatcher: Vec<(f64, f64)>,
}

impl Memory {
    /// Takes one sample of each.
    pub(crate) fn look(
        &mut self,
        sent: usize,
        receiver: Option<Arc<Function>>,
        dispatcher: Option<Arc<Function>>,
    ) -> Result<(), String> {
        let sent = sent as f64;
        if let Some(receiver) = receiver {
            self.receiver.push((sent, receiver.resident_mb()?));
        }
        if let Some(dispatcher) = dispatcher {
            self.dispatcher.push((sent, dispatcher.resident_mb()?));
        }
        Ok(())
    }

    /// Prints both, and says whether neither grows: a process fills its pools at first, so the last
    /// third is compared with the middle one.
    pub(crate) fn report(&self) -> bool {
        let receiver = told("receiver", &self.receiver);
        let dispatcher = told("dispatcher", &self.dispatcher);
        receiver && dispatcher
    }
}

fn told(name: &str, samples: &[(f64, f64)]) -> bool {
    /// By how much the last third may be above the middle one: what a sample wavers by.
    const WAVERS: f64 = 1.10;
    let third = samples.len() / 3;
    if third == 0 {
        println!("memory of a {name}: too few samples");
        return true;
    }
    let (middle, last) = (&samples[third..2 * third], &samples[2 * third..]);
    let settled = &samples[third..];
    let grows = mean(last) > mean(middle) * WAVERS;
    println!(
        "memory of a {name}: {:.1} MiB in the middle third, {:.1} in the last; slope {:+.3} MiB per 10,000 messages{}",
        mean(middle),
        mean(last),
        slope(settled) * 10_000.0,
        if grows { "  IT GROWS" } else { "" }
    );
    !grows
}

fn mean(samples: &[(f64, f64)]) -> f64 {
    samples.iter().map(|(_, mb)| mb).sum::<f64>() / samples.len().max(1) as f64
}

/// Of the line with the least squares.
fn slope(samples: &[(f64, f64)]) -> f64 {
    let many = samples.len().max(1) as f64;
    let mean_at = samples.iter().map(|(at, _)| at).sum::<f64>() / many;
    let mean_mb = mean(samples);
    let (mut over, mut under) = (0.0, 0.0);
    for (at, mb) in samples {
        over += (at - mean_at) * (mb - mean_mb);
        under += (at - mean_at).powi(2);
    }
    if under == 0.0 { 0.0 } else { over / under }
}
