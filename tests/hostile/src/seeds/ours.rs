//! Texts of ours, for what no vector shows: forms, compression, batches, odd JSON, stream records, a
//! user's own scheme, mistakes.

use ackbox_store::schema::SCHEMA_VERSION;
use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{Seed, in_order};
use crate::text;

/// Every one of them.
pub(super) fn texts() -> Vec<Seed> {
    let mut seeds = Vec::new();
    seeds.extend(bodies());
    seeds.extend(
        POINTERS
            .iter()
            .map(|(name, text)| Seed::new("pointer", *name, *text)),
    );
    seeds.extend(
        GRAMMARS
            .iter()
            .map(|(name, text)| Seed::new("grammar", *name, *text)),
    );
    seeds.extend(
        CONFIGS
            .iter()
            .map(|(name, text)| Seed::new("config", *name, *text)),
    );
    let hostile = include_str!("../../hostile.toml");
    seeds.push(Seed::new("config", "hostile", hostile));
    seeds.extend(
        triggers()
            .into_iter()
            .map(|(name, event)| Seed::new("stream", name, in_order(&event))),
    );
    seeds
}

/// `{"type":"report.ready","invoice":"in_1","total":"19.90"}` by gzip.
const GZIP: &[u8] = b"H4sIAAAAAAAC/6tWKqksSFWyUipKLcgvKtErSk1MqVTSUcrMK8vPTAZJZObFGwIFSvJLEnOAXENLPUsDpVoArJ5QbTgAAAA=";
/// 20,000 spaces by gzip.
const BOMB: &[u8] = b"H4sIAAAAAAAC/+3BMQEAAADCoCrrn9IaHkABAAAAAAAAAAAAAAAAAAAAAAAA8GAoxAiFIE4AAA==";

fn bodies() -> Vec<Seed> {
    let json = ("content-type", &b"application/json"[..]);
    let form = ("content-type", &b"application/x-www-form-urlencoded"[..]);
    let gzip = ("content-encoding", &b"gzip"[..]);
    let packed = |text: &[u8]| BASE64.decode(text).unwrap_or_default();
    let seed = |name: &str, source: &str, lines: &[(&'static str, &'static [u8])], body: &[u8]| {
        let first = [source, "msg_1", "push"];
        Seed::new(
            "observe",
            name,
            text::write(&first, lines.iter().copied(), body),
        )
    };
    let push = br#"{"repository":{"id":9007199254740993},"ref":"r","before":"a","after":"b"}"#;
    let batch = br#"{"account":"acc","tenant":7,"events":[{"kind":"a","id":"1","job":"j","tenant":"t"},{"kind":"b.c","id":1},{"kind":"a"},17]}"#;
    vec![
        seed("push", "github", &[json], push),
        seed("batch", "batch", &[json], batch),
        seed(
            "batch-too-long",
            "batch",
            &[json],
            br#"{"account":"a","events":[1,2,3,4,5]}"#,
        ),
        seed("batch-none", "batch", &[], br#"{"events":{}}"#),
        seed(
            "form",
            "github",
            &[form],
            b"payload=%7B%22ref%22%3A+%22r%22%7D",
        ),
        seed(
            "form-twice",
            "slack",
            &[form],
            b"payload={}&payload=%7b%7d&x=%zz",
        ),
        seed(
            "form-of-json",
            "github",
            &[form],
            br#"{"t":"x&payload=%7B%7D&y="}"#,
        ),
        seed("gzip", "reports", &[json, gzip], &packed(GZIP)),
        seed("gzip-bomb", "reports", &[gzip], &packed(BOMB)),
        seed("gzip-none", "reports", &[gzip], b"\x1f\x8b\x08"),
        seed(
            "brotli",
            "stripe",
            &[("content-encoding", b"br")],
            b"\x0b\x02\x80{}\x03",
        ),
        seed(
            "twice",
            "tornado",
            &[json],
            br#"{"type":"job_completed","job_id":"a","job_id":"b"}"#,
        ),
        seed(
            "blank",
            "sume",
            &[],
            "{\"event\":\"job.completed\",\"job_id\":\"\u{200b}\u{feff}\"}".as_bytes(),
        ),
        seed(
            "surrogate",
            "sume",
            &[],
            br#"{"event":"job.x","job_id":"\ud800"}"#,
        ),
        seed(
            "mark",
            "openrouter",
            &[],
            b"\xef\xbb\xbf{\"type\":\"video.generation.x\",\"data\":{\"id\":1e5}}",
        ),
        seed(
            "not-text",
            "token",
            &[json],
            b"{\"id\":true,\"\xff\":\"\xfe\"}",
        ),
        seed(
            "deep",
            "stripe",
            &[],
            format!("{{\"id\":{}{}}}", "[".repeat(200), "]".repeat(200)).as_bytes(),
        ),
        seed(
            "shop",
            "shopify",
            &[("X-Shopify-Shop-Domain", b"shop.example")],
            br#"{"id":5}"#,
        ),
    ]
}

const POINTERS: &[(&str, &str)] = &[
    ("number", "/n\n{\"n\":12345678901234567890123}"),
    (
        "escapes",
        "/a/b/1/c~1d~0\n{\"a\":{\"b\":[10,{\"c/d~\":\"x\"}]}}",
    ),
    ("twice", "/d/id\n{\"d\":{\"id\":1},\"d\":{\"x\":2}}"),
    ("twice-escaped", "/id\n{\"id\":\"a\",\"\\u0069d\":\"b\"}"),
    ("leading-zero", "/a/01\n{\"a\":[1,2]}"),
    ("whole", "\n [ {\"a\": 1} , 2,\"x\"]"),
    ("empty-name", "/\n{\"\":null}"),
    ("mark", "/id\n\u{feff}{\"id\":7}"),
    ("behind", "/id\n{\"id\":1} {\"id\":2}"),
    ("exponent", "/a\n{\"a\":-0.0e-999}"),
    ("no-pointer", "a/b\n{}"),
];

const GRAMMARS: &[(&str, &str)] = &[
    (
        "ours-touching",
        "signed = \"{id}.{timestamp}{body}\"\nid = [{ header = \"X-Id\" }]\n[[signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha1\"\nencoding = \"base64url\"\n[timestamp]\nheader = \"X-Time\"\nunit = \"milliseconds\"\ntolerance = \"1d\"\n",
    ),
    (
        "ours-headers",
        "signed = \"{{v1}}:{header:X-A}--{header:X-B}--{body}\\n\"\nid = [{ header = \"X-A\" }, { header = \"X-B\" }]\nredelivery = [\"/a\", \"/b~0\"]\neach = \"/events\"\n[[signature]]\nheader = \"X-Sig\"\nseparator = \" \"\nkey_separator = \",\"\nkey = \"v1\"\nprefix = \"p=\"\nalgorithm = \"ed25519\"\nencoding = \"base64\"\n[[secret]]\nprefix = \"whsk_\"\ndecode = \"base64\"\nkey = \"ed25519-private\"\n",
    ),
    (
        "ours-behind",
        "signed = \"{body}.{id}{timestamp}\"\nid = [{ header = \"X-Id\" }]\n[[signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n[timestamp]\nheader = \"X-Time\"\n",
    ),
    (
        "ours-token",
        "[[signature]]\nheader = \"Authorization\"\nprefix = \"Bearer \"\nalgorithm = \"token\"\n",
    ),
    (
        "ours-mistakes",
        "signed = \"{url}}\"\n[[signature]]\nheader = \"a b\"\nalgorithm = \"md5\"\n[timestamp]\n",
    ),
];

const CONFIGS: &[(&str, &str)] = &[
    (
        "mistakes",
        "[source.reports]\nscheme = \"standard-webhook\"\nsecrets = [\"whsec_dontsay\"]\nmax_body = \"7 GB\"\nfrobnicate = 1\n\n[[source.reports.rule]]\nname = \"ready\"\nkey = []\ndestination = \"mailr\"\n\n[destination.mailer]\nurl = \"ftp://mail.example.com\"\nidempotency = \"none\"\non_unknown = \"retry\"\ntimeout = 10s\nbackoff = { first = \"2h\", max = \"1h\" }\n\n[delivery]\nlease = \"5s\"\n",
    ),
    (
        "own-scheme",
        "[scheme.mine]\nsigned = \"{timestamp}.{body}\"\n[[scheme.mine.signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n[scheme.mine.timestamp]\nheader = \"X-Time\"\n\n[source.a]\nscheme = \"mine\"\nsecrets = [\"ssm:/a/b\", \"file:c\"]\ntolerance = \"1h\"\nid = [\"/id\"]\neach = \"/events\"\nmax_each = 10\non_conflict = \"refuse\"\n[[source.a.rule]]\nname = \"r\"\non = [\"a.*\"]\nkey = [\"message:id\", \"body:/account\"]\nnamespace = \"n\"\nfingerprint = [\"/x\"]\ndestination = \"d\"\n\n[destination.d]\nurl = \"http://127.0.0.1:9/x?y\"\nallow_private = true\nheaders = { Authorization = \"env:A\" }\nidempotency = { header = \"Idempotency-Key\", window = \"24h\" }\non_unknown = \"retry\"\nretry_for = \"3d\"\nsigning = [\"env:S\"]\n",
    ),
    (
        "times",
        "[delivery]\nlease = \"584554530ns\"\nfirst_due = \"999999999999999999y\"\nconcurrency = 18446744073709551616\n",
    ),
    (
        "dotted",
        "source.a.scheme = \"token\"\nsource.\"a\".secrets = [\"env:A\"]\nsource = 1\n",
    ),
    ("unclosed", "[source.a\nscheme = \"\"\"x\n"),
    (
        "not-ascii",
        "[source.\u{e4}]\nscheme = \"\\u0000\\u202e\"\n\u{feff}",
    ),
];

/// An outbox item as the stream writes it, with other attributes beside or in place of its own.
fn record(changes: &[(&str, Value)]) -> Value {
    let mut image = json!({
        "pk": {"S": "ACTION#act_mfrggzdfmztwq2lknnwg23tpobyxe43u"},
        "sk": {"S": "OUTBOX"},
        "v": {"N": SCHEMA_VERSION.to_string()},
        "print": {"B": BASE64.encode(&[7; 32])},
        "recipe": {"B": BASE64.encode(&[8; 8])},
        "digest": {"B": BASE64.encode(&[9; 32])},
        "accepted_at": {"N": "1735689600000"},
        "source": {"S": "reports"},
        "dest": {"S": "mailer"},
        "state": {"S": "pending"},
        "fence": {"N": "0"},
        "due_at": {"N": "1735689660000"},
        "work_shard": {"S": "open#mailer#3"},
        "body": {"B": BASE64.encode(b"{}")},
        "type": {"S": "application/json"},
    });
    for (name, value) in changes {
        image[*name] = value.clone();
    }
    json!({
        "eventID": "1",
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_735_689_600.0,
            "Keys": {"pk": image["pk"], "sk": image["sk"]},
            "NewImage": image,
            "SequenceNumber": "111000000000000000001",
            "SizeBytes": 400,
            "StreamViewType": "NEW_IMAGE",
        },
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:1:table/ackbox/stream/x",
    })
}

fn triggers() -> Vec<(&'static str, Value)> {
    let batch = |records: Vec<Value>| json!({ "Records": records });
    let claimed = [
        ("state", json!({"S": "claimed"})),
        ("fence", json!({"N": "3"})),
        ("claim", json!({"S": "c1"})),
        ("claimed_at", json!({"N": "1735689500000"})),
        ("lease_until", json!({"N": "1735689545000"})),
        ("attempts", json!({"S": "1b503+1 2n+31"})),
        ("detail", json!({"S": "said later"})),
        ("origin", json!({"B": BASE64.encode(&[1; 8])})),
        ("first_uncertain_at", json!({"N": "1735689500000"})),
    ];
    let removed = json!({"eventName": "REMOVE", "dynamodb": {"SequenceNumber": "2"}});
    let broken =
        json!({"eventName": "INSERT", "dynamodb": {"SequenceNumber": "1", "NewImage": {"pk": 7}}});
    vec![
        ("fresh", batch(vec![record(&[])])),
        ("claimed", batch(vec![record(&claimed)])),
        ("newer", batch(vec![record(&[("v", json!({"N": "99"}))])])),
        (
            "accepted",
            batch(vec![record(&[("sk", json!({"S": "ACCEPTED"}))])]),
        ),
        (
            "held",
            batch(vec![record(&[("state", json!({"S": "held"}))])]),
        ),
        (
            "odd-key",
            batch(vec![record(&[("pk", json!({"S": "ACTION#x"}))])]),
        ),
        (
            "odd-attempts",
            batch(vec![record(&[("attempts", json!({"S": "1\u{e9}+1"}))])]),
        ),
        (
            "mixed",
            batch(vec![
                record(&[]),
                removed,
                broken,
                json!(17),
                record(&claimed),
            ]),
        ),
        ("none", batch(Vec::new())),
        ("sweep", json!({"sweep": true})),
        (
            "schedule",
            json!({"source": "aws.events", "detail-type": "Scheduled Event"}),
        ),
    ]
}
