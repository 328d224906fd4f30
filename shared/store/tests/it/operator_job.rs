//! What operators say of jobs: another end in the place of the one on the record, or none of it.

use ackbox_domain::job::JobRef;
use ackbox_domain::{EntryState, Retention};
use ackbox_store::schema::attribute;
use ackbox_store::{
    Class, Heard, JobStory, Observed, ObservedRecord, OperatorRecord, Redacted, Superseded,
};
use futures_util::future::join_all;

use crate::action::{NOW, TIMING, secs};
use crate::engine::{Engine, soon};
use crate::job::{bind, ended, jobs_listed, observe, written};

fn word(did: &str) -> OperatorRecord {
    OperatorRecord {
        at: NOW.plus(secs(900)),
        by: "ada".to_owned(),
        did: did.to_owned(),
        detail: None,
        number: None,
        reason: None,
    }
}

fn job() -> JobRef {
    ended("1", "completed").job
}

/// A job that has failed, and then completed.
async fn contradicted(engine: &Engine) -> JobStory {
    bind(&engine.store, &written("1")).await;
    observe(&engine.store, &ended("1", "failed")).await;
    observe(&engine.store, &ended("1", "completed")).await;
    engine.store.job_story(&job()).await.unwrap()
}

fn disagreement(story: &JobStory) -> &ObservedRecord {
    let mut observed = story.observed.iter();
    observed
        .find(|one| one.kind == Observed::Disagrees)
        .unwrap()
}

#[tokio::test]
async fn another_end_takes_the_place_of_the_first_with_the_steps_that_wait_for_it() {
    let engine = Engine::start().await;
    let story = contradicted(&engine).await;
    let (record, observed) = (story.job.as_ref().unwrap(), disagreement(&story));
    let word = word("supersede");
    let all = (0..4).map(|_| {
        engine
            .store
            .supersede_end(record, observed, &word, &TIMING, soon())
    });
    let mut made = Vec::new();
    for superseded in join_all(all).await {
        match superseded.unwrap() {
            Superseded::Written(actions) => made.push(actions),
            Superseded::Moved => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(made.len(), 1, "one of them was heard");
    let words: Vec<&str> = made[0]
        .iter()
        .map(|(_, acceptance)| acceptance.word())
        .collect();
    // The report had gone out as failed already: that is on the record as a conflict, and stays as it was.
    assert_eq!(
        words.iter().filter(|word| **word == "accepted").count(),
        1,
        "{words:?}"
    );
    assert_eq!(words.len(), 2);
    let after = engine.store.job_story(&job()).await.unwrap();
    let end = after.job.as_ref().unwrap().ended.as_ref().unwrap();
    assert_eq!(end.outcome.as_str(), "completed");
    let (how, _) = disagreement(&after).resolved.clone().unwrap();
    assert_eq!(how, "superseded");
    assert_eq!(after.operators, [word]);
    for (key, acceptance) in &made[0] {
        let entry = engine.store.entry(key).await.unwrap().unwrap();
        assert_eq!(entry.state, EntryState::Pending, "{}", acceptance.word());
    }
    // From now on the first end is the one that disagrees.
    observe(&engine.store, &ended("1", "completed")).await;
    let story = engine.store.job_story(&job()).await.unwrap();
    assert_eq!(
        story
            .observed
            .iter()
            .filter(|o| o.kind == Observed::Disagrees)
            .count(),
        1
    );
}

#[tokio::test]
async fn what_disagrees_is_dismissed_once_and_leaves_the_job_as_it_is() {
    let engine = Engine::start().await;
    let story = contradicted(&engine).await;
    let (word, observed) = (word("dismiss"), disagreement(&story));
    let dismiss = || engine.store.dismiss_disagreement(observed, &word, soon());
    assert_eq!(dismiss().await.unwrap(), Heard::Written);
    assert_eq!(dismiss().await.unwrap(), Heard::Moved(None));
    assert_eq!(jobs_listed(&engine, Class::Conflict).await, 0);
    let after = engine.store.job_story(&job()).await.unwrap();
    assert_eq!(after.job, story.job);
    assert_eq!(after.operators.len(), 1);
}

#[tokio::test]
async fn a_silent_job_is_closed_and_still_ends() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    let bound = engine.store.job(&job()).await.unwrap().unwrap();
    let (word, kept) = (word("dismiss"), Retention::default());
    let early = engine.store.dismiss_silence(&bound, kept, &word, soon());
    assert_eq!(
        early.await.unwrap(),
        Heard::Moved(None),
        "nobody gave it up"
    );
    let source = "tornado".parse().unwrap();
    let given_up = engine
        .store
        .give_up_job(&bound, &source, &TIMING, NOW, soon());
    given_up.await.unwrap().unwrap();
    let silent = engine.store.job(&job()).await.unwrap().unwrap();
    let dismissed = engine.store.dismiss_silence(&silent, kept, &word, soon());
    assert_eq!(dismissed.await.unwrap(), Heard::Written);
    assert_eq!(jobs_listed(&engine, Class::Silent).await, 0);
    let became = observe(&engine.store, &ended("1", "completed")).await;
    assert_eq!(crate::job::accepted(&became), 2);
}

#[tokio::test]
async fn a_job_is_kept_as_long_as_what_it_made_from_its_end_on() {
    let engine = Engine::start().await;
    bind(&engine.store, &written("1")).await;
    let items = engine.items().await;
    assert!(
        items
            .iter()
            .all(|item| !item.contains_key(attribute::EXPIRES_AT))
    );
    observe(&engine.store, &ended("1", "completed")).await;
    let until = NOW.plus(Retention::default().accepted).unix_s().to_string();
    let items = engine.items().await;
    let kept = |item: &&crate::engine::Item| {
        item.get(attribute::EXPIRES_AT)
            .is_some_and(|at| at.as_n().unwrap() == &until)
    };
    // The job, what was seen of it, and two tombstones; their entries are open.
    assert_eq!(items.iter().filter(kept).count(), 4);
}

#[tokio::test]
async fn a_redacted_job_keeps_its_binding_and_nothing_that_was_observed() {
    let engine = Engine::start().await;
    let story = contradicted(&engine).await;
    let word = word("redact");
    let job = job();
    let redacted = engine.store.redact_job(&job, &story, &word, soon());
    assert_eq!(redacted.await.unwrap(), Redacted::Done);
    let after = engine.store.job_story(&job).await.unwrap();
    assert_eq!(after.job, story.job);
    assert!(after.unreadable.is_empty(), "{:?}", after.unreadable);
    assert!(
        after
            .observed
            .iter()
            .all(|one| !one.is_whole && one.seen.values.is_empty())
    );
    assert_eq!(after.observed.len(), story.observed.len());
}
