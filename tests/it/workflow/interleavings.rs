//! Any number of observers in any order, some at once, some killed: whatever happens, the promise holds.

use std::collections::BTreeSet;
use std::time::Duration;

use ackbox_store::Store;
use ackbox_store::schema::kind;
use ackbox_tests::faults::{Fault, Faults, Rule};
use ackbox_tests::sender::Answer;
use ackbox_tests::workflow::{POLL_AFTER, Teller, Workflow, bodies, job};
use futures_util::future::join_all;
use proptest::prelude::*;

use super::{delivered, many};

const OUTCOMES: [&str; 3] = ["completed", "failed", "skipped"];

/// What somebody does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// The application binds the job.
    Bind,
    /// It writes the job's item itself.
    BindAlone,
    /// A webhook tells of an end.
    Webhook(Teller, usize),
    /// A webhook tells of progress.
    Progress,
    /// The application tells of an end that it has seen.
    Observe(usize),
    /// The reconciler runs.
    Reconcile,
}

/// Somebody's act, and at which of its calls to the table it is killed: before it or behind it.
#[derive(Clone, Copy, Debug)]
struct Doing {
    act: Act,
    killed: Option<(usize, bool)>,
}

/// Acts that happen at once, the time that passes before them, and how the job stands at its system then.
#[derive(Clone, Debug)]
struct Round {
    doings: Vec<Doing>,
    passes: Duration,
    stands: Option<usize>,
}

fn act() -> impl Strategy<Value = Act> {
    let teller = prop_oneof![
        3 => Just(Teller::Callback),
        3 => Just(Teller::Organization),
        1 => Just(Teller::Stranger)
    ];
    // Mostly they agree.
    let outcome = || prop_oneof![6 => Just(0_usize), 1 => Just(1), 1 => Just(2)];
    prop_oneof![
        2 => Just(Act::Bind),
        1 => Just(Act::BindAlone),
        4 => (teller, outcome()).prop_map(|(teller, outcome)| Act::Webhook(teller, outcome)),
        1 => Just(Act::Progress),
        2 => outcome().prop_map(Act::Observe),
        2 => Just(Act::Reconcile),
    ]
}

fn round() -> impl Strategy<Value = Round> {
    let killed = prop_oneof![
        3 => Just(None),
        1 => (1..8_usize, any::<bool>()).prop_map(Some)
    ];
    let doing = (act(), killed).prop_map(|(act, killed)| Doing { act, killed });
    let passes = prop_oneof![
        3 => Just(Duration::ZERO),
        2 => Just(Duration::from_secs(11)),
        1 => Just(POLL_AFTER)
    ];
    let stands = prop_oneof![3 => Just(None), 2 => Just(Some(0_usize)), 1 => Just(Some(1))];
    (proptest::collection::vec(doing, 1..4), passes, stands).prop_map(|(doings, passes, stands)| {
        Round {
            doings,
            passes,
            stands,
        }
    })
}

/// What somebody was told of the end of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Acknowledged {
    outcome: &'static str,
    is_stranger: bool,
}

/// Plays one act, and says what it was told if it lived so long.
async fn play(workflow: &Workflow, doing: Doing) -> Option<Acknowledged> {
    let Some((call, behind)) = doing.killed else {
        return acted(workflow, doing.act, workflow.store().await).await;
    };
    let faults = Faults::before(workflow.world.engine_endpoint())
        .await
        .unwrap();
    let fault = if behind {
        Fault::StallAnswer
    } else {
        Fault::Stall
    };
    let injected = faults.inject(Rule::any().calls(call..=call), fault);
    let store = workflow.world.store_at(&faults.endpoint()).await;
    tokio::select! {
        biased;
        () = injected.hit() => None,
        told = acted(workflow, doing.act, store) => told,
    }
}

async fn acted(workflow: &Workflow, act: Act, store: Store) -> Option<Acknowledged> {
    match act {
        Act::Bind => {
            let answer = workflow.bind(store, &job("1")).await;
            assert!([200, 201, 503].contains(&answer.status), "{answer:?}");
            None
        }
        Act::BindAlone => {
            let _ = workflow.bind_alone(&store, &job("1")).await;
            None
        }
        Act::Webhook(teller, outcome) => {
            let outcome = OUTCOMES[outcome];
            let receiver = workflow.world.receiver_on(store);
            let answer = workflow.webhook(teller, "1", outcome).to(&receiver).await;
            is_told(&answer)?;
            let is_stranger = teller == Teller::Stranger;
            Some(Acknowledged {
                outcome,
                is_stranger,
            })
        }
        Act::Progress => {
            let receiver = workflow.world.receiver_on(store);
            let answer = workflow.progress("1").to(&receiver).await;
            assert_eq!(answer.said(), (200, "progress"));
            None
        }
        Act::Observe(outcome) => {
            let outcome = OUTCOMES[outcome];
            is_told(&workflow.observe(store, "1", outcome).await)?;
            Some(Acknowledged {
                outcome,
                is_stranger: false,
            })
        }
        Act::Reconcile => {
            workflow.reconcile(store).await;
            None
        }
    }
}

/// Whether an end was acknowledged; else the table was not there for it.
fn is_told(answer: &Answer) -> Option<()> {
    let words = ["accepted", "duplicate", "parked", "conflict"];
    let is_told = answer.status == 200 && words.contains(&answer.outcome.as_str());
    assert!(is_told || answer.status == 503, "{answer:?}");
    is_told.then_some(())
}

async fn story(rounds: Vec<Round>) {
    let workflow = Workflow::new().await;
    let mut told = BTreeSet::new();
    for Round {
        doings,
        passes,
        stands,
    } in &rounds
    {
        workflow.world.clock.advance(*passes);
        if let Some(outcome) = stands {
            workflow.system.has("1", OUTCOMES[*outcome]);
        }
        let acts = doings.iter().map(|doing| play(&workflow, *doing));
        told.extend(join_all(acts).await.into_iter().flatten());
    }
    let is_bound = workflow.job("1").await.is_some();
    if !is_bound {
        unbound(&workflow, &told).await;
        // The application's own write may be late; it comes all the same.
        acted(&workflow, Act::Bind, workflow.store().await).await;
    }
    // What is parked may have to wait for a second look; everything else is seen by the first.
    for look in 0..3 {
        if look > 0 && many(&workflow, kind::PARKED).await == 0 {
            break;
        }
        workflow.world.clock.advance(Duration::from_secs(601));
        workflow.reconcile(workflow.store().await).await;
    }
    bound(&workflow, &told).await;
}

/// Before the job is bound nothing is done, and all that was acknowledged is there.
async fn unbound(workflow: &Workflow, told: &BTreeSet<Acknowledged>) {
    assert_eq!(many(workflow, kind::OUTBOX).await, 0);
    let items = workflow.world.table.items().await;
    let parked: Vec<_> = items
        .iter()
        .filter(|item| item.sk().starts_with(kind::PARKED))
        .collect();
    for told in told {
        let account = if told.is_stranger { "stranger" } else { "acme" };
        let keeps = |item: &&&ackbox_tests::engine::Item| {
            item.text("outcome") == Some(told.outcome) && item.text("account") == Some(account)
        };
        assert!(parked.iter().any(|item| keeps(&item)), "{told:?} is lost");
    }
}

/// Once it is bound: one end, exactly its actions, and everything that says otherwise on the record.
async fn bound(workflow: &Workflow, told: &BTreeSet<Acknowledged>) {
    let record = workflow.job("1").await.unwrap();
    let ended = record.ended.map(|end| end.outcome.to_string());
    let own: Vec<_> = told.iter().filter(|told| !told.is_stranger).collect();
    assert!(ended.is_some() || own.is_empty(), "{told:?}");
    let expected = ended.as_deref().map(|outcome| bodies(&job("1"), outcome));
    assert_eq!(delivered(workflow).await, expected.unwrap_or_default());
    assert_eq!(many(workflow, kind::PARKED).await, 0);
    let store = workflow.store().await;
    let story = store.job_story(&record.binding.job).await.unwrap();
    let disagrees = |outcome: &str, account: &str| {
        story.observed.iter().any(|observed| {
            observed.why.is_some()
                && observed.seen.outcome.as_str() == outcome
                && observed.seen.account == account
        })
    };
    for told in told {
        if told.is_stranger {
            assert!(
                disagrees(told.outcome, "stranger"),
                "{told:?} is not on the record"
            );
        } else if ended.as_deref() != Some(told.outcome) {
            assert!(
                disagrees(told.outcome, "acme"),
                "{told:?} is not on the record"
            );
        }
    }
}

proptest! {
    #[test]
    fn one_end_and_exactly_its_actions_whoever_observes_it_when(
        rounds in proptest::collection::vec(round(), 1..6)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(story(rounds));
    }
}
