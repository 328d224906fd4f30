//! What became of a message becomes an answer: the only place that knows status codes. (A request that
//! is not whole in time never gets here: the host answers it, and `ackbox dev`, a host too, says 408.)
//!
//! | outcome | status | `ackbox-outcome` |
//! | --- | --- | --- |
//! | accepted, duplicate, ignored, progress, parked | 200 | the same word |
//! | conflict | 200, or 409 where the source says so | conflict |
//! | the end of a job that is not bound, where the source refuses it | 409 | unbound |
//! | signature missing, wrong, stale | 401 | refused |
//! | body or key part unusable | 400 | malformed |
//! | older than the source allows | 400 | too-old |
//! | no such source | 404 | unknown-source |
//! | not POST | 405 with `Allow` | method |
//! | too large | 413 | too-large |
//! | table or secret unavailable, time spent | 503 with `Retry-After` | unavailable |
//! | our own defect | 500 | error |

use lambda_http::http::{HeaderValue, StatusCode, header};
use lambda_http::{Body, Response};

/// What became of a message, or of one action in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No rule wants it, or the sender tests the connection.
    Ignored,
    /// A job goes on.
    Progress,
    /// Accepted before; nothing was written.
    Duplicate,
    /// Committed.
    Accepted,
    /// The end of a job that is not bound yet; kept until it is.
    Parked,
    /// The end of a job that is not bound; not kept.
    Unbound {
        /// Whether the sender is to come again (409).
        refuse: bool,
    },
    /// Accepted before with other content; on the record.
    Conflict {
        /// Whether the sender is to be told (409).
        refuse: bool,
    },
    /// A body, key part or fingerprint value that cannot be used.
    Malformed,
    /// Older than the source allows. Not 410, at which some senders switch the whole endpoint off.
    TooOld,
    /// Larger than the source or one item allows.
    TooLarge,
    /// The sender is not proven.
    Refused,
    /// Not POST.
    Method,
    /// No such source.
    UnknownSource,
    /// The table or a secret cannot be had now, or the time is spent.
    Unavailable,
    /// Our own defect.
    Defect,
}

impl Outcome {
    /// The word in `ackbox-outcome` and in the log.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Progress => "progress",
            Self::Parked => "parked",
            Self::Unbound { refuse: false } => "ignored",
            Self::Unbound { refuse: true } => "unbound",
            Self::Duplicate => "duplicate",
            Self::Accepted => "accepted",
            Self::Conflict { .. } => "conflict",
            Self::Malformed => "malformed",
            Self::TooOld => "too-old",
            Self::TooLarge => "too-large",
            Self::Refused => "refused",
            Self::Method => "method",
            Self::UnknownSource => "unknown-source",
            Self::Unavailable => "unavailable",
            Self::Defect => "error",
        }
    }

    /// The HTTP status.
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::Ignored
            | Self::Progress
            | Self::Duplicate
            | Self::Accepted
            | Self::Parked
            | Self::Unbound { refuse: false }
            | Self::Conflict { refuse: false } => StatusCode::OK,
            Self::Conflict { refuse: true } | Self::Unbound { refuse: true } => {
                StatusCode::CONFLICT
            }
            Self::Malformed | Self::TooOld => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Refused => StatusCode::UNAUTHORIZED,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::UnknownSource => StatusCode::NOT_FOUND,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Defect => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// How bad it is. What a repetition can still mend (503, 500) weighs more than what it cannot.
    const fn weight(&self) -> u8 {
        match self {
            // In a batch, what is too old answers only where all of it is: it stays too old, however often it is
            // repeated, and its neighbours would be repeated with it until they are too old themselves.
            Self::TooOld => 0,
            Self::Ignored | Self::Unbound { refuse: false } => 1,
            Self::Progress => 2,
            Self::Duplicate => 3,
            Self::Accepted => 4,
            Self::Parked => 5,
            Self::Conflict { refuse: false } => 6,
            Self::Conflict { refuse: true } => 7,
            Self::Malformed => 8,
            Self::TooLarge => 9,
            Self::Refused | Self::Method | Self::UnknownSource => 10,
            // The sender is to come again: so do 503 and 500.
            Self::Unbound { refuse: true } => 11,
            Self::Unavailable => 12,
            Self::Defect => 13,
        }
    }
}

/// The outcome that answers for several: the worst. What was accepted beside it stays accepted, and
/// the repetition finishes the rest.
pub(crate) fn worst(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
    outcomes
        .into_iter()
        .max_by_key(Outcome::weight)
        .unwrap_or(Outcome::Ignored)
}

/// The answer: a status, a word, no body.
pub(crate) fn respond(outcome: &Outcome) -> Response<Body> {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = outcome.status();
    let headers = response.headers_mut();
    headers.insert("ackbox-outcome", HeaderValue::from_static(outcome.word()));
    match outcome {
        Outcome::Method => {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        Outcome::Unavailable => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        }
        _ => {}
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_outcome_answers() {
        use Outcome::*;
        let order = [
            TooOld,
            Ignored,
            Progress,
            Duplicate,
            Accepted,
            Parked,
            Conflict { refuse: false },
            Conflict { refuse: true },
            Malformed,
            TooLarge,
            Unbound { refuse: true },
            Unavailable,
            Defect,
        ];
        for pair in order.windows(2) {
            assert_eq!(worst(pair.to_vec()), pair[1]);
            assert_eq!(worst([pair[1].clone(), pair[0].clone()]), pair[1]);
        }
        assert_eq!(worst([]), Ignored);
    }

    #[test]
    fn only_what_is_committed_or_unwanted_is_answered_with_2xx() {
        for outcome in [
            Outcome::Unbound { refuse: true },
            Outcome::Malformed,
            Outcome::TooOld,
            Outcome::TooLarge,
            Outcome::Refused,
            Outcome::Method,
            Outcome::UnknownSource,
            Outcome::Unavailable,
            Outcome::Defect,
        ] {
            assert!(!respond(&outcome).status().is_success(), "{outcome:?}");
        }
    }

    #[test]
    fn a_method_that_is_not_allowed_names_the_one_that_is() {
        let response = respond(&Outcome::Method);
        assert_eq!(response.headers()["allow"], "POST");
        assert_eq!(
            respond(&Outcome::Unavailable).headers()["retry-after"],
            "10"
        );
    }
}
