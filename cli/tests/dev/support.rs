//! What both kinds of tests need: a configuration with one destination, and a sender that signs as
//! GitHub does.

use ackbox_config::Config;
use ackbox_signature::{Scheme, SignRequest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) const SECRET: &str = "a secret that is long enough";

/// One source, `POST /hooks/repo`, and one destination. Times are short where they may be: a claim
/// covers its request and little more.
pub(crate) fn config(destination: &str) -> String {
    format!(
        r#"
        [source.repo]
        scheme   = "github"
        secrets  = ["env:REPO_SECRET"]
        max_body = "1 KiB"

        [[source.repo.rule]]
        name        = "all"
        key         = ["/id"]
        destination = "app"

        [destination.app]
        url           = "{destination}"
        allow_private = true
        idempotency   = {{ header = "idempotency-key", window = "1h" }}
        timeout       = "1s"
        backoff       = {{ first = "1s", max = "1s" }}

        [delivery]
        settle_margin    = "200ms"
        clock_skew       = "100ms"
        lease            = "1500ms"
        first_due        = "1600ms"
        stream_budget    = "1s"
        function_timeout = "5s"
        "#
    )
}

/// The same, read.
pub(crate) fn parsed(destination: &str) -> Config {
    Config::parse("test.toml", &config(destination)).unwrap()
}

/// Posts a body, signed; gives the status and the outcome.
pub(crate) async fn send(url: &str, body: &str) -> (u16, String) {
    let scheme = Scheme::builtin("github").unwrap();
    let secret = scheme.secret("env:REPO_SECRET", SECRET).unwrap();
    let signing = SignRequest {
        method: "POST",
        url,
        body: body.as_bytes(),
        now_ms: 0,
        id: "1",
        event: Some("push"),
    };
    let signed = scheme.sign(&signing, &secret).unwrap();
    let lines = signed.into_iter();
    let headers: String = lines
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    post(url, "/hooks/repo", &headers, body).await
}

/// Posts a body with these header lines; gives the status and the outcome.
pub(crate) async fn post(url: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let outcome = answer
        .lines()
        .find_map(|line| line.strip_prefix("ackbox-outcome: "))
        .unwrap_or_default();
    (status, outcome.to_owned())
}

/// The answer to something that was accepted.
pub(crate) fn accepted() -> (u16, String) {
    (200, "accepted".to_owned())
}
