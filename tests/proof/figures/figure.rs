//! One figure with its goal, and how all of them are shown.

use std::time::Duration;

/// What was measured, and what it may be at most.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// What it is.
    pub name: &'static str,
    /// What came out.
    pub value: f64,
    /// The most it may be; infinite where it is only told.
    pub goal: f64,
    /// Behind the numbers; may be empty.
    pub unit: &'static str,
    /// What it is made of.
    pub detail: String,
}

impl Figure {
    /// Whether the goal is met.
    pub(crate) fn is_met(&self) -> bool {
        self.value <= self.goal
    }

    fn goal_told(&self) -> String {
        if self.goal.is_finite() {
            format!("(goal: at most {} {})", self.goal, self.unit)
        } else {
            String::new()
        }
    }

    /// The ratio of two medians.
    pub(crate) fn ratio(
        name: &'static str,
        ours: &mut [Duration],
        bare: &mut [Duration],
        goal: f64,
    ) -> Self {
        let (ours_median, bare_median) = (median(ours), median(bare));
        Self {
            name,
            value: ours_median.as_secs_f64() / bare_median.as_secs_f64(),
            goal,
            unit: "x",
            detail: format!(
                "{ours_median:.2?} to {bare_median:.2?}, medians of {} and {} interleaved runs",
                ours.len(),
                bare.len()
            ),
        }
    }
}

/// The middle one.
pub(crate) fn median(runs: &mut [Duration]) -> Duration {
    runs.sort_unstable();
    runs.get(runs.len() / 2).copied().unwrap_or_default()
}

/// One line each.
pub(crate) fn print(figures: &[Figure]) {
    for figure in figures {
        println!(
            "{:4}  {:52} {:6.2} {:6} {:24}  {}",
            if figure.is_met() { "ok" } else { "MISS" },
            figure.name,
            figure.value,
            figure.unit,
            figure.goal_told(),
            figure.detail
        );
    }
}
