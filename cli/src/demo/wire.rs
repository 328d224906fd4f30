//! One exchange over real HTTP: a request comes in, goes out on a connection of its own, and its answer is
//! read whole.

use std::io;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use url::Url;

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The word in `ackbox-outcome`.
    pub outcome: String,
    /// The body.
    pub body: Bytes,
}

/// Why an exchange broke off.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// Nobody listens.
    #[error("it cannot be reached: {0}")]
    Connect(#[from] io::Error),
    /// Somebody hung up.
    #[error("the connection broke: {0}")]
    Connection(#[from] hyper::Error),
}

/// Sends a request to the host and port of `to`.
///
/// # Errors
///
/// There is no connection, or it ends before the answer does.
pub async fn exchange(to: &Url, request: Request<Full<Bytes>>) -> Result<Reply, Broken> {
    let host = to.host_str().unwrap_or_default();
    let port = to.port_or_known_default().unwrap_or_default();
    let stream = TcpStream::connect((host, port)).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // What goes wrong on the connection is told by the request on it.
    tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let (parts, body) = response.into_parts();
    let outcome = parts.headers.get("ackbox-outcome");
    let outcome = outcome.and_then(|value| value.to_str().ok());
    Ok(Reply {
        status: parts.status.as_u16(),
        outcome: outcome.unwrap_or("(none)").to_owned(),
        body: body.collect().await?.to_bytes(),
    })
}
