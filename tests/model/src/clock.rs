//! Time in whole steps, told from now: what a state keeps of time is how far each point lies ahead or
//! behind, so that two states that differ by nothing but the date are one state.

use std::time::Duration;

use ackbox_domain::Timestamp;

/// Steps from the present: negative is past.
pub type Steps = i8;

/// The present of every state, as the decisions see it.
const PRESENT_MS: i64 = 1_000_000;

/// One step. Much longer than the grain of time (a millisecond), so that "just before the window
/// closes" is a point between two steps, as it is between two attempts in fact.
const STEP_MS: i64 = 1_000;

/// A point in time as a clock that is exact would write it.
#[must_use]
pub fn at(steps: Steps) -> Timestamp {
    Timestamp::from_unix_ms((PRESENT_MS + STEP_MS * i64::from(steps)).unsigned_abs())
}

/// The way back from [`at`], for what a decision answered: the first step that is not before it.
#[must_use]
pub fn steps_to(at: Timestamp) -> Steps {
    let ms = i64::try_from(at.unix_ms()).unwrap_or(i64::MAX);
    let steps = -(-ms.saturating_sub(PRESENT_MS)).div_euclid(STEP_MS);
    i8::try_from(steps).unwrap_or(if steps < 0 { i8::MIN } else { i8::MAX })
}

/// A length of time.
#[must_use]
pub fn lasting(steps: u8) -> Duration {
    Duration::from_millis(STEP_MS.unsigned_abs() * u64::from(steps))
}

/// One step later, `point` lies one step further back; not further than `floor`, beyond which no
/// comparison tells points apart.
pub(crate) fn pass(point: &mut Steps, floor: Steps) {
    *point = point.saturating_sub(1).max(floor).min(*point);
}
