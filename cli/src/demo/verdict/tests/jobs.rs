//! Doctored evidence of jobs.

use super::*;
use crate::demo::evidence::{Filed, JobSeen, Lookup, Stands};
use crate::demo::job::{ALL, BOUND_LATE, CONTRADICTED, Job, SILENT, Step, TOLD_BY_TWO};
use crate::demo::status::Said;

const ANSWERS: &str = "every sender was answered as it must be";
const ONCE: &str = "a fact was accepted once, however often it came";
const ONE_KEY: &str = "every fact kept one key";
const NOTHING_ELSE: &str = "nothing else was delivered";
const BOUND: &str = "every job was bound, and got what had waited";
const STEPS: &str = "a job's end did each step that waited, once";
const BYTES: &str = "a step sends the same, whoever told the end";
const ENDS: &str = "a job keeps its end, and what contradicts it";
const ASKED: &str = "a silent job was asked about until it ended";

/// Four jobs: one told twice, one before it was bound, one contradicted, one asked about.
fn run() -> (Evidence, Expected) {
    let otherwise = CONTRADICTED.otherwise.unwrap();
    let mut evidence = Evidence {
        sent: vec![
            sent(Kind::AtOnce, TOLD_BY_TWO.fact, 200, "accepted"),
            sent(Kind::AtOnce, TOLD_BY_TWO.fact, 200, "duplicate"),
            sent(Kind::Early, BOUND_LATE.fact, 200, "parked"),
            sent(Kind::New, CONTRADICTED.fact, 200, "accepted"),
            sent(Kind::OtherEnd, otherwise, 200, "conflict"),
            sent(Kind::Late, SILENT.fact, 200, "duplicate"),
        ],
        jobs: ALL.map(seen).to_vec(),
        lookups: [Said::NotFound, Said::Pending, Said::Completed]
            .map(|said| lookup(&SILENT, said))
            .to_vec(),
        ..Evidence::default()
    };
    for job in ALL {
        for step in job.due() {
            let done = done(job, step, &key(job, step));
            evidence.standing.push(Standing {
                key: done.key.clone(),
                state: EntryState::Delivered,
                body: done.body.clone(),
            });
            evidence.attempts.push(done);
        }
    }
    let expected = Expected {
        counts: Counts {
            requests: 6,
            accepted: 3,
            duplicates: 2,
            conflicts: 1,
            delivered: 3,
            parked: 1,
            polled: 1,
            workflow_actions: 5,
            ..Counts::default()
        },
        trouble: Vec::new(),
    };
    (evidence, expected)
}

fn key(job: &Job, step: &Step) -> String {
    format!("key-{}-{}", job.tenant, step.name)
}

fn done(job: &Job, step: &Step, key: &str) -> Attempt {
    Attempt {
        destination: step.destination.into(),
        body: job.sends(step, key).into_bytes(),
        ..attempt(key, job.fact, Answered::Status(200))
    }
}

fn seen(job: &'static Job) -> JobSeen {
    let parked = (*job == BOUND_LATE).then(|| "accepted".to_owned());
    let disagree = job.otherwise.map(|_| "failed".to_owned());
    let keys = job.steps.iter();
    JobSeen {
        job,
        filed: Some(Filed {
            status: 201,
            outcome: "bound".to_owned(),
            keys: keys
                .map(|step| (step.name.to_owned(), key(job, step)))
                .collect(),
            taken_up: parked.into_iter().collect(),
        }),
        stands: Some(Stands {
            state: "ended".to_owned(),
            end: Some(job.end.to_owned()),
            disagree: disagree.into_iter().collect(),
        }),
    }
}

fn lookup(job: &Job, said: Said) -> Lookup {
    Lookup {
        id: job.id.to_owned(),
        said,
        shows_secret: true,
    }
}

/// Where each job stands in [`ALL`].
const TOLD: usize = 0;
const LATE: usize = 1;
const OTHERWISE: usize = 2;

fn failing(doctor: impl FnOnce(&mut Evidence)) -> Vec<&'static str> {
    failing_of(run(), doctor)
}

fn filed(evidence: &mut Evidence, job: usize) -> &mut Filed {
    evidence.jobs[job].filed.as_mut().unwrap()
}

fn stands(evidence: &mut Evidence, job: usize) -> &mut Stands {
    evidence.jobs[job].stands.as_mut().unwrap()
}

#[test]
fn jobs_that_end_once_each_are_good_and_counted() {
    let (evidence, expected) = run();
    let verdict = judge(&evidence, &expected);
    assert!(verdict.is_good(), "{:#?}", verdict.claims);
    assert_eq!(verdict.counts.lookups, 3);
}

#[test]
fn a_job_that_was_bound_before_is_seen() {
    let failing = failing(|evidence| {
        let filed = filed(evidence, TOLD);
        (filed.status, filed.outcome) = (200, "same".to_owned());
    });
    assert_eq!(failing, [BOUND]);
}

#[test]
fn what_waited_and_was_not_taken_up_is_seen() {
    assert_eq!(failing(|e| filed(e, LATE).taken_up.clear()), [BOUND]);
    let other = |e: &mut Evidence| filed(e, LATE).taken_up[0] = "conflict".to_owned();
    assert_eq!(failing(other), [BOUND]);
}

#[test]
fn what_was_taken_up_and_had_not_waited_is_seen() {
    let failing = failing(|e| filed(e, TOLD).taken_up.push("accepted".to_owned()));
    assert_eq!(failing, [BOUND]);
}

#[test]
fn a_step_that_was_not_done_is_seen_beside_one_that_was() {
    let failing = failing(|evidence| {
        evidence.attempts.remove(1);
        evidence.standing.remove(1);
    });
    assert_eq!(failing, [STEPS]);
}

#[test]
fn a_step_that_waits_undelivered_is_seen() {
    let failing = failing(|evidence| {
        evidence.attempts[1].answered = Answered::Status(503);
        evidence.standing[1].state = EntryState::Pending;
    });
    assert_eq!(failing, [STEPS, "whatever is not delivered has a reason"]);
}

#[test]
fn a_step_that_was_done_under_two_keys_is_seen() {
    let failing = failing(|evidence| {
        let step = TOLD_BY_TWO.due().next().unwrap();
        let again = done(&TOLD_BY_TWO, step, "key-other");
        evidence.attempts.push(again);
    });
    assert_eq!(failing, [ONE_KEY]);
}

#[test]
fn a_step_under_another_key_than_the_one_that_was_told_is_seen() {
    let failing = failing(|evidence| {
        let keys = &mut filed(evidence, TOLD).keys;
        keys.insert("cut-v1".to_owned(), "key-other".to_owned());
    });
    assert_eq!(failing, [STEPS]);
}

#[test]
fn a_step_at_another_destination_is_seen() {
    let failing = failing(|evidence| evidence.attempts[0].destination = "archive".to_owned());
    assert_eq!(failing, [STEPS]);
}

#[test]
fn a_step_that_waited_for_the_other_end_is_seen() {
    let failing = failing(|evidence| {
        let step = CONTRADICTED.steps.iter().find(|step| step.on == "failed");
        let refund = done(&CONTRADICTED, step.unwrap(), "key-refund");
        evidence.attempts.push(refund);
    });
    assert_eq!(failing, [STEPS]);
}

#[test]
fn a_step_of_a_job_that_the_application_does_not_know_is_seen() {
    let failing = failing(|evidence| {
        let body = br#"{"key":"k","step":"cut-v1","job":{"space":"tornado","id":"other"}}"#;
        evidence.attempts.push(Attempt {
            body: body.to_vec(),
            ..attempt("key-other", "other", Answered::Status(200))
        });
    });
    assert_eq!(failing, [NOTHING_ELSE]);
}

#[test]
fn bytes_that_are_not_the_applications_are_seen() {
    let failing = failing(|evidence| {
        let sent = String::from_utf8(evidence.attempts[0].body.clone()).unwrap();
        evidence.attempts[0].body = sent.replace("25.0", "25").into_bytes();
    });
    assert_eq!(failing, [BYTES]);
}

#[test]
fn a_contradiction_that_is_not_on_the_record_is_seen() {
    let failing = failing(|e| stands(e, OTHERWISE).disagree.clear());
    assert_eq!(failing, [ENDS]);
}

#[test]
fn a_disagreement_that_nobody_told_is_seen() {
    let failing = failing(|e| stands(e, TOLD).disagree.push("failed".to_owned()));
    assert_eq!(failing, [ENDS]);
}

#[test]
fn an_end_that_the_later_word_has_replaced_is_seen() {
    let failing = failing(|e| stands(e, OTHERWISE).end = Some("failed".to_owned()));
    assert_eq!(failing, [ENDS]);
    let open = |e: &mut Evidence| stands(e, TOLD).state = "waiting".to_owned();
    assert_eq!(super::failing_of(run(), open), [ENDS]);
}

#[test]
fn a_job_that_nobody_knows_is_seen() {
    assert_eq!(failing(|e| e.jobs[TOLD].stands = None), [ENDS]);
}

#[test]
fn an_end_that_two_messages_brought_is_seen() {
    let failing = failing(|e| {
        e.sent[1] = sent(Kind::AtOnce, TOLD_BY_TWO.fact, 200, "accepted");
    });
    assert_eq!(failing, [ONCE]);
}

#[test]
fn a_late_message_that_was_accepted_after_the_answer_is_seen() {
    let failing = failing(|e| e.sent[5] = sent(Kind::Late, SILENT.fact, 200, "accepted"));
    assert_eq!(failing, [ANSWERS]);
}

#[test]
fn an_end_that_neither_a_message_nor_an_answer_brought_is_seen() {
    let failing = failing(|evidence| {
        evidence.lookups.pop();
    });
    assert_eq!(failing, [ONCE, ASKED]);
}

#[test]
fn questions_that_are_not_as_planned_are_seen() {
    let without = |e: &mut Evidence| drop(e.lookups.remove(1));
    let after = |e: &mut Evidence| e.lookups.push(lookup(&SILENT, Said::Completed));
    let of_another = |e: &mut Evidence| e.lookups.push(lookup(&TOLD_BY_TWO, Said::Pending));
    let bare = |e: &mut Evidence| e.lookups[0].shows_secret = false;
    let of_nobody = |e: &mut Evidence| {
        let mut stranger = lookup(&SILENT, Said::Pending);
        stranger.id = "other".to_owned();
        e.lookups.push(stranger);
    };
    for doctor in [without, after, of_another, bare, of_nobody] {
        assert_eq!(failing(doctor), [ASKED]);
    }
}
