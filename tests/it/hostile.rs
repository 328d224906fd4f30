//! What hostile messages cost: whatever comes in, by whichever host, the table is called for what a
//! proven sender's message holds and a rule wants, and for nothing else.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use ackbox_tests::faults::Call;
use ackbox_tests::requests::{Host, Wire};
use ackbox_tests::sender::{self, Answer};
use ackbox_tests::world::{World, answering, orders, warehouse};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Beside `orders` (one rule, the id in a header): a batch whose elements have keys of their own, and
/// two rules on one message.
async fn config() -> String {
    let destination = answering(200).await;
    let more = r#"
[source.batch]
scheme = "svix"
secrets = ["env:BATCH"]
each = "/events"
max_each = 3
event = "/kind"
max_body = "2 KiB"

[[source.batch.rule]]
name = "each"
on = ["a"]
key = ["/id"]
destination = "warehouse"

[source.pair]
scheme = "stripe"
secrets = ["env:PAIR"]

[[source.pair.rule]]
name = "ship"
key = ["/id"]
destination = "warehouse"

[[source.pair.rule]]
name = "bill"
key = ["/invoice"]
destination = "warehouse"
"#;
    // `orders` brings the destination with it.
    assert!(orders(&destination).contains(&warehouse(
        &destination,
        "{ window = \"24h\" }",
        "retry"
    )));
    format!("{}{more}", orders(&destination))
}

/// What a stranger does to a message.
#[derive(Clone, Debug)]
enum Trick {
    /// Nothing: the sender's own message.
    None,
    /// Signed with another secret.
    Forged,
    /// Signed long ago.
    Old,
    /// Its signature taken away.
    Unsigned,
    /// One byte of the body changed, after it was signed.
    Edited(prop::sample::Index),
    /// Sent to no source of this name.
    To(&'static str),
    /// Sent to another source.
    Astray,
    /// By another method.
    Method(&'static str),
    /// The signature's header twice, with two values.
    Twice,
    /// A header line of any bytes that a header may have.
    Beside(String),
}

impl Trick {
    /// Whether the message is its sender's own in spite of it.
    fn is_harmless(&self) -> bool {
        matches!(self, Self::None | Self::Beside(_))
    }
}

#[derive(Clone, Debug)]
struct Message {
    source: &'static str,
    id: String,
    body: Vec<u8>,
    trick: Trick,
    host: Host,
    base64: bool,
}

fn any_trick() -> impl Strategy<Value = Trick> {
    prop_oneof![
        8 => Just(Trick::None),
        1 => Just(Trick::Forged),
        1 => Just(Trick::Old),
        1 => Just(Trick::Unsigned),
        2 => any::<prop::sample::Index>().prop_map(Trick::Edited),
        1 => prop::sample::select(vec!["nowhere", "", "orders/x", "ORDERS"]).prop_map(Trick::To),
        1 => Just(Trick::Astray),
        1 => prop::sample::select(vec!["GET", "PUT", "HEAD", "OPTIONS"]).prop_map(Trick::Method),
        1 => Just(Trick::Twice),
        1 => "[ -~]{0,30}".prop_map(Trick::Beside),
    ]
}

/// Bodies that a rule wants, that none wants, that cannot be used, and that mean nothing at all. The
/// ids are few, so that duplicates and conflicts come up.
fn any_body() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let id = prop::sample::select(vec![
        "1",
        "2",
        "\"1\"",
        "\"\"",
        "null",
        "{}",
        "\"x\",\"id\":\"y\"",
    ]);
    let element = (id.clone(), prop::sample::select(vec!["a", "a", "b"]));
    let order = prop::sample::select(vec!["order.paid", "order.paid", "order.seen"]);
    prop_oneof![
        4 => (order, 0..3_u8).prop_map(|(event, total)| {
            ("orders", format!(r#"{{"type":"{event}","total":{total}}}"#).into_bytes())
        }),
        4 => prop::collection::vec(element, 0..5).prop_map(|elements| {
            // The place makes each id of a batch its own: they are accepted side by side.
            let elements: Vec<String> = elements
                .iter()
                .enumerate()
                .map(|(n, (id, kind))| match id.parse::<u32>() {
                    Ok(id) => format!(r#"{{"kind":"{kind}","id":{n}{id}}}"#),
                    Err(_) => format!(r#"{{"kind":"{kind}","id":{id},"n":{n}}}"#),
                })
                .collect();
            ("batch", format!(r#"{{"events":[{}]}}"#, elements.join(",")).into_bytes())
        }),
        4 => (id.clone(), id, 0..3_u8).prop_map(|(id, invoice, n)| {
            ("pair", format!(r#"{{"id":{id},"invoice":{invoice},"n":{n}}}"#).into_bytes())
        }),
        2 => (prop::sample::select(vec!["orders", "batch", "pair"]), prop::collection::vec(any::<u8>(), 0..60)),
        1 => Just(("batch", vec![b' '; 3000])),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    let host = prop::sample::select(Host::ALL.to_vec());
    (any_body(), "m[0-3]", any_trick(), host, any::<bool>()).prop_map(
        |((source, body), id, trick, host, base64)| Message {
            source,
            id,
            body,
            trick,
            host,
            base64,
        },
    )
}

impl Message {
    fn wire(&self, world: &World) -> Wire {
        let webhook = world.webhook(self.source, &self.id, self.body.clone());
        let webhook = match &self.trick {
            Trick::Forged => webhook.signed_with("OTHER"),
            Trick::Old => webhook.at(world.clock.now().minus(Duration::from_secs(3600))),
            Trick::Beside(value) => webhook.header("x-beside", value.trim()),
            _ => webhook,
        };
        let mut wire = webhook.wire();
        wire.base64 = self.base64;
        match &self.trick {
            Trick::Unsigned => wire.headers.retain(|(name, _)| !is_signature(name)),
            Trick::Edited(at) => match wire.body.len() {
                0 => wire.body.push(b'0'),
                length => wire.body[at.index(length)] ^= 1,
            },
            Trick::To(source) => wire.path = format!("/hooks/{source}"),
            Trick::Method(method) => wire.method = (*method).to_owned(),
            Trick::Astray => wire.path = format!("/hooks/{}", self.another_source()),
            Trick::Twice => {
                let name = wire.headers.iter().find(|(name, _)| is_signature(name));
                let name = name.map_or_else(String::new, |(name, _)| name.clone());
                wire.headers.push((name, "t=1,v1=00".to_owned()));
            }
            _ => {}
        }
        wire
    }

    fn another_source(&self) -> &'static str {
        match self.source {
            "batch" => "pair",
            "pair" => "orders",
            _ => "batch",
        }
    }

    /// The most actions that its rules can make of it.
    fn most_actions(&self) -> usize {
        match self.source {
            "batch" => 3,
            "pair" => 2,
            _ => 1,
        }
    }
}

fn is_signature(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("signature")
}

/// Every call is one that the answer explains.
fn is_explained(message: &Message, answer: &Answer, calls: &[Call]) -> Result<(), TestCaseError> {
    let count = |operation: &str| {
        calls
            .iter()
            .filter(|call| call.operation == operation)
            .count()
    };
    let transactions = count("TransactWriteItems");
    let (puts, updates) = (count("PutItem"), count("UpdateItem"));
    let story = format!("{message:?} {answer:?} {calls:#?}");
    prop_assert_eq!(
        transactions + puts + updates,
        calls.len(),
        "another call: {}",
        story
    );
    prop_assert!(
        transactions <= message.most_actions(),
        "more than one for an action: {}",
        story
    );
    // What disagrees is written once, and counted where it is written already.
    prop_assert!(puts <= transactions && updates <= puts, "{}", story);
    match answer.outcome.as_str() {
        "accepted" => prop_assert!(transactions > 0 && puts == 0, "{}", story),
        "duplicate" => prop_assert!(transactions > 0 && puts == 0, "{}", story),
        "conflict" => prop_assert!(puts > 0, "{}", story),
        // A usable neighbour of what is malformed is accepted all the same.
        "malformed" => prop_assert!(transactions < message.most_actions(), "{}", story),
        "refused" | "ignored" | "method" | "unknown-source" | "too-large" => {
            prop_assert!(calls.is_empty(), "{}", story);
        }
        _ => prop_assert!(false, "our own fault: {}", story),
    }
    if !message.trick.is_harmless() {
        prop_assert!(
            calls.is_empty(),
            "a stranger's message was paid for: {}",
            story
        );
    }
    Ok(())
}

#[test]
fn no_message_costs_more_than_its_actions_and_a_strangers_costs_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (world, receiver) = runtime.block_on(async {
        let world = World::new(&config().await).await;
        let receiver = world.receiver().await;
        // The first message of a source in a process also looks at what the table remembers.
        for (source, body) in [
            ("orders", r#"{"type":"order.paid"}"#),
            ("batch", r#"{"events":[{"kind":"a","id":"warm"}]}"#),
            ("pair", r#"{"id":"warm","invoice":"warm"}"#),
        ] {
            let answer = world.webhook(source, "warm", body).to(&receiver).await;
            assert_eq!(answer.said(), (200, "accepted"));
        }
        (world, receiver)
    });
    let config = Config {
        cases: 600,
        failure_persistence: None,
        ..Config::default()
    };
    let seen = RefCell::new(BTreeSet::new());
    let outcome = TestRunner::new(config).run(&any_message(), |message| {
        let wire = message.wire(&world);
        world.faults.forget();
        let answer = runtime.block_on(sender::send(&receiver, &wire, message.host));
        seen.borrow_mut().insert(answer.outcome.clone());
        is_explained(&message, &answer, &world.faults.calls())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let seen: Vec<String> = seen.into_inner().into_iter().collect();
    let all =
        "accepted conflict duplicate ignored malformed method refused too-large unknown-source";
    assert_eq!(seen.join(" "), all, "every outcome came up");
}
