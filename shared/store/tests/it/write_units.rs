//! What a small action costs: counted by the engine, not by us.

use ackbox_domain::OutcomeKind;

use crate::action::{NOW, TIMING, accepted, action, attempt, change, claimed, delivered, retry};
use crate::engine::{Engine, soon};

#[tokio::test]
async fn a_small_action_accepted_and_delivered_takes_eight_write_units() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    accepted(&store, &action("warm", b"{}")).await;
    recorder.count_units();
    let body = br#"{"type":"export.ready","data":{"id":"exp_7f3","rows":1200,"url":"https://x.example/7f3"}}"#;
    let action = action("msg_1", body);
    store.accept(&action, &TIMING, soon()).await.unwrap();
    let (accept, said) = recorder.units();
    assert_eq!(
        accept, 5.0,
        "two items written twice, and the index once: {said:?}"
    );
    let read = store.entry(&action.key).await.unwrap().unwrap();
    let mine = claimed(&store, &read, "claim").await;
    let (claim, said) = recorder.units();
    assert_eq!(claim, 1.0, "a claim leaves the index alone: {said:?}");
    let record = attempt(1, OutcomeKind::Succeeded, Some(200));
    let answer = Some((&record, "HTTP 200"));
    store
        .settle(&mine, change(&delivered(), answer), soon())
        .await
        .unwrap();
    let (settle, said) = recorder.units();
    assert_eq!(
        settle, 2.0,
        "the item, and its way out of the index: {said:?}"
    );
    assert!(accept + claim + settle <= 8.0);
}

#[tokio::test]
async fn a_retry_adds_four_write_units_whatever_its_attempts_left() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let body = crate::action::noise(200);
    let mut standing = accepted(&store, &action("msg_1", &body)).await;
    recorder.count_units();
    for number in 1..=12 {
        let mine = claimed(&store, &standing, &format!("{number:032}")).await;
        let record = attempt(number, OutcomeKind::Busy, Some(503));
        let detail = "x".repeat(120);
        let again = retry(NOW.plus(crate::action::secs(number)));
        let attempt = Some((&record, detail.as_str()));
        store
            .settle(&mine, change(&again, attempt), soon())
            .await
            .unwrap();
        let (units, said) = recorder.units();
        assert!(units <= 4.0, "attempt {number}: {said:?}");
        standing = store.entry(&mine.key).await.unwrap().unwrap();
    }
}
