//! What a valid file means: defaults, overrides, and what stands in the types.

use std::time::Duration;

use ackbox_config::{Config, DestinationConfig, HttpDestination, OnConflict, SecretRef};
use ackbox_domain::{
    Breaker, EventPattern, FingerprintPart, Idempotency, KeyPart, Locator, OnUnknown, Payload,
};

use crate::{BASE, edited};

fn parsed(text: &str) -> Config {
    Config::parse("f", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

const SHORT: &str = r#"
[source.hook]
scheme = "stripe"
secrets = ["env:A", "file:b/c", "ssm:/d"]
[[source.hook.rule]]
name = "all"
key = ["message:id", "message:account"]
destination = "there"
[destination.there]
url = "https://there.example.com/x?y=z"
idempotency = "none"
"#;

/// What there is of HTTP in a destination.
fn http(destination: &DestinationConfig) -> &HttpDestination {
    destination.to.http().expect("an HTTP destination")
}

#[test]
fn what_is_not_written_has_its_default() {
    let config = parsed(SHORT);
    let hook = &config.sources["hook"];
    assert_eq!(hook.on_conflict, OnConflict::Acknowledge);
    assert_eq!(hook.tolerance, None);
    assert_eq!(hook.source.max_body, 256 * 1024);
    assert_eq!(hook.source.each, None);
    let rule = &hook.source.rules[0];
    assert_eq!(rule.on, [EventPattern::Any]);
    assert_eq!(rule.namespace, "hook/all");
    assert_eq!(rule.payload, Payload::Body);
    assert_eq!(rule.key, [KeyPart::MessageId, KeyPart::Account]);
    let there = &config.destinations["there"];
    assert_eq!(there.policy.idempotency, Idempotency::None);
    assert_eq!(there.policy.on_unknown, OnUnknown::Hold);
    assert_eq!(there.policy.timeout, Duration::from_secs(10));
    assert_eq!(there.policy.retry_for, Duration::from_secs(259_200));
    assert_eq!(there.policy.backoff.first, Duration::from_secs(30));
    assert_eq!(there.policy.backoff.max, Duration::from_secs(3600));
    assert_eq!(http(there).idempotency_header, "idempotency-key");
    assert!(http(there).headers.is_empty() && http(there).signing.is_empty());
    assert!(!http(there).allow_private);
    assert_eq!(there.concurrency, None);
    assert_eq!(there.breaker, Some(breaker(10, 30, 600)));
    assert_eq!(config.delivery, ackbox_config::DeliverySettings::default());
}

fn breaker(after: u32, pause: u64, max_pause: u64) -> Breaker {
    Breaker {
        after,
        pause: Duration::from_secs(pause),
        max_pause: Duration::from_secs(max_pause),
    }
}

#[test]
fn a_breaker_is_as_written_and_the_rest_of_it_as_usual() {
    let there = |written: &str, idempotency: &str| {
        let text = SHORT.replace("\"none\"", idempotency);
        let config = parsed(&format!("{text}concurrency = 3\n{written}"));
        assert_eq!(config.destinations["there"].concurrency, Some(3));
        config.destinations["there"].breaker
    };
    for (written, idempotency, meant) in [
        ("breaker = \"off\"", "\"none\"", None),
        ("breaker = {}", "\"none\"", Some(breaker(10, 30, 600))),
        (
            "breaker = { after = 3, pause = \"1s\", max_pause = \"2s\" }",
            "\"none\"",
            Some(breaker(3, 1, 2)),
        ),
        // What is written stretches or cuts the usual rest.
        (
            "breaker = { pause = \"1h\" }",
            "\"none\"",
            Some(breaker(10, 3600, 3600)),
        ),
        (
            "breaker = { max_pause = \"5s\" }",
            "\"none\"",
            Some(breaker(10, 5, 5)),
        ),
        // Half of the window is left for repetitions, where nobody says otherwise.
        ("", "{ window = \"5m\" }", Some(breaker(10, 30, 150))),
        ("", "{ window = \"40s\" }", Some(breaker(10, 20, 20))),
        ("", "{ window = \"1d\" }", Some(breaker(10, 30, 600))),
    ] {
        assert_eq!(
            there(written, idempotency),
            meant,
            "{written} {idempotency}"
        );
    }
}

#[test]
fn what_is_written_is_meant() {
    let config = parsed(BASE);
    let reports = &config.sources["reports"];
    assert_eq!(reports.on_conflict, OnConflict::Refuse);
    assert_eq!(reports.tolerance, Some(Duration::from_secs(300)));
    let rule = &reports.source.rules[0];
    assert_eq!(rule.namespace, "reports");
    assert_eq!(rule.fingerprint, [FingerprintPart::Body]);
    let mailer = &config.destinations["mailer"];
    assert_eq!(
        mailer.policy.idempotency,
        Idempotency::Window(Duration::from_secs(86_400))
    );
    assert_eq!(mailer.policy.on_unknown, OnUnknown::Retry);
    let authorization = (
        "authorization".to_owned(),
        SecretRef::Ssm("/ackbox/mailer".to_owned()),
    );
    assert_eq!(http(mailer).headers, [authorization]);
    assert_eq!(http(mailer).signing, [SecretRef::Env("SIGNING".to_owned())]);
}

#[test]
fn a_window_alone_means_to_retry_under_the_usual_header() {
    let config = parsed(&SHORT.replace("\"none\"", "{ window = \"2d\" }"));
    let there = &config.destinations["there"];
    assert_eq!(there.policy.on_unknown, OnUnknown::Retry);
    assert_eq!(http(there).idempotency_header, "idempotency-key");
}

#[test]
fn what_the_scheme_knows_stands_unless_the_source_says_otherwise() {
    let plain = parsed(SHORT);
    let source = &plain.sources["hook"].source;
    assert_eq!(source.id, [Locator::Body("/id".parse().unwrap())]);
    assert!(
        source.rules[0].fingerprint.len() > 1,
        "Stripe's redeliveries change bytes"
    );
    let own = "scheme = \"stripe\"\nid = [\"header:X-Own\", \"/own\"]\ntest_events = [\"t\"]\ntrust_unsigned_id = true";
    let own = parsed(&SHORT.replace("scheme = \"stripe\"", own));
    let source = &own.sources["hook"].source;
    let header = Locator::Header {
        name: "x-own".to_owned(),
        covered: false,
    };
    assert_eq!(source.id, [header, Locator::Body("/own".parse().unwrap())]);
    assert_eq!(source.test_events, ["t"]);
}

#[test]
fn a_signed_header_is_covered_under_any_spelling() {
    let config = parsed(&edited("tolerance = \"5m\"", "id = \"header:Webhook-ID\""));
    let id = &config.sources["reports"].source.id;
    assert_eq!(
        *id,
        [Locator::Header {
            name: "webhook-id".to_owned(),
            covered: true
        }]
    );
    parsed(&edited(
        "key = [\"message:id\"]",
        "key = [\"header:Webhook-Id\"]",
    ));
}

#[test]
fn trust_lets_an_identity_in_that_nobody_signed() {
    let github = "\"github\"\ntrust_unsigned_id = true";
    let text = BASE
        .replace("\"standard-webhooks\"", github)
        .replace("tolerance = \"5m\"\n", "");
    assert_eq!(crate::warnings(&text), "");
    let token = "\"token\"\ntrust_body = true";
    let text = BASE
        .replace("\"standard-webhooks\"", token)
        .replace("tolerance = \"5m\"\n", "");
    assert_eq!(crate::warnings(&text), "");
}

#[test]
fn a_batch_is_read_and_its_elements_have_their_own_fingerprint() {
    let batch = "scheme = \"stripe\"\neach = \"/events\"\nmax_each = 7";
    let text = SHORT.replace("scheme = \"stripe\"", batch).replace(
        "[\"message:id\", \"message:account\"]",
        "[\"/id\", \"body:/batch\"]",
    );
    let config = parsed(&text);
    let source = &config.sources["hook"].source;
    let each = source.each.as_ref().unwrap();
    assert_eq!((each.pointer.as_str(), each.max), ("/events", 7));
    assert_eq!(source.rules[0].fingerprint, [FingerprintPart::Body]);
}

#[test]
fn the_origin_is_scheme_host_and_port_and_nothing_else() {
    let at = |url: &str| {
        parsed(&SHORT.replace("https://there.example.com/x?y=z", url)).destinations["there"]
            .origin()
    };
    let plain = at("https://there.example.com/x");
    assert_eq!(plain, at("https://THERE.example.com:443/other?q=1"));
    assert_ne!(plain, at("https://there.example.com:8443/x"));
    assert_ne!(plain, at("https://here.example.com/x"));
    // SHA-256 of "https://there.example.com:443", its first 8 bytes: the table remembers it.
    assert_eq!(plain, ORIGIN);
}

const ORIGIN: [u8; 8] = [172, 243, 224, 15, 238, 111, 30, 48];

#[test]
fn a_destination_is_shown_without_its_query() {
    let config = parsed(SHORT);
    assert_eq!(
        config.destinations["there"].to.to_string(),
        "POST https://there.example.com/x?.."
    );
}
