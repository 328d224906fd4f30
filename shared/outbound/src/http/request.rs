//! A destination and a delivery come in, the request as it will be sent goes out, with the means to
//! keep its secrets out of what is written down. No error names a value, only its reference.

use ackbox_config::{HttpDestination, SecretRef};
use ackbox_domain::RenderedBody;
use ackbox_secrets::Secrets;
use ackbox_signature::{Scheme, Secret, SignRequest};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use url::{Position, Url};

use crate::redact::Redactor;
use crate::{Delivery, NotSent};

pub(crate) const USER_AGENT: &str = concat!("ackbox/", env!("CARGO_PKG_VERSION"));

/// The scheme by which deliveries are signed.
const SIGNING: &str = "standard-webhooks";

/// Headers that say how a message is framed, or what may follow it. A configured one would let the
/// request be read as another one than was sent.
const FRAMING: [&str; 7] = [
    "expect",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A request that is ready, and what must not show of it.
pub(crate) struct Prepared {
    pub(crate) request: Request<Full<Bytes>>,
    pub(crate) redactor: Redactor,
}

/// Resolves what is secret, signs, and puts the request together. Ours are set last, so that no
/// configured header replaces one of them.
pub(crate) async fn prepare(
    secrets: &Secrets,
    http: &HttpDestination,
    delivery: &Delivery<'_>,
) -> Result<Prepared, NotSent> {
    let mut redactor = Redactor::default();
    hide_tokens(&http.url, &mut redactor);
    let mut headers = HeaderMap::new();
    configured(secrets, &http.headers, &mut headers, &mut redactor).await?;
    signed(secrets, http, delivery, &mut headers, &mut redactor).await?;
    ours(http, delivery, &mut headers)?;
    let body = Full::new(Bytes::copy_from_slice(&delivery.body.bytes));
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target(&http.url)?;
    *request.headers_mut() = headers;
    Ok(Prepared { request, redactor })
}

/// A token in the URL is as secret as one in a header, and error pages repeat what was asked for.
pub(crate) fn hide_tokens(url: &Url, redactor: &mut Redactor) {
    for (name, value) in url.query_pairs() {
        // A query without `=` is all name.
        let token = if value.is_empty() { name } else { value };
        if token.len() >= 8 {
            redactor.hide(&token);
        }
    }
}

/// The destination's own headers.
pub(crate) async fn configured(
    secrets: &Secrets,
    own: &[(String, SecretRef)],
    headers: &mut HeaderMap,
    redactor: &mut Redactor,
) -> Result<(), NotSent> {
    let references: Vec<SecretRef> = own.iter().map(|(_, secret)| secret.clone()).collect();
    let values = resolved(secrets, &references).await?;
    for ((name, reference), value) in own.iter().zip(values) {
        let header = HeaderName::try_from(name.as_str())
            .ok()
            .filter(|header| !FRAMING.contains(&header.as_str()))
            .ok_or_else(|| {
                NotSent(format!(
                    "{name:?} cannot be set as a header of a destination"
                ))
            })?;
        let mut value_sent = HeaderValue::from_str(value.expose()).map_err(|_| {
            NotSent(format!(
                "secret {reference} has a character that header {name} cannot carry"
            ))
        })?;
        value_sent.set_sensitive(true);
        redactor.hide(value.expose());
        headers.append(header, value_sent);
    }
    Ok(())
}

/// Standard Webhooks headers, where the destination has signing secrets: all of them sign.
async fn signed(
    secrets: &Secrets,
    http: &HttpDestination,
    delivery: &Delivery<'_>,
    headers: &mut HeaderMap,
    redactor: &mut Redactor,
) -> Result<(), NotSent> {
    if http.signing.is_empty() {
        return Ok(());
    }
    let scheme = Scheme::builtin(SIGNING)
        .ok_or_else(|| NotSent(format!("the signature scheme {SIGNING} is not built in")))?;
    let values = resolved(secrets, &http.signing).await?;
    let keys = http
        .signing
        .iter()
        .zip(values)
        .map(|(reference, value)| scheme.secret(&reference.to_string(), value.expose()))
        .collect::<Result<Vec<Secret>, _>>()
        .map_err(|error| NotSent(error.to_string()))?;
    let request = SignRequest {
        method: "POST",
        url: http.url.as_str(),
        body: &delivery.body.bytes,
        now_ms: delivery.now.unix_ms(),
        id: delivery.key.as_str(),
        event: None,
    };
    let lines = scheme
        .sign_all(&request, &keys)
        .map_err(|error| NotSent(format!("could not sign: {error}")))?;
    for (name, value) in lines {
        let fits = HeaderName::try_from(name.as_str())
            .ok()
            .zip(HeaderValue::from_str(&value).ok());
        let (header, sent) =
            fits.ok_or_else(|| NotSent(format!("could not sign: header {name} cannot carry it")))?;
        if name.eq_ignore_ascii_case("webhook-signature") {
            redactor.hide(&value);
        }
        headers.insert(header, sent);
    }
    Ok(())
}

async fn resolved(
    secrets: &Secrets,
    references: &[SecretRef],
) -> Result<Vec<ackbox_secrets::SecretValue>, NotSent> {
    secrets
        .resolve(references)
        .await
        .map_err(|error| NotSent(error.to_string()))
}

/// What the request says of itself, and the action's key.
fn ours(
    http: &HttpDestination,
    delivery: &Delivery<'_>,
    headers: &mut HeaderMap,
) -> Result<(), NotSent> {
    let RenderedBody {
        bytes,
        content_type,
        content_encoding,
    } = delivery.body;
    let host = &http.url[Position::BeforeHost..Position::AfterPort];
    let key = HeaderName::try_from(http.idempotency_header.as_str())
        .map_err(|_| NotSent(format!("{:?} is no header name", http.idempotency_header)))?;
    headers.insert(header::HOST, carried("host", host)?);
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    for (name, stored) in [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_ENCODING, content_encoding),
    ] {
        headers.remove(&name);
        if let Some(stored) = stored {
            let value = carried(name.as_str(), stored)?;
            headers.insert(name, value);
        }
    }
    headers.insert(key, carried("the action's key", delivery.key.as_str())?);
    Ok(())
}

pub(crate) fn carried(what: &str, value: &str) -> Result<HeaderValue, NotSent> {
    HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| NotSent(format!("{what} {value:?} cannot be sent as a header")))
}

/// Path and query: what stands in the request line (RFC 9112, section 3.2.1).
pub(crate) fn target(url: &Url) -> Result<Uri, NotSent> {
    url[Position::BeforePath..Position::AfterQuery]
        .parse()
        .map_err(|error| NotSent(format!("the URL cannot be sent: {error}")))
}
