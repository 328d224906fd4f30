//! The JSON of a job binding becomes the binding, or says what in it cannot be one and where. The same
//! JSON is what the registrar takes, what the command line sends, and what the schema in the repository
//! describes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Binding, DEFAULT_ACCOUNT, Expected, JobRef, SILENT, Step};
use crate::json::{Object, Scalar};
use crate::name::Name;

/// A text that is no job binding, or no observation in the normal form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotABinding {
    /// No JSON of that shape; the text says where.
    #[error("this cannot be read: {0}")]
    Shape(String),
    /// A value that cannot be used.
    #[error("{place} {problem}")]
    Value {
        /// Where, as a JSON pointer.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    space: String,
    job_id: String,
    account: Option<String>,
    tenant: String,
    #[serde(borrow)]
    attempt: &'a RawValue,
    #[serde(borrow)]
    steps: Vec<Object<WrittenStep<'a>>>,
    #[serde(default, borrow)]
    expected: BTreeMap<String, &'a RawValue>,
    poll_after: Option<String>,
    give_up_after: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep<'a> {
    step: String,
    on: Vec<String>,
    destination: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    values: Vec<String>,
}

pub(super) type Read<T> = Result<T, NotABinding>;

/// Reads a binding: an object with `space`, `job_id`, `tenant`, `attempt` (a text or a whole number) and `steps`, and,
/// as wanted, `account`, `expected` (names or JSON pointers with plain values), `poll_after` and `give_up_after` (times, as in
/// `"10m"`).
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn binding(json: &[u8]) -> Read<Binding> {
    let Object(written): Object<Written<'_>> =
        serde_json::from_slice(json).map_err(|error| NotABinding::Shape(error.to_string()))?;
    let steps = steps(&written.steps)?;
    let (poll_after, give_up_after) = (
        time("/poll_after", written.poll_after.as_deref())?,
        time("/give_up_after", written.give_up_after.as_deref())?,
    );
    if let (Some(poll), Some(end)) = (poll_after, give_up_after)
        && end <= poll
    {
        return Err(wrong("/give_up_after", "is not later than poll_after"));
    }
    Ok(Binding {
        job: JobRef {
            space: name("/space", &written.space)?,
            id: text("/job_id", &written.job_id, JobRef::ID_MAX)?,
            account: None,
        },
        account: text(
            "/account",
            written.account.as_deref().unwrap_or(DEFAULT_ACCOUNT),
            Binding::TEXT_MAX,
        )?,
        tenant: text("/tenant", &written.tenant, Binding::TEXT_MAX)?,
        attempt: attempt(written.attempt.get())?,
        steps,
        expected: expected(&written.expected)?,
        poll_after,
        give_up_after,
    })
}

fn steps(written: &[Object<WrittenStep<'_>>]) -> Read<Vec<Step>> {
    let max = Binding::STEPS_MAX;
    if written.is_empty() || written.len() > max {
        let problem = format!("has {} entries; a job has 1 to {max} steps", written.len());
        return Err(wrong("/steps", problem));
    }
    let mut names = BTreeSet::new();
    let mut steps = Vec::new();
    for (at, Object(written)) in written.iter().enumerate() {
        let place = |field: &str| format!("/steps/{at}/{field}");
        let step = name(&place("step"), &written.step)?;
        if !names.insert(step.clone()) {
            return Err(wrong(place("step"), "is the name of an earlier step"));
        }
        if written.on.is_empty() {
            return Err(wrong(place("on"), "is empty: the step would never happen"));
        }
        // One key, one end: an action of both would be in conflict with itself.
        if written.on.len() > 1 && written.on.iter().any(|on| on == SILENT) {
            let problem =
                format!("has {SILENT:?} beside other outcomes; give it a step of its own");
            return Err(wrong(place("on"), problem));
        }
        let all = |field: &str, texts: &[String]| {
            let one = |(n, text): (usize, &String)| name(&format!("{}/{n}", place(field)), text);
            texts.iter().enumerate().map(one).collect::<Read<_>>()
        };
        if written.values.len() > Binding::VALUES_MAX {
            let max = Binding::VALUES_MAX;
            let problem = format!("has {} entries; at most {max}", written.values.len());
            return Err(wrong(place("values"), problem));
        }
        let input = written.input.map(RawValue::get);
        if let Some(input) = input
            && input.len() > Binding::INPUT_MAX
        {
            let problem = format!("has {} bytes; at most {}", input.len(), Binding::INPUT_MAX);
            return Err(wrong(place("input"), problem));
        }
        steps.push(Step {
            name: step,
            on: all("on", &written.on)?,
            destination: name(&place("destination"), &written.destination)?,
            input: input.map(ToOwned::to_owned),
            values: all("values", &written.values)?,
        });
    }
    Ok(steps)
}

fn expected(written: &BTreeMap<String, &RawValue>) -> Read<BTreeMap<Expected, Scalar>> {
    let max = Binding::EXPECTED_MAX;
    if written.len() > max {
        let problem = format!("has {} entries; at most {max}", written.len());
        return Err(wrong("/expected", problem));
    }
    let one = |(key, value): (&String, &&RawValue)| {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        let place = format!("/expected/{escaped}");
        let at = if key.starts_with('/') {
            let pointer = key.parse();
            Expected::Pointer(pointer.map_err(|error| wrong(&place, format!("is {error}")))?)
        } else {
            Expected::Value(name(&place, key)?)
        };
        let (found, max) = (value.get().len(), Binding::EXPECTED_VALUE_MAX);
        if found > max {
            let problem = format!("has {found} bytes; at most {max}");
            return Err(wrong(&place, problem));
        }
        let value = Scalar::from_raw(value.get());
        Ok((at, value.map_err(|error| wrong(&place, error.to_string()))?))
    };
    written.iter().map(one).collect()
}

fn attempt(raw: &str) -> Read<Scalar> {
    const PLACE: &str = "/attempt";
    match Scalar::from_raw(raw) {
        Ok(Scalar::Text(attempt)) => text(PLACE, &attempt, Binding::TEXT_MAX).map(Scalar::Text),
        // One number, one text: 1 and 1.0 would be two attempts.
        Ok(Scalar::Number(token)) if token.bytes().all(|b| b.is_ascii_digit()) => {
            text(PLACE, &token, Binding::TEXT_MAX).map(Scalar::Number)
        }
        _ => Err(wrong(PLACE, "is neither a text nor a whole number")),
    }
}

fn time(place: &str, written: Option<&str>) -> Read<Option<Duration>> {
    const MAX: Duration = Duration::from_secs(365 * 24 * 3600);
    let Some(written) = written else {
        return Ok(None);
    };
    let time = humantime::parse_duration(written)
        .map_err(|_| wrong(place, "is no time; write it as in \"10m\""))?;
    if time.is_zero() || time > MAX {
        return Err(wrong(place, "is not between 1ms and 365d"));
    }
    // Milliseconds are what the table keeps.
    Ok(Some(Duration::from_millis(
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1),
    )))
}

pub(super) fn name(place: &str, written: &str) -> Read<Name> {
    written
        .parse()
        .map_err(|_| wrong(place, "is no name; write 1 to 64 lower-case letters, digits and hyphens, starting with a letter or digit"))
}

/// A job's id, or an account, that was written at `place`: 1 to [`JobRef::ID_MAX`] bytes, not blank.
///
/// # Errors
/// What is wrong with it.
pub fn identity(place: &str, written: &str) -> Read<String> {
    text(place, written, JobRef::ID_MAX)
}

/// A text that is an identity, or part of one.
pub(super) fn text(place: &str, written: &str, max: usize) -> Read<String> {
    if written.chars().all(crate::action::is_invisible) {
        return Err(wrong(place, "is empty or blank"));
    }
    if written.len() > max {
        return Err(wrong(
            place,
            format!("has {} bytes; at most {max}", written.len()),
        ));
    }
    Ok(written.to_owned())
}

pub(super) fn wrong(place: impl Into<String>, problem: impl Into<String>) -> NotABinding {
    NotABinding::Value {
        place: place.into(),
        problem: problem.into(),
    }
}
