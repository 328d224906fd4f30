//! `[destination.NAME]`.

use crate::{Case, case, check, edited, mistakes, warnings};

#[test]
fn every_mistake_of_a_destination_is_named_with_its_place() {
    check(MISTAKES, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "an unknown key",
        "retry_for =",
        "retry-for =",
        "23:1: [destination.mailer] has no key \"retry-for\"; did you mean `retry_for`?",
    ),
    case(
        "no url",
        "url = \"https://mail.example.com/actions\"\n",
        "",
        "17:1: [destination.mailer] has no `url`; write url = \"https://mail.example.com/actions\"",
    ),
    case(
        "a url that is none",
        "\"https://mail.example.com/actions\"",
        "\"mail.example.com\"",
        "18:7: `url` does not begin with https://; write url = \"https://mail.example.com/actions\"",
    ),
    case(
        "a url with space in it",
        "https://mail.example.com/actions",
        "https://mail.example.com/a b",
        "18:7: `url` has space or control characters in it; remove them, or write them as %20 and the like",
    ),
    case(
        "another protocol",
        "https://mail.example.com/actions",
        "ftp://mail.example.com/actions",
        "18:7: `url` is neither https nor http; write url = \"https://mail.example.com/actions\"",
    ),
    case(
        "http",
        "https://mail.example.com/actions",
        "http://mail.example.com/actions",
        "18:7: `url` is http: actions, their keys and headers could be read and changed on the way; write https, or allow_private = true if the way is your own",
    ),
    case(
        "a private address",
        "https://mail.example.com/actions",
        "https://10.1.2.3/actions",
        "18:7: `url` leads to a private address; write a public one, or allow_private = true if that is meant",
    ),
    case(
        "this machine",
        "https://mail.example.com/actions",
        "https://localhost:8080/actions",
        "18:7: `url` leads to a private address; write a public one, or allow_private = true if that is meant",
    ),
    case(
        "a mapped private address",
        "https://mail.example.com/actions",
        "https://[::ffff:169.254.1.1]/",
        "18:7: `url` leads to a private address; write a public one, or allow_private = true if that is meant",
    ),
    case(
        "a password",
        "https://mail.example.com/actions",
        "https://dont:say@mail.example.com/",
        "18:7: `url` has a user or password in it; remove it, replace it at the destination if it was a real one, and send it as headers = { Authorization = \"env:NAME\" }",
    ),
    case(
        "a fragment",
        "https://mail.example.com/actions",
        "https://mail.example.com/#part",
        "18:7: `url` has a fragment (#..), which is never sent; remove it",
    ),
    case(
        "the port 0",
        "https://mail.example.com/actions",
        "https://mail.example.com:0/",
        "18:7: `url` has the port 0; write a port from 1 to 65535, or none",
    ),
    case(
        "a url that is a number",
        "\"https://mail.example.com/actions\"",
        "5",
        "18:7: `url` is a number, not a text; write url = \"https://mail.example.com/actions\"",
    ),
    case(
        "a header's value",
        "\"ssm:/ackbox/mailer\"",
        "\"Bearer dontsay\"",
        "19:29: the value of the header \"Authorization\" is no reference to a secret; write where the value stands, never the value itself: \"env:NAME\", \"file:PATH\" or \"ssm:/name\"; if a secret stood here, replace it at the sender",
    ),
    case(
        "a reference inside a value",
        "\"ssm:/ackbox/mailer\"",
        "\"Bearer env:TOKEN\"",
        "19:29: the value of the header \"Authorization\" is no reference to a secret; write where the value stands, never the value itself: \"env:NAME\", \"file:PATH\" or \"ssm:/name\"; if a secret stood here, replace it at the sender",
    ),
    case(
        "a header that is a number",
        "\"ssm:/ackbox/mailer\"",
        "5",
        "19:29: the value of the header \"Authorization\" is a number, not a reference to a secret; write \"env:NAME\", \"file:PATH\" or \"ssm:/name\"",
    ),
    case(
        "headers that are no table",
        "{ Authorization = \"ssm:/ackbox/mailer\" }",
        "\"Authorization\"",
        "19:11: `headers` is a text, not a table; write headers = { Authorization = \"env:MAILER_AUTHORIZATION\" }",
    ),
    case(
        "a header that cannot be",
        "Authorization =",
        "\"Autho rization\" =",
        "19:13: \"Autho rization\" is not the name of a header; write a name such as Authorization = \"env:NAME\"",
    ),
    case(
        "a header of the body",
        "Authorization =",
        "Content-Type =",
        "19:13: the header \"Content-Type\" is set by every delivery itself; remove it: a second value would contradict the body, its signature or the connection",
    ),
    case(
        "a header of the connection",
        "Authorization =",
        "Transfer-Encoding =",
        "19:13: the header \"Transfer-Encoding\" is set by every delivery itself; remove it: a second value would contradict the body, its signature or the connection",
    ),
    case(
        "a header of the signature",
        "Authorization =",
        "webhook-id =",
        "19:13: the header \"webhook-id\" is set by every delivery itself; remove it: a second value would contradict the body, its signature or the connection",
    ),
    case(
        "the key's header",
        "Authorization =",
        "IDEMPOTENCY-key =",
        "19:13: the header \"IDEMPOTENCY-key\" carries the action's key; remove it: the key is sent by itself, the same on every attempt",
    ),
    case(
        "a header twice",
        "Authorization =",
        "authorization = \"env:A\", Authorization =",
        "19:38: the header \"Authorization\" stands twice (case makes no difference); remove one of the two",
    ),
    case(
        "nothing said of idempotency",
        "idempotency = { header = \"Idempotency-Key\", window = \"24h\" }\n",
        "",
        "17:1: [destination.mailer] does not say what the destination does with a key that it has seen; write idempotency = { header = \"Idempotency-Key\", window = \"24h\" } if it executes one key once, for at least that long after the first request; or idempotency = \"none\" if a repetition may execute again: then an action that may have arrived is never repeated by itself",
    ),
    case(
        "idempotency of another kind",
        "{ header = \"Idempotency-Key\", window = \"24h\" }",
        "true",
        "20:15: `idempotency` is neither \"none\" nor a table with a window; write idempotency = { header = \"Idempotency-Key\", window = \"24h\" } if it executes one key once, for at least that long after the first request; or idempotency = \"none\" if a repetition may execute again: then an action that may have arrived is never repeated by itself",
    ),
    case(
        "idempotency without a window",
        "{ header = \"Idempotency-Key\", window = \"24h\" }",
        "{ header = \"Idempotency-Key\" }",
        "20:15: `idempotency` of [destination.mailer] has no `window`; write window = \"24h\"",
    ),
    case(
        "idempotency with an unknown key",
        "window = \"24h\"",
        "window = \"24h\", windw = 1",
        "20:61: `idempotency` of [destination.mailer] has no key \"windw\"; did you mean `window`?",
    ),
    case(
        "a key's header that cannot be",
        "\"Idempotency-Key\"",
        "\"a b\"",
        "20:26: \"a b\" is not the name of a header; write header = \"Idempotency-Key\", or the name in the destination's documentation",
    ),
    case(
        "a key's header that is ours",
        "\"Idempotency-Key\"",
        "\"Content-Type\"",
        "20:26: the header \"Content-Type\" cannot carry the action's key; write header = \"Idempotency-Key\"; a destination that reads webhook-id has the key there, where `signing` is set",
    ),
    case(
        "none, and retry",
        "{ header = \"Idempotency-Key\", window = \"24h\" }",
        "\"none\"",
        "21:14: on_unknown = \"retry\" would execute an action twice: with idempotency = \"none\" the destination keeps no keys; write on_unknown = \"hold\" or \"reconcile\", or the destination's window in `idempotency`",
    ),
    case(
        "reconcile",
        "on_unknown = \"retry\"",
        "on_unknown = \"reconcile\"",
        "21:14: on_unknown = \"reconcile\" does not say how the destination is asked; write reconcile = { url = \"https://mail.example.com/actions/{key}\", answers = [{ status = 200, means = \"applied\" }] }",
    ),
    case(
        "an unknown policy",
        "on_unknown = \"retry\"",
        "on_unknown = \"drop\"",
        "21:14: `on_unknown` cannot be \"drop\"; write \"retry\", \"reconcile\" or \"hold\"",
    ),
    case(
        "a timeout without a unit",
        "timeout = \"10s\"",
        "timeout = 10",
        "22:11: `timeout` is a number, not a text; write timeout = \"10s\"",
    ),
    case(
        "a timeout with a strange unit",
        "timeout = \"10s\"",
        "timeout = \"10 q\"",
        "22:11: `timeout`: \"10 q\" is no length of time; write a number with its unit, as in \"500ms\", \"10s\", \"5m\", \"24h\" or \"3d\"",
    ),
    case(
        "a timeout of nothing",
        "timeout = \"10s\"",
        "timeout = \"0s\"",
        "22:11: `timeout` is 0s; write between \"1ms\" and \"14m\"",
    ),
    case(
        "a timeout longer than any function",
        "timeout = \"10s\"",
        "timeout = \"20m\"",
        "22:11: `timeout` is 20m; write between \"1ms\" and \"14m\"",
    ),
    case(
        "no time to retry in",
        "retry_for = \"3d\"",
        "retry_for = \"0s\"",
        "23:13: `retry_for` is 0s; write between \"1ms\" and \"365d\"",
    ),
    case(
        "a first wait longer than the longest",
        "first = \"30s\"",
        "first = \"2h\"",
        "24:21: `backoff`: first (2h) is longer than max (1h); write backoff = { first = \"1h\", max = \"2h\" }",
    ),
    case(
        "a backoff that is no table",
        "{ first = \"30s\", max = \"1h\" }",
        "\"30s\"",
        "24:11: `backoff` is a text, not a table; write backoff = { first = \"30s\", max = \"1h\" }",
    ),
    case(
        "a backoff with an unknown key",
        "max = \"1h\"",
        "maximum = \"1h\"",
        "24:28: `backoff` of [destination.mailer] has no key \"maximum\"; known here: `first`, `max`",
    ),
    case(
        "no room at all",
        "retry_for = \"3d\"",
        "concurrency = 0",
        "23:15: `concurrency` is 0; write a number from 1 to 1000",
    ),
    case(
        "a breaker that is another word",
        "retry_for = \"3d\"",
        "breaker = \"of\"",
        "23:11: `breaker` is neither \"off\" nor a table; write breaker = { after = 10, pause = \"30s\", max_pause = \"10m\" }, or breaker = \"off\"",
    ),
    case(
        "a breaker with an unknown key",
        "retry_for = \"3d\"",
        "breaker = { afetr = 3 }",
        "23:13: `breaker` of [destination.mailer] has no key \"afetr\"; did you mean `after`?",
    ),
    case(
        "a breaker out of bounds",
        "retry_for = \"3d\"",
        "breaker = { after = 0, pause = \"0s\", max_pause = \"2d\" }",
        "23:21: `after` is 0; write a number from 1 to 1000\n23:32: `pause` is 0s; write between \"1ms\" and \"1d\"\n23:50: `max_pause` is 2d; write between \"1ms\" and \"1d\"",
    ),
    case(
        "a pause that is longer than the longest",
        "retry_for = \"3d\"",
        "breaker = { pause = \"5m\", max_pause = \"1m\" }",
        "23:21: `breaker`: pause (5m) is longer than max_pause (1m); write breaker = { after = 10, pause = \"30s\", max_pause = \"10m\" }, or breaker = \"off\"",
    ),
    case(
        "a signing secret's value",
        "env:SIGNING",
        "whsec_dontsay",
        "25:12: an entry of `signing` is no reference to a secret; write where the value stands, never the value itself: \"env:NAME\", \"file:PATH\" or \"ssm:/name\"; if a secret stood here, replace it at the sender",
    ),
    case(
        "more signing secrets than a receiver reads",
        "[\"env:SIGNING\"]",
        "[\"env:A\", \"env:B\", \"env:C\", \"env:D\", \"env:E\", \"env:F\", \"env:G\", \"env:H\", \"env:I\"]",
        "25:11: `signing` names 9 secrets; name at most 8: the one in use, and beside it the next while it is exchanged",
    ),
    case(
        "an empty list of signing secrets",
        "[\"env:SIGNING\"]",
        "[]",
        "25:11: `signing` is empty; write signing = [\"env:MAILER_SIGNING_SECRET\"], or leave it out",
    ),
    case(
        "a name that cannot be",
        "",
        "[destination.Mail_er]\nurl = \"https://a.example.com\"\nidempotency = \"none\"\n",
        "37:14: a destination's name: \"Mail_er\" is not a name: use 1 to 64 lower-case letters, digits and hyphens, starting with a letter or digit",
    ),
    case(
        "a destination that is a text",
        "",
        "[destination]\nother = \"https://a.example.com\"\n",
        "38:9: [destination.other] is a text, not a table; write [destination.other] on a line, and its keys below",
    ),
    case(
        "a window shorter than an attempt",
        "window = \"24h\"",
        "window = \"15s\"",
        "20:54: the `window` of mailer (15s) must be longer than its timeout (10s) + clock_skew (5s), which is 15s: no repetition would fit; write how long the destination really keeps its keys; if it is not longer, write idempotency = \"none\"",
    ),
];

#[test]
fn what_is_doubtful_in_a_destination_is_warned_of() {
    check(WARNINGS, warnings);
}

const WARNINGS: &[Case] = &[
    case(
        "used by no rule",
        "",
        "[destination.other]\nurl = \"https://a.example.com\"\nidempotency = \"none\"\n",
        "37:14: [destination.other] is used by no rule; name it in a rule's `destination`, or remove it once nothing is open for it any more",
    ),
    case(
        "http on a way of one's own",
        "\"https://mail.example.com/actions\"",
        "\"http://mail.example.com/actions\"\nallow_private = true",
        "18:7: `url` is http: actions, their keys and headers can be read and changed on the way; write https where the destination has it",
    ),
    case(
        "http on this machine",
        "\"https://mail.example.com/actions\"",
        "\"http://127.0.0.1:9000/\"\nallow_private = true",
        "",
    ),
    case(
        "a private address that is meant",
        "\"https://mail.example.com/actions\"",
        "\"https://10.0.0.1/\"\nallow_private = true",
        "",
    ),
    case(
        "a window without room for a repetition",
        "window = \"24h\"",
        "window = \"40s\"",
        "20:54: the `window` of mailer (40s) has no room for a repetition: backoff first (30s) + timeout (10s) + clock_skew (5s) is 45s; write a shorter backoff, or an action that may have arrived is held at once",
    ),
    case(
        "a pause that outlasts the window",
        "retry_for = \"3d\"",
        "breaker = { max_pause = \"1d\" }",
        "23:25: `breaker`: a pause of up to 1d outlasts the destination's window (1d); write a shorter max_pause, or what may have arrived before a long pause is held after it",
    ),
    case(
        "one signing secret twice",
        "[\"env:SIGNING\"]",
        "[\"env:SIGNING\", \"env:SIGNING\"]",
        "25:27: `signing` names one secret twice; remove one of the two",
    ),
];

#[test]
fn an_address_that_no_attempt_would_be_made_to_is_a_mistake_already() {
    for host in [
        "0.0.0.0",
        "100.100.100.200",
        "127.1",
        "0x7f.1",
        "169.254.169.254",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[::7f00:1]",
        "[::ffff:8.8.8.8]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::1]",
        "[2001:db8::1]",
        "[2002:7f00:1::]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[ff02::1]",
        "localhost",
        "a.localhost.",
    ] {
        let url = format!("https://{host}/actions");
        let text = edited("https://mail.example.com/actions", &url);
        let said = mistakes(&text);
        assert!(said.contains("leads to a private address"), "{url}: {said}");
    }
    for host in ["8.8.8.8", "[2606:4700::1111]", "[64:ff9b::8.8.8.8]"] {
        let url = format!("https://{host}/actions");
        let text = edited("https://mail.example.com/actions", &url);
        assert_eq!(mistakes(&text), "no mistake", "{url}");
    }
}
