//! `[delivery]`: the times of claims and functions, and how much runs at once.

use std::ops::RangeInclusive;
use std::time::Duration;

use ackbox_domain::Timing;

use super::report::{Read, Report};
use super::table::{Given, Key, Table, Value, key};
use crate::config::DeliverySettings;

/// The keys of `[delivery]`.
pub(crate) const KEYS: &[Key] = &[
    key("lease", "\"45s\""),
    key("settle_margin", "\"5s\""),
    key("clock_skew", "\"5s\""),
    key("first_due", "\"60s\""),
    key("no_destination_hold", "\"1h\""),
    key("concurrency", "64"),
    key("stream_budget", "\"5s\""),
    key("function_timeout", "\"60s\""),
    key("accept_budget", "\"8s\""),
];

const MILLISECOND: Duration = Duration::from_millis(1);
/// A Lambda function runs for at most 15 minutes.
const FUNCTION: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(15 * 60);
const LONG: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(24 * 3600);
const SKEW: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(300);
const HOLD: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(30 * 24 * 3600);
/// Whoever waits for an answer by way of an HTTP API waits for 30 seconds at most.
const ACCEPT: RangeInclusive<Duration> = MILLISECOND..=Duration::from_secs(28);
const CONCURRENCY: RangeInclusive<usize> = 1..=1000;

/// The settings with the places of what must agree with others; a value that is a mistake is left out.
pub(crate) struct Delivery {
    pub(crate) lease: Read<Given<Duration>>,
    pub(crate) settle_margin: Read<Given<Duration>>,
    pub(crate) clock_skew: Read<Given<Duration>>,
    pub(crate) first_due: Read<Given<Duration>>,
    pub(crate) stream_budget: Read<Given<Duration>>,
    pub(crate) function_timeout: Read<Given<Duration>>,
    no_destination_hold: Read<Given<Duration>>,
    accept_budget: Read<Given<Duration>>,
    concurrency: Read<Option<usize>>,
}

/// Reads the settings; without the table, the defaults.
pub(crate) fn delivery<'a>(report: &'a Report<'a>, value: Option<&'a Value<'a>>) -> Read<Delivery> {
    let table = value
        .map(|value| Table::open(report, value, "[delivery]".to_owned(), KEYS))
        .transpose()?;
    let usual = DeliverySettings::default();
    let time = |name, default, bounds| match &table {
        Some(table) => table.duration_or(name, default, bounds),
        None => Ok(Given {
            value: default,
            span: None,
        }),
    };
    Ok(Delivery {
        lease: time("lease", usual.timing.lease, LONG),
        settle_margin: time("settle_margin", usual.timing.settle_margin, FUNCTION),
        clock_skew: time("clock_skew", usual.timing.clock_skew, SKEW),
        first_due: time("first_due", usual.timing.first_due, LONG),
        no_destination_hold: time(
            "no_destination_hold",
            usual.timing.no_destination_hold,
            HOLD,
        ),
        stream_budget: time("stream_budget", usual.stream_budget, FUNCTION),
        function_timeout: time("function_timeout", usual.function_timeout, FUNCTION),
        accept_budget: time("accept_budget", usual.accept_budget, ACCEPT),
        concurrency: table
            .as_ref()
            .map_or(Ok(None), |table| table.count("concurrency", CONCURRENCY)),
    })
}

impl Delivery {
    /// The settings, if none of them is a mistake.
    pub(crate) fn settings(self) -> Read<DeliverySettings> {
        let usual = DeliverySettings::default();
        Ok(DeliverySettings {
            timing: Timing {
                lease: self.lease?.value,
                settle_margin: self.settle_margin?.value,
                clock_skew: self.clock_skew?.value,
                first_due: self.first_due?.value,
                no_destination_hold: self.no_destination_hold?.value,
            },
            concurrency: self.concurrency?.unwrap_or(usual.concurrency),
            stream_budget: self.stream_budget?.value,
            function_timeout: self.function_timeout?.value,
            accept_budget: self.accept_budget?.value,
        })
    }
}
