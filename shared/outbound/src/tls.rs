//! A TCP connection comes in, a TLS connection to a host whose certificate is trusted goes out.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

use crate::NotSent;
use crate::deadline::Deadline;

/// How TLS is spoken. One configuration for all connections: it holds the sessions that are resumed.
/// Data is never sent before a handshake has ended, since such data can be replayed.
pub(crate) struct Tls {
    config: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    /// Trusts the roots of the system, read when they are first needed.
    pub(crate) fn system() -> Self {
        Self {
            config: OnceCell::new(),
        }
    }

    /// Trusts these roots and no others.
    #[cfg(test)]
    pub(crate) fn trusting(roots: RootCertStore) -> Self {
        let config = client_config(roots).expect("ring speaks the default versions of TLS");
        Self {
            config: OnceCell::new_with(Some(config)),
        }
    }

    /// Speaks TLS with `host` on a connection that stands.
    pub(crate) async fn handshake(
        &self,
        host: &Host<&str>,
        stream: TcpStream,
        deadline: &Deadline,
    ) -> Result<TlsStream<TcpStream>, NotSent> {
        let name = server_name(host)?;
        let config = deadline
            .guard(
                "reading the trusted roots",
                self.config.get_or_try_init(system_config),
            )
            .await??;
        let connector = TlsConnector::from(Arc::clone(config));
        deadline
            .guard(
                &format!("the TLS handshake with {host} was under way"),
                connector.connect(name, stream),
            )
            .await?
            .map_err(|error| NotSent(format!("TLS with {host} failed: {error}")))
    }
}

fn server_name(host: &Host<&str>) -> Result<ServerName<'static>, NotSent> {
    match host {
        Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
        // The dot that makes a name absolute is no part of the name in a certificate.
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
            .map_err(|_| NotSent(format!("{name} cannot be the name in a certificate"))),
    }
}

/// Reading the roots reads files: not on a thread that drives connections.
async fn system_config() -> Result<Arc<ClientConfig>, NotSent> {
    let found = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs)
        .await
        .map_err(|stopped| NotSent(format!("could not read the trusted roots: {stopped}")))?;
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let why = found
            .errors
            .first()
            .map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(NotSent(format!(
            "no trusted roots: install ca-certificates or set SSL_CERT_FILE ({why})"
        )));
    }
    client_config(roots)
}

fn client_config(roots: RootCertStore) -> Result<Arc<ClientConfig>, NotSent> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| NotSent(format!("TLS cannot be set up: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
