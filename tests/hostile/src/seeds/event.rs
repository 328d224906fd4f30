//! Events: real ones of each host (`tests/fixtures/requests`) with a provider's body in them, signed
//! for the source that it goes to.

use std::io;

use ackbox_config::SourceConfig;
use data_encoding::BASE64;
use serde_json::Value;

use super::{Seed, in_order, json, source_of};
use crate::setting::{secret_of, signed};

/// An event for each provider by a function URL, and one by each other host.
pub(super) fn events(bodies: &[(&'static str, Vec<u8>)]) -> io::Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for (slug, body) in bodies {
        if let Some(source) = source_of(slug) {
            seeds.push(event("function-url", source, body)?);
        }
    }
    if let Some(source) = source_of("standard-webhooks") {
        let wanted = br#"{"type":"report.ready","invoice":"in_1","total":"19.90"}"#;
        for host in ["http-api", "rest-api", "load-balancer"] {
            seeds.push(event(host, source, wanted)?);
        }
    }
    if let Some(source) = source_of("svix") {
        let batch = br#"{"account":"a","events":[{"kind":"a","id":1},{"kind":"b.c","id":"1"}]}"#;
        let mut seed = event("function-url", source, batch)?;
        seed.name.push_str("-batch");
        seeds.push(seed);
    }
    for host in ["function-url", "http-api"] {
        let event = json(&format!("tests/fixtures/requests/{host}.json"))?;
        seeds.push(Seed::new(
            "event",
            format!("{host}-elsewhere"),
            in_order(&event),
        ));
    }
    Ok(seeds)
}

fn event(host: &str, source: &SourceConfig, body: &[u8]) -> io::Result<Seed> {
    let mut event = json(&format!("tests/fixtures/requests/{host}.json"))?;
    let name = source.source.name.as_str();
    let path = format!("/hooks/{name}");
    let headers = signed(source, &secret_of(source), "msg_1", Some("push"), body);
    let headers = headers.ok_or_else(|| io::Error::other("a seed that cannot be signed"))?;
    if let Some(lines) = event["headers"].as_object_mut() {
        for (name, value) in headers.iter() {
            let value = String::from_utf8_lossy(value).into_owned();
            lines.insert(name.to_ascii_lowercase(), value.into());
        }
    }
    let text = std::str::from_utf8(body);
    // As the hosts do: what is no text comes in base64, and of some providers everything does here.
    let in_base64 = text.is_err() || name.len().is_multiple_of(2);
    event["isBase64Encoded"] = in_base64.into();
    event["body"] = match text {
        Ok(text) if !in_base64 => text.into(),
        _ => BASE64.encode(body).into(),
    };
    if event["rawPath"].is_string() {
        event["rawPath"] = path.as_str().into();
        event["requestContext"]["http"]["method"] = "POST".into();
        event["requestContext"]["http"]["path"] = path.into();
    } else {
        event["path"] = path.into();
        event["httpMethod"] = "POST".into();
    }
    without_noise(&mut event);
    Ok(Seed::new(
        "event",
        format!("{host}-{name}"),
        in_order(&event),
    ))
}

/// Leaves out what no stage reads, so that the fuzzer's changes fall where something is decided.
fn without_noise(event: &mut Value) {
    for name in [
        "cookies",
        "pathParameters",
        "stageVariables",
        "multiValueHeaders",
    ] {
        if let Some(event) = event.as_object_mut() {
            event.remove(name);
        }
    }
}
