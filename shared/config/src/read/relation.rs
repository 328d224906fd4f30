//! Times that must agree with each other: a configuration in which two attempts of one action could
//! overlap, or an attempt outlive its function, does not start. Every message names both values.

use std::time::Duration;

use self::question::Question;
use super::delivery::Delivery;
use super::destination::Destination;
use super::report::{Report, Span};
use super::table::Given;
use super::value::time;
use crate::config::SourceConfig;

mod question;
mod retention;

pub(crate) use retention::check_retentions;

const SPARE: Duration = Duration::from_secs(5);

/// Checks every relation whose values could be read.
pub(crate) fn check(report: &Report<'_>, delivery: &Delivery, destinations: &[Destination<'_>]) {
    let longest = destinations.iter().filter_map(|destination| {
        let timeout = destination.timeout.as_ref().ok()?;
        Some((destination.title, timeout))
    });
    let longest = longest.max_by_key(|(_, timeout)| timeout.value);
    let relations = Relations {
        report,
        delivery,
        longest,
    };
    relations.lease_outlasts_attempts();
    relations.sweep_comes_after_the_lease();
    relations.function_outlasts_attempts();
    relations.stream_budget_fits();
    relations.lease_is_no_longer_than_useful();
    for destination in destinations {
        relations.window_outlasts_an_attempt(destination);
        relations.function_outlasts_a_question(destination);
    }
}

/// Checks that a run of the reconciler is long enough to ask each source.
pub(crate) fn check_lookups(report: &Report<'_>, delivery: &Delivery, sources: &[SourceConfig]) {
    for source in sources {
        let Some(lookup) = &source.lookup else {
            continue;
        };
        let question = Question {
            title: format!("[source.{}.job.lookup]", source.source.name),
            whom: "source",
            timeout: lookup.timeout,
            key: "lookup",
        };
        question.fits(report, delivery);
    }
}

struct Relations<'r, 'a> {
    report: &'r Report<'a>,
    delivery: &'r Delivery,
    longest: Option<(&'r str, &'r Given<Duration>)>,
}

impl Relations<'_, '_> {
    /// An attempt ends, and its end is written, while its claim still stands, also by a clock that runs
    /// otherwise. Else a second attempt could begin beside the first.
    fn lease_outlasts_attempts(&self) {
        let Delivery {
            lease,
            settle_margin,
            clock_skew,
            ..
        } = self.delivery;
        let (Ok(lease), Ok(margin), Ok(skew)) = (lease, settle_margin, clock_skew) else {
            return;
        };
        let rest = margin.value + skew.value;
        let least = self.timeout() + rest;
        if lease.value > least {
            return;
        }
        let message = format!(
            "`lease` ({}) must be longer than {}settle_margin ({}) + clock_skew ({}), which is {}",
            time(lease.value),
            self.longest_in_words(),
            time(margin.value),
            time(skew.value),
            time(least)
        );
        let help = format!(
            "write lease = \"{}\" in [delivery], and first_due longer than that{}; else an action could be attempted twice at once",
            time(least + SPARE),
            self.or_a_timeout_under(lease.value.checked_sub(rest))
        );
        self.report
            .mistake(&self.place(&[lease, margin, skew]), message, help);
    }

    /// The sweep must not take up an entry that the stream's first claim still holds.
    fn sweep_comes_after_the_lease(&self) {
        let (Ok(first_due), Ok(lease)) = (&self.delivery.first_due, &self.delivery.lease) else {
            return;
        };
        if first_due.value > lease.value {
            return;
        }
        let message = format!(
            "`first_due` ({}) must be longer than `lease` ({}): the sweep would take up what is claimed",
            time(first_due.value),
            time(lease.value)
        );
        let help = format!(
            "write first_due = \"{}\" in [delivery]",
            time(lease.value + 3 * SPARE)
        );
        self.report
            .mistake(&place_of(&[first_due, lease]), message, help);
    }

    /// An attempt ends, and its end is written, before its function is stopped.
    fn function_outlasts_attempts(&self) {
        let (Ok(function), Ok(margin)) = (
            &self.delivery.function_timeout,
            &self.delivery.settle_margin,
        ) else {
            return;
        };
        let least = self.timeout() + margin.value;
        if function.value > least {
            return;
        }
        let message = format!(
            "`function_timeout` ({}) must be longer than {}settle_margin ({}), which is {}",
            time(function.value),
            self.longest_in_words(),
            time(margin.value),
            time(least)
        );
        let help = format!(
            "write function_timeout = \"{}\" in [delivery] (and as the function's own timeout){}; else an attempt would be stopped in the middle",
            time(least + SPARE),
            self.or_a_timeout_under(function.value.checked_sub(margin.value))
        );
        self.report
            .mistake(&self.place(&[function, margin]), message, help);
    }

    /// The stream's budget ends before its function does.
    fn stream_budget_fits(&self) {
        let (Ok(budget), Ok(function)) = (
            &self.delivery.stream_budget,
            &self.delivery.function_timeout,
        ) else {
            return;
        };
        if budget.value < function.value {
            return;
        }
        let message = format!(
            "`stream_budget` ({}) must be shorter than `function_timeout` ({}): the stream would wait until the function is stopped",
            time(budget.value),
            time(function.value)
        );
        let help = "write stream_budget = \"5s\" or so in [delivery]: the sweep takes the rest";
        self.report
            .mistake(&place_of(&[budget, function]), message, help);
    }

    /// No attempt outlives its function, so a claim that does only delays the next attempt after a crash.
    /// (A lease shorter than the function's timeout is right: a claim is for one attempt.)
    fn lease_is_no_longer_than_useful(&self) {
        let Delivery {
            lease,
            function_timeout,
            clock_skew,
            ..
        } = self.delivery;
        let (Ok(lease), Ok(function), Ok(skew)) = (lease, function_timeout, clock_skew) else {
            return;
        };
        if lease.value <= function.value + skew.value {
            return;
        }
        let message = format!(
            "`lease` ({}) is longer than function_timeout ({}) + clock_skew ({}): no attempt lives that long, so it only delays the next one after a crash",
            time(lease.value),
            time(function.value),
            time(skew.value)
        );
        self.report.warn(
            &place_of(&[lease, function]),
            message,
            "write a shorter lease",
        );
    }

    /// A repetition must end inside the window, or the window allows none at all.
    fn window_outlasts_an_attempt(&self, destination: &Destination<'_>) {
        let Destination {
            title,
            timeout,
            window,
            backoff,
            ..
        } = destination;
        let (Some(window), Ok(timeout), Ok(skew)) = (window, timeout, &self.delivery.clock_skew)
        else {
            return;
        };
        let least = timeout.value + skew.value;
        let (length, span) = (*window.get_ref(), window.span());
        if length <= least {
            let message = format!(
                "the `window` of {title} ({}) must be longer than its timeout ({}) + clock_skew ({}), which is {}: no repetition would fit",
                time(length),
                time(timeout.value),
                time(skew.value),
                time(least)
            );
            self.report.mistake(&span, message, "write how long the destination really keeps its keys; if it is not longer, write idempotency = \"none\"");
        } else if let Ok(backoff) = backoff
            && length <= least + backoff.first
        {
            let message = format!(
                "the `window` of {title} ({}) has no room for a repetition: backoff first ({}) + timeout ({}) + clock_skew ({}) is {}",
                time(length),
                time(backoff.first),
                time(timeout.value),
                time(skew.value),
                time(least + backoff.first)
            );
            self.report.warn(
                &span,
                message,
                "write a shorter backoff, or an action that may have arrived is held at once",
            );
        }
    }

    /// A question ends, and its answer is written, before its function is stopped; else it is never asked.
    fn function_outlasts_a_question(&self, destination: &Destination<'_>) {
        let Destination { title, config, .. } = destination;
        let config = config.as_ref().ok();
        if let Some(reconcile) = config.and_then(|config| config.reconcile.as_ref()) {
            let question = Question {
                title: format!("`reconcile` of [destination.{title}]"),
                whom: "destination",
                timeout: reconcile.timeout,
                key: "reconcile",
            };
            question.fits(self.report, self.delivery);
        }
    }

    fn timeout(&self) -> Duration {
        self.longest
            .map_or(Duration::ZERO, |(_, timeout)| timeout.value)
    }

    fn longest_in_words(&self) -> String {
        self.longest.map_or(String::new(), |(title, timeout)| {
            format!(
                "the longest timeout ({}, of {title}) + ",
                time(timeout.value)
            )
        })
    }

    fn or_a_timeout_under(&self, most: Option<Duration>) -> String {
        match (self.longest, most) {
            (Some((title, _)), Some(most)) if most > Duration::from_secs(1) => {
                format!(
                    ", or a timeout under {} in [destination.{title}]",
                    time(most)
                )
            }
            _ => String::new(),
        }
    }

    /// Where the user wrote one of the values.
    fn place(&self, given: &[&Given<Duration>]) -> Span {
        let timeout = self.longest.map(|(_, timeout)| timeout);
        let given: Vec<_> = given
            .iter()
            .copied()
            .take(1)
            .chain(timeout)
            .chain(given.iter().copied().skip(1))
            .collect();
        place_of(&given)
    }
}

fn place_of(given: &[&Given<Duration>]) -> Span {
    given
        .iter()
        .find_map(|given| given.span.clone())
        .unwrap_or(0..0)
}
