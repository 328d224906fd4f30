//! Every shape in which the four systems tell of jobs, read through a real configuration: what it says.

use ackbox_config::{Config, SourceConfig};
use ackbox_domain::job::{JobObservation, JobWord, Known, LookupMeaning, word};
use ackbox_domain::settlement::{Answer, fitting};
use ackbox_domain::{Document, Observation, Timestamp};
use ackbox_signature::Headers;

pub(crate) const JOBS: &str = include_str!("jobs.toml");

const NOW: Timestamp = Timestamp::from_unix_ms(1_800_000_000_000);
const TORNADO: &str = "550e8400-e29b-41d4-a716-446655440000";
const BATCH: &str = "550e8400-e29b-41d4-a716-446655440001";
const SUME: &str = "job_01HSUME";
const VIDEO: &str = "vid-abc123";

fn fixture(file: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/jobs");
    let path = format!("{folder}/{file}.json");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn config() -> Config {
    Config::parse("f", JOBS).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn said(source: &SourceConfig, body: &[u8], known: Known<'_>) -> Result<JobWord, String> {
    let headers = Headers::default();
    let document = Document::vouched(&source.source, &headers, body);
    let observation =
        Observation::whole(&source.source, &document).map_err(|error| error.to_string())?;
    let jobs = source.source.jobs.as_ref().expect("a source with jobs");
    word(jobs, &source.source, &observation, known, NOW).map_err(|error| error.to_string())
}

/// `completed 550e.. folder="my-folder"`, `progress`, `nothing`, or what makes it unusable.
fn in_words(said: Result<JobWord, String>) -> String {
    match said {
        Ok(JobWord::Nothing) => "nothing".to_owned(),
        Ok(JobWord::Progress) => "progress".to_owned(),
        Ok(JobWord::Ended(end)) => ended(&end),
        Err(error) => format!("unusable: {error}"),
    }
}

fn ended(end: &JobObservation) -> String {
    let values = end.values.iter();
    let values: String = values.map(|(name, raw)| format!(" {name}={raw}")).collect();
    format!("{} {}{values}", end.outcome, end.job.id)
}

#[test]
fn every_message_of_every_system_says_what_it_says() {
    let config = config();
    let url = r#"source-url="https://video.example.com/watch?v=abc""#;
    let full = format!(r#"folder="my-folder" {url} title="My Video Title""#);
    let mut checked = Vec::new();
    let mut check = |source: &str, file: &str, expected: &str| {
        let found = said(&config.sources[source], &fixture(file), Known::default());
        assert_eq!(in_words(found), expected, "{file} by {source}");
        checked.push(file.to_owned());
    };
    for (file, expected) in [
        ("completed", format!("completed {TORNADO} {full}")),
        (
            "completed-without-folder",
            format!("completed {TORNADO} {url}"),
        ),
        ("completed-of-the-sdk", format!("completed {TORNADO}")),
        ("failed", format!("failed {TORNADO} {url}")),
        ("skipped", format!("skipped {TORNADO} {url}")),
        ("warning", format!("warning {TORNADO} {url}")),
        ("batch", format!(r#"completed {BATCH} folder="my-podcast""#)),
        ("progress", "progress".to_owned()),
        ("old-completed", format!("completed {TORNADO} {url}")),
        ("old-failed", format!("failed {TORNADO} {url}")),
        ("old-progress", "progress".to_owned()),
    ] {
        check("tornado", &format!("tornado/{file}"), &expected);
    }
    for (file, expected) in [
        ("completed", format!("completed {TORNADO} {full}")),
        ("failed", format!("failed {TORNADO} {url}")),
        ("skipped", format!("skipped {TORNADO} {url}")),
        ("warning", format!("warning {TORNADO} {url}")),
        ("batch", format!(r#"completed {BATCH} folder="my-podcast""#)),
        ("progress", "progress".to_owned()),
    ] {
        // By either endpoint, in either mode.
        for source in ["tornado", "tornado-org"] {
            check(source, &format!("tornado/organization-{file}"), &expected);
        }
    }
    for (file, expected) in [
        ("old-avatar-ready", "completed"),
        ("old-avatar-failed", "failed"),
        ("old-avatar-video-ready", "completed"),
        ("old-avatar-video-failed", "failed"),
        ("completed", "completed"),
        ("redelivered", "completed"),
        ("failed", "failed"),
        ("canceled", "canceled"),
    ] {
        check(
            "sume",
            &format!("sume/{file}"),
            &format!("{expected} {SUME}"),
        );
    }
    check("sume", "sume/test", "nothing");
    check(
        "openrouter",
        "openrouter/completed",
        &format!("completed {VIDEO} generation-id=\"gen-1\""),
    );
    for outcome in ["failed", "cancelled", "expired"] {
        check(
            "openrouter",
            &format!("openrouter/{outcome}"),
            &format!("{outcome} {VIDEO}"),
        );
    }
    for (file, expected) in [
        ("compact", "nothing"),
        ("spaced", "nothing"),
        ("another-event", "nothing"),
        ("rendering", "progress"),
        (
            "state-nobody-knows",
            "unusable: the job's status (/data/state) is \"exploded\", which is neither an outcome nor progress; add it to the source's `job`",
        ),
        (
            "done-without-an-id",
            "unusable: the job's id (/data/job) is missing",
        ),
    ] {
        check("inbox", &format!("inbox/{file}"), expected);
    }
    check("inbox", "inbox/done", &format!("completed r-1 {url}"));
    every_file_was_looked_at(&checked, |file| !file.starts_with("lookup-"));
}

/// A shape that nobody asserts anything of is a mistake of the table.
fn every_file_was_looked_at(checked: &[String], is_wanted: fn(&str) -> bool) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/jobs");
    for system in std::fs::read_dir(folder).unwrap() {
        let system = system.unwrap();
        for file in std::fs::read_dir(system.path()).unwrap() {
            let file = file.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap();
            let system = system.file_name().into_string().unwrap();
            let there = format!("{system}/{name}");
            assert!(!is_wanted(name) || checked.contains(&there), "{there}");
        }
    }
}

/// What an answer with this status and body says of the job that was asked about.
fn answered(source: &SourceConfig, status: u16, body: &[u8], id: &str) -> String {
    let lookup = source.lookup.as_ref().expect("a source that is asked");
    let answer = Answer {
        status,
        body,
        is_whole: true,
    };
    match fitting(&lookup.answers, &answer) {
        Ok(Some(LookupMeaning::Status)) => in_words(said(
            source,
            body,
            Known {
                asked: Some((id, "acme")),
                ..Known::default()
            },
        )),
        Ok(Some(LookupMeaning::NotYet)) => "not yet".to_owned(),
        Ok(Some(LookupMeaning::Outcome(outcome))) => format!("{outcome} {id}"),
        Ok(None) => "no word".to_owned(),
        Err(flaw) => flaw.to_string(),
    }
}

#[test]
fn every_answer_of_every_lookup_says_what_it_says() {
    let config = config();
    let mut checked = Vec::new();
    let mut check = |source: &str, file: &str, status: u16, id: &str, expected: &str| {
        let file = format!("{source}/lookup-{file}");
        let found = answered(&config.sources[source], status, &fixture(&file), id);
        assert_eq!(found, expected, "{file}");
        checked.push(file);
    };
    let url = r#"source-url="https://video.example.com/watch?v=abc""#;
    let told = |outcome: &str, step: &str| {
        format!(r#"{outcome} {TORNADO} folder="my-folder" {url} step="{step}""#)
    };
    for (file, expected) in [
        ("pending", "progress".to_owned()),
        ("processing", "progress".to_owned()),
        (
            "completed",
            told("completed", "Finished") + r#" title="My Video Title""#,
        ),
        ("failed", told("failed", "Downloading")),
        ("cancelled", told("failed", "Cancelled")),
        ("warning", told("warning", "Downloading")),
        ("skipped", told("skipped", "Downloading")),
    ] {
        check("tornado", file, 200, TORNADO, &expected);
    }
    check("tornado", "unknown", 404, TORNADO, "not yet");
    for (file, expected) in [
        ("queued", "progress"),
        ("processing", "progress"),
        ("completed", "completed job_01HSUME"),
        ("failed", "failed job_01HSUME"),
        ("canceled", "canceled job_01HSUME"),
        ("expired", "expired job_01HSUME"),
        ("with-two-statuses", "failed job_01HSUME"),
        ("with-the-job-inside", "completed job_01HSUME"),
    ] {
        check("sume", file, 200, SUME, expected);
    }
    check("sume", "unknown", 404, SUME, "not yet");
    for (file, expected) in [
        ("pending", "progress"),
        ("in-progress", "progress"),
        ("completed", "completed vid-abc123 generation-id=\"gen-1\""),
        ("failed", "failed vid-abc123"),
        ("cancelled", "cancelled vid-abc123"),
        ("expired", "expired vid-abc123"),
    ] {
        check("openrouter", file, 200, VIDEO, expected);
    }
    check("openrouter", "unknown", 404, VIDEO, "not yet");
    every_file_was_looked_at(&checked, |file| file.starts_with("lookup-"));
}

#[test]
fn an_answer_that_is_about_the_question_says_nothing_of_the_job() {
    let config = config();
    for source in ["tornado", "sume", "openrouter"] {
        for status in [401, 403, 429, 500, 503] {
            let found = answered(&config.sources[source], status, b"{}", "1");
            assert_eq!(found, "no word", "{source} {status}");
        }
        // Nor does an answer with a good status and nothing in it.
        let found = answered(&config.sources[source], 200, b"null", "1");
        assert_eq!(found, "nothing", "{source}");
    }
}

#[test]
fn a_message_and_a_lookup_of_one_job_say_the_same_of_it() {
    let config = config();
    for (source, message, lookup, id) in [
        (
            "tornado",
            "tornado/failed",
            "tornado/lookup-failed",
            TORNADO,
        ),
        (
            "tornado",
            "tornado/failed",
            "tornado/lookup-cancelled",
            TORNADO,
        ),
        (
            "tornado",
            "tornado/completed",
            "tornado/lookup-completed",
            TORNADO,
        ),
        ("sume", "sume/canceled", "sume/lookup-canceled", SUME),
        (
            "openrouter",
            "openrouter/completed",
            "openrouter/lookup-completed",
            VIDEO,
        ),
    ] {
        let source = &config.sources[source];
        let known = Known {
            asked: Some((id, "default")),
            ..Known::default()
        };
        let told = said(source, &fixture(message), Known::default()).unwrap();
        let asked = said(source, &fixture(lookup), known).unwrap();
        let (JobWord::Ended(told), JobWord::Ended(asked)) = (told, asked) else {
            panic!("{message}, {lookup}");
        };
        assert_eq!(told.job, asked.job);
        assert_eq!(told.account, asked.account);
        assert_eq!(told.outcome, asked.outcome, "{message}, {lookup}");
        for (name, value) in &told.values {
            assert_eq!(
                asked.values.get(name),
                Some(value),
                "{message}, {lookup}: {name}"
            );
        }
    }
}

#[test]
fn two_endpoints_of_one_space_tell_of_one_job() {
    let config = config();
    let body = fixture("tornado/organization-completed");
    let by = |source: &str| {
        let found = said(&config.sources[source], &body, Known::default());
        match found {
            Ok(JobWord::Ended(end)) => end.job,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(by("tornado"), by("tornado-org"));
}

/// The generic inbox compares bytes: under one id these two are a conflict.
#[test]
fn one_json_in_other_bytes_is_another_message() {
    let config = config();
    let digest = |file: &str| {
        let (headers, body) = (Headers::default(), fixture(file));
        Document::vouched(&config.sources["inbox"].source, &headers, &body).digest()
    };
    assert_ne!(digest("inbox/compact"), digest("inbox/spaced"));
}

#[test]
fn the_account_is_that_of_the_secret_that_signed() {
    let config = config();
    let by = |secret: Option<&str>| {
        let known = Known {
            secret,
            ..Known::default()
        };
        match said(&config.sources["inbox"], &fixture("inbox/done"), known) {
            Ok(JobWord::Ended(end)) => end.account,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(by(Some("env:INBOX_ACME")), "acme");
    assert_eq!(by(Some("env:INBOX")), "default");
    assert_eq!(by(None), "default");
}
