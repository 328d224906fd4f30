//! Every answer of a destination, and what it makes of the entry: dead, tried again, held; never repeated
//! where nobody knows and nobody keeps keys.

use std::time::Duration;

use ackbox_domain::{EntryState, OutcomeKind};
use ackbox_tests::destination::Behaviour;
use ackbox_tests::evidence::explained;
use ackbox_tests::world::{orders, orders_source, orders_without_keys, warehouse};

use super::{DAY, LATER, dispatch, one_order, scripted, sweep_after};

#[tokio::test]
async fn a_final_no_is_dead_and_is_not_tried_again() {
    for status in [400, 401, 404, 410, 413, 422, 301, 302, 307] {
        let destination = scripted(move |_| Behaviour::Answer {
            status,
            headers: vec![("location".into(), "/elsewhere".into())],
            body: "no".into(),
        })
        .await;
        let world = one_order(&orders(&destination)).await;
        dispatch(&world).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Dead, "{status}");
        assert_eq!(entry.reason.as_deref(), Some("rejected"));
        sweep_after(&world, LATER).await;
        assert_eq!(destination.received().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_answer_that_says_later_is_tried_again_when_it_says_and_leaves_no_doubt() {
    let destination = scripted(|received| match received.seen {
        1 => Behaviour::Answer {
            status: 429,
            headers: vec![("retry-after".into(), "600".into())],
            body: String::new(),
        },
        _ => Behaviour::status(200),
    })
    .await;
    let world = one_order(&orders_without_keys(&destination)).await;
    let accepted_at = world.clock.now();
    dispatch(&world).await;
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, entry.first_uncertain_at),
        (EntryState::Pending, None)
    );
    assert!(entry.due_at >= Some(accepted_at.plus(Duration::from_secs(600))));
    assert_eq!(entry.attempts[0].kind, OutcomeKind::Busy);
    sweep_after(&world, Duration::from_secs(599)).await;
    assert_eq!(destination.received().len(), 1);
    sweep_after(&world, LATER).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Delivered);
    explained(&entry, &destination.received());
    assert_eq!(destination.received().len(), 2);
}

#[tokio::test]
async fn what_never_left_is_tried_again_until_its_time_is_over_and_is_then_dead() {
    let destination = scripted(|_| Behaviour::status(200)).await;
    let config = orders_without_keys(&destination);
    drop(destination);
    let world = one_order(&config).await;
    dispatch(&world).await;
    let entry = world.entry().await;
    assert_eq!(
        (entry.state, entry.first_uncertain_at),
        (EntryState::Pending, None)
    );
    assert_eq!(entry.attempts[0].kind, OutcomeKind::NotSent);
    sweep_after(&world, LATER).await;
    assert_eq!(world.entry().await.state, EntryState::Pending);
    sweep_after(&world, 3 * DAY).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Dead);
    assert_eq!(entry.reason.as_deref(), Some("retries-exhausted"));
}

#[tokio::test]
async fn an_unknown_outcome_is_repeated_under_the_same_key_inside_the_window_and_held_after_it() {
    let destination = scripted(|_| Behaviour::DropAfterRequest).await;
    let world = one_order(&orders(&destination)).await;
    dispatch(&world).await;
    let first = world.entry().await;
    assert_eq!(first.state, EntryState::Pending);
    assert!(first.first_uncertain_at.is_some());
    sweep_after(&world, LATER).await;
    let second = world.entry().await;
    assert_eq!(second.first_uncertain_at, first.first_uncertain_at);
    let received = destination.received();
    assert_eq!(received.len(), 2);
    explained(&second, &received);
    sweep_after(&world, DAY).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("window-ended"));
    sweep_after(&world, DAY).await;
    assert_eq!(destination.received().len(), 2);
}

#[tokio::test]
async fn an_unknown_outcome_at_a_destination_without_keys_is_held_and_never_repeated() {
    let unknown = [
        Behaviour::status(500),
        Behaviour::status(502),
        Behaviour::status(503),
        Behaviour::DropAfterRequest,
    ];
    for behaviour in unknown {
        let answer = behaviour.clone();
        let destination = scripted(move |_| answer.clone()).await;
        let world = one_order(&orders_without_keys(&destination)).await;
        dispatch(&world).await;
        let entry = world.entry().await;
        assert_eq!(entry.state, EntryState::Held, "{behaviour:?}");
        assert_eq!(entry.reason.as_deref(), Some("outcome-unknown"));
        sweep_after(&world, LATER).await;
        sweep_after(&world, 3 * DAY).await;
        dispatch(&world).await;
        assert_eq!(destination.received().len(), 1, "{behaviour:?}");
        assert_eq!(world.entry().await.state, EntryState::Held);
    }
}

#[tokio::test]
async fn a_no_after_an_attempt_that_may_have_arrived_is_held_and_not_dead() {
    let destination = scripted(|r| Behaviour::status(if r.seen == 1 { 500 } else { 404 })).await;
    let world = one_order(&orders(&destination)).await;
    dispatch(&world).await;
    sweep_after(&world, LATER).await;
    let entry = world.entry().await;
    assert_eq!(entry.state, EntryState::Held);
    assert_eq!(entry.reason.as_deref(), Some("rejected-after-uncertain"));
    explained(&entry, &destination.received());
}

#[tokio::test]
async fn a_policy_that_holds_is_obeyed_though_the_destination_keeps_keys() {
    let destination = scripted(|_| Behaviour::status(500)).await;
    let hold = warehouse(&destination, "{ window = \"24h\" }", "hold");
    let world = one_order(&format!("{}{hold}", orders_source())).await;
    dispatch(&world).await;
    assert_eq!(world.entry().await.state, EntryState::Held);
    sweep_after(&world, LATER).await;
    assert_eq!(destination.received().len(), 1);
}
