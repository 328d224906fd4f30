//! What the senders have to send: the bodies of their test vectors, under the ids and event names with
//! which they would send them.

use super::ledger::Kind;

/// When, and with what, a message is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// Now, with a secret of the source.
    Rightly,
    /// An hour ago, with a secret of the source.
    LongAgo,
    /// Now, with a secret that the source does not know.
    Wrongly,
}

/// One message before it is signed.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// Why it is sent.
    pub kind: Kind,
    /// The source it goes to.
    pub source: &'static str,
    /// The senders' own name for the fact.
    pub fact: &'static str,
    /// The message's id, for senders that have it in a header.
    pub id: String,
    /// The event's type, for senders that have it in a header.
    pub event: Option<&'static str>,
    /// The body.
    pub body: Vec<u8>,
    /// How it is signed.
    pub signed: Signed,
}

macro_rules! body {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/demo/bodies/",
            $name,
            ".json"
        ))
        .as_slice()
    };
}

pub mod jobs;

fn new(source: &'static str, fact: &'static str, id: &str, body: &[u8]) -> Parcel {
    Parcel {
        kind: Kind::New,
        source,
        fact,
        id: id.to_owned(),
        event: None,
        body: body.to_vec(),
        signed: Signed::Rightly,
    }
}

/// A new event of each sender.
pub fn news() -> [Parcel; 5] {
    let mut push = new(
        "github",
        "push",
        "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        body!("github-push"),
    );
    push.event = Some("push");
    [
        push,
        new("stripe", "evt_test_webhook", "", body!("stripe-event")),
        new(
            "reports",
            "msg_p5jXN8AQ",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            body!("reports-message"),
        ),
        new(
            "sume",
            "job.completed job_123",
            "evt_02",
            body!("sume-job-completed"),
        ),
        new(
            "tornado",
            "job_completed 550e8400",
            "",
            body!("tornado-job-completed"),
        ),
    ]
}

/// The same event once more, signed afresh. Sume makes its envelope anew for that: the bytes differ,
/// and it is the same fact.
pub fn again(parcel: &Parcel, round: usize) -> Parcel {
    let mut again = parcel.clone();
    again.kind = Kind::Redelivery;
    if again.source == "sume" {
        let text = String::from_utf8_lossy(&again.body);
        again.body = text
            .replace("req_123", &format!("req_{}", 123 + round))
            .into_bytes();
    }
    again
}

/// The event that many senders tell at once.
pub fn at_once() -> Parcel {
    let mut parcel = new(
        "tornado",
        "job_completed abc",
        "",
        body!("tornado-job-completed-older"),
    );
    parcel.kind = Kind::AtOnce;
    parcel
}

/// The job of `news` with another status.
pub fn other_body() -> Parcel {
    let body = body!("tornado-job-completed-edited");
    let mut parcel = new("tornado", "job_completed 550e8400 (edited)", "", body);
    parcel.kind = Kind::OtherBody;
    parcel
}

/// An event that Stripe never sent.
pub fn forged() -> Parcel {
    let text =
        String::from_utf8_lossy(body!("stripe-event")).replace("evt_test_webhook", "evt_forged");
    let mut parcel = new("stripe", "evt_forged", "", text.as_bytes());
    (parcel.kind, parcel.signed) = (Kind::Forged, Signed::Wrongly);
    parcel
}

/// A callback that was right an hour ago and is played back now.
pub fn stale() -> Parcel {
    let text =
        String::from_utf8_lossy(body!("tornado-job-completed-older")).replace("abc", "stale");
    let mut parcel = new("tornado", "job_completed stale", "", text.as_bytes());
    (parcel.kind, parcel.signed) = (Kind::Stale, Signed::LongAgo);
    parcel
}

/// A message one byte larger than `max`.
pub fn too_large(max: usize) -> Parcel {
    let mut body = body!("reports-message").to_vec();
    let room = max + 1 - body.len();
    // White space before the closing brace: it would be good JSON.
    let end = body.len() - 1;
    body.splice(end..end, std::iter::repeat_n(b' ', room));
    let mut parcel = new("reports", "msg_too_large", "msg_too_large", &body);
    parcel.kind = Kind::TooLarge;
    parcel
}

/// A message of an inbox that knows its messages by their ids alone.
pub fn inbox() -> Parcel {
    new("reports", "event 42", "event-42", body!("inbox-compact"))
}

/// The same id, with other bytes: to whom a message is its bytes, that is another message.
pub fn inbox_spaced() -> Parcel {
    let body = body!("inbox-spaced");
    let mut parcel = new("reports", "event 42 (spaced)", "event-42", body);
    parcel.kind = Kind::OtherBody;
    parcel
}

/// Sume's test of the connection.
pub fn test() -> Parcel {
    let mut parcel = new(
        "sume",
        "webhook.test",
        "evt_test",
        body!("sume-webhook-test"),
    );
    parcel.kind = Kind::Test;
    parcel
}

/// The event whose destination is down twice.
pub fn for_the_one_that_is_down() -> Parcel {
    let id = "0b989ba4-242f-11e5-81e1-c7b6966d2516";
    let mut parcel = new("github", "deployment", id, body!("github-deployment"));
    parcel.event = Some("deployment");
    parcel
}

/// The event that finds its destination down, and pauses it.
pub fn for_the_one_that_is_paused() -> Parcel {
    issue(
        "issue opened",
        "72d3162e-cc78-11e3-81ab-000000000001",
        "opened",
    )
}

/// The event that comes while the same destination is paused.
pub fn for_the_one_that_is_paused_already() -> Parcel {
    issue(
        "issue closed",
        "72d3162e-cc78-11e3-81ab-000000000002",
        "closed",
    )
}

fn issue(fact: &'static str, id: &str, what: &str) -> Parcel {
    let body = String::from_utf8_lossy(body!("github-push")).replace("bar", what);
    let mut parcel = new("github", fact, id, body.as_bytes());
    parcel.event = Some("issues");
    parcel
}

/// The event whose destination hangs up, and keeps keys.
pub fn for_the_one_that_hangs_up() -> Parcel {
    new(
        "tornado",
        "job_failed 550e8400",
        "",
        body!("tornado-job-failed"),
    )
}

/// The event whose destination hangs up, and keeps no keys.
pub fn for_the_one_without_keys() -> Parcel {
    new(
        "sume",
        "avatar_video.ready avv_01",
        "evt_01",
        body!("sume-avatar-video-ready"),
    )
}

/// The event whose dispatcher is stopped.
pub fn for_the_one_that_stalls() -> Parcel {
    new(
        "tornado",
        "batch_completed 550e8400",
        "",
        body!("tornado-batch-completed"),
    )
}

/// The event whose destination hangs up, and knows that it has the action.
pub fn for_the_one_that_has_it() -> Parcel {
    new(
        "openrouter",
        "video completed abc123",
        "abc123-completed",
        body!("openrouter-video-completed"),
    )
}

/// The event whose destination hangs up, and knows that it does not have the action.
pub fn for_the_one_that_has_it_not() -> Parcel {
    let id = "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043";
    let mut parcel = new(
        "shopify",
        "order 820982911946154508",
        id,
        body!("shopify-order"),
    );
    parcel.event = Some("orders/create");
    parcel
}

/// The event whose destination hangs up, and never can say.
pub fn for_the_one_that_cannot_say() -> Parcel {
    let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    new("svix", "test 2432232314", id, body!("svix-message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every body of a sender's vectors, in the base64 in which they stand there.
    const VECTORS: [(&str, &str); 8] = [
        (
            "github",
            include_str!("../../../shared/signature/tests/vectors/github.json"),
        ),
        (
            "stripe",
            include_str!("../../../shared/signature/tests/vectors/stripe.json"),
        ),
        (
            "reports",
            include_str!("../../../shared/signature/tests/vectors/standard-webhooks.json"),
        ),
        (
            "sume",
            include_str!("../../../shared/signature/tests/vectors/sume.json"),
        ),
        (
            "tornado",
            include_str!("../../../shared/signature/tests/vectors/tornado.json"),
        ),
        (
            "openrouter",
            include_str!("../../../shared/signature/tests/vectors/openrouter.json"),
        ),
        (
            "shopify",
            include_str!("../../../shared/signature/tests/vectors/shopify.json"),
        ),
        (
            "svix",
            include_str!("../../../shared/signature/tests/vectors/svix.json"),
        ),
    ];

    #[test]
    fn the_bodies_are_those_of_the_vectors_byte_for_byte() {
        let parcels = news().into_iter().chain([
            at_once(),
            other_body(),
            for_the_one_that_is_down(),
            for_the_one_that_hangs_up(),
            for_the_one_without_keys(),
            for_the_one_that_stalls(),
            for_the_one_that_has_it(),
            for_the_one_that_has_it_not(),
            for_the_one_that_cannot_say(),
        ]);
        for parcel in parcels {
            let (_, vectors) = VECTORS
                .iter()
                .find(|(name, _)| *name == parcel.source)
                .unwrap();
            let body = data_encoding::BASE64.encode(&parcel.body);
            assert!(vectors.contains(&format!("{body:?}")), "{}", parcel.fact);
        }
    }

    #[test]
    fn a_message_that_is_too_large_is_so_by_one_byte() {
        assert_eq!(too_large(1000).body.len(), 1001);
    }

    #[test]
    fn a_redelivery_of_sume_has_other_bytes() {
        let [.., sume, _] = news();
        assert_ne!(again(&sume, 1).body, sume.body);
        assert_ne!(again(&sume, 1).body, again(&sume, 2).body);
    }
}
