//! One HTTP request goes out, one answer comes back. HTTP/1.1, no redirects, no proxies, no second try:
//! what is seen is what the receiver did.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::commands::CommandError;

/// How long the whole exchange may take: longer than a receiver's time budget.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most bytes read of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// Posts. `request` has a path and no host; `url` says where it goes.
///
/// # Errors
///
/// [`CommandError::Failed`] where there is no answer.
pub(super) async fn post(
    url: &Url,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>, CommandError> {
    match tokio::time::timeout(PATIENCE, exchange(url, request)).await {
        Ok(answered) => answered,
        Err(late) => Err(CommandError::failed(
            format!("no answer of {url} within {} s", PATIENCE.as_secs()),
            late,
        )),
    }
}

async fn exchange(
    url: &Url,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>, CommandError> {
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Err(CommandError::Usage(format!("{url} names no host")));
    };
    let address = match &host {
        Host::Domain(name) => (*name).to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    };
    let unreachable = |error| {
        let origin = url.origin().ascii_serialization();
        CommandError::failed(
            format!("cannot reach {origin}: is `ackbox dev` running there?"),
            error,
        )
    };
    let stream = TcpStream::connect((address, port))
        .await
        .map_err(unreachable)?;
    if url.scheme() == "https" {
        let connector = TlsConnector::from(tls()?);
        let name = server_name(&host)?;
        let stream = connector
            .connect(name, stream)
            .await
            .map_err(|error| CommandError::failed(format!("no TLS with {host}"), error))?;
        speak(stream, request).await
    } else {
        speak(stream, request).await
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>, CommandError> {
    let broken = |error: hyper::Error| {
        CommandError::failed("the connection broke before the answer was complete", error)
    };
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    // What goes wrong on the connection is told by the request on it.
    tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(broken)?;
    let (head, body) = response.into_parts();
    // The head is the answer; a body that is too long or breaks off changes nothing.
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    let body = body
        .map(|collected| collected.to_bytes())
        .unwrap_or_default();
    Ok(Response::from_parts(head, body))
}

fn server_name(host: &Host<&str>) -> Result<ServerName<'static>, CommandError> {
    let name = match host {
        Host::Domain(name) => ServerName::try_from((*name).to_owned()),
        Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
    };
    name.map_err(|error| CommandError::failed(format!("no certificate can name {host}"), error))
}

fn tls() -> Result<Arc<ClientConfig>, CommandError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| CommandError::failed("TLS cannot be set up", error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
    Ok(Arc::new(config))
}
