//! What became of a request becomes an answer: the only place of this function that knows status codes.
//!
//! | answer | status | `ackbox-outcome` |
//! | --- | --- | --- |
//! | the job is bound now | 201 | bound |
//! | it was bound to the same | 200 | same |
//! | it is bound to something else | 409 | other |
//! | a job, as the table holds it | 200 | found |
//! | no such job | 404 | unbound |
//! | an observation is on the record, or says nothing new | 200 | accepted, duplicate, parked, progress, nothing |
//! | it disagrees with the job | 200, or 409 where the source says so | conflict |
//! | it is of no bound job, and was not kept | 200, or 409 where the source says so | unbound |
//! | an observation is older than its source allows | 400 | too-old |
//! | what came cannot be used | 400 | malformed, unknown-space, unknown-source, unknown-destination, unknown-outcome, unknown-value, unfit |
//! | no such path | 404 | unknown-path |
//! | another method | 405 with `Allow` | method |
//! | too large | 413 | too-large |
//! | the table is not available, or the time is spent | 503 with `Retry-After` | unavailable |
//! | an item in the table cannot be read | 500 | unreadable |
//! | our own defect | 500 | error |

use ackbox_domain::{Malformed, Name, observation};
use ackbox_store::{ItemError, StoreError};
use lambda_http::http::{HeaderValue, StatusCode, header};
use lambda_http::{Body, Response};
use serde::Serialize;

use crate::check::Refused;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// The word in `ackbox-outcome`, in the body and in the log.
    pub(crate) word: &'static str,
    /// What went wrong, for the log.
    pub(crate) problem: Option<String>,
    allow: Option<&'static str>,
    body: String,
}

/// The body of an answer that says what was wrong.
#[derive(Serialize)]
struct Problem<'a> {
    outcome: &'a str,
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'a [Name]>,
}

impl Answer {
    /// With this body, which must serialise.
    pub(crate) fn new(status: StatusCode, word: &'static str, body: &impl Serialize) -> Self {
        match serde_json::to_string(body) {
            Ok(body) => Self {
                status,
                word,
                problem: None,
                allow: None,
                body,
            },
            Err(_) => Self::defect(),
        }
    }

    fn problem(status: StatusCode, word: &'static str, error: &str) -> Self {
        let body = Problem {
            outcome: word,
            error,
            known: None,
        };
        Self {
            problem: Some(error.to_owned()),
            ..Self::new(status, word, &body)
        }
    }

    /// Our own defect. Nothing of it is said.
    pub(crate) fn defect() -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            word: "error",
            problem: None,
            allow: None,
            body: r#"{"outcome":"error"}"#.to_owned(),
        }
    }

    /// What came cannot be used.
    pub(crate) fn malformed(error: &str) -> Self {
        Self::problem(StatusCode::BAD_REQUEST, "malformed", error)
    }

    /// As [`Answer::malformed`], in an error's words.
    pub(crate) fn unread(error: &dyn std::error::Error) -> Self {
        Self::malformed(&error.to_string())
    }

    /// What was observed cannot be used, or is older than its source allows.
    pub(crate) fn unusable(malformed: &Malformed) -> Self {
        let word = match malformed.problem {
            observation::Problem::TooOld { .. } => "too-old",
            _ => "malformed",
        };
        let error = format!("the observation: {malformed}");
        Self::problem(StatusCode::BAD_REQUEST, word, &error)
    }

    /// What came does not go with the configuration.
    pub(crate) fn refused(refused: &Refused) -> Self {
        let body = Problem {
            outcome: refused.word,
            error: &refused.problem,
            known: refused.known.as_deref(),
        };
        Self {
            problem: Some(refused.problem.clone()),
            ..Self::new(StatusCode::BAD_REQUEST, refused.word, &body)
        }
    }

    /// Nothing answers there.
    pub(crate) fn no_such_path() -> Self {
        let error = "use POST /jobs, GET /jobs/{space}/{job_id} or POST /observations";
        Self::problem(StatusCode::NOT_FOUND, "unknown-path", error)
    }

    /// Another method is allowed there.
    pub(crate) fn method(allow: &'static str) -> Self {
        let error = format!("only {allow} is answered here");
        Self {
            allow: Some(allow),
            ..Self::problem(StatusCode::METHOD_NOT_ALLOWED, "method", &error)
        }
    }

    /// More than is read, or than an item holds.
    pub(crate) fn too_large(error: impl AsRef<str>) -> Self {
        Self::problem(StatusCode::PAYLOAD_TOO_LARGE, "too-large", error.as_ref())
    }

    /// The table did not do what was asked.
    pub(crate) fn store(error: &StoreError) -> Self {
        match error {
            StoreError::TooLarge { .. } => {
                Self::too_large("this has no room in one item of the table")
            }
            // It was there, and was collected in between: the next try sees it as it is.
            StoreError::Item(ItemError::Gone) => Self::unavailable(),
            StoreError::Item(error) => {
                let error = format!("an item of this job in the table cannot be used: {error}");
                Self::problem(StatusCode::INTERNAL_SERVER_ERROR, "unreadable", &error)
            }
            // Whatever the table says otherwise is our fault: the caller is to come again.
            _ => Self::unavailable(),
        }
    }

    fn unavailable() -> Self {
        let error = "the table is not available now; repeat the request";
        Self {
            problem: None,
            ..Self::problem(StatusCode::SERVICE_UNAVAILABLE, "unavailable", error)
        }
    }

    /// The response: JSON, and the word in a header.
    pub(crate) fn respond(self) -> Response<Body> {
        let mut response = Response::new(Body::Text(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        headers.insert("ackbox-outcome", HeaderValue::from_static(self.word));
        if let Some(allow) = self.allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        }
        response
    }
}
