//! A URL comes in, a connection goes out that stands and is guarded. No byte of a request is sent
//! here, and no address is connected to that the guard has not seen.

use std::net::SocketAddr;

use ackbox_domain::address::is_public;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use url::{Host, Url};

use crate::NotSent;
use crate::deadline::Deadline;
use crate::tls::Tls;

/// A connection, in the clear or by TLS.
pub(crate) type Stream = Box<dyn Connection>;

pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// More addresses than this are not tried.
const ADDRESSES_MAX: usize = 8;

/// Connects to where the URL points: resolves, drops addresses that are not public (unless
/// `allow_private`), tries the others in turn, and speaks TLS for `https`.
pub(crate) async fn connect(
    tls: &Tls,
    url: &Url,
    allow_private: bool,
    deadline: &Deadline,
) -> Result<Stream, NotSent> {
    let secure = match url.scheme() {
        "https" => true,
        "http" if allow_private => false,
        "http" => {
            return Err(NotSent(
                "http is spoken only where allow_private = true; use https".to_owned(),
            ));
        }
        scheme => return Err(NotSent(format!("{scheme} is not spoken; use https"))),
    };
    let host = url
        .host()
        .ok_or_else(|| NotSent("the URL has no host".to_owned()))?;
    let addresses = resolve(url, &host, deadline).await?;
    let stream = tcp(&admitted(&host, addresses, allow_private)?, deadline).await?;
    if secure {
        Ok(Box::new(tls.handshake(&host, stream, deadline).await?))
    } else {
        Ok(Box::new(stream))
    }
}

/// Literal addresses come normalised from the URL: `0x7f.1` and `2130706433` are 127.0.0.1 by now.
async fn resolve(
    url: &Url,
    host: &Host<&str>,
    deadline: &Deadline,
) -> Result<Vec<SocketAddr>, NotSent> {
    let port = url.port_or_known_default().unwrap_or(443);
    match host {
        Host::Ipv4(address) => Ok(vec![(*address, port).into()]),
        Host::Ipv6(address) => Ok(vec![(*address, port).into()]),
        Host::Domain(name) => deadline
            .guard(&format!("resolving {name}"), lookup_host((*name, port)))
            .await?
            .map(Iterator::collect)
            .map_err(|error| NotSent(format!("could not resolve {name}: {error}"))),
    }
}

/// The addresses that may be connected to.
fn admitted(
    host: &Host<&str>,
    mut addresses: Vec<SocketAddr>,
    allow_private: bool,
) -> Result<Vec<SocketAddr>, NotSent> {
    let Some(first) = addresses.first().copied() else {
        return Err(NotSent(format!("{host} resolves to no address")));
    };
    if !allow_private {
        addresses.retain(|address| is_public(address.ip()));
    }
    if addresses.is_empty() {
        let address = first.ip();
        return Err(NotSent(format!(
            "{host} is at {address}, which is not a public address; allow_private = true would allow it"
        )));
    }
    addresses.truncate(ADDRESSES_MAX);
    Ok(addresses)
}

/// The first address that answers. Each gets an equal share of what time is left, so that a silent
/// one does not use up the time of the next.
async fn tcp(addresses: &[SocketAddr], deadline: &Deadline) -> Result<TcpStream, NotSent> {
    let mut failed = "no address".to_owned();
    for (address, untried) in addresses.iter().zip((1..=addresses.len() as u32).rev()) {
        let share = deadline.remaining() / untried;
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // A request is written in few pieces and then waited for: delaying the last one
                // gains nothing. A system that refuses the option still delivers.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => failed = format!("{address}: {error}"),
            Err(_) => failed = format!("{address}: no answer within {share:?}"),
        }
    }
    Err(NotSent(format!("could not connect to {failed}")))
}

#[cfg(test)]
mod tests;
