//! Questions: how far an answer is read, and that one which did not come whole is no word.

use std::time::Duration;

use ackbox_config::{Config, Reconcile};
use ackbox_domain::settlement::Word;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::server::{Server, answering, read_request, scripted};
use super::{body, key, outbound};
use crate::ask::ANSWER_MAX;
use crate::{Asked, Question};

/// Where the body says "done" it is there; any other 200, and any 404, says that it is not.
const ANSWERS: &str = r#"[
    { status = 200, where = { "/state" = "done" }, means = "applied" },
    { status = 200, means = "not_applied" },
    { status = 404, means = "not_applied" },
]"#;

/// How a destination is asked, as a configuration says it.
fn question(url: &str, more: &str) -> Reconcile {
    let text = format!(
        "[destination.mailer]\nurl = \"https://mail.example.com/\"\nidempotency = \"none\"\non_unknown = \"reconcile\"\nallow_private = true\n[destination.mailer.reconcile]\nurl = \"{url}\"\ntimeout = \"10s\"\nanswers = {ANSWERS}\n{more}"
    );
    let config = Config::parse("f", &text).unwrap();
    config.destinations["mailer"].reconcile.clone().unwrap()
}

async fn asked_of<T>(server: &Server<T>, own: &str) -> Asked {
    let url = format!("http://{}{own}", server.address);
    let reconcile = question(&url, "");
    let question = Question {
        key: &key(),
        body: &body(br#"{"id":"a"}"#),
    };
    outbound(&[]).ask(&reconcile, &question).await
}

/// One question, to a server that answers with these bytes and closes.
async fn asked(answer: &str) -> Asked {
    let server = answering(answer.as_bytes()).await;
    let asked = asked_of(&server, "/jobs/{key}").await;
    server.seen().await;
    asked
}

fn whole(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[tokio::test]
async fn a_whole_answer_is_judged_by_its_body() {
    let done = asked(&whole("200 OK", r#"{"state":"done"}"#)).await;
    assert_eq!(done.word, Word::Applied);
    assert_eq!(done.detail, r#"asked, it said 200: {"state":"done"}"#);
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{\"state\"\r\n8\r\n:\"done\"}\r\n0\r\n\r\n";
    assert_eq!(asked(chunked).await.word, Word::Applied);
    let other = asked(&whole("200 OK", r#"{"state":"new"}"#)).await;
    assert_eq!(other.word, Word::NotApplied);
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_no_word_and_says_so() {
    for cut in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"state\":\"do",
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n",
        // What came is JSON by itself.
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"state\":\"new\"}",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{\"state\"\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{\"state\"\r\nnonsense",
    ] {
        let asked = asked(cut).await;
        assert_eq!(asked.word, Word::StillUnknown, "{cut}: {}", asked.detail);
        assert_eq!(asked.status, Some(200));
        let said = "asked, it said 200, but the answer was cut off: ";
        assert!(asked.detail.starts_with(said), "{}", asked.detail);
    }
}

#[tokio::test]
async fn a_cut_does_not_matter_where_the_status_alone_decides() {
    let cut = "HTTP/1.1 404 Not Found\r\ncontent-length: 100\r\n\r\nno su";
    let asked = asked(cut).await;
    assert_eq!(asked.word, Word::NotApplied);
    assert_eq!(asked.detail, "asked, it said 404: no su");
}

#[tokio::test]
async fn an_answer_without_a_length_that_breaks_is_no_json_and_so_no_word() {
    let asked = asked("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"state\":\"do").await;
    assert_eq!(asked.word, Word::StillUnknown, "{}", asked.detail);
    assert_eq!(
        asked.detail,
        "asked, it said 200, but the answer cannot be read as JSON: {\"state\":\"do"
    );
}

#[tokio::test]
async fn an_answer_of_just_the_size_that_is_read_counts_and_a_longer_one_does_not() {
    let padded = |size: usize| {
        let body = format!(r#"{{"state":"done","more":"{}"}}"#, "x".repeat(size));
        (body.len(), whole("200 OK", &body))
    };
    let (frame, _) = padded(0);
    let (length, fits) = padded(ANSWER_MAX - frame);
    assert_eq!(length, ANSWER_MAX);
    assert_eq!(asked(&fits).await.word, Word::Applied);
    let (_, too_long) = padded(ANSWER_MAX - frame + 1);
    let asked = asked(&too_long).await;
    assert_eq!(asked.word, Word::StillUnknown, "{}", asked.detail);
    let said = "asked, it said 200, but the answer was cut off: ";
    assert!(asked.detail.starts_with(said), "{}", asked.detail);
}

/// A server that sends the head and half of the body, and the rest after this time.
async fn slow(pause: Duration) -> Server<()> {
    scripted(move |mut stream| async move {
        read_request(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n{\"state\"";
        stream.write_all(head).await.unwrap();
        // From here on time passes only where everybody waits for it.
        tokio::time::pause();
        tokio::time::sleep(pause).await;
        let _ = stream.write_all(b":\"done\"}").await;
        // Open until the other side has heard enough.
        let _ = stream.read(&mut [0]).await;
    })
    .await
}

#[tokio::test]
async fn a_slow_answer_is_read_for_as_long_as_a_question_may_take() {
    let server = slow(Duration::from_secs(5)).await;
    let asked = asked_of(&server, "/jobs/{key}").await;
    assert_eq!(asked.word, Word::Applied, "{}", asked.detail);
}

#[tokio::test]
async fn an_answer_that_stalls_for_longer_is_no_word() {
    let server = slow(Duration::from_secs(20)).await;
    let asked = asked_of(&server, "/jobs/{key}").await;
    assert_eq!(asked.word, Word::StillUnknown, "{}", asked.detail);
    let said = "asked, it said 200, but the answer was cut off: ";
    assert!(asked.detail.starts_with(said), "{}", asked.detail);
}

#[tokio::test]
async fn what_cannot_be_asked_about_is_said_without_the_url_and_nobody_is_asked() {
    const URL: &str = "https://nowhere.invalid/jobs/{/id}?token=hunter2hunter2&{key}";
    for (sent, detail) in [
        (
            "{}",
            "could not be asked: the body that was sent has no one value at /id",
        ),
        (
            r#"{"id":".."}"#,
            "could not be asked: the value at /id of the body that was sent is blank or a dot segment, and names nothing",
        ),
    ] {
        let reconcile = question(URL, "");
        let question = Question {
            key: &key(),
            body: &body(sent.as_bytes()),
        };
        let asked = outbound(&[]).ask(&reconcile, &question).await;
        assert_eq!((asked.word, asked.status), (Word::StillUnknown, None));
        assert_eq!(asked.detail, detail);
    }
}

#[tokio::test]
async fn no_detail_shows_a_token_of_the_url_or_of_a_header() {
    const URL: &str = "/jobs/{/id}?token=hunter2hunter2&opensesame1";
    let tokens = ["hunter2hunter2", "opensesame1", "sk_live_51H8ZyKL"];
    let outbound = outbound(&[("TOKEN", "Bearer sk_live_51H8ZyKL")]);
    let echo = whole("200 OK", &format!("{tokens:?} {URL}"));
    let server = answering(echo.as_bytes()).await;
    let there = format!("http://{}{URL}", server.address);
    let long = "x".repeat(100_000);
    for (url, id) in [
        (&there[..], "a"),
        (&format!("http://127.0.0.1:1{URL}"), "a"),
        (&format!("https://nowhere.invalid{URL}"), "a"),
        (&format!("https://127.0.0.1:1{URL}"), &long),
        (&format!("https://127.0.0.1:1{URL}"), ""),
    ] {
        let reconcile = question(url, "headers = { Authorization = \"env:TOKEN\" }");
        let question = Question {
            key: &key(),
            body: &body(format!(r#"{{"id":"{id}"}}"#).as_bytes()),
        };
        let asked = outbound.ask(&reconcile, &question).await;
        assert_eq!(asked.word, Word::StillUnknown, "{}", asked.detail);
        for token in tokens {
            assert!(!asked.detail.contains(token), "{}", asked.detail);
        }
    }
    server.seen().await;
}
