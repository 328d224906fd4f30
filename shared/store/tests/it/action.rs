//! Actions, policies and settlements as the tests use them.

use std::time::Duration;

use ackbox_domain::settlement::{Reason, Settlement};
use ackbox_domain::{
    Action, ActionKey, AttemptRecord, Claim, Fingerprint, Name, OutboxEntry, OutcomeKind,
    RenderedBody, Scalar, Settled, Timestamp, Timing,
};
use ackbox_store::{Change, Claimed, Store};

use crate::engine::soon;

pub(crate) const NOW: Timestamp = Timestamp::from_unix_ms(1_795_959_600_000);
pub(crate) const ORIGIN: [u8; 8] = *b"origin-1";

pub(crate) const TIMING: Timing = Timing {
    lease: Duration::from_secs(45),
    settle_margin: Duration::from_secs(5),
    clock_skew: Duration::from_secs(5),
    first_due: Duration::from_secs(60),
    no_destination_hold: Duration::from_secs(3600),
};

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub(crate) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// An action of the message `id` with this body; the body is its fingerprint and its digest.
pub(crate) fn action(id: &str, body: &[u8]) -> Action {
    let parts = vec![("message:id".to_owned(), Scalar::Text(id.to_owned()))];
    Action {
        key: ActionKey::new("reports/ready", parts.iter().map(|(_, value)| value)),
        namespace: "reports/ready".to_owned(),
        parts,
        fingerprint: fingerprint(body),
        source: name("reports"),
        rule: name("ready"),
        account: None,
        subject: Some("export-7".to_owned()),
        event: Some("export.ready".to_owned()),
        message_id: Some(id.to_owned()),
        destination: name("mailer"),
        body: RenderedBody {
            bytes: body.to_vec(),
            content_type: Some("application/json".to_owned()),
            content_encoding: None,
        },
        accepted_at: NOW,
    }
}

/// A fingerprint that is a plain function of the body: its first 32 bytes.
pub(crate) fn fingerprint(body: &[u8]) -> Fingerprint {
    let mut hash = [0_u8; 32];
    for (at, byte) in body.iter().enumerate() {
        hash[at % 32] = byte.wrapping_add(hash[at % 32].wrapping_mul(31));
    }
    Fingerprint {
        hash,
        recipe: *b"recipe-1",
        digest: hash,
    }
}

/// Bytes that no compression makes smaller.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        // Xorshift: the same bytes for ever, as a snapshot wants them.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Accepts an action and reads its entry.
pub(crate) async fn accepted(store: &Store, action: &Action) -> OutboxEntry {
    store.accept(action, &TIMING, soon()).await.unwrap();
    store.entry(&action.key).await.unwrap().unwrap()
}

pub(crate) fn claim_of(id: &str, at: Timestamp) -> Claim {
    Claim {
        id: id.to_owned(),
        claimed_at: at,
        lease_until: at.plus(TIMING.lease),
    }
}

/// Claims an entry, which must be free.
pub(crate) async fn claimed(store: &Store, entry: &OutboxEntry, id: &str) -> OutboxEntry {
    let claim = claim_of(id, NOW);
    match store.claim(entry, claim, ORIGIN, soon()).await.unwrap() {
        Claimed::Started(entry) => entry,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn attempt(number: u64, kind: OutcomeKind, status: Option<u16>) -> AttemptRecord {
    AttemptRecord {
        number,
        kind,
        status,
        began_after: secs(number),
    }
}

pub(crate) fn settled(settlement: Settlement) -> Settled {
    Settled::new(settlement, None)
}

pub(crate) fn retry(due_at: Timestamp) -> Settled {
    settled(Settlement::Retry { due_at })
}

pub(crate) fn held() -> Settled {
    settled(Settlement::Held(Reason::OutcomeUnknown))
}

pub(crate) fn dead() -> Settled {
    settled(Settlement::Dead(Reason::Rejected))
}

pub(crate) fn delivered() -> Settled {
    settled(Settlement::Delivered)
}

/// A settlement, decided at [`NOW`].
pub(crate) fn change<'a>(
    settled: &'a Settled,
    attempt: Option<(&'a AttemptRecord, &'a str)>,
) -> Change<'a> {
    change_at(NOW, settled, attempt)
}

/// A settlement that is decided at another time.
pub(crate) fn change_at<'a>(
    now: Timestamp,
    settled: &'a Settled,
    attempt: Option<(&'a AttemptRecord, &'a str)>,
) -> Change<'a> {
    Change {
        settled,
        attempt,
        told: None,
        now,
    }
}
