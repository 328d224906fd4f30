//! `ackbox resolve --job`: another end of a job counts, or it does not; a silent one is closed.

use std::time::Duration;

use ackbox_domain::job::{Binding, JobObservation, Unbound, binding};
use ackbox_domain::{EntryState, RenderedBody};
use ackbox_store::{JobAcceptance, Offer};
use serde_json::json;

use super::{Desk, TIMING, now, soon};

fn bound(desk: &Desk) -> Binding {
    let text = json!({
        "space": "tornado", "job_id": "550e", "tenant": "t-1", "attempt": 1,
        "steps": [
            {"step": "analyze-v1", "on": ["completed"], "destination": "mailer"},
            {"step": "refund-v1", "on": ["failed"], "destination": "mailer"},
        ],
        "poll_after": "1m", "give_up_after": "2m"
    })
    .to_string();
    let binding = binding(text.as_bytes()).unwrap();
    desk.on(desk.store.bind(&binding, &text, now(), soon()))
        .unwrap();
    binding
}

fn observation(binding: &Binding, outcome: &str) -> JobObservation {
    JobObservation {
        job: binding.job.clone(),
        source: "tornado".parse().unwrap(),
        account: "default".to_owned(),
        outcome: outcome.parse().unwrap(),
        event: None,
        message_id: None,
        values: std::collections::BTreeMap::new(),
        body: RenderedBody {
            bytes: format!("{{\"status\":\"{outcome}\"}}").into_bytes(),
            content_type: None,
            content_encoding: None,
        },
        digest: [outcome.len() as u8; 32],
        seen_at: now(),
    }
}

fn offer() -> Offer<'static> {
    Offer {
        unbound: Unbound::Park,
        parked_for: Duration::from_secs(3600),
        timing: &TIMING,
        now: now(),
        deadline: soon(),
    }
}

fn observed(desk: &Desk, binding: &Binding, outcome: &str) -> JobAcceptance {
    let seen = observation(binding, outcome);
    desk.on(desk.store.observe(&seen, offer())).unwrap()
}

/// A job that has failed, and then completed; and the fingerprint of the second.
fn contradicted() -> (Desk, Binding, String) {
    let desk = Desk::new();
    let binding = bound(&desk);
    observed(&desk, &binding, "failed");
    let second = observed(&desk, &binding, "completed");
    assert!(matches!(second, JobAcceptance::Disagrees(_)), "{second:?}");
    let shown = desk.json(0, &["job", "show", "tornado", "550e"]);
    let all = shown["observations"].as_array().unwrap();
    let one = all.iter().find(|one| one["kind"] == "disagrees").unwrap();
    let print = one["fingerprint"].as_str().unwrap().to_owned();
    (desk, binding, print)
}

#[test]
fn the_other_end_takes_its_place_and_starts_its_steps() {
    let (desk, binding, print) = contradicted();
    let supersede = [
        "resolve",
        "--job",
        "tornado/550e",
        "--conflict",
        &print,
        "--supersede",
    ];
    let dry = desk.json(0, &[&supersede[..], &["--dry-run"]].concat());
    assert_eq!(
        (&dry["was"], &dry["becomes"]),
        (&"failed".into(), &"completed".into())
    );
    let object = desk.json(0, &supersede);
    let made = object["actions"].as_array().unwrap();
    assert_eq!(made.len(), 1, "{object}");
    let step = binding.key(&binding.steps[0]);
    assert_eq!(
        (&made[0]["key"], &made[0]["outcome"]),
        (&step.as_str().into(), &"accepted".into())
    );
    let entry = desk.story(&step).outbox.unwrap();
    assert_eq!(entry.state, EntryState::Pending);
    let shown = desk.run(&["job", "show", "tornado", "550e"]).out;
    for part in [
        "ended: completed",
        "; superseded at ",
        "supersede by ada: completed instead of failed",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let again = desk.json(1, &supersede);
    assert!(
        again["refused"].as_str().unwrap().contains("already"),
        "{again}"
    );
}

#[test]
fn the_other_end_is_dismissed_and_the_first_one_stands() {
    let (desk, _, print) = contradicted();
    let dismiss = [
        "resolve",
        "--job",
        "tornado/550e",
        "--conflict",
        &print,
        "--dismiss",
    ];
    desk.json(0, &dismiss);
    let shown = desk.json(0, &["job", "show", "tornado", "550e"]);
    assert_eq!(shown["outcome"], "failed");
    assert_eq!(shown["operators"][0]["by"], "ada");
    let listed = desk.json(0, &["list", "--state", "conflict"]);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 0, "{listed}");
}

#[test]
fn a_silent_job_is_closed() {
    let desk = Desk::new();
    let binding = bound(&desk);
    let dismiss = ["resolve", "--job", "tornado/550e", "--dismiss"];
    let early = desk.json(1, &dismiss);
    assert!(
        early["refused"].as_str().unwrap().contains("does not wait"),
        "{early}"
    );
    let source = "tornado".parse().unwrap();
    desk.on(async {
        let record = desk.store.job(&binding.job).await.unwrap().unwrap();
        let given_up = desk
            .store
            .give_up_job(&record, &source, &TIMING, now(), soon());
        given_up.await.unwrap().unwrap();
    });
    desk.json(0, &dismiss);
    let listed = desk.json(0, &["job", "list", "--silent"]);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 0, "{listed}");
}

#[test]
fn what_does_not_agree_with_the_binding_becomes_no_end_even_without_its_values() {
    let desk = Desk::new();
    let binding = bound(&desk);
    observed(&desk, &binding, "failed");
    let mut other = observation(&binding, "completed");
    other.account = "somebody".to_owned();
    desk.on(desk.store.observe(&other, offer())).unwrap();
    let shown = desk.json(0, &["job", "show", "tornado", "550e"]);
    let all = shown["observations"].as_array().unwrap();
    let one = all.iter().find(|one| one["kind"] == "disagrees").unwrap();
    let print = one["fingerprint"].as_str().unwrap();
    let supersede = [
        "resolve",
        "--job",
        "tornado/550e",
        "--conflict",
        print,
        "--supersede",
    ];
    for redacts in [false, true] {
        if redacts {
            desk.json(0, &["redact", "--job", "tornado/550e"]);
        }
        let object = desk.json(1, &supersede);
        let why = object["refused"].as_str().unwrap();
        assert!(why.contains("disagrees with the binding"), "{why}");
    }
}
