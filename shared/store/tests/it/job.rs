//! Jobs on the table: bound once, ended once, and with the end all of its actions or none.

use std::time::Duration;

use ackbox_domain::job::{Binding, Ids, JobObservation, JobRef, Unbound, binding};
use ackbox_domain::{Acceptance, Notify, RenderedBody, Trouble};
use ackbox_store::schema::{self, attribute, kind};
use ackbox_store::{
    Bound, Class, Disagreement, JobAcceptance, Observed, Offer, StillParked, Store, StoreError,
};
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::action::{NOW, TIMING, secs};
use crate::engine::{Engine, Item, soon};
use crate::lost_answers::losing;

pub(crate) fn written(id: &str) -> Value {
    json!({
        "space": "tornado", "job_id": id, "account": "acme", "tenant": "t-1", "attempt": 1,
        "steps": [
            {"step": "analyze-v1", "on": ["completed"], "destination": "analyzer", "input": {"language": "de"}},
            {"step": "report-v1", "on": ["completed", "failed"], "destination": "mailer"},
            {"step": "alarm-v1", "on": ["silent"], "destination": "mailer"}
        ],
        "poll_after": "10m", "give_up_after": "2h"
    })
}

fn read(json: &Value) -> (Binding, String) {
    let text = json.to_string();
    (binding(text.as_bytes()).unwrap(), text)
}

pub(crate) async fn bind(store: &Store, json: &Value) -> Bound {
    let (binding, text) = read(json);
    store.bind(&binding, &text, NOW, soon()).await.unwrap()
}

pub(crate) fn ended(id: &str, outcome: &str) -> JobObservation {
    let body = format!("{{\"job_id\":\"{id}\",\"status\":\"{outcome}\"}}").into_bytes();
    let mut digest = [0; 32];
    for (at, byte) in body.iter().enumerate() {
        digest[at % 32] ^= byte.rotate_left((at / 32) as u32);
    }
    JobObservation {
        job: JobRef {
            space: "tornado".parse().unwrap(),
            id: id.to_owned(),
            account: None,
        },
        source: "tornado".parse().unwrap(),
        account: "acme".to_owned(),
        outcome: outcome.parse().unwrap(),
        event: Some(format!("job_{outcome}")),
        message_id: None,
        values: std::collections::BTreeMap::new(),
        body: RenderedBody {
            bytes: body,
            content_type: Some("application/json".to_owned()),
            content_encoding: None,
        },
        digest,
        seen_at: NOW,
    }
}

fn offer(unbound: Unbound) -> Offer<'static> {
    Offer {
        unbound,
        parked_for: Duration::from_secs(3600),
        timing: &TIMING,
        now: NOW,
        deadline: soon(),
    }
}

pub(crate) async fn observe(store: &Store, seen: &JobObservation) -> JobAcceptance {
    store.observe(seen, offer(Unbound::Park)).await.unwrap()
}

/// How many actions were accepted by this.
pub(crate) fn accepted(became: &JobAcceptance) -> usize {
    let JobAcceptance::Ended(actions) = became else {
        panic!("{became:?}");
    };
    let is_new = |(_, acceptance): &&_| *acceptance == Acceptance::Accepted;
    actions
        .iter()
        .filter(|a| is_new(&&(a.0.clone(), a.1)))
        .count()
}

fn of_kind<'i>(items: &'i [Item], sk: &str) -> Vec<&'i Item> {
    let has = |item: &&Item| crate::engine::text(item, attribute::SK).starts_with(sk);
    items.iter().filter(has).collect()
}

#[tokio::test]
async fn a_job_is_bound_once_and_another_binding_changes_nothing() {
    let engine = Engine::start().await;
    assert_eq!(bind(&engine.store, &written("1")).await, Bound::New);
    let before = engine.items().await;
    assert_eq!(bind(&engine.store, &written("1")).await, Bound::Same);
    // The same record, written otherwise.
    let spaced = serde_json::to_string_pretty(&written("1")).unwrap();
    let (binding, _) = read(&written("1"));
    let again = engine
        .store
        .bind(&binding, &spaced, NOW.plus(secs(5)), soon());
    assert_eq!(again.await.unwrap(), Bound::Same);
    let mut other = written("1");
    other["attempt"] = json!(2);
    assert_eq!(bind(&engine.store, &other).await, Bound::Other);
    assert_eq!(engine.items().await, before);
    let meta = engine.store.meta().await.unwrap();
    let spaces: Vec<&str> = meta.spaces.iter().map(|space| space.as_str()).collect();
    assert_eq!(spaces, ["tornado"]);
}

#[tokio::test]
async fn a_binding_that_has_no_room_is_refused_whole() {
    let engine = Engine::start().await;
    let mut large = written("1");
    let step = |n: u32| json!({"step": format!("s-{n}"), "on": ["completed"], "destination": "a", "input": "x".repeat(60_000)});
    large["steps"] = (0..8).map(step).collect();
    let (binding, text) = read(&large);
    let refused = engine.store.bind(&binding, &text, NOW, soon()).await;
    assert!(
        matches!(refused, Err(StoreError::TooLarge { .. })),
        "{refused:?}"
    );
    assert!(engine.items().await.is_empty());
}

#[tokio::test]
async fn an_end_is_on_the_record_with_all_the_actions_that_it_makes() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    assert_eq!(jobs_listed(&engine, Class::Job).await, 1);
    let became = observe(&engine.store, &ended("1", "completed")).await;
    assert_eq!(accepted(&became), 2);
    let job = engine
        .store
        .job(&ended("1", "completed").job)
        .await
        .unwrap()
        .unwrap();
    let end = job.ended.unwrap();
    assert_eq!((end.outcome.as_str(), end.at), ("completed", NOW));
    assert_eq!(jobs_listed(&engine, Class::Job).await, 0);
    let items = engine.items().await;
    assert_eq!(of_kind(&items, kind::OUTBOX).len(), 2);
    assert_eq!(of_kind(&items, kind::SEEN).len(), 1);
    // Whoever tells the same again changes nothing, in whatever bytes.
    let mut again = ended("1", "completed");
    again.body.bytes.push(b' ');
    again.digest = [7; 32];
    assert_eq!(
        observe(&engine.store, &again).await,
        JobAcceptance::Duplicate
    );
    assert_eq!(engine.items().await, items);
}

pub(crate) async fn jobs_listed(engine: &Engine, class: Class) -> usize {
    let space = "tornado".parse().unwrap();
    engine
        .store
        .list_jobs(class, &space, 100)
        .await
        .unwrap()
        .len()
}

#[tokio::test]
async fn an_end_that_no_step_waits_for_is_on_the_record_all_the_same() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    let expired = observe(&engine.store, &ended("1", "expired")).await;
    assert_eq!(expired, JobAcceptance::Ended(Vec::new()));
    let completed = observe(&engine.store, &ended("1", "completed")).await;
    assert!(
        matches!(
            completed,
            JobAcceptance::Disagrees(Disagreement::Outcome { .. })
        ),
        "{completed:?}"
    );
    assert!(of_kind(&engine.items().await, kind::OUTBOX).is_empty());
}

#[tokio::test]
async fn a_contradicting_end_is_on_the_record_once_and_changes_nothing_else() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    observe(&engine.store, &ended("1", "completed")).await;
    let before = engine.items().await;
    for n in 0..3 {
        let mut failed = ended("1", "failed");
        failed.digest = [n; 32];
        failed.seen_at = NOW.plus(secs(u64::from(n)));
        let became = observe(&engine.store, &failed).await;
        let JobAcceptance::Disagrees(why) = became else {
            panic!("{became:?}");
        };
        assert_eq!(
            why.to_string(),
            "the job has ended as completed, and this says failed"
        );
    }
    let after = engine.items().await;
    assert!(before.iter().all(|item| after.contains(item)));
    assert_eq!(after.len(), before.len() + 1);
    let story = engine
        .store
        .job_story(&ended("1", "failed").job)
        .await
        .unwrap();
    let disagreement = story
        .observed
        .iter()
        .find(|o| o.kind == Observed::Disagrees)
        .unwrap();
    assert_eq!(
        (disagreement.count, disagreement.last_seen),
        (3, NOW.plus(secs(2)))
    );
    assert_eq!(disagreement.seen.body, ended("1", "failed").body);
    assert_eq!(jobs_listed(&engine, Class::Conflict).await, 1);
    let actions = engine.listed(Class::Conflict, "tornado").await;
    assert!(actions.is_empty(), "it belongs to no action: {actions:?}");
}

#[tokio::test]
async fn what_another_account_says_makes_no_action_and_is_on_the_record() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    let mut other = ended("1", "completed");
    other.account = "evil".to_owned();
    let became = observe(&engine.store, &other).await;
    assert!(
        matches!(became, JobAcceptance::Disagrees(Disagreement::Mismatch(_))),
        "{became:?}"
    );
    let items = engine.items().await;
    assert!(of_kind(&items, kind::OUTBOX).is_empty());
    assert_eq!(of_kind(&items, kind::CONFLICT).len(), 1);
    // The job goes on, and its own account's word counts.
    assert_eq!(
        accepted(&observe(&engine.store, &ended("1", "completed")).await),
        2
    );
}

#[tokio::test]
async fn where_ids_are_per_account_anothers_job_is_another_job() {
    let engine = Engine::start().await;
    let (binding, text) = read(&written("1"));
    let binding = binding.within(Ids::PerAccount);
    engine
        .store
        .bind(&binding, &text, NOW, soon())
        .await
        .unwrap();
    let of = |account: &str| {
        let mut seen = ended("1", "completed");
        seen.account = account.to_owned();
        seen.job = JobRef::new(seen.job.space, seen.job.id, account, Ids::PerAccount);
        seen
    };
    assert_eq!(
        observe(&engine.store, &of("other")).await,
        JobAcceptance::Parked { again: false }
    );
    assert_eq!(accepted(&observe(&engine.store, &of("acme")).await), 2);
}

#[tokio::test]
async fn of_thirty_two_that_see_the_end_at_once_one_makes_the_actions() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    let seen: Vec<JobObservation> = (0..32)
        .map(|n| JobObservation {
            digest: [n; 32],
            ..ended("1", "completed")
        })
        .collect();
    let became = join_all(seen.iter().map(|seen| observe(&engine.store, seen))).await;
    let new = became
        .iter()
        .filter(|b| matches!(b, JobAcceptance::Ended(_)))
        .count();
    let again = became
        .iter()
        .filter(|b| **b == JobAcceptance::Duplicate)
        .count();
    assert_eq!((new, again), (1, 31));
    assert_eq!(of_kind(&engine.items().await, kind::OUTBOX).len(), 2);
}

#[tokio::test]
async fn another_job_under_the_same_tenant_attempt_and_step_is_a_conflict() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    bind(&engine.store, &written("2")).await;
    observe(&engine.store, &ended("1", "failed")).await;
    // The second job's report has a key that is taken; its analysis is new.
    let became = observe(&engine.store, &ended("2", "completed")).await;
    let JobAcceptance::Ended(actions) = &became else {
        panic!("{became:?}");
    };
    let conflicts = actions
        .iter()
        .filter(|(_, a)| matches!(a, Acceptance::Conflict { .. }));
    assert_eq!((conflicts.count(), accepted(&became)), (1, 1));
    let items = engine.items().await;
    assert_eq!(of_kind(&items, kind::OUTBOX).len(), 2);
    assert_eq!(of_kind(&items, kind::CONFLICT).len(), 1);
    assert_eq!(engine.listed(Class::Conflict, "tornado").await.len(), 1);
}

#[tokio::test]
async fn the_end_of_a_job_that_is_not_bound_waits_and_is_taken_up_by_it() {
    let engine = Engine::start().await;
    let seen = ended("1", "completed");
    let later = JobObservation {
        seen_at: NOW.plus(secs(1)),
        ..ended("1", "failed")
    };
    for unbound in [Unbound::Refuse, Unbound::Ignore] {
        let became = engine.store.observe(&seen, offer(unbound)).await.unwrap();
        assert_eq!(became, JobAcceptance::Unbound);
    }
    assert!(engine.items().await.is_empty());
    assert_eq!(
        observe(&engine.store, &seen).await,
        JobAcceptance::Parked { again: false }
    );
    assert_eq!(
        observe(&engine.store, &seen).await,
        JobAcceptance::Parked { again: true }
    );
    assert_eq!(
        observe(&engine.store, &later).await,
        JobAcceptance::Parked { again: false }
    );
    let nothing = engine
        .store
        .take_up(&seen.job, &TIMING, NOW, soon())
        .await
        .unwrap();
    assert!(nothing.is_empty());
    assert_eq!(jobs_listed(&engine, Class::Parked).await, 2);
    bind(&engine.store, &written("1")).await;
    let taken = engine
        .store
        .take_up(&seen.job, &TIMING, NOW.plus(secs(9)), soon())
        .await
        .unwrap();
    assert_eq!(taken.len(), 2);
    assert_eq!(accepted(&taken[0]), 2);
    assert!(matches!(taken[1], JobAcceptance::Disagrees(_)));
    assert_eq!(jobs_listed(&engine, Class::Parked).await, 0);
    assert_eq!(
        observe(&engine.store, &seen).await,
        JobAcceptance::Duplicate
    );
    let items = engine.items().await;
    assert_eq!(of_kind(&items, kind::OUTBOX).len(), 2);
    assert!(of_kind(&items, kind::PARKED).is_empty());
}

#[tokio::test]
async fn what_has_waited_its_time_is_offered_no_more_and_still_taken_up() {
    let engine = Engine::start().await;
    let seen = ended("1", "completed");
    observe(&engine.store, &seen).await;
    let due = |after: u64| {
        let engine = &engine;
        async move {
            let space = "tornado".parse().unwrap();
            let mut pages = engine
                .store
                .due_jobs(Class::Parked, &space, NOW.plus(secs(after)));
            pages.next().await.unwrap().unwrap_or_default()
        }
    };
    assert!(due(9).await.is_empty());
    let parked = due(10).await.remove(0);
    let leave = |after: u64| {
        engine
            .store
            .leave_parked(&parked, NOW.plus(secs(after)), soon())
    };
    assert_eq!(leave(10).await.unwrap(), StillParked::Waits);
    assert!(due(19).await.is_empty());
    assert_eq!(due(20).await.len(), 1);
    assert_eq!(leave(3600).await.unwrap(), StillParked::Expired);
    assert!(due(1_000_000).await.is_empty());
    bind(&engine.store, &written("1")).await;
    let taken = engine
        .store
        .take_up(&seen.job, &TIMING, NOW.plus(secs(9)), soon())
        .await
        .unwrap();
    assert_eq!(accepted(&taken[0]), 2);
    assert_eq!(leave(4000).await.unwrap(), StillParked::Gone);
}

#[tokio::test]
async fn a_job_that_is_given_up_makes_the_action_of_its_silence_and_still_ends() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    let job = ended("1", "completed").job;
    let record = || async { engine.store.job(&job).await.unwrap().unwrap() };
    let bound = record().await;
    let waits = engine.store.wait_for_job(
        &bound,
        Some("asked, it said 404: null"),
        NOW.plus(secs(700)),
        soon(),
    );
    assert!(waits.await.unwrap());
    let waiting = record().await;
    assert_eq!(
        (waiting.asked, waiting.due_at),
        (1, Some(NOW.plus(secs(700))))
    );
    let source = "tornado".parse().unwrap();
    let given_up =
        engine
            .store
            .give_up_job(&waiting, &source, &TIMING, NOW.plus(secs(7200)), soon());
    assert_eq!(given_up.await.unwrap().unwrap().len(), 1);
    assert_eq!(
        (
            jobs_listed(&engine, Class::Job).await,
            jobs_listed(&engine, Class::Silent).await
        ),
        (0, 1)
    );
    let silent = record().await;
    let again = engine
        .store
        .give_up_job(&silent, &source, &TIMING, NOW.plus(secs(7300)), soon());
    assert_eq!(again.await.unwrap(), None);
    assert_eq!(
        accepted(&observe(&engine.store, &ended("1", "completed")).await),
        2
    );
    assert_eq!(jobs_listed(&engine, Class::Silent).await, 0);
    // What was asked before the end counts for nothing behind it.
    let late = engine.store.wait_for_job(&waiting, Some("x"), NOW, soon());
    assert!(!late.await.unwrap());
}

#[tokio::test]
async fn an_answer_that_was_lost_at_whichever_call_leaves_one_end_with_all_its_actions() {
    for lost in 1..12 {
        let engine = Engine::start().await;
        let store = losing(&engine, lost);
        observe(&store, &ended("1", "completed")).await;
        let (binding, text) = read(&written("1"));
        store.bind(&binding, &text, NOW, soon()).await.unwrap();
        store
            .take_up(&binding.job, &TIMING, NOW, soon())
            .await
            .unwrap();
        let items = engine.items().await;
        assert_eq!(of_kind(&items, kind::OUTBOX).len(), 2, "{lost}");
        assert!(of_kind(&items, kind::PARKED).is_empty(), "{lost}");
        assert!(of_kind(&items, kind::CONFLICT).is_empty(), "{lost}");
    }
}

#[tokio::test]
async fn a_job_that_another_program_wrote_is_a_job() {
    let engine = Engine::start().await;
    let s = |text: &str| AttributeValue::S(text.to_owned());
    let n = |number: u64| AttributeValue::N(number.to_string());
    engine
        .put(Item::from([
            ("pk".to_owned(), s("JOB#tornado#1")),
            ("sk".to_owned(), s("JOB")),
            ("v".to_owned(), n(1)),
            ("accepted_at".to_owned(), n(NOW.unix_ms())),
            ("binding".to_owned(), s(&written("1").to_string())),
            ("work_shard".to_owned(), s("job#tornado#3")),
            ("due_at".to_owned(), n(NOW.unix_ms() + 600_000)),
        ]))
        .await;
    assert_eq!(jobs_listed(&engine, Class::Job).await, 1);
    assert_eq!(
        accepted(&observe(&engine.store, &ended("1", "completed")).await),
        2
    );
    assert_eq!(jobs_listed(&engine, Class::Job).await, 0);
}

#[tokio::test]
async fn a_job_that_cannot_be_read_acknowledges_nothing() {
    let engine = Engine::start().await;
    let s = |text: &str| AttributeValue::S(text.to_owned());
    for broken in ["{}", "", &written("2").to_string()] {
        engine
            .put(Item::from([
                ("pk".to_owned(), s("JOB#tornado#1")),
                ("sk".to_owned(), s("JOB")),
                ("v".to_owned(), AttributeValue::N("1".to_owned())),
                ("accepted_at".to_owned(), AttributeValue::N("1".to_owned())),
                ("binding".to_owned(), s(broken)),
            ]))
            .await;
        let became = engine
            .store
            .observe(&ended("1", "completed"), offer(Unbound::Park))
            .await;
        assert!(matches!(became, Err(StoreError::Item(_))), "{became:?}");
    }
    assert_eq!(engine.items().await.len(), 1);
}

#[tokio::test]
async fn what_has_no_room_with_its_body_waits_and_is_kept_without_it() {
    let engine = Engine::start().await;
    let noise: Vec<u8> = (0..600_000).map(|_| fastrand::u8(..)).collect();
    let mut large = ended("1", "completed");
    large.body.bytes = noise;
    assert_eq!(
        observe(&engine.store, &large).await,
        JobAcceptance::Parked { again: false }
    );
    bind(&engine.store, &written("1")).await;
    let taken = engine.store.take_up(&large.job, &TIMING, NOW, soon()).await;
    assert_eq!(accepted(&taken.unwrap()[0]), 2);
    bind(&engine.store, &written("2")).await;
    let mut other = JobObservation {
        job: ended("2", "completed").job,
        account: "evil".to_owned(),
        ..large
    };
    let many = (0..100).map(|n| (format!("v-{n}").parse().unwrap(), "x".repeat(4096)));
    other.values = many.collect();
    let became = observe(&engine.store, &other).await;
    assert!(matches!(became, JobAcceptance::Disagrees(_)), "{became:?}");
    let story = engine.store.job_story(&other.job).await.unwrap();
    assert!(!story.observed[0].is_whole);
}

/// The largest binding that is read: whatever its end delivers fits one transaction.
#[tokio::test]
async fn the_end_of_the_largest_job_fits_one_transaction() {
    let engine = Engine::start().await;
    let noise = |bytes: usize| -> String { (0..bytes).map(|_| fastrand::alphanumeric()).collect() };
    let names: Vec<String> = (0..8).map(|n| format!("v-{n}")).collect();
    let mut large = written("1");
    let step = |n: u32| json!({"step": format!("s-{n}"), "on": ["completed"], "destination": "a", "input": noise(20_000), "values": names});
    large["steps"] = (0..16).map(step).collect();
    assert_eq!(bind(&engine.store, &large).await, Bound::New);
    let mut seen = ended("1", "completed");
    seen.body.bytes = noise(390_000).into_bytes();
    let value = |name: &String| (name.parse().unwrap(), format!("\"{}\"", noise(4000)));
    seen.values = names.iter().map(value).collect();
    assert_eq!(accepted(&observe(&engine.store, &seen).await), 16);
}

#[tokio::test]
async fn what_was_given_up_and_comes_again_waits_again() {
    let engine = Engine::start().await;
    let mut seen = ended("1", "completed");
    observe(&engine.store, &seen).await;
    let space = "tornado".parse().unwrap();
    let listed = engine
        .store
        .list_jobs(Class::Parked, &space, 9)
        .await
        .unwrap();
    let left = engine
        .store
        .leave_parked(&listed[0], NOW.plus(secs(3600)), soon());
    assert_eq!(left.await.unwrap(), StillParked::Expired);
    seen.seen_at = NOW.plus(secs(7200));
    assert_eq!(
        observe(&engine.store, &seen).await,
        JobAcceptance::Parked { again: true }
    );
    let items = engine.items().await;
    let [item] = items.as_slice() else {
        panic!("{items:?}");
    };
    assert!(!item.contains_key("expires_at") && !item.contains_key("expired_at"));
    let listed = engine
        .store
        .list_jobs(Class::Parked, &space, 9)
        .await
        .unwrap();
    assert_eq!(listed[0].due_at, NOW.plus(secs(7210)));
}

#[tokio::test]
async fn one_parked_end_that_cannot_be_read_keeps_no_other_from_being_taken_up() {
    let engine = Engine::start().await;
    let seen = ended("1", "completed");
    observe(&engine.store, &seen).await;
    let mut broken = engine.items().await.remove(0);
    let s = |text: &str| AttributeValue::S(text.to_owned());
    broken.insert("sk".to_owned(), s("PARKED#0"));
    broken.insert("outcome".to_owned(), s("NO NAME"));
    engine.put(broken).await;
    let space = "tornado".parse().unwrap();
    let listed = engine
        .store
        .list_jobs(Class::Parked, &space, 9)
        .await
        .unwrap();
    assert_eq!(listed.len(), 2);
    bind(&engine.store, &written("1")).await;
    let taken = engine
        .store
        .take_up(&seen.job, &TIMING, NOW, soon())
        .await
        .unwrap();
    assert_eq!(accepted(&taken[0]), 2);
    let odd = listed
        .iter()
        .find(|listed| listed.sk == "PARKED#0")
        .unwrap();
    for (after, left) in [(20, StillParked::Waits), (3600, StillParked::Expired)] {
        let leave = engine
            .store
            .leave_parked(odd, NOW.plus(secs(after)), soon());
        assert_eq!(leave.await.unwrap(), left);
    }
}

#[tokio::test]
async fn trouble_with_a_job_is_told_once_with_the_trouble_itself() {
    let engine = Engine::start().await;
    let notify = Notify {
        destination: "ops".parse().unwrap(),
        on: Trouble::ALL.into(),
    };
    let store = engine.store.clone().telling(Some(notify), TIMING);
    bind(&store, &written("1")).await;
    let mut other = ended("1", "completed");
    other.account = "evil".to_owned();
    for n in 0..3 {
        other.digest = [n; 32];
        observe(&store, &other).await;
    }
    let record = store.job(&other.job).await.unwrap().unwrap();
    let source = "tornado".parse().unwrap();
    let given_up = store.give_up_job(&record, &source, &TIMING, NOW, soon());
    given_up.await.unwrap().unwrap();
    let space = "ops".parse().unwrap();
    let listed = store.list(Class::Open, &space, 10).await.unwrap();
    let mut told = Vec::new();
    for notice in &listed {
        let accepted = store.story(&notice.key).await.unwrap().accepted.unwrap();
        told.push((accepted.event.unwrap(), accepted.subject.unwrap()));
    }
    told.sort();
    let of = |event: &str| (event.to_owned(), "tornado/1".to_owned());
    assert_eq!(told, [of("job.conflict"), of("job.silent")]);
}

proptest! {
    #[test]
    fn a_partition_is_of_one_job(space in "[a-z0-9][a-z0-9-]{0,8}", id in ".{1,12}", account in proptest::option::of(".{1,6}")) {
        let job = JobRef { space: space.parse().unwrap(), id, account };
        prop_assert_eq!(schema::job_of(&schema::job_pk(&job)), Some(job));
    }
}

#[test]
fn jobs_whose_names_could_be_read_as_one_another_are_apart() {
    let job = |space: &str, account: Option<&str>, id: &str| {
        schema::job_pk(&JobRef {
            space: space.parse().unwrap(),
            id: id.to_owned(),
            account: account.map(ToOwned::to_owned),
        })
    };
    let all = [
        job("a", None, "b#c"),
        job("a", Some("b"), "c"),
        job("a", Some("b#c"), ""),
        job("a", None, "@1:b#c"),
        job("a", None, "1:b#c"),
        job("a-b", None, "c"),
        job("a", Some("1:b"), "c"),
    ];
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}
