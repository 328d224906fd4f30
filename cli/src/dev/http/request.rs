//! A request from the wire becomes one as Lambda hands it over from a function URL (Lambda's developer
//! guide, "Invoking Lambda function URLs", payload format 2.0):
//!
//! - header names are lower-case, and a header that came several times is one header, its values joined
//!   by commas (`cookie`: by `; `). A scheme that refuses a header for coming twice sees one odd value
//!   instead, here as there.
//! - the URL is absolute: host from the `Host` header, scheme from `x-forwarded-proto` where a tunnel
//!   set it, else `http`.
//! - the body's bytes are the sender's. Text where it is declared as text and is UTF-8, else binary.

use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderValue};
use hyper::http::Uri;
use hyper::http::request::Parts;
use lambda_http::{Body, Request};

/// The request as a function gets it.
pub(super) fn for_function(mut head: Parts, body: Vec<u8>) -> Request {
    head.uri = absolute(&head);
    head.headers = joined(&head.headers);
    let body = as_delivered(&head.headers, body);
    // What the server keeps with a request (the upgrade, say) is of no use to the function.
    head.extensions.clear();
    Request::from_parts(head, body)
}

fn absolute(head: &Parts) -> Uri {
    let host = head
        .headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| head.uri.authority().map(|authority| authority.as_str()));
    let scheme = match head.headers.get("x-forwarded-proto") {
        Some(proto) if proto == "https" => "https",
        _ => "http",
    };
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let uri = Uri::builder()
        .scheme(scheme)
        .authority(host.unwrap_or("localhost"))
        .path_and_query(path)
        .build();
    // A host that cannot stand in a URL: the path alone still says which source is meant.
    uri.unwrap_or_else(|_| head.uri.clone())
}

fn joined(headers: &HeaderMap) -> HeaderMap {
    let mut joined = HeaderMap::with_capacity(headers.keys_len());
    for name in headers.keys() {
        let separator: &[u8] = if name == COOKIE { b"; " } else { b"," };
        let values: Vec<&[u8]> = headers
            .get_all(name)
            .iter()
            .map(HeaderValue::as_bytes)
            .collect();
        // Values and separators are header bytes, so what they make is too.
        if let Ok(value) = HeaderValue::from_bytes(&values.join(separator)) {
            joined.insert(name, value);
        }
    }
    joined
}

fn as_delivered(headers: &HeaderMap, body: Vec<u8>) -> Body {
    if body.is_empty() {
        return Body::Empty;
    }
    if !is_text(headers) {
        return Body::Binary(body);
    }
    match String::from_utf8(body) {
        Ok(text) => Body::Text(text),
        Err(odd) => Body::Binary(odd.into_bytes()),
    }
}

/// What a function URL delivers as text and not as base64.
fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .and_then(|kind| kind.split(';').next())
        .map(|kind| kind.trim().to_ascii_lowercase())
        .unwrap_or_default();
    let is_text = kind.starts_with("text/")
        || matches!(
            kind.as_str(),
            "application/json" | "application/xml" | "application/javascript"
        );
    is_text && !headers.contains_key(CONTENT_ENCODING)
}

#[cfg(test)]
mod tests {
    use hyper::http;

    use super::*;

    fn request(builder: http::request::Builder, body: &[u8]) -> Request {
        let (head, ()) = builder.body(()).unwrap().into_parts();
        for_function(head, body.to_vec())
    }

    #[test]
    fn a_header_that_came_twice_is_one_with_both_values() {
        let seen = request(
            http::Request::post("/hooks/a")
                .header("Webhook-Id", "1")
                .header("webhook-id", b"\xff2".as_slice())
                .header("cookie", "a=1")
                .header("cookie", "b=2"),
            b"",
        );
        let ids: Vec<_> = seen.headers().get_all("webhook-id").iter().collect();
        assert_eq!(ids, [b"1,\xff2".as_slice()]);
        assert_eq!(seen.headers()["cookie"], "a=1; b=2");
    }

    #[test]
    fn the_url_is_absolute_and_keeps_path_and_query_as_they_came() {
        let seen = request(
            http::Request::post("/hooks/a%20b/?x=%2F&y").header("host", "127.0.0.1:99"),
            b"",
        );
        assert_eq!(
            seen.uri().to_string(),
            "http://127.0.0.1:99/hooks/a%20b/?x=%2F&y"
        );
        let tunnelled = http::Request::post("/hooks/a")
            .header("host", "t.example")
            .header("x-forwarded-proto", "https");
        assert_eq!(
            request(tunnelled, b"").uri().to_string(),
            "https://t.example/hooks/a"
        );
        let odd = http::Request::post("/hooks/a").header("host", "no host");
        assert_eq!(request(odd, b"").uri().path(), "/hooks/a");
    }

    #[test]
    fn every_byte_of_a_body_is_kept() {
        let json = |body: &[u8]| {
            let builder = http::Request::post("/").header("content-type", "application/json; x");
            request(builder, body).into_body()
        };
        assert_eq!(json(b""), Body::Empty);
        assert_eq!(json(b"{}\r\n"), Body::Text("{}\r\n".to_owned()));
        assert_eq!(json(b"\xff\0"), Body::Binary(b"\xff\0".to_vec()));
        let untyped = request(http::Request::post("/"), b"{}").into_body();
        assert_eq!(untyped, Body::Binary(b"{}".to_vec()));
    }
}
