//! Jobs of which nothing is heard: the system is asked, in its own time, and what it does not say is no end.

use std::time::Duration;

use ackbox_store::schema::kind;
use ackbox_tests::faults::{Fault, Refusal, Rule};
use ackbox_tests::workflow::{POLL_AFTER, Workflow, bodies, job};
use serde_json::{Value, json};

use super::{bind, delivered, many};

/// One run of the reconciler, `after` the last.
async fn run(workflow: &Workflow, after: Duration) -> Value {
    workflow.world.clock.advance(after);
    workflow.reconcile(workflow.store().await).await
}

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_system_is_asked_when_it_is_time_and_until_it_tells_the_end() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    run(&workflow, POLL_AFTER - Duration::from_secs(1)).await;
    assert_eq!(workflow.system.asked(), 0);
    // A fresh id is not known there for a while; then it waits, and goes on.
    run(&workflow, Duration::from_secs(1)).await;
    assert_eq!(workflow.system.asked(), 1);
    for status in ["Pending", "PROCESSING"] {
        workflow.system.has("1", status);
        run(&workflow, HOUR).await;
    }
    assert_eq!(workflow.system.asked(), 3);
    let waiting = workflow.job("1").await.unwrap();
    assert_eq!((waiting.asked, waiting.ended), (3, None));
    workflow.system.has("1", "Completed");
    assert_eq!(run(&workflow, HOUR).await["jobs_ended"], 1);
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
    run(&workflow, HOUR).await;
    assert_eq!(workflow.system.asked(), 4);
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_no_end() {
    for (status, body) in [
        (404, Value::Null),
        (200, Value::Null),
        (200, json!({"status": "Archived"})),
        (200, json!({"status": null})),
        (200, json!("Completed")),
        (200, json!([])),
        (500, json!({"status": "Completed"})),
        (302, json!({"status": "Completed"})),
        (401, json!({"status": "Failed"})),
        (
            200,
            json!({"pad": "x".repeat(70_000), "status": "Completed"}),
        ),
    ] {
        let workflow = Workflow::new().await;
        bind(&workflow, &job("1")).await;
        workflow.system.says("1", status, body.clone());
        let ran = run(&workflow, POLL_AFTER).await;
        assert_eq!(ran["jobs_waiting"], 1, "{status} {body}: {ran}");
        assert_eq!(many(&workflow, kind::OUTBOX).await, 0);
        assert_eq!(workflow.job("1").await.unwrap().asked, 1);
    }
}

#[tokio::test]
async fn a_job_that_stays_silent_is_given_up_and_an_end_that_comes_later_still_counts() {
    let workflow = Workflow::new().await;
    let mut written = job("1");
    let steps = written["steps"].as_array_mut().unwrap();
    steps.push(json!({"step": "alarm-v1", "on": ["silent"], "destination": "analyzer"}));
    bind(&workflow, &written).await;
    let mut silent = 0;
    for _ in 0..8 {
        silent += run(&workflow, HOUR).await["jobs_silent"].as_u64().unwrap();
    }
    assert_eq!(silent, 1);
    let record = workflow.job("1").await.unwrap();
    assert!(record.silent_at.is_some());
    assert_eq!(many(&workflow, kind::OUTBOX).await, 1);
    let asked = workflow.system.asked();
    run(&workflow, HOUR).await;
    assert_eq!(workflow.system.asked(), asked, "nobody asks any more");
    let receiver = workflow.world.receiver().await;
    let late = workflow.webhook(super::Callback, "1", "completed");
    assert_eq!(late.to(&receiver).await.said(), (200, "accepted"));
    assert_eq!(many(&workflow, kind::OUTBOX).await, 3);
}

#[tokio::test]
async fn a_system_that_wants_to_be_left_alone_is() {
    let workflow = Workflow::new().await;
    for id in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        bind(&workflow, &job(id)).await;
    }
    // Not a JSON body: the header is what counts.
    workflow.system.is_busy(Duration::from_secs(1800));
    run(&workflow, POLL_AFTER).await;
    let asked = workflow.system.asked();
    assert!(
        (1..=4).contains(&asked),
        "as many as are asked at a time: {asked}"
    );
    run(&workflow, Duration::from_secs(1700)).await;
    assert_eq!(workflow.system.asked(), asked);
    run(&workflow, Duration::from_secs(101)).await;
    assert!(workflow.system.asked() > asked);
}

#[tokio::test]
async fn a_system_that_is_always_busy_keeps_no_job_from_being_given_up() {
    let workflow = Workflow::new().await;
    for id in 0..12 {
        bind(&workflow, &job(&id.to_string())).await;
    }
    workflow.system.is_busy(7 * HOUR);
    run(&workflow, POLL_AFTER).await;
    assert_eq!(run(&workflow, 6 * HOUR).await["jobs_silent"], 12);
}

#[tokio::test]
async fn a_wait_of_nothing_keeps_nobody_waiting() {
    let workflow = Workflow::new().await;
    for id in 0..12 {
        bind(&workflow, &job(&id.to_string())).await;
    }
    workflow.system.is_busy(Duration::ZERO);
    run(&workflow, POLL_AFTER).await;
    assert_eq!(workflow.system.asked(), 12);
}

#[tokio::test]
async fn an_end_that_the_table_refuses_is_not_asked_for_for_ever() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    workflow.system.has("1", "Completed");
    let rule = Rule::operation("TransactWriteItems").containing("\"outcome\"");
    let refusal = Fault::Refuse(Refusal::Validation);
    let faults = &workflow.world.faults;
    faults.inject(rule, refusal);
    let through = async |after| {
        workflow.world.clock.advance(after);
        workflow.reconcile(workflow.world.store().await).await
    };
    assert_eq!(through(POLL_AFTER).await["jobs_waiting"], 1);
    let waiting = workflow.job("1").await.unwrap();
    assert_eq!(waiting.asked, 1);
    assert!(waiting.due_at.unwrap() > workflow.world.clock.now());
    let told = waiting.detail.unwrap();
    assert!(told.starts_with("its end cannot be written"), "{told}");
    faults.clear();
    assert_eq!(through(HOUR).await["jobs_ended"], 1);
}

#[tokio::test]
async fn an_answer_about_another_job_is_no_end_of_this_one() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    let other =
        json!({"job_id": "2", "status": "Completed", "url": "https://videos.example.com/1.mp4"});
    workflow.system.says("1", 200, other);
    assert_eq!(run(&workflow, POLL_AFTER).await["jobs_waiting"], 1);
    assert_eq!(many(&workflow, kind::OUTBOX).await, 0);
}

#[tokio::test]
async fn an_account_that_cannot_be_asked_for_is_given_up_without_a_question() {
    let workflow = Workflow::new().await;
    let mut written = job("1");
    written["account"] = json!("stranger");
    bind(&workflow, &written).await;
    run(&workflow, POLL_AFTER).await;
    assert_eq!(run(&workflow, 6 * HOUR).await["jobs_silent"], 1);
    assert_eq!(workflow.system.asked(), 0);
}

#[tokio::test]
async fn what_a_lookup_says_against_the_application_is_a_conflict_and_the_job_goes_on() {
    let workflow = Workflow::new().await;
    bind(&workflow, &job("1")).await;
    workflow.system.says(
        "1",
        200,
        json!({"status": "Completed", "url": "https://videos.example.com/other.mp4"}),
    );
    for _ in 0..3 {
        run(&workflow, HOUR).await;
    }
    assert_eq!(many(&workflow, kind::CONFLICT).await, 1);
    assert_eq!(many(&workflow, kind::OUTBOX).await, 0);
    workflow.system.has("1", "Completed");
    run(&workflow, HOUR).await;
    assert_eq!(delivered(&workflow).await, bodies(&job("1"), "completed"));
}
