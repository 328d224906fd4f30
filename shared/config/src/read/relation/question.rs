//! A question of the reconciler must fit into the time of its function.

use std::time::Duration;

use super::{SPARE, place_of};
use crate::read::delivery::Delivery;
use crate::read::report::Report;
use crate::read::value::time;

/// A question, and how long its answer is waited for.
pub(crate) struct Question {
    /// How messages name it.
    pub(crate) title: String,
    /// Who is asked.
    pub(crate) whom: &'static str,
    pub(crate) timeout: Duration,
    /// The key of its table.
    pub(crate) key: &'static str,
}

impl Question {
    /// It ends, and its answer is written, before its function is stopped; else it is never asked.
    pub(crate) fn fits(&self, report: &Report<'_>, delivery: &Delivery) {
        let Self {
            title,
            whom,
            timeout,
            key,
        } = self;
        let (Ok(function), Ok(margin)) = (&delivery.function_timeout, &delivery.settle_margin)
        else {
            return;
        };
        let least = *timeout + margin.value;
        if function.value > least {
            return;
        }
        let message = format!(
            "`function_timeout` ({}) must be longer than the timeout of {title} ({}) + settle_margin ({}), which is {}: the {whom} would never be asked",
            time(function.value),
            time(*timeout),
            time(margin.value),
            time(least)
        );
        let help = format!(
            "write function_timeout = \"{}\" in [delivery] (and as the function's own timeout), or a shorter timeout in {}",
            time(least + SPARE),
            key
        );
        report.mistake(&place_of(&[function, margin]), message, help);
    }
}
