//! `ackbox send`, against a server on loopback that keeps what it saw.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use ackbox_signature::{Headers, Message, Scheme};
use data_encoding::BASE64;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{CONFIG, Ended, Place, REPORTS, SHOP, SHOP_NEXT};

/// One request, as it was seen.
struct Seen {
    first_line: String,
    headers: Headers,
    body: Vec<u8>,
}

/// Answers one request.
struct Server {
    url: String,
    thread: JoinHandle<Seen>,
}

impl Server {
    fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            serve(stream, answer)
        });
        Self { url, thread }
    }

    /// The same over TLS, and the certificate that it shows, as a file's content.
    fn answering_by_tls(answer: &'static str) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let connection = ServerConnection::new(Arc::new(config)).unwrap();
            serve(StreamOwned::new(connection, stream), answer)
        });
        let url = format!("https://localhost:{port}");
        let der = BASE64.encode(made.cert.der());
        let pem = format!("-----BEGIN CERTIFICATE-----\n{der}\n-----END CERTIFICATE-----\n");
        (Self { url, thread }, pem)
    }

    fn seen(self) -> Seen {
        self.thread.join().unwrap()
    }
}

fn serve(mut stream: impl Read + Write, answer: &str) -> Seen {
    let mut bytes = Vec::new();
    let seen = loop {
        let mut some = [0; 4096];
        let count = stream.read(&mut some).unwrap();
        bytes.extend_from_slice(&some[..count]);
        if let Some(seen) = whole(&bytes) {
            break seen;
        }
        assert!(count > 0, "the request broke off");
    };
    stream.write_all(answer.as_bytes()).unwrap();
    stream.flush().unwrap();
    seen
}

fn whole(bytes: &[u8]) -> Option<Seen> {
    let end = bytes.windows(4).position(|at| at == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let first_line = lines.next().unwrap().to_owned();
    let headers: Headers = lines.map(|line| line.split_once(": ").unwrap()).collect();
    let length = headers.first("content-length").unwrap();
    let length: usize = std::str::from_utf8(length).unwrap().parse().unwrap();
    let body = bytes[end + 4..].to_vec();
    (body.len() == length).then_some(Seen {
        first_line,
        headers,
        body,
    })
}

const ACCEPTED: &str = "HTTP/1.1 200 OK\r\nackbox-outcome: accepted\r\ncontent-length: 0\r\n\r\n";

fn sent(place: &Place, answer: &'static str, arguments: &[&str]) -> (Ended, Seen) {
    let server = Server::answering(answer);
    let url = server.url.clone();
    let arguments: Vec<&str> = ["send"]
        .iter()
        .chain(arguments)
        .chain(&["--url", &url])
        .copied()
        .collect();
    let ended = place.run(&arguments);
    assert_ne!(ended.code, Some(2), "{ended:?}");
    (ended, server.seen())
}

/// Verifies what was seen; the time of its signing is taken from the machine's clock, which both share.
#[track_caller]
fn assert_signed(seen: &Seen, scheme: &str, secret: &str) {
    let scheme = Scheme::builtin(scheme).unwrap();
    let secrets = [scheme.secret("test", secret).unwrap()];
    let message = Message {
        method: "POST",
        url: "/",
        headers: &seen.headers,
        body: &seen.body,
    };
    let now = ackbox::edge::now().unix_ms();
    scheme.verify(&message, &secrets, now, None).unwrap();
}

#[test]
fn a_sample_is_signed_by_the_first_secret_and_posted_to_the_source() {
    let (ended, seen) = sent(&Place::configured(), ACCEPTED, &["shop"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("200 accepted: committed"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("env:SHOP_NEXT"), "{}", ended.out);
    assert_eq!(seen.first_line, "POST /hooks/shop HTTP/1.1");
    assert_eq!(
        seen.headers.first("content-type"),
        Some(&b"application/json"[..])
    );
    assert_signed(&seen, "stripe", SHOP_NEXT);
    let body: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body["type"], "invoice.paid");
}

#[test]
fn another_secret_is_chosen_by_position_or_reference() {
    let place = Place::configured();
    let (_, seen) = sent(&place, ACCEPTED, &["shop", "--secret", "2"]);
    assert_signed(&seen, "stripe", SHOP);
    let (_, seen) = sent(&place, ACCEPTED, &["shop", "--secret", "env:REPORTS"]);
    assert_signed(&seen, "stripe", REPORTS);
}

#[test]
fn the_same_id_gives_the_same_bytes_and_no_id_a_fresh_one() {
    let place = Place::configured();
    let body = |arguments: &[&str]| sent(&place, ACCEPTED, arguments).1.body;
    let first = body(&["shop", "--id", "evt_1"]);
    assert_eq!(first, body(&["shop", "--id", "evt_1"]));
    assert_ne!(body(&["shop"]), body(&["shop"]));
}

#[test]
fn a_sample_has_what_the_rule_reads_and_an_event_that_it_wants() {
    let (_, seen) = sent(
        &Place::configured(),
        ACCEPTED,
        &["reports", "--id", "msg_7"],
    );
    assert_signed(&seen, "standard-webhooks", REPORTS);
    assert_eq!(seen.headers.first("webhook-id"), Some(&b"msg_7"[..]));
    let body: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body["type"], "report.sample");
    assert_eq!(body["data"]["report"]["number"], "msg_7");
}

#[test]
fn a_sample_has_what_the_rules_template_reads() {
    let place = Place::configured();
    let rule = "name = \"ready\"\npayload.json.a = [\"{/data/to}\", \"{?/data/left}\"]";
    place.file("ackbox.toml", CONFIG.replace("name = \"ready\"", rule));
    let (_, seen) = sent(&place, ACCEPTED, &["reports", "--id", "msg_7"]);
    let body: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body["data"]["to"], "msg_7");
    assert_eq!(body["data"].get("left"), None);
}

#[test]
fn a_given_body_is_sent_byte_for_byte() {
    let place = Place::configured();
    let bytes = b"\xff\x00{\"a\" : 1}\r\n\n";
    place.file("body", bytes);
    let (_, seen) = sent(&place, ACCEPTED, &["shop", "--body", "body"]);
    assert_eq!(seen.body, bytes);
    assert_signed(&seen, "stripe", SHOP_NEXT);
    let server = Server::answering(ACCEPTED);
    let url = format!("{}/elsewhere?x=1", server.url);
    let ended = place.run_with_input(&["send", "shop", "--body", "-", "--url", &url], bytes);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let seen = server.seen();
    assert_eq!(seen.body, bytes);
    assert_eq!(seen.first_line, "POST /elsewhere?x=1 HTTP/1.1");
}

#[test]
fn what_the_receiver_says_is_told_in_words_and_by_the_exit_code() {
    let place = Place::configured();
    let refused =
        "HTTP/1.1 401 Unauthorized\r\nackbox-outcome: refused\r\ncontent-length: 0\r\n\r\n";
    let (ended, _) = sent(&place, refused, &["shop"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .out
            .contains("401 refused: the signature was not accepted"),
        "{}",
        ended.out
    );
    let foreign = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 8\r\n\r\nno \u{1b}[2J.";
    let (ended, _) = sent(&place, foreign, &["shop"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.contains("is that an ackbox receiver?"),
        "{}",
        ended.out
    );
    assert_eq!(ended.err, "no \\u{1b}[2J.\n");
}

#[test]
fn nobody_there_is_told_with_what_to_start() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let ended = Place::configured().run(&["send", "shop", "--url", &url]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("ackbox dev"), "{}", ended.err);
}

#[test]
fn a_public_key_cannot_sign() {
    let place = Place::configured().with(
        "PUBLIC",
        "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    );
    let ended = place.run(&["send", "reports", "--secret", "env:PUBLIC"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("private one"), "{}", ended.err);
}

#[test]
fn https_is_spoken_with_whom_the_system_trusts() {
    let (server, certificate) = Server::answering_by_tls(ACCEPTED);
    let place = Place::configured();
    let roots = place.path("roots.pem");
    std::fs::write(&roots, certificate).unwrap();
    let place = place.with("SSL_CERT_FILE", roots.to_str().unwrap());
    let ended = place.run(&["send", "shop", "--url", &server.url]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let seen = server.seen();
    assert_signed(&seen, "stripe", SHOP_NEXT);
    let host = server_host(&seen);
    assert!(host.starts_with("localhost:"), "{host}");
}

fn server_host(seen: &Seen) -> String {
    let host = seen.headers.first("host").unwrap();
    String::from_utf8(host.to_vec()).unwrap()
}
