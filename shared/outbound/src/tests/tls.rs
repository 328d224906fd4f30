//! TLS: who is trusted, and that nothing of a request leaves before it stands.

use std::sync::Arc;

use ackbox_domain::OutcomeKind;
use ackbox_secrets::Secrets;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{HandshakeKind, RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::server::{Request, Server, let_pass, read_request, scripted};
use super::{TIMEOUT, attempt, destination, outbound};
use crate::tls::Tls;
use crate::{Outbound, Shared};

/// A certificate for these names that signs itself, and a server that shows it.
fn certificate(names: &[&str]) -> (CertificateDer<'static>, TlsAcceptor) {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let mut config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    (certificate, TlsAcceptor::from(Arc::new(config)))
}

fn trusting(certificate: CertificateDer<'static>) -> Outbound {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    Outbound(Arc::new(Shared {
        secrets: Secrets::new(|_| None),
        tls: Arc::new(Tls::trusting(roots)),
        aws: None,
    }))
}

async fn answer(stream: &mut TlsStream<TcpStream>) -> Request {
    let request = read_request(stream).await;
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    stream.write_all(answer).await.unwrap();
    stream.flush().await.unwrap();
    let _ = stream.read(&mut [0]).await;
    request
}

/// A server that answers if the handshake succeeds, else says why not.
async fn speaking_tls(acceptor: TlsAcceptor) -> Server<Result<Request, String>> {
    scripted(|stream| async move {
        let mut stream = acceptor.accept(stream).await.map_err(|e| e.to_string())?;
        Ok(answer(&mut stream).await)
    })
    .await
}

fn https<T>(server: &Server<T>, host: &str) -> String {
    format!("https://{host}:{}/actions", server.address.port())
}

#[tokio::test]
async fn a_trusted_certificate_is_spoken_to_by_name_and_by_address() {
    for host in ["localhost", "127.0.0.1"] {
        let (certificate, acceptor) = certificate(&["localhost", "127.0.0.1"]);
        let server = speaking_tls(acceptor).await;
        let url = https(&server, host);
        let outcome = attempt(&trusting(certificate), &destination(&url)).await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
        let request = server.seen().await.unwrap();
        assert_eq!(request.line, "POST /actions HTTP/1.1");
        assert_eq!(request.body, br#"{"id":1}"#);
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_not_sent() {
    let (_, acceptor) = certificate(&["localhost"]);
    let (other, _) = certificate(&["localhost"]);
    let server = speaking_tls(acceptor).await;
    let url = https(&server, "localhost");
    let outcome = attempt(&trusting(other), &destination(&url)).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert!(outcome.detail.contains("certificate"), "{}", outcome.detail);
    server.seen().await.unwrap_err();
}

#[tokio::test]
async fn the_roots_of_the_system_do_not_vouch_for_it_either() {
    let (_, acceptor) = certificate(&["localhost"]);
    let server = speaking_tls(acceptor).await;
    let url = https(&server, "localhost");
    let outcome = attempt(&outbound(&[]), &destination(&url)).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent, "{}", outcome.detail);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_not_sent() {
    let (certificate, acceptor) = certificate(&["mail.example"]);
    let server = speaking_tls(acceptor).await;
    let url = https(&server, "localhost");
    let outcome = attempt(&trusting(certificate), &destination(&url)).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert!(
        outcome.detail.starts_with("TLS with localhost failed: "),
        "{}",
        outcome.detail
    );
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_not_sent() {
    let server = scripted(|mut stream| async move {
        let first = stream.read_u8().await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        first
    })
    .await;
    let url = https(&server, "127.0.0.1");
    let outcome = attempt(&outbound(&[]), &destination(&url)).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert!(
        outcome.detail.starts_with("TLS with 127.0.0.1 failed: "),
        "{}",
        outcome.detail
    );
    // The first byte of a handshake, not of a request.
    assert_eq!(server.seen().await, 22);
}

#[tokio::test]
async fn silence_in_the_handshake_is_not_sent() {
    let server = scripted(|mut stream| async move {
        stream.peek(&mut [0]).await.unwrap();
        let_pass(TIMEOUT).await;
        stream.read(&mut [0]).await
    })
    .await;
    let url = https(&server, "127.0.0.1");
    let outcome = attempt(&outbound(&[]), &destination(&url)).await;
    assert_eq!(outcome.kind, OutcomeKind::NotSent);
    assert_eq!(
        outcome.detail,
        "the time (10s) was up while the TLS handshake with 127.0.0.1 was under way"
    );
}

#[tokio::test]
async fn a_connection_that_is_dropped_after_the_handshake_is_unknown() {
    let (certificate, acceptor) = certificate(&["localhost"]);
    let server = scripted(|stream| async move {
        let mut stream = acceptor.accept(stream).await.unwrap();
        read_request(&mut stream).await
    })
    .await;
    let url = https(&server, "localhost");
    let outcome = attempt(&trusting(certificate), &destination(&url)).await;
    assert_eq!(outcome.kind, OutcomeKind::Unknown, "{}", outcome.detail);
}

#[tokio::test]
async fn only_http_1_1_is_offered_and_sessions_are_resumed() {
    let (certificate, acceptor) = certificate(&["localhost"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "https://localhost:{}/",
        listener.local_addr().unwrap().port()
    );
    let server = tokio::spawn(async move {
        let mut kinds = Vec::new();
        for _ in 0..2 {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            answer(&mut stream).await;
            let connection = stream.get_ref().1;
            assert_eq!(connection.alpn_protocol(), Some(b"http/1.1".as_slice()));
            kinds.push(connection.handshake_kind());
        }
        kinds
    });
    let outbound = trusting(certificate);
    for _ in 0..2 {
        let outcome = attempt(&outbound, &destination(&url)).await;
        assert_eq!(outcome.kind, OutcomeKind::Succeeded, "{}", outcome.detail);
    }
    let kinds = server.await.unwrap();
    assert_eq!(
        kinds,
        [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)]
    );
}
