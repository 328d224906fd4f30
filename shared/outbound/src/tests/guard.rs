//! What only we can reach is not spoken to.

use ackbox_domain::OutcomeKind;

use super::{attempt, destination, http, outbound};

/// An attempt from which nothing that is not public may be reached.
async fn guarded(url: &str) -> String {
    let mut destination = destination(url);
    http(&mut destination).allow_private = false;
    let outcome = attempt(&outbound(&[]), &destination).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent, "{url}");
    outcome.detail
}

/// A listener, to see that nobody came.
fn listener() -> (std::net::TcpListener, u16) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[tokio::test]
async fn this_host_is_refused_in_every_notation() {
    let (listener, port) = listener();
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "2130706433",
        "127.0.0.1.",
        "0.0.0.0",
        "0",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "[fd00:ec2::254]",
    ] {
        let detail = guarded(&format!("https://{host}:{port}/")).await;
        assert!(
            detail.contains("is not a public address"),
            "{host}: {detail}"
        );
    }
    assert!(listener.accept().is_err(), "somebody came");
}

#[tokio::test]
async fn a_name_that_resolves_to_this_host_is_refused() {
    let (listener, port) = listener();
    for name in ["localhost", "LOCALHOST"] {
        let detail = guarded(&format!("https://{name}:{port}/")).await;
        assert!(
            detail.contains("is not a public address"),
            "{name}: {detail}"
        );
    }
    assert!(listener.accept().is_err(), "somebody came");
}

#[tokio::test]
async fn plain_http_is_refused_before_anything_is_resolved() {
    for url in ["http://nowhere.invalid/", "http://203.0.113.1/"] {
        let detail = guarded(url).await;
        assert_eq!(
            detail,
            "http is spoken only where allow_private = true; use https"
        );
    }
}

#[tokio::test]
async fn other_protocols_are_never_spoken() {
    for url in ["ftp://127.0.0.1/", "file:///etc/passwd", "ws://127.0.0.1/"] {
        let outcome = attempt(&outbound(&[]), &destination(url)).await;
        assert_eq!(outcome.kind, OutcomeKind::NotSent, "{url}");
        assert!(
            outcome.detail.ends_with("is not spoken; use https"),
            "{}",
            outcome.detail
        );
    }
}
