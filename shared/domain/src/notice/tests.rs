use std::time::Duration;

use super::*;
use crate::carriage::Form;
use crate::delivery::OutcomeKind;
use crate::outbox::StoredBody;
use crate::settlement::{Reason, Settlement};

const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000_000);

fn notify() -> Notify {
    Notify {
        destination: "ops".parse().unwrap(),
        on: BTreeSet::from(Trouble::ALL),
    }
}

fn body() -> RenderedBody {
    RenderedBody {
        bytes: b"{}".to_vec(),
        content_type: None,
        content_encoding: None,
    }
}

fn entry() -> OutboxEntry {
    OutboxEntry {
        key: ActionKey::new("test", [&Scalar::Text("1".to_owned())]),
        source: "reports".parse().unwrap(),
        destination: "mailer".parse().unwrap(),
        state: EntryState::Claimed,
        reason: None,
        fence: 3,
        claim: None,
        accepted_at: NOW.minus(Duration::from_secs(60)),
        due_at: None,
        first_uncertain_at: None,
        cleared_fence: 0,
        origin: None,
        redriven_at: None,
        is_vouched: false,
        attempts: Vec::new(),
        last_detail: None,
        body: StoredBody::Inline(body()),
        settled_at: None,
    }
}

const NOTHING: Last<'static> = Last {
    attempt: None,
    detail: None,
};

fn settled(settlement: Settlement) -> Settled {
    Settled::new(settlement, None)
}

fn told(settlement: Settlement) -> Option<Action> {
    notify().of_settlement(&entry(), &settled(settlement), NOTHING, NOW)
}

#[test]
fn dead_held_and_unknown_are_told_and_the_usual_course_is_not() {
    for (settlement, event) in [
        (Settlement::Dead(Reason::Rejected), "action.dead"),
        (Settlement::Held(Reason::OutcomeUnknown), "action.held"),
        (Settlement::Unknown { due_at: NOW }, "action.unknown"),
    ] {
        let notice = told(settlement).unwrap();
        assert_eq!(notice.event.as_deref(), Some(event));
        assert_eq!(notice.destination.as_str(), "ops");
        assert_eq!(notice.subject.as_deref(), Some(entry().key.as_str()));
    }
    for usual in [
        Settlement::Delivered,
        Settlement::Retry { due_at: NOW },
        Settlement::NoDestination { due_at: NOW },
    ] {
        assert_eq!(told(usual), None);
    }
}

#[test]
fn one_state_of_one_entry_is_one_notice_in_whatever_words() {
    let held = |reason, now| {
        let settled = settled(Settlement::Held(reason));
        notify()
            .of_settlement(&entry(), &settled, NOTHING, now)
            .unwrap()
    };
    let one = held(Reason::WindowEnded, NOW);
    let other = held(Reason::OriginChanged, NOW.plus(Duration::from_secs(9)));
    assert_eq!(one.key, other.key);
    assert_eq!(one.fingerprint, other.fingerprint);
    assert_ne!(one.body, other.body);
    assert_ne!(
        one.key,
        told(Settlement::Dead(Reason::Rejected)).unwrap().key
    );
}

#[test]
fn an_entry_that_stays_where_it_was_is_no_news() {
    let waits = OutboxEntry {
        state: EntryState::Unknown,
        ..entry()
    };
    let again = settled(Settlement::Unknown { due_at: NOW });
    assert_eq!(notify().of_settlement(&waits, &again, NOTHING, NOW), None);
}

#[test]
fn only_what_is_wanted_is_told() {
    let only_dead = Notify {
        on: BTreeSet::from([Trouble::Dead]),
        ..notify()
    };
    let held = settled(Settlement::Held(Reason::WindowEnded));
    assert_eq!(only_dead.of_settlement(&entry(), &held, NOTHING, NOW), None);
    let dead = settled(Settlement::Dead(Reason::Rejected));
    assert!(
        only_dead
            .of_settlement(&entry(), &dead, NOTHING, NOW)
            .is_some()
    );
}

#[test]
fn trouble_with_a_notice_makes_no_notice() {
    let notice = told(Settlement::Dead(Reason::Rejected)).unwrap();
    let of_notice = OutboxEntry {
        key: notice.key.clone(),
        source: notice.source.clone(),
        ..entry()
    };
    let dead = settled(Settlement::Dead(Reason::Rejected));
    assert_eq!(
        notify().of_settlement(&of_notice, &dead, NOTHING, NOW),
        None
    );
    assert_eq!(notify().of_conflict(&notice, NOW), None);
}

#[test]
fn a_conflict_is_one_notice_for_each_other_content() {
    let notice = told(Settlement::Dead(Reason::Rejected)).unwrap();
    let action = |hash| Action {
        source: "reports".parse().unwrap(),
        fingerprint: Fingerprint {
            hash: [hash; 32],
            recipe: [0; 8],
            digest: [hash; 32],
        },
        ..notice.clone()
    };
    let of = |hash| notify().of_conflict(&action(hash), NOW).unwrap().key;
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_notice_says_what_an_operator_asks_first() {
    let attempt = AttemptRecord::new(3, OutcomeKind::Rejected, Some(422), Duration::ZERO);
    let last = Last {
        attempt: Some(&attempt),
        detail: Some("no such \"mailbox\""),
    };
    let dead = settled(Settlement::Dead(Reason::Rejected));
    let notice = notify().of_settlement(&entry(), &dead, last, NOW).unwrap();
    let told: serde_json::Value = serde_json::from_slice(&notice.body.bytes).unwrap();
    assert_eq!(told["key"], notice.key.as_str());
    assert_eq!(told["source"], "ackbox");
    let data = &told["data"];
    assert_eq!(data["action"], entry().key.as_str());
    assert_eq!(data["reason"], "rejected");
    assert_eq!(data["attempts"], 3);
    assert_eq!(data["last_status"], 422);
    assert_eq!(data["detail"], "no such \"mailbox\"");
    assert_eq!(data["first_uncertain_at"], serde_json::Value::Null);
}

#[test]
fn a_way_that_cannot_carry_a_notice_is_found_before_there_is_one() {
    let grouped = |group: &str| Carriage {
        form: Form::Json,
        max: None,
        group: Some(group.parse().unwrap()),
    };
    assert_eq!(notify().check(&grouped("/key")), Ok(()));
    assert!(notify().check(&grouped("/tenant")).is_err());
    // Not every notice has these.
    for sometimes in [
        "/data/reason",
        "/data/rule",
        "/data/message_id",
        "/data/destination",
    ] {
        assert!(notify().check(&grouped(sometimes)).is_err(), "{sometimes}");
    }
    assert_eq!(notify().check(&grouped("/data/source")), Ok(()));
    let small = Carriage {
        form: Form::Text,
        max: Some(600),
        group: None,
    };
    assert!(notify().check(&small).is_err());
    assert_eq!(notify().check(&Carriage::ANYTHING), Ok(()));
}

/// What others wrote is in a notice; it must not keep the notice from being sent.
#[test]
fn whatever_was_said_a_notice_can_be_carried() {
    let queue = Carriage {
        form: Form::Text,
        max: Some(16 * 1024),
        group: None,
    };
    let odd = "\u{fffe}\u{ffff}\u{0}\u{1b}\u{1f600}\"\\".repeat(40_000);
    let last = Last {
        attempt: None,
        detail: Some(&odd),
    };
    let dead = settled(Settlement::Dead(Reason::Rejected));
    let of_entry = notify().of_settlement(&entry(), &dead, last, NOW).unwrap();
    assert_eq!(queue.check(&of_entry.body), Ok(()));
    let other = Action {
        source: "reports".parse().unwrap(),
        event: Some(odd.clone()),
        subject: Some(odd.clone()),
        message_id: Some(odd),
        ..of_entry
    };
    let of_conflict = notify().of_conflict(&other, NOW).unwrap();
    assert_eq!(queue.check(&of_conflict.body), Ok(()));
    assert!(serde_json::from_slice::<serde_json::Value>(&of_conflict.body.bytes).is_ok());
}
