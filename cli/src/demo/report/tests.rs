use ackbox_domain::settlement::Word;

use super::*;
use crate::demo::destination::{Answered, Reply};
use crate::demo::evidence::{JobSeen, Lookup, Question, Stands};
use crate::demo::job::SILENT;
use crate::demo::ledger::{Answer, Kind};
use crate::demo::status::Said;
use crate::demo::verdict::{Claim, Counts};

fn evidence() -> Evidence {
    let answer = |outcome: &str| {
        let outcome = outcome.to_owned();
        Ok(Answer {
            status: 200,
            outcome,
        })
    };
    let sent = |outcome| Sent {
        kind: Kind::New,
        source: "tornado",
        fact: "batch_completed 550e8400",
        body: Vec::new(),
        answer: answer(outcome),
    };
    Evidence {
        sent: vec![sent("accepted"), sent("duplicate"), sent("duplicate")],
        jobs: vec![JobSeen {
            job: &SILENT,
            filed: None,
            stands: Some(Stands {
                state: "ended".to_owned(),
                end: Some("\u{1b}[2J".to_owned()),
                disagree: Vec::new(),
            }),
        }],
        lookups: [
            Said::NotFound,
            Said::Pending,
            Said::Pending,
            Said::Completed,
        ]
        .map(|said| Lookup {
            id: SILENT.id.to_owned(),
            said,
            shows_secret: true,
        })
        .to_vec(),
        ..Evidence::default()
    }
}

fn verdict() -> Verdict {
    let action = Action {
        key: format!("act_{}", "a".repeat(32)),
        fact: Some("avatar_video.ready avv_01"),
        source: Some("tornado"),
        step: None,
        destination: Some("deployer".into()),
        answers: vec![
            Answered::Status(503),
            Answered::Status(503),
            Answered::Status(200),
        ],
        asked: vec![Question {
            destination: "deployer".into(),
            key: "key".into(),
            after: 3,
            reply: Reply::says(Word::StillUnknown, 200, "\u{1b}[2J queued"),
        }],
        state: Some(EntryState::Delivered),
        table: Some(EntryState::Delivered),
    };
    let against = vec!["\u{1b}[2J".to_owned()];
    Verdict {
        counts: Counts::default(),
        claims: vec![Claim {
            holds: "all is well",
            over: "1 thing".to_owned(),
            against,
        }],
        actions: vec![action],
    }
}

fn printed(width: usize) -> Vec<String> {
    let terminal = Terminal::plain();
    let report = Report::new(&terminal, width);
    let mut lines = report.opening();
    lines.extend(report.closing(&evidence(), &verdict(), Duration::from_secs(4)));
    lines
}

#[test]
fn everything_fits_into_80_columns() {
    for line in printed(80) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_wide_terminal_sees_whole_keys_and_a_narrow_one_their_beginning() {
    let whole = format!("act_{}", "a".repeat(32));
    assert!(printed(120).iter().any(|line| line.contains(&whole)));
    assert!(printed(80).iter().any(|line| line.contains("act_aaaaaa…")));
}

#[test]
fn what_speaks_against_a_claim_stands_below_it_and_steers_no_terminal() {
    let lines = printed(80);
    let at = lines
        .iter()
        .position(|line| line.contains("✗ all is well"))
        .unwrap();
    assert_eq!(lines[at + 1].trim(), "\\u{1b}[2J");
}

#[test]
fn what_a_destination_replied_stands_below_its_action_and_steers_no_terminal() {
    let lines = printed(80);
    let at = lines
        .iter()
        .position(|line| line.contains("avv_01"))
        .unwrap();
    assert_eq!(
        lines[at + 1].trim(),
        "? 200 \\u{1b}[2J queued: never a clear word"
    );
}

#[test]
fn requests_are_counted_by_source_and_by_what_they_were_told() {
    let lines = printed(80);
    let tornado = lines
        .iter()
        .find(|line| line.starts_with("  tornado"))
        .unwrap();
    let cells: Vec<&str> = tornado.split_whitespace().collect();
    assert_eq!(cells, ["tornado", "3", "1", "2", "·", "·", "·"]);
}

#[test]
fn a_job_has_a_line_with_how_its_end_became_known_and_it_steers_no_terminal() {
    let lines = printed(80);
    let at = lines.iter().position(|line| line.starts_with("Jobs: "));
    let line = &lines[at.unwrap() + 1];
    assert!(line.contains("404 pending completed"), "{line}");
    assert!(line.ends_with("0 actions"), "{line}");
    assert!(line.contains("\\u{1b}"), "{line}");
}
