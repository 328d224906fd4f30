//! The event of a host, as it came; the same event out, such that `lambda_http` can make a request of
//! it. It builds the request's URL from what a stranger wrote, and panics where that makes none: a
//! `Host` that is no host, a scheme that is none, a path that is not below the host, a query with
//! characters that no URL has.
//!
//! Nothing that a signature covers is touched: neither the body nor any other header.

use lambda_http::http::header::HOST;
use lambda_http::http::uri::PathAndQuery;
use lambda_http::http::{HeaderMap, Uri};
use lambda_http::request::LambdaRequest;
use url::Url;

/// Leaves out what makes no URL. The host then stands for itself: it says under which name it was called.
#[must_use]
pub fn with_a_url(mut event: LambdaRequest) -> LambdaRequest {
    match &mut event {
        LambdaRequest::ApiGatewayV2(event) => {
            let own_name = &mut event.request_context.domain_name;
            names_of_a_url(&mut event.headers, own_name);
            event.raw_path.take_if(|path| !is_path(path));
            // Of the other hosts' events the query is written anew, escaped.
            event.raw_query_string.take_if(|query| !is_query(query));
        }
        LambdaRequest::ApiGatewayV1(event) => {
            let own_name = &mut event.request_context.domain_name;
            names_of_a_url(&mut event.headers, own_name);
            event.path.take_if(|path| !is_path(path));
        }
        LambdaRequest::Alb(event) => {
            names_of_a_url(&mut event.headers, &mut None);
            event.path.take_if(|path| !is_path(path));
        }
        // The type is open for hosts to come.
        _ => {}
    }
    event
}

/// `own_name` is the host's name for itself, which stands where no `Host` does.
fn names_of_a_url(headers: &mut HeaderMap, own_name: &mut Option<String>) {
    let host = headers
        .get(HOST)
        .map(|host| host.to_str().is_ok_and(is_host));
    if host != Some(true) {
        headers.remove(HOST);
        own_name.take_if(|name| !is_host(name));
    }
    let scheme = headers.get("x-forwarded-proto");
    if scheme.is_some_and(|scheme| scheme != "https" && scheme != "http") {
        headers.remove("x-forwarded-proto");
    }
}

/// Whether this is a name or address, with or without a port, and nothing beside it.
fn is_host(text: &str) -> bool {
    let Ok(url) = Url::parse(&format!("https://{text}/")) else {
        return false;
    };
    // A slash or a question mark in it would move the path; an @ would make a user of it.
    let is_alone = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    is_alone && !text.contains('@') && url.as_str().parse::<Uri>().is_ok()
}

/// Whether the path begins below the host: behind a name, anything else would be read as more of the name.
fn is_path(path: &str) -> bool {
    path.starts_with('/')
}

fn is_query(query: &str) -> bool {
    format!("/?{query}").parse::<PathAndQuery>().is_ok()
}

#[cfg(test)]
mod tests {
    use lambda_http::Request;
    use serde_json::{Value, json};

    use super::*;

    fn events() -> [Value; 3] {
        let context = json!({"stage": "$default", "domainName": "id.example.com", "http":
            {"method": "POST", "path": "/hooks/a", "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"}});
        [
            json!({"version": "2.0", "routeKey": "$default", "rawPath": "/hooks/a",
                "rawQueryString": "", "headers": {}, "requestContext": context,
                "isBase64Encoded": false}),
            json!({"resource": "/", "path": "/hooks/a", "httpMethod": "POST", "headers": {},
                "multiValueHeaders": {}, "queryStringParameters": null,
                "requestContext": {"stage": "test", "domainName": "id.example.com",
                    "resourceId": "r", "httpMethod": "POST", "identity": {}, "authorizer": {}},
                "isBase64Encoded": false}),
            json!({"requestContext": {"elb": {"targetGroupArn": "arn:x"}}, "httpMethod": "POST",
                "path": "/hooks/a", "queryStringParameters": {}, "headers": {}, "body": "",
                "isBase64Encoded": false}),
        ]
    }

    fn request(event: &Value) -> Request {
        let event: LambdaRequest = serde_json::from_str(&event.to_string()).unwrap();
        with_a_url(event).into()
    }

    #[test]
    fn whatever_a_stranger_writes_as_host_scheme_or_query_makes_a_request_to_the_same_path() {
        let long = "x".repeat(300);
        let hosts = [
            "",
            " ",
            "a b",
            "a:99999",
            "a:b",
            "1.2.3.999",
            "[::1",
            "xn--a",
            "a/b",
            "a?b",
            "a#b",
            "a@b",
            "%",
            "\\",
            "\u{e4}",
            "<>",
            "a..b",
            ":",
            "/",
            &long,
        ];
        let queries = [
            "\"", "<a>", "a=\u{e4}", "a b", "%zz", "#", "`", "a=1&a=2", "??", "{}",
        ];
        for mut event in events() {
            for host in hosts {
                event["headers"] = json!({"host": host, "x-forwarded-proto": host});
                assert!(
                    request(&event).uri().path().ends_with("/hooks/a"),
                    "{host:?} {event}"
                );
                event["headers"] = json!({"host": host});
                assert!(
                    request(&event).uri().path().ends_with("/hooks/a"),
                    "{host:?} {event}"
                );
            }
            for query in queries {
                event["headers"] = json!({});
                if event["rawPath"].is_string() {
                    event["rawQueryString"] = query.into();
                } else {
                    event["queryStringParameters"] = json!({query: query});
                }
                assert!(
                    request(&event).uri().path().ends_with("/hooks/a"),
                    "{query:?}"
                );
            }
        }
    }

    #[test]
    fn whatever_stands_as_path_makes_a_request_and_one_that_is_no_path_leads_nowhere() {
        let long = "/\u{e4}".repeat(2000);
        let paths = [
            "", "/", "//", "/a b", "/\u{e4}", "/%", "/%zz", "/?", "/#", "/a?b#c", "/\"", "/<>",
            "/[", "/|", "/^", "/`", "/{}", "/\\", "/\t\n", "/\u{7f}", "/\0", "/..", "/:99999",
            "/@b", &long,
        ];
        let no_paths = [
            "2.0",
            "hooks/a",
            "*",
            ":99999",
            ":b",
            "@b",
            "@b/hooks/a",
            ".example.net/hooks/a",
            "https://b/hooks/a",
            "?/hooks/a",
            "#/hooks/a",
            "\\hooks\\a",
            " /hooks/a",
            "\u{e4}",
        ];
        for mut event in events() {
            let at = ["rawPath", "path"]
                .into_iter()
                .find(|at| event[at].is_string())
                .unwrap();
            for host in [json!({}), json!({"host": "id.example.com"})] {
                event["headers"] = host;
                for path in paths {
                    event[at] = path.into();
                    request(&event);
                }
                for path in no_paths {
                    event[at] = path.into();
                    let request = request(&event);
                    let path = request.uri().path();
                    assert!(!path.ends_with("/hooks/a"), "{event}: {path}");
                    assert!(
                        request
                            .uri()
                            .host()
                            .is_none_or(|host| host == "id.example.com")
                    );
                }
            }
        }
    }

    #[test]
    fn what_makes_a_url_stays() {
        for mut event in events() {
            for host in [
                "id.example.com",
                "localhost:8080",
                "192.0.2.1",
                "[2001:db8::1]:443",
            ] {
                event["headers"] =
                    json!({"host": host, "x-forwarded-proto": "http", "x-other": "\u{e4}"});
                let request = request(&event);
                assert_eq!(request.headers()[HOST], host);
                assert_eq!(request.headers()["x-other"].as_bytes(), "\u{e4}".as_bytes());
                let url = request.uri().to_string();
                assert!(
                    url.starts_with(&format!("http://{host}/")) || host.ends_with("443"),
                    "{url}"
                );
            }
        }
        let mut event = events()[0].clone();
        event["rawQueryString"] = "a=1&b=%22".into();
        assert_eq!(request(&event).uri().query(), Some("a=1&b=%22"));
    }
}
