//! What schemes say of jobs, what a scheme takes from another, and headers whose names are settings.

use ackbox_signature::{JobFacts, LookupMeans, Scheme};

use crate::support::{builtin, code, headers, message, request, verify};

const TOKEN: &str = "[[signature]]\nheader = \"X-Token\"\nalgorithm = \"token\"\n";

fn job(slug: &str) -> JobFacts {
    builtin(slug).facts().job.clone().unwrap()
}

fn mistakes(text: &str) -> Vec<String> {
    let found = Scheme::from_toml("mine", text).expect_err(text);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn the_senders_of_jobs_say_how_a_job_ends_and_how_they_are_asked() {
    for (slug, word, outcome, url) in [
        (
            "tornado",
            "job_completed",
            "completed",
            "https://api.tornadoapi.io/jobs/{job_id}",
        ),
        (
            "sume",
            "cancelled",
            "canceled",
            "https://api.sume.com/v1/jobs/{job_id}/status",
        ),
        (
            "openrouter",
            "video.generation.expired",
            "expired",
            "https://openrouter.ai/api/v1/videos/{job_id}",
        ),
    ] {
        let job = job(slug);
        assert_eq!(job.outcomes[word], outcome, "{slug}");
        assert!(job.progress.contains("pending"), "{slug}");
        assert!(!job.status.is_empty(), "{slug}");
        let lookup = job.lookup.unwrap();
        assert_eq!(lookup.url, url);
        assert_eq!(lookup.headers.len(), 1, "{slug}");
        let means = |status| {
            let answer = lookup.answers.iter().find(|answer| answer.status == status);
            answer.map(|answer| answer.means.clone())
        };
        assert_eq!(means(200), Some(LookupMeans::Status), "{slug}");
        assert_eq!(means(404), Some(LookupMeans::NotYet), "{slug}");
    }
    assert_eq!(builtin("stripe").facts().job, None);
}

#[test]
fn a_simple_key_says_of_jobs_what_the_signed_callbacks_say() {
    let (signed, key) = (builtin("tornado"), builtin("tornado-key"));
    let (signed, key) = (signed.facts(), key.facts());
    assert_eq!(key.job, signed.job);
    assert_eq!(key.subject, signed.subject);
    assert_eq!(key.event, signed.event);
    assert_eq!(key.progress_events, signed.progress_events);
    assert_eq!(key.redelivery, signed.redelivery);
    assert!(signed.covers_body && !key.covers_body);
    assert_eq!(key.tolerance, None);
    assert_ne!(key.title, signed.title);
}

#[test]
fn a_scheme_that_is_like_another_keeps_what_it_says_itself() {
    let own = format!("like = \"sume\"\nsubject = [{{ body = \"/mine\" }}]\n{TOKEN}");
    let own = Scheme::from_toml("mine", &own).unwrap();
    let sume = builtin("sume");
    assert_ne!(own.facts().subject, sume.facts().subject);
    assert_eq!(own.facts().job, sume.facts().job);
    assert_eq!(own.facts().title, "mine");
    assert!(!own.facts().covers_body);
    let none = mistakes(&format!("like = \"summe\"\n{TOKEN}"));
    assert!(
        none[0].starts_with("like: `summe` is unknown: write one of github,"),
        "{none:?}"
    );
}

#[test]
fn words_are_read_in_any_case() {
    let text =
        format!("{TOKEN}[job]\nprogress = [\" Queued \"]\noutcomes = {{ DONE = \"completed\" }}\n");
    let scheme = Scheme::from_toml("mine", &text).unwrap();
    let job = scheme.facts().job.clone().unwrap();
    assert_eq!(job.outcomes["done"], "completed");
    assert!(job.progress.contains("queued"));
}

#[test]
fn every_mistake_about_jobs_is_reported_with_its_field() {
    let found = mistakes(&format!(
        r#"
        {TOKEN}
        [job]
        status = ["status"]
        progress = ["", "done"]
        outcomes = {{ done = "Done", DONE = "silent" }}
        values = {{ "No Name" = [], there = ["x"] }}
        [job.lookup]
        url = "http://a.example/{{job_id}}"
        headers = ["x key"]
        answers = [{{ status = 99, where = {{ "x" = "1" }} }}, {{ status = 200, means = "yes" }}]
        "#
    ));
    for part in [
        "job.status[0]: `status` is not a JSON pointer",
        "job.progress: has an empty word",
        "job.progress: `done` is an outcome too",
        "job.outcomes: `Done` is no name",
        "job.outcomes: `silent` is the word for a job that was given up",
        "job.outcomes: `done` stands twice",
        "job.values: `No Name` is no name",
        "job.values: `No Name` stands nowhere",
        "job.values: `x` is not a JSON pointer",
        "job.lookup.url: is no https URL with a {job_id} in it",
        "job.lookup.headers[0]: `x key` is not a header name",
        "job.lookup.answers[0].status: is no status of a final answer",
        "job.lookup.answers[0].where: `x` is not a JSON pointer",
        "job.lookup.answers[0].means: needs exactly one",
        "job.lookup.answers[1].means: needs exactly one",
    ] {
        assert!(
            found.iter().any(|mistake| mistake.starts_with(part)),
            "{part} is not in {found:#?}"
        );
    }
    let bare = mistakes(&format!("{TOKEN}[job]\n[job.lookup]\n"));
    for part in ["job.outcomes: is missing", "job.lookup.answers: is missing"] {
        assert!(
            bare.iter().any(|mistake| mistake.starts_with(part)),
            "{bare:#?}"
        );
    }
}

#[test]
fn a_header_that_is_a_setting_holds_the_signature() {
    const BODY: &[u8] = b"{}";
    let scheme = builtin("tornado")
        .with_headers(Some("X-Tornado-Org-Signature"), None)
        .unwrap();
    let secret = scheme
        .secret("s", "whsec_an_example_and_no_secret")
        .unwrap();
    let signed = scheme.sign(&request(BODY, "1"), &secret).unwrap();
    let lines: Vec<(&str, &str)> = signed
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(lines[0].0, "X-Tornado-Org-Signature");
    let arrived = headers(&lines);
    let secrets = [secret];
    assert_eq!(code(verify(&scheme, &arrived, BODY, &secrets)), "accepted");
    let usual = builtin("tornado");
    let refused = usual.verify(&message(&arrived, BODY), &secrets, 0, None);
    assert_eq!(code(refused), "missing-header");
    assert_eq!(scheme.slug(), "tornado");
    assert_eq!(scheme.facts(), usual.facts());
}

#[test]
fn a_time_in_a_header_of_its_own_can_stand_in_another() {
    let sume = builtin("sume");
    let moved = sume.with_headers(Some("X-S"), Some("X-T")).unwrap();
    let secret = moved
        .secret("s", "an example secret, not a real one")
        .unwrap();
    let signed = moved.sign(&request(b"{}", "1"), &secret).unwrap();
    let names: Vec<&str> = signed.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        names.contains(&"X-S") && names.contains(&"X-T"),
        "{names:?}"
    );
}

#[test]
fn a_setting_that_a_scheme_has_no_header_for_is_refused() {
    let said = |slug: &str, signature, timestamp| {
        let found = builtin(slug).with_headers(signature, timestamp);
        let found = found.expect_err(slug);
        found
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    for (found, part) in [
        (
            said("tornado", None, Some("X-T")),
            "timestamp_header: the scheme has no header of its own for the time",
        ),
        (
            said("sume", Some("X S"), None),
            "signature_header: `X S` is not a header name",
        ),
        (
            said("sume", Some("X-Sume-Timestamp"), None),
            "timestamp_header: `X-Sume-Timestamp` holds something else already",
        ),
        (
            said("sume", None, Some("x-sume-signature")),
            "timestamp_header: `x-sume-signature` holds something else already",
        ),
    ] {
        assert!(found.contains(part), "{found}");
    }
    let two = format!("{TOKEN}{}", TOKEN.replace("X-Token", "X-Other"));
    let two = Scheme::from_toml("mine", &two).unwrap();
    let found = two
        .with_headers(Some("X-S"), None)
        .expect_err("two headers");
    assert_eq!(
        found[0].to_string(),
        "signature_header: the scheme reads signatures from several headers"
    );
}
