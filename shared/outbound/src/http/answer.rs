//! An answer comes in, what it proves about the action goes out. Only a 2xx head proves that the
//! destination has it; only 429 and an honest 503 prove that it does not.

use std::time::Duration;

use ackbox_domain::{AttemptOutcome, Idempotency, OutcomeKind, Timestamp};
use http::header::{CONTENT_ENCODING, HeaderMap, LOCATION, RETRY_AFTER};
use http::{HeaderValue, StatusCode};

use crate::exchange::Answer;
use crate::redact::Redactor;

/// The longest wait that is passed on; the destination's `backoff.max` bounds it further.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// What an answer means, with what an operator wants to read about it. `now` is the time at which it
/// came, for a `Retry-After` that is a date.
pub(crate) fn outcome(
    answer: &Answer,
    idempotency: Idempotency,
    now: Timestamp,
    redactor: &Redactor,
) -> AttemptOutcome {
    let wait = retry_after(&answer.headers, now);
    let kind = kind(answer.status, wait.is_some(), idempotency);
    let status = answer.status.as_u16();
    let detail = format!("{status}: {}", redactor.scrub(&words(answer)));
    AttemptOutcome::new(kind, Some(status), &detail).with_retry_after(wait)
}

fn kind(status: StatusCode, says_when: bool, idempotency: Idempotency) -> OutcomeKind {
    match status.as_u16() {
        200..=299 => OutcomeKind::Succeeded,
        429 => OutcomeKind::Busy,
        // A proxy that lost the destination half-way says 503 too. Whoever says when to come back
        // meant it; else it is believed only where believing it wrongly does no harm.
        503 if says_when || idempotency != Idempotency::None => OutcomeKind::Busy,
        300..=499 => OutcomeKind::Rejected,
        _ => OutcomeKind::Unknown,
    }
}

/// `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date; a past date is no wait. `None` for
/// anything else.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than fit mean a long time, not none.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let date = httpdate::parse_http_date(text).ok()?;
        Timestamp::from(date).since(now)
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

/// What the destination said, unscrubbed.
fn words(answer: &Answer) -> String {
    if answer.status.is_redirection() {
        let location = answer.headers.get(LOCATION).map(HeaderValue::as_bytes);
        let location = String::from_utf8_lossy(location.unwrap_or_default());
        return format!("redirects are not followed; it points to {location}");
    }
    // We asked for no encoding; what came in one anyway is not text.
    let plain = !answer.headers.contains_key(CONTENT_ENCODING);
    let text = String::from_utf8_lossy(if plain { &answer.excerpt } else { &[] });
    let text = text.trim();
    if text.is_empty() {
        answer
            .status
            .canonical_reason()
            .unwrap_or("no reason given")
            .to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
