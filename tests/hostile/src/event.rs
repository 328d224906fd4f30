//! The event that a function URL (or an HTTP API, a REST API, a load balancer) makes of a request of
//! strangers: as it came, signed rightly, and signed with another secret. The table is counted, and
//! not there.
//!
//! What the host itself guarantees is taken for granted: JSON of its own form, and base64 where it
//! says so. Path, query, headers and body are the stranger's.

use std::cell::RefCell;
use std::io;
use std::sync::{LazyLock, Mutex, PoisonError};

use ackbox_config::SourceConfig;
use ackbox_edge::host;
use ackbox_receiver::Receiver;
use ackbox_signature::{Headers, Secret};
use lambda_http::http::{HeaderName, HeaderValue};
use lambda_http::request::LambdaRequest;
use lambda_http::{Body, Request};
use tokio::runtime::Runtime;

use crate::offline::Offline;
use crate::setting::{self, CONFIG, secret_of, secret_text, signed};

thread_local! {
    static SETTING: RefCell<Setting> = RefCell::new(Setting::new());
}

struct Setting {
    table: Offline,
    receiver: Receiver,
    runtime: Runtime,
}

/// What came back, and what it cost.
struct Answer {
    word: String,
    calls: Vec<String>,
}

/// Takes any bytes.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if !made_by_a_host(text) {
        return;
    }
    let request = || -> Option<Request> {
        let event: LambdaRequest = serde_json::from_str(text).ok()?;
        Some(host::with_a_url(event).into())
    };
    SETTING.with_borrow(|setting| {
        let Some(as_it_came) = request() else {
            return;
        };
        let source = source_of(&as_it_came);
        setting.send(as_it_came, source);
        let Some((source, request)) = source.zip(request()) else {
            return;
        };
        let body = request.body().to_vec();
        let is_read = request.method() == "POST" && body.len() <= source.source.max_body;
        let own = secret_of(source);
        let other = source.scheme.secret("env:OTHER", &secret_text("OTHER"));
        let other = other.expect("every scheme takes a secret of this form");
        for (secret, may_pass) in [(own, true), (other, false)] {
            let Some(signed) = sign(source, &secret, &request, &body) else {
                continue;
            };
            let path = signed.uri().path().to_owned();
            let answer = setting.send(signed, Some(source));
            if answer.word == "unknown-source" {
                assert!(!leads_to(source, &path), "{path} leads nowhere");
            } else if is_read {
                let refused = answer.word == "refused";
                assert_eq!(
                    refused, !may_pass,
                    "{}: {}",
                    source.source.name, answer.word
                );
            }
        }
    });
}

/// Whether a path is the source's own, without anything before it: a stage, or what strangers wrote.
fn leads_to(source: &SourceConfig, path: &str) -> bool {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.strip_prefix("/hooks/") == Some(source.source.name.as_str())
}

/// The source that the end of a request's path names, wherever that path leads.
fn source_of(request: &Request) -> Option<&'static SourceConfig> {
    let path = request.uri().path().trim_end_matches('/');
    CONFIG.sources.get(path.rsplit('/').next()?)
}

/// Whether a host could have made this event: it decodes no base64 that is none.
fn made_by_a_host(text: &str) -> bool {
    let Ok(event) = serde_json::from_str::<serde_json::Value>(text) else {
        return false;
    };
    let body = event["body"].as_str().unwrap_or_default();
    event["isBase64Encoded"] != true || data_encoding::BASE64.decode(body.as_bytes()).is_ok()
}

/// The same request with the headers that the sender would have signed it with.
fn sign(source: &SourceConfig, secret: &Secret, request: &Request, body: &[u8]) -> Option<Request> {
    let headers: Headers = signed(source, secret, "msg_1", Some("push"), body)?;
    let mut signed = Request::new(Body::Binary(body.to_vec()));
    *signed.method_mut() = request.method().clone();
    *signed.uri_mut() = request.uri().clone();
    *signed.headers_mut() = request.headers().clone();
    signed.extensions_mut().clone_from(request.extensions());
    for (name, value) in headers.iter() {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        signed
            .headers_mut()
            .insert(name, HeaderValue::from_bytes(value).ok()?);
    }
    Some(signed)
}

impl Setting {
    fn new() -> Self {
        let table = Offline::default();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        LazyLock::force(&LOG);
        Self {
            receiver: Receiver::new(
                CONFIG.clone(),
                table.store(),
                setting::secrets(),
                setting::clock(),
            ),
            table,
            runtime: runtime.expect("a runtime starts"),
        }
    }

    /// Sends a request, and asserts what holds of every answer.
    fn send(&self, request: Request, source: Option<&SourceConfig>) -> Answer {
        let response = self.runtime.block_on(self.receiver.receive(request, None));
        let word = response.headers().get("ackbox-outcome");
        let word = word.and_then(|word| word.to_str().ok()).unwrap_or_default();
        let answer = Answer {
            word: word.to_owned(),
            calls: self.table.take(),
        };
        assert!(response.body().is_empty(), "an answer tells something");
        assert!(
            !["error", "unavailable", ""].contains(&word),
            "our own fault: {word:?}"
        );
        costs_what_it_may(&answer, source);
        log_is_clean();
        answer
    }
}

/// Nothing for what is not proven or not wanted; else one transaction for each action, and what the
/// first message of a source costs once.
fn costs_what_it_may(answer: &Answer, source: Option<&SourceConfig>) {
    let calls = &answer.calls;
    let transactions = calls
        .iter()
        .filter(|call| *call == "TransactWriteItems")
        .count();
    match answer.word.as_str() {
        "accepted" => assert!(transactions > 0, "accepted, and nothing written"),
        // What is accepted beside a malformed or too large neighbour stays accepted.
        "malformed" | "too-large" => {}
        _ => assert!(calls.is_empty(), "{} costs {calls:?}", answer.word),
    }
    let most = source.map_or(0, |source| {
        let each = source.source.each.as_ref().map_or(1, |each| each.max);
        each * source.source.rules.len()
    });
    assert!(
        transactions <= most,
        "{most} actions at most, and these calls: {calls:?}"
    );
    // Once in a process's life: a read of META, and a write for a name that it did not have.
    let others = calls.len() - transactions;
    assert!(others <= 1 + most, "{calls:?}");
}

/// What the receiver logs, since it was last looked at. Formatting it must not panic either.
static LOG: LazyLock<()> = LazyLock::new(|| {
    let layer = tracing_subscriber::fmt().json().flatten_event(true);
    // Where somebody listens already, that is enough.
    let _ = layer.with_writer(|| Lines).try_init();
});
static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Lines;

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One line, JSON, and no secret in it.
fn log_is_clean() {
    let lines = std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner));
    let text = String::from_utf8(lines).expect("a log is text");
    for line in text.lines() {
        let line: Result<serde_json::Value, _> = serde_json::from_str(line);
        assert!(line.is_ok(), "a line of the log is no JSON");
    }
    for source in CONFIG.sources.values() {
        // A token is what the sender itself sends; everything else never leaves this process.
        if source.scheme.facts().covers_body {
            for reference in &source.secrets {
                let secret = secret_text(reference.to_string().trim_start_matches("env:"));
                assert!(!text.contains(&secret[6..]), "a secret in the log");
            }
        }
    }
}
