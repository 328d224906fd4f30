//! Whether a process grows while it works: what it occupies comes in sample by sample, what it has
//! gained once it was warm comes out. What must never happen: a busy machine that makes it red, or a
//! leak that a longer run would not make red.
//!
//! An allocator takes memory in steps, for instance for the largest batch so far, and gives little of
//! it back. Such steps are bounded however long a run is; a leak is not. So growth is judged by an
//! allowance, not by a share, and a longer run sees a smaller leak: [`Growth::shows_from`] says which.

use std::fmt;

/// Fewer samples than this say nothing.
const SAMPLES_MIN: usize = 12;

/// Samples of one process.
#[derive(Clone, Debug)]
pub struct Samples {
    allowance: f64,
    samples: Vec<Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    messages: f64,
    mib: f64,
}

/// What a process has gained once it was warm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    allowance: f64,
    /// The median of the first third, in MiB.
    early: f64,
    /// The median of the last third, in MiB.
    late: f64,
    /// How many messages lie between the middles of the two.
    messages: f64,
    /// Of the line with the least squares, in MiB a message.
    slope: f64,
}

impl Samples {
    /// None yet, of a process that may gain so many MiB in steps and not be called growing.
    pub fn new(allowance: f64) -> Self {
        Self {
            allowance,
            samples: Vec::new(),
        }
    }

    /// Adds what the process occupies, in MiB, after so many messages.
    pub fn add(&mut self, messages: usize, mib: f64) {
        let messages = messages as f64;
        self.samples.push(Sample { messages, mib });
    }

    /// The growth behind the first quarter, in which a process fills its pools and caches; `None`: too
    /// few samples to say anything.
    pub fn growth(&self) -> Option<Growth> {
        if self.samples.len() < SAMPLES_MIN {
            return None;
        }
        let warm = &self.samples[self.samples.len() / 4..];
        let third = warm.len() / 3;
        let (first, last) = (&warm[..third], &warm[warm.len() - third..]);
        Some(Growth {
            allowance: self.allowance,
            early: median(first, |sample| sample.mib),
            late: median(last, |sample| sample.mib),
            messages: median(last, |sample| sample.messages)
                - median(first, |sample| sample.messages),
            slope: slope(warm),
        })
    }
}

impl Growth {
    /// Whether it gained more than an allocator's steps explain.
    pub fn is_leak(&self) -> bool {
        self.late - self.early > self.allowance
    }

    /// The smallest leak that a run of this length shows for certain, in bytes a message.
    pub fn shows_from(&self) -> f64 {
        self.allowance * 1024.0 * 1024.0 / self.messages
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} MiB early, {:.1} late; slope {:+.2} MiB per 10,000 messages; a leak would show from {:.0} bytes a message{}",
            self.early,
            self.late,
            self.slope * 10_000.0,
            self.shows_from(),
            if self.is_leak() { "  IT GROWS" } else { "" }
        )
    }
}

/// The middle one: single samples that stand out do not move it.
fn median(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn slope(samples: &[Sample]) -> f64 {
    let many = samples.len().max(1) as f64;
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / many;
    let (middle, height) = (mean(|sample| sample.messages), mean(|sample| sample.mib));
    let (mut over, mut under) = (0.0, 0.0);
    for sample in samples {
        over += (sample.messages - middle) * (sample.mib - height);
        under += (sample.messages - middle).powi(2);
    }
    if under == 0.0 { 0.0 } else { over / under }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that is warm after some messages and then occupies what `mib` says.
    fn run(messages: usize, mib: impl Fn(f64) -> f64) -> Growth {
        let mut samples = Samples::new(4.0);
        for number in 1..=100 {
            let sent = messages * number / 100;
            let warming = 8.0 * (sent as f64 / 500.0).min(1.0);
            samples.add(sent, 10.0 + warming + mib(sent as f64));
        }
        samples.growth().unwrap()
    }

    #[test]
    fn a_process_that_warms_up_wavers_and_takes_a_step_does_not_grow() {
        let wavers = |sent: f64| 2.0 * (sent / 7.0).sin();
        assert!(!run(5000, wavers).is_leak());
        assert!(!run(100_000, wavers).is_leak());
        let step = |sent: f64| if sent > 3000.0 { 3.5 } else { 0.0 };
        assert!(!run(5000, step).is_leak());
        let peak = |sent: f64| {
            if (sent as usize).is_multiple_of(800) {
                50.0
            } else {
                0.0
            }
        };
        assert!(!run(5000, peak).is_leak());
    }

    #[test]
    fn a_leak_grows_from_what_the_run_says_and_a_longer_one_sees_a_smaller_one() {
        let leak = |bytes: f64| move |sent: f64| sent * bytes / 1024.0 / 1024.0;
        let mut seen = Vec::new();
        for messages in [5000, 100_000] {
            let from = run(messages, leak(0.0)).shows_from();
            assert!(run(messages, leak(from * 1.1)).is_leak(), "{messages}");
            assert!(!run(messages, leak(from * 0.9)).is_leak(), "{messages}");
            seen.push(from);
        }
        assert!(seen[0] > 10.0 * seen[1], "{seen:?}");
    }

    #[test]
    fn a_few_samples_say_nothing() {
        let mut samples = Samples::new(4.0);
        for number in 0..SAMPLES_MIN - 1 {
            samples.add(number, number as f64 * 100.0);
        }
        assert_eq!(samples.growth(), None);
    }
}
