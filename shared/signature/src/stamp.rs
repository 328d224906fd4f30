//! The signed timestamp: its text as it was sent in, what it means out, or a reason. Whether it is fresh, too.

use std::time::Duration;

use crate::message::Headers;
use crate::read::{shown, single};
use crate::refusal::Refusal;
use crate::scheme::{Scheme, StampPlace, StampRule};

/// A timestamp: its text as it was sent (which is what was signed), and what it means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) ms: u64,
}

/// Finds and reads the timestamp. `items` are those that stood in the signature header.
pub(crate) fn find<'a>(
    scheme: &Scheme,
    rule: &StampRule,
    headers: &'a Headers,
    items: &[&'a [u8]],
) -> Result<Stamp<'a>, Refusal> {
    let (header, what, text) = match &rule.place {
        StampPlace::Header(name) => {
            let value = single(headers, name)?.ok_or_else(|| Refusal::MissingHeader {
                header: name.clone(),
                hint: "it holds the signed timestamp; did a proxy drop it?".into(),
            })?;
            (name.as_str(), String::new(), Ok(value))
        }
        StampPlace::Item(key) => {
            let text = match items {
                [one] => Ok(*one),
                [] => Err(format!("has no `{key}`")),
                _ => Err(format!("has `{key}` {} times", items.len())),
            };
            (
                scheme.places[0].header.as_str(),
                format!("its `{key}` "),
                text,
            )
        }
    };
    let unit = if rule.ms_per_unit == 1 {
        "milliseconds"
    } else {
        "seconds"
    };
    text.and_then(|text| {
        digits(text, rule.ms_per_unit)
            .map(|ms| Stamp { text, ms })
            .ok_or_else(|| {
                format!(
                    "{what}{} is not a time in {unit} since 1970",
                    shown_stamp(text)
                )
            })
    })
    .map_err(|problem| Refusal::MalformedHeader {
        header: header.to_owned(),
        problem,
        expected: format!("{unit} since 1970 in decimal digits without leading zeros, once"),
    })
}

/// Decimal digits only: no sign, no space, no fraction. And no leading zero, so that one time has one text: where a
/// value stands directly beside the timestamp, a zero could belong to either.
fn digits(text: &[u8], ms_per_unit: u64) -> Option<u64> {
    if text.first().is_none_or(|first| *first == b'0') || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text)
        .ok()?
        .parse::<u64>()
        .ok()?
        .checked_mul(ms_per_unit)
}

/// As [`shown`], for what should be a timestamp: anything longer may be a signature that was split in the wrong place.
fn shown_stamp(text: &[u8]) -> String {
    if text.len() <= 24 {
        shown(text)
    } else {
        format!("a text of {} bytes", text.len())
    }
}

/// Refuses a timestamp that is further from now than the tolerance, in either direction.
pub(crate) fn is_fresh(stamp: Stamp<'_>, now_ms: u64, tolerance: Duration) -> Result<(), Refusal> {
    let off_ms = now_ms.abs_diff(stamp.ms);
    if u128::from(off_ms) <= tolerance.as_millis() {
        return Ok(());
    }
    let signed_at_ms = stamp.ms;
    if stamp.ms <= now_ms {
        let hint = "a request that was kept back or repeated looks so, and so does a clock that is off on either side";
        return Err(Refusal::TooOld {
            signed_at_ms,
            age_s: off_ms / 1000,
            tolerance,
            hint: hint.into(),
        });
    }
    let day_ms = 86_400_000;
    let hint = if (stamp.ms / 1000).abs_diff(now_ms) < day_ms {
        "the timestamp reads as milliseconds where this scheme has seconds; is it the right scheme?"
    } else {
        "a clock is off on either side"
    };
    Err(Refusal::TooNew {
        signed_at_ms,
        ahead_s: off_ms / 1000,
        tolerance,
        hint: hint.into(),
    })
}
