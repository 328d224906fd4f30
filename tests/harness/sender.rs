//! A provider that sends webhooks: a body and a source in, signed headers and an answer out. It signs
//! with the same code that verifies; the providers' own vectors are that code's tests.

use std::sync::Arc;

use ackbox_config::SourceConfig;
use ackbox_domain::Timestamp;
use ackbox_receiver::Receiver;
use ackbox_signature::{Scheme, SignRequest};
use data_encoding::BASE64;
use lambda_http::{Body, Response};

use crate::requests::{Host, Wire};

/// The secret under a name: the same for everybody who asks, usable by every scheme of the tests.
pub fn secret(name: &str) -> String {
    let mut bytes: Vec<u8> = name.bytes().cycle().take(32).collect();
    bytes[31] = b'!';
    format!("whsec_{}", BASE64.encode(&bytes))
}

/// One webhook on its way, to be changed before it is sent.
#[derive(Clone, Debug)]
pub struct Webhook {
    scheme: Arc<Scheme>,
    secret: String,
    path: String,
    id: String,
    event: Option<String>,
    at: Timestamp,
    body: Vec<u8>,
    extra: Vec<(String, String)>,
}

/// What the receiver answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The word in `ackbox-outcome`; empty where there is none.
    pub outcome: String,
    /// Every header line, names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Webhook {
    /// A webhook of a source, signed at `at` with its first secret. `id` is the message's own id,
    /// where the scheme has one in a header.
    pub fn new(source: &SourceConfig, id: &str, body: impl Into<Vec<u8>>, at: Timestamp) -> Self {
        let reference = source.secrets[0].to_string();
        Self {
            scheme: Arc::clone(&source.scheme),
            secret: secret(reference.trim_start_matches("env:")),
            path: format!("/hooks/{}", source.source.name),
            id: id.to_owned(),
            event: None,
            at,
            body: body.into(),
            extra: Vec::new(),
        }
    }

    /// With an event type, for schemes that carry it in a header.
    #[must_use]
    pub fn event(mut self, event: &str) -> Self {
        self.event = Some(event.to_owned());
        self
    }

    /// Signed at another time.
    #[must_use]
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = at;
        self
    }

    /// Signed with the secret under this name instead.
    #[must_use]
    pub fn signed_with(mut self, name: &str) -> Self {
        self.secret = secret(name);
        self
    }

    /// With one more header line.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.extra.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The signed request.
    pub fn wire(&self) -> Wire {
        let secret = self
            .scheme
            .secret("env:TESTS", &self.secret)
            .expect("a secret of the tests has the scheme's form");
        let request = SignRequest {
            method: "POST",
            url: &self.path,
            body: &self.body,
            now_ms: self.at.unix_ms(),
            id: &self.id,
            event: self.event.as_deref(),
        };
        let mut headers = self
            .scheme
            .sign(&request, &secret)
            .expect("the tests' values can be signed");
        let has_type = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
        if !self.extra.iter().any(has_type) {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        headers.extend(self.extra.iter().cloned());
        Wire {
            method: "POST".to_owned(),
            path: self.path.clone(),
            query: String::new(),
            headers,
            body: self.body.clone(),
            base64: false,
        }
    }

    /// Sends it by a function URL.
    pub async fn to(&self, receiver: &Receiver) -> Answer {
        send(receiver, &self.wire(), Host::FunctionUrl).await
    }
}

/// Hands a request over as this host does, and waits for the answer.
pub async fn send(receiver: &Receiver, wire: &Wire, host: Host) -> Answer {
    Answer::of(receiver.receive(wire.request(host), None).await)
}

impl Answer {
    /// The answer in a response.
    pub fn of(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        let headers: Vec<(String, String)> = head
            .headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect();
        let answer = Answer {
            status: head.status.as_u16(),
            outcome: String::new(),
            headers,
            body: body.to_vec(),
        };
        let outcome = answer
            .header("ackbox-outcome")
            .unwrap_or_default()
            .to_owned();
        Answer { outcome, ..answer }
    }

    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(have, _)| have == name)
            .map(|(_, value)| value.as_str())
    }

    /// Status and outcome, as most tests compare them.
    pub fn said(&self) -> (u16, &str) {
        (self.status, &self.outcome)
    }
}
