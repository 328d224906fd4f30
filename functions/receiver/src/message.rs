//! An HTTP request becomes a message: its source, its headers, and the body bytes that the sender
//! sent. A body over the source's limit goes no further, and nothing is re-encoded.

use ackbox_config::{Config, SourceConfig};
use ackbox_edge::http;
use ackbox_signature::{Headers, Message};
use lambda_http::Request;

use crate::response::Outcome;

/// One inbound request of a configured source, within its size limit.
#[derive(Debug)]
pub(crate) struct Inbound<'c> {
    /// The source that the path names.
    pub(crate) source: &'c SourceConfig,
    method: String,
    url: String,
    headers: Headers,
    body: Vec<u8>,
}

impl<'c> Inbound<'c> {
    /// The source that a request's path names, by its name or one that it had before: of a function URL, an HTTP
    /// API, a load balancer or plain HTTP.
    pub(crate) fn source_of(
        request: &Request,
        config: &'c Config,
    ) -> Result<&'c SourceConfig, Outcome> {
        source_name(request)
            .and_then(|name| config.source_called(name))
            .ok_or(Outcome::UnknownSource)
    }

    /// Reads a request to that source.
    pub(crate) fn from_request(
        request: Request,
        source: &'c SourceConfig,
    ) -> Result<Self, Outcome> {
        if request.method() != lambda_http::http::Method::POST {
            return Err(Outcome::Method);
        }
        let (parts, body) = request.into_parts();
        let body = http::bytes(body).ok_or(Outcome::Defect)?;
        if body.len() > source.source.max_body {
            return Err(Outcome::TooLarge);
        }
        let headers = parts
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        Ok(Self {
            source,
            method: parts.method.as_str().to_owned(),
            url: parts.uri.to_string(),
            headers,
            body,
        })
    }

    /// The message as signatures see it.
    pub(crate) fn message(&self) -> Message<'_> {
        Message {
            method: &self.method,
            url: &self.url,
            headers: &self.headers,
            body: &self.body,
        }
    }
}

/// The `{source}` of `/hooks/{source}`, with one optional slash behind it.
fn source_name(request: &Request) -> Option<&str> {
    let name = http::path(request).strip_prefix("/hooks/")?;
    let name = name.strip_suffix('/').unwrap_or(name);
    (!name.contains('/')).then_some(name)
}
