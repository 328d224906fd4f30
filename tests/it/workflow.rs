//! Jobs through the real functions: whoever observes the end of a job, in whatever order and however often,
//! there is one action for each step that waits for it, with the same bytes.

use std::time::Duration;

use ackbox_store::schema::kind;
use ackbox_tests::log::Log;
use ackbox_tests::workflow::{POLL_AFTER, Teller, Workflow, bodies, job};
use futures_util::future::join_all;
use serde_json::{Value, json};

use Teller::{Callback, Organization, Stranger};

mod interleavings;
mod kills;
mod silent;

/// The bodies of all entries, in order.
async fn delivered(workflow: &Workflow) -> Vec<Vec<u8>> {
    let items = workflow.world.table.of_kind(kind::OUTBOX).await;
    let body = |entry: ackbox_domain::OutboxEntry| match entry.body {
        ackbox_domain::StoredBody::Inline(body) => body.bytes,
        ackbox_domain::StoredBody::Payload => panic!("the tests' bodies are small"),
    };
    let mut all: Vec<Vec<u8>> = items.iter().map(|item| body(item.entry())).collect();
    all.sort();
    all
}

/// How many items have a sort key that begins so.
async fn many(workflow: &Workflow, kind: &str) -> usize {
    let items = workflow.world.table.items().await;
    let of_kind = |item: &&ackbox_tests::engine::Item| item.sk().starts_with(kind);
    items.iter().filter(of_kind).count()
}

async fn bind(workflow: &Workflow, job: &Value) {
    let answer = workflow.bind(workflow.store().await, job).await;
    assert!(answer.status < 300, "{answer:?}");
}

async fn send(workflow: &Workflow, teller: Teller, outcome: &str) -> (u16, String) {
    let receiver = workflow.world.receiver().await;
    let answer = workflow.webhook(teller, "1", outcome).to(&receiver).await;
    (answer.status, answer.outcome)
}

async fn poll(workflow: &Workflow) -> Value {
    workflow.world.clock.advance(POLL_AFTER);
    workflow.reconcile(workflow.store().await).await
}

fn said(answer: &(u16, String)) -> (u16, &str) {
    (answer.0, &answer.1)
}

#[tokio::test]
async fn a_webhook_and_then_a_lookup_are_one_action_of_each_step() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    workflow.system.has("1", "Completed");
    assert_eq!(
        said(&send(&workflow, Callback, "completed").await),
        (200, "accepted")
    );
    let first = delivered(&workflow).await;
    poll(&workflow).await;
    let observed = workflow
        .observe(workflow.store().await, "1", "completed")
        .await;
    assert_eq!(observed.said(), (200, "duplicate"));
    assert_eq!(delivered(&workflow).await, first);
    assert_eq!(first, bodies(&job("1"), "completed"));
    assert_eq!(workflow.system.asked(), 0, "who has heard does not ask");
}

#[tokio::test]
async fn a_lookup_and_then_a_webhook_deliver_the_same_bytes() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    workflow.system.has("1", "Completed");
    assert_eq!(poll(&workflow).await["jobs_ended"], 1);
    for teller in [Callback, Organization] {
        assert_eq!(
            said(&send(&workflow, teller, "completed").await),
            (200, "duplicate")
        );
    }
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
    assert_eq!(many(&workflow, kind::CONFLICT).await, 0);
}

#[tokio::test]
async fn an_end_that_the_application_tells_first_delivers_the_same_bytes() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    let observed = workflow
        .observe(workflow.store().await, "1", "completed")
        .await;
    assert_eq!(observed.said(), (200, "accepted"));
    assert_eq!(
        said(&send(&workflow, Callback, "completed").await),
        (200, "duplicate")
    );
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
}

#[tokio::test]
async fn thirty_two_webhooks_and_lookups_at_once_are_one_action_of_each_step() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    workflow.system.has("1", "Completed");
    workflow.world.clock.advance(POLL_AFTER);
    let webhooks = (0..16).map(|n| {
        let teller = if n % 2 == 0 { Callback } else { Organization };
        let workflow = &workflow;
        async move {
            let answer = send(workflow, teller, "completed").await;
            assert!(
                ["accepted", "duplicate"].contains(&answer.1.as_str()),
                "{answer:?}"
            );
        }
    });
    let lookups = (0..16).map(|_| async {
        workflow.reconcile(workflow.store().await).await;
    });
    tokio::join!(join_all(webhooks), join_all(lookups));
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
    assert_eq!(many(&workflow, kind::CONFLICT).await, 0);
}

#[tokio::test]
async fn what_is_failed_and_then_completed_starts_nothing_more_and_is_on_the_record() {
    for (first, then) in [
        ("completed", "failed"),
        ("failed", "completed"),
        ("skipped", "completed"),
    ] {
        let workflow = Workflow::new().await;
        bind(&workflow, &job("1")).await;
        assert_eq!(
            said(&send(&workflow, Callback, first).await),
            (200, "accepted")
        );
        assert_eq!(
            said(&send(&workflow, Organization, then).await),
            (200, "conflict")
        );
        assert_eq!(
            said(&send(&workflow, Callback, first).await),
            (200, "duplicate")
        );
        assert_eq!(
            delivered(&workflow).await,
            bodies(&job("1"), first),
            "{first} then {then}"
        );
        assert_eq!(many(&workflow, kind::CONFLICT).await, 1);
    }
}

#[tokio::test]
async fn progress_is_acknowledged_and_undoes_nothing() {
    let workflow = Workflow::new().await;
    let receiver = workflow.world.receiver().await;
    let progress = workflow.progress("1");
    assert_eq!(progress.to(&receiver).await.said(), (200, "progress"));
    assert_eq!(many(&workflow, "").await, 0);
    bind(&workflow, &job("1")).await;
    send(&workflow, Callback, "completed").await;
    let before = workflow.world.table.items().await;
    assert_eq!(progress.to(&receiver).await.said(), (200, "progress"));
    assert_eq!(workflow.world.table.items().await, before);
    assert_eq!(receiver.ignored().len(), 1, "progress is counted");
}

#[tokio::test]
async fn another_accounts_word_with_a_valid_signature_makes_no_action() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    assert_eq!(
        said(&send(&workflow, Stranger, "completed").await),
        (200, "conflict")
    );
    assert!(delivered(&workflow).await.is_empty());
    assert_eq!(many(&workflow, kind::CONFLICT).await, 1);
    // Before the binding it waits, and is a conflict then.
    let workflow = Workflow::new().await;
    assert_eq!(
        said(&send(&workflow, Stranger, "completed").await),
        (200, "parked")
    );
    bind(&workflow, &job("1")).await;
    assert!(delivered(&workflow).await.is_empty());
    assert_eq!(many(&workflow, kind::CONFLICT).await, 1);
    assert_eq!(
        said(&send(&workflow, Callback, "completed").await),
        (200, "accepted")
    );
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
}

#[tokio::test]
async fn what_is_not_as_the_application_expects_makes_no_action() {
    let workflow = Workflow::new().await;
    let mut other = job("1");
    other["expected"] = json!({"source-url": "https://videos.example.com/other.mp4"});
    bind(&workflow, &other).await;
    let log = Log::collect();
    assert_eq!(
        said(&send(&workflow, Callback, "completed").await),
        (200, "conflict")
    );
    let logged = log.text();
    assert!(logged.contains("what is expected at"), "{logged}");
    assert!(
        !logged.contains("videos.example.com"),
        "no value of a body: {logged}"
    );
    assert!(delivered(&workflow).await.is_empty());
    assert_eq!(many(&workflow, kind::CONFLICT).await, 1);
}

#[tokio::test]
async fn a_new_attempt_and_a_new_step_are_new_actions_and_another_job_for_them_is_a_conflict() {
    let workflow = Workflow::new().await;
    let receiver = workflow.world.receiver().await;
    let ends = async |id: &str, change: &dyn Fn(&mut Value)| {
        let mut written = job(id);
        written["attempt"] = json!(1);
        change(&mut written);
        bind(&workflow, &written).await;
        let answer = workflow
            .webhook(Callback, id, "completed")
            .to(&receiver)
            .await;
        (answer.outcome, delivered(&workflow).await.len())
    };
    let unchanged: &dyn Fn(&mut Value) = &|_| {};
    assert_eq!(ends("1", unchanged).await, ("accepted".to_owned(), 2));
    assert_eq!(
        ends("2", &|job| job["attempt"] = json!(2)).await,
        ("accepted".to_owned(), 4)
    );
    let new_version: &dyn Fn(&mut Value) = &|job| {
        job["steps"] =
            json!([{"step": "analyze-v2", "on": ["completed"], "destination": "analyzer"}]);
    };
    assert_eq!(ends("3", new_version).await, ("accepted".to_owned(), 5));
    assert_eq!(ends("4", unchanged).await, ("conflict".to_owned(), 5));
    assert_eq!(
        ends("5", &|job| job["tenant"] = json!("tenant-2")).await,
        ("accepted".to_owned(), 7)
    );
    assert_eq!(many(&workflow, kind::CONFLICT).await, 2);
}

#[tokio::test]
async fn what_becomes_of_the_end_of_an_unbound_job_is_the_sources_choice() {
    for (unbound, answer, kept) in [
        ("park", (200, "parked"), 1),
        ("refuse", (409, "unbound"), 0),
        ("ignore", (200, "ignored"), 0),
    ] {
        let workflow =
            Workflow::with(&format!("account = \"acme\"\nunbound = \"{unbound}\"")).await;
        assert_eq!(
            said(&send(&workflow, Organization, "completed").await),
            answer
        );
        assert_eq!(many(&workflow, kind::PARKED).await, kept);
        bind(&workflow, &job("1")).await;
        assert_eq!(delivered(&workflow).await.len(), 2 * kept);
    }
}

#[tokio::test]
async fn a_parked_end_is_taken_up_though_the_application_writes_the_job_itself() {
    let workflow = Workflow::new().await;
    assert_eq!(
        said(&send(&workflow, Callback, "completed").await),
        (200, "parked")
    );
    assert_eq!(
        said(&send(&workflow, Callback, "completed").await),
        (200, "parked")
    );
    assert_eq!(many(&workflow, kind::PARKED).await, 1);
    // Bound, and nobody takes up what is parked.
    let store = workflow.store().await;
    workflow.bind_alone(&store, &job("1")).await.unwrap();
    assert!(delivered(&workflow).await.is_empty());
    workflow.world.clock.advance(Duration::from_secs(10));
    let ran = workflow.reconcile(store).await;
    assert_eq!(ran["taken_up"], 1, "{ran}");
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
    assert_eq!(many(&workflow, kind::PARKED).await, 0);
    assert_eq!(
        said(&send(&workflow, Callback, "completed").await),
        (200, "duplicate")
    );
}

#[tokio::test]
async fn a_parked_end_that_nobody_binds_is_given_up_and_counted() {
    let workflow = Workflow::with("account = \"acme\"\nparked_for = \"1h\"").await;
    send(&workflow, Organization, "completed").await;
    let mut expired = 0;
    for _ in 0..20 {
        workflow.world.clock.advance(Duration::from_secs(600));
        let ran = workflow.reconcile(workflow.store().await).await;
        expired += ran["expired"].as_u64().unwrap();
    }
    assert_eq!(expired, 1);
    // It is a fact all the same.
    bind(&workflow, &job("1")).await;
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
}

#[tokio::test]
async fn the_same_bytes_for_two_accounts_wait_apart() {
    let workflow = Workflow::new().await;
    for teller in [Stranger, Organization] {
        assert_eq!(
            said(&send(&workflow, teller, "completed").await),
            (200, "parked")
        );
    }
    assert_eq!(many(&workflow, kind::PARKED).await, 2);
    bind(&workflow, &job("1")).await;
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
    assert_eq!(many(&workflow, kind::CONFLICT).await, 1);
}
