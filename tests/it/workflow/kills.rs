//! Callbacks and bindings in every order, with a stop or a kill at each of their calls to the table: one action
//! for each step, both or neither, nothing lost and nothing left over.

use std::time::Duration;

use ackbox_store::Store;
use ackbox_store::schema::kind;
use ackbox_tests::faults::{Fault, Faults, Rule};
use ackbox_tests::workflow::{Workflow, bodies, job};

use super::{Callback, delivered, many};

/// What one process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Callback,
    Bind,
    /// The same, and nothing that is parked is taken up.
    BindAlone,
    Reconcile,
}

/// Where a process stops: before its `n`th call (of an operation) reaches the table, or behind that.
#[derive(Clone, Copy, Debug)]
struct Stop {
    operation: Option<&'static str>,
    call: usize,
    behind: bool,
}

/// Does it whole; whether the other side was told that it is done.
async fn play(workflow: &Workflow, role: Role, store: Store) -> bool {
    match role {
        Role::Callback => {
            let receiver = workflow.world.receiver_on(store);
            let answer = workflow
                .webhook(Callback, "1", "completed")
                .to(&receiver)
                .await;
            answer.status == 200
        }
        Role::Bind => workflow.bind(store, &job("1")).await.status < 300,
        Role::BindAlone => workflow.bind_alone(&store, &job("1")).await.is_ok(),
        Role::Reconcile => {
            workflow.reconcile(store).await;
            true
        }
    }
}

/// Plays a role until it stops, `meanwhile` to its end, and then the role to its end, or never again.
/// False where the role has no such call.
async fn stopped(
    workflow: &Workflow,
    role: Role,
    stop: Stop,
    is_killed: bool,
    meanwhile: &[Role],
) -> bool {
    let faults = Faults::before(workflow.world.engine_endpoint())
        .await
        .unwrap();
    let fault = if stop.behind {
        Fault::StallAnswer
    } else {
        Fault::Stall
    };
    let rule = stop.operation.map_or_else(Rule::any, Rule::operation);
    let injected = faults.inject(rule.calls(stop.call..=stop.call), fault);
    let store = workflow.world.store_at(&faults.endpoint()).await;
    let playing = play(workflow, role, store);
    let mut playing = std::pin::pin!(playing);
    let has_stopped = tokio::select! {
        biased;
        () = injected.hit() => true,
        _ = &mut playing => false,
    };
    for other in meanwhile {
        let store = workflow.store().await;
        assert!(
            play(workflow, *other, store).await,
            "{role:?} {stop:?} {other:?}"
        );
    }
    if has_stopped && !is_killed {
        injected.release();
        playing.await;
    }
    has_stopped
}

/// Whoever was not answered comes again, and the schedule goes on.
async fn settled(workflow: &Workflow) {
    for role in [Role::Callback, Role::Bind] {
        assert!(play(workflow, role, workflow.store().await).await);
    }
    one_action_of_each_step(workflow).await;
}

async fn one_action_of_each_step(workflow: &Workflow) {
    for _ in 0..3 {
        workflow.world.clock.advance(Duration::from_secs(11));
        workflow.reconcile(workflow.store().await).await;
    }
    assert_eq!(delivered(workflow).await, bodies(&job("1"), "completed"));
    assert_eq!(many(workflow, kind::PARKED).await, 0);
    assert_eq!(many(workflow, kind::CONFLICT).await, 0);
}

/// Every call of a role is a place to stop; ends where there is none any more.
async fn at_every_call(role: Role, is_killed: bool, before: &[Role], meanwhile: &[Role]) -> usize {
    at_every(None, role, is_killed, before, meanwhile).await
}

async fn at_every(
    operation: Option<&'static str>,
    role: Role,
    is_killed: bool,
    before: &[Role],
    meanwhile: &[Role],
) -> usize {
    for call in 1.. {
        for behind in [false, true] {
            let workflow = Workflow::new().await;
            for first in before {
                assert!(play(&workflow, *first, workflow.store().await).await);
            }
            if before.contains(&Role::BindAlone) {
                workflow.world.clock.advance(Duration::from_secs(11));
            }
            let stop = Stop {
                operation,
                call,
                behind,
            };
            let has_stopped = stopped(&workflow, role, stop, is_killed, meanwhile).await;
            let is_whole = !is_killed || !has_stopped;
            let all = [before, meanwhile, &[role]].concat();
            if is_whole && all.contains(&Role::Bind) && all.contains(&Role::Callback) {
                // Nobody comes again, and nothing is missing.
                one_action_of_each_step(&workflow).await;
            }
            settled(&workflow).await;
            if !has_stopped {
                return call - 1;
            }
        }
    }
    0
}

#[tokio::test]
async fn a_binding_in_every_gap_of_a_callback() {
    let calls = at_every_call(Role::Callback, false, &[], &[Role::Bind]).await;
    assert!(calls >= 3, "{calls}");
}

#[tokio::test]
async fn a_callback_in_every_gap_of_a_binding() {
    let calls = at_every_call(Role::Bind, false, &[], &[Role::Callback]).await;
    assert!(calls >= 3, "{calls}");
}

#[tokio::test]
async fn a_callback_that_is_killed_at_each_call_and_sent_again() {
    at_every_call(Role::Callback, true, &[], &[Role::Bind]).await;
    at_every_call(Role::Callback, true, &[Role::Bind], &[]).await;
}

#[tokio::test]
async fn a_binding_that_is_killed_at_each_call_and_made_again() {
    at_every_call(Role::Bind, true, &[], &[Role::Callback]).await;
    let calls = at_every_call(Role::Bind, true, &[Role::Callback], &[]).await;
    assert!(calls >= 5, "{calls}");
}

#[tokio::test]
async fn a_registrar_that_dies_once_the_job_is_bound_loses_nothing() {
    for call in 1.. {
        let workflow = Workflow::new().await;
        assert!(play(&workflow, Role::Callback, workflow.store().await).await);
        let stop = Stop {
            operation: None,
            call,
            behind: true,
        };
        let has_stopped = stopped(&workflow, Role::Bind, stop, true, &[]).await;
        let is_bound = workflow.job("1").await.is_some();
        // Nobody makes the binding again.
        if is_bound {
            one_action_of_each_step(&workflow).await;
        }
        if !has_stopped {
            assert!(is_bound);
            return;
        }
    }
}

#[tokio::test]
async fn a_reconciler_that_is_killed_at_each_call_leaves_the_rest_to_the_next() {
    /// A job that is bound by its application itself: what is parked is there for the reconciler.
    const BOUND: [Role; 2] = [Role::Callback, Role::BindAlone];
    let mut calls = 0;
    // Its queries of the index are many, and change nothing.
    for operation in ["GetItem", "TransactWriteItems", "UpdateItem", "DeleteItem"] {
        let operation = Some(operation);
        calls += at_every(operation, Role::Reconcile, true, &BOUND, &[]).await;
        at_every(operation, Role::Reconcile, false, &BOUND, &[Role::Callback]).await;
    }
    assert!(calls >= 4, "{calls}");
}
