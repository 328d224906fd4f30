//! What became of a message becomes an answer: the only place that knows status codes. (A request that
//! is not whole in time never gets here: the host answers it, and `ackbox dev`, a host too, says 408.)
//!
//! | outcome | status | `ackbox-outcome` |
//! | --- | --- | --- |
//! | accepted, duplicate, ignored | 200 | the same word |
//! | conflict | 200, or 409 where the source says so | conflict |
//! | signature missing, wrong, stale | 401 | refused |
//! | body or key part unusable | 400 | malformed |
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
    /// Accepted before; nothing was written.
    Duplicate,
    /// Committed.
    Accepted,
    /// Accepted before with other content; on the record.
    Conflict {
        /// Whether the sender is to be told (409).
        refuse: bool,
    },
    /// A body, key part or fingerprint value that cannot be used.
    Malformed,
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
            Self::Duplicate => "duplicate",
            Self::Accepted => "accepted",
            Self::Conflict { .. } => "conflict",
            Self::Malformed => "malformed",
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
            Self::Ignored | Self::Duplicate | Self::Accepted => StatusCode::OK,
            Self::Conflict { refuse: false } => StatusCode::OK,
            Self::Conflict { refuse: true } => StatusCode::CONFLICT,
            Self::Malformed => StatusCode::BAD_REQUEST,
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
            Self::Ignored => 0,
            Self::Duplicate => 1,
            Self::Accepted => 2,
            Self::Conflict { refuse: false } => 3,
            Self::Conflict { refuse: true } => 4,
            Self::Malformed => 5,
            Self::TooLarge => 6,
            Self::Refused | Self::Method | Self::UnknownSource => 7,
            Self::Unavailable => 8,
            Self::Defect => 9,
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
            Ignored,
            Duplicate,
            Accepted,
            Conflict { refuse: false },
            Conflict { refuse: true },
            Malformed,
            TooLarge,
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
            Outcome::Malformed,
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
