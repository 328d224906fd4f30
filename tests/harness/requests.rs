//! A request of a sender becomes the JSON event of one of the hosts that may stand before the
//! receiver, made from real events (`fixtures/requests`), and then what `lambda_http` makes of it.

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

/// Who hands the request over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// A Lambda function URL (payload format 2.0).
    FunctionUrl,
    /// An API Gateway HTTP API (payload format 2.0), stage `$default`.
    HttpApi,
    /// An API Gateway REST API (payload format 1.0), behind the stage `test`.
    RestApi,
    /// An application load balancer.
    LoadBalancer,
}

impl Host {
    /// All of them.
    pub const ALL: [Host; 4] = [
        Self::FunctionUrl,
        Self::HttpApi,
        Self::RestApi,
        Self::LoadBalancer,
    ];

    fn template(self) -> Value {
        let text = match self {
            Self::FunctionUrl => include_str!("../fixtures/requests/function-url.json"),
            Self::HttpApi => include_str!("../fixtures/requests/http-api.json"),
            Self::RestApi => include_str!("../fixtures/requests/rest-api.json"),
            Self::LoadBalancer => include_str!("../fixtures/requests/load-balancer.json"),
        };
        serde_json::from_str(text).expect("a fixture is JSON")
    }
}

/// One HTTP request on its way to the receiver.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The method.
    pub method: String,
    /// The path, without a query.
    pub path: String,
    /// The query, without its question mark; may be empty.
    pub query: String,
    /// Header lines, names in any case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the host hands the body over in base64. A body that is not UTF-8 always is.
    pub base64: bool,
}

impl Wire {
    /// The event that this host would make of it.
    pub fn event(&self, host: Host) -> Value {
        let mut event = host.template();
        let text = std::str::from_utf8(&self.body).ok();
        let base64 = self.base64 || text.is_none();
        event["isBase64Encoded"] = base64.into();
        event["body"] = match text {
            Some(text) if !base64 => text.into(),
            _ => BASE64.encode(&self.body).into(),
        };
        self.headers_into(&mut event);
        match host {
            Host::FunctionUrl | Host::HttpApi => {
                event["rawPath"] = self.path.as_str().into();
                event["rawQueryString"] = self.query.as_str().into();
                event["requestContext"]["http"]["method"] = self.method.as_str().into();
                event["requestContext"]["http"]["path"] = self.path.as_str().into();
            }
            Host::RestApi | Host::LoadBalancer => {
                event["path"] = self.path.as_str().into();
                event["httpMethod"] = self.method.as_str().into();
                event["queryStringParameters"] = match pairs(&self.query) {
                    // A REST API says null where a load balancer says {}.
                    none if none.is_empty() && host == Host::RestApi => Value::Null,
                    pairs => Value::Object(pairs),
                };
            }
        }
        event
    }

    /// Hosts of payload format 2.0 write names in lower case and join repeated lines with a comma.
    fn headers_into(&self, event: &mut Value) {
        let Some(headers) = event["headers"].as_object_mut() else {
            return;
        };
        for (name, value) in &self.headers {
            let name = name.to_ascii_lowercase();
            let joined = match headers.get(&name).and_then(Value::as_str) {
                Some(before)
                    if self
                        .headers
                        .iter()
                        .filter(|(n, _)| n.eq_ignore_ascii_case(&name))
                        .count()
                        > 1 =>
                {
                    format!("{before},{value}")
                }
                _ => value.clone(),
            };
            headers.insert(name, joined.into());
        }
    }

    /// The request as the receiver's handler gets it from this host.
    pub fn request(&self, host: Host) -> lambda_http::Request {
        let event = self.event(host).to_string();
        lambda_http::request::from_str(&event).expect("lambda_http reads its hosts' events")
    }
}

fn pairs(query: &str) -> Map<String, Value> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), json!(value))
        })
        .collect()
}
