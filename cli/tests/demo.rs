//! The demo as a user runs it: the binary, its standard output, its exit code.

use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Each demo keeps a small machine busy, and its destinations wait only so long: one at a time.
static STAGE: Mutex<()> = Mutex::new(());

fn demo(arguments: &[&str]) -> Output {
    let _stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    Command::new(env!("CARGO_BIN_EXE_ackbox"))
        .arg("demo")
        .args(arguments)
        .output()
        .expect("the binary was built for this test")
}

#[test]
fn the_demo_in_json_is_one_object_whose_numbers_add_up() {
    let output = demo(&["--json"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{errors}");
    assert_eq!(errors, "");
    assert_eq!(told.lines().count(), 1);
    let told: Value = serde_json::from_str(&told).unwrap();

    let count = |name: &str| {
        told[name]
            .as_u64()
            .unwrap_or_else(|| panic!("no {name} in {told}"))
    };
    let sum = |names: &[&str]| names.iter().map(|name| count(name)).sum::<u64>();
    assert_eq!(
        count("requests"),
        sum(&["accepted", "duplicates", "conflicts", "refused", "ignored"])
    );
    assert_eq!(
        count("accepted"),
        sum(&["delivered", "unknown", "held", "dead"])
    );
    assert_eq!(count("requests"), 74);
    assert_eq!(count("accepted"), 19);
    // Ten redeliveries, all but one of the 32 at once, and all but one of the six of one job's end; then two
    // jobs' ends once more, of which one was parked first, and the other learned by asking.
    assert_eq!(count("duplicates"), 48);
    // A changed body, white space where bytes count, and a job that had ended otherwise.
    assert_eq!(count("conflicts"), 3);
    // Forged, stale, too large.
    assert_eq!(count("refused"), 3);
    assert_eq!(count("ignored"), 1);
    // All but two that may have arrived where no keys are kept: one destination cannot be asked, one
    // never can say.
    assert_eq!(count("delivered"), 17);
    assert_eq!(count("held"), 2);
    assert_eq!(count("asked"), 3);
    assert!(count("questions") >= count("asked"));
    assert_eq!(count("parked"), 1);
    assert_eq!(count("polled"), 1);
    // Not found, pending, completed.
    assert!(count("lookups") >= 3);
    // Two steps of one job, and one of each other.
    assert_eq!(count("workflow_actions"), 5);
    assert_eq!(count("lost"), 0);
    assert_eq!(count("keys_changed"), 0);
    assert_eq!(told["verdict"], "good");
    assert_eq!(told["failed"], serde_json::json!([]));
}

#[test]
fn the_demo_for_people_has_no_colours_in_a_pipe_and_no_failed_claim() {
    let output = demo(&[]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
    assert!(!told.contains('✗'), "{told}");
    assert!(told.contains("19 accepted = 17 delivered + 0 unknown + 2 held + 0 dead; 0 lost"));
    for reply in [
        r#"? 200 {"state":"on air"}: applied, so not sent again"#,
        "? 404: not applied, so sent once more",
        ": never a clear word",
        "404 pending completed, 1 duplicate",
        "1 parked, taken up, 1 duplicate",
        "1 accepted, 5 duplicates",
        "1 accepted, 1 conflict",
    ] {
        assert!(told.contains(reply), "{reply}: {told}");
    }
    for line in told.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn the_log_is_shown_on_standard_error_where_it_is_asked_for() {
    let output = demo(&["--json", "--verbose"]);
    assert!(output.status.success());
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("receive.answered"), "{log}");
    assert!(log.contains("delivery.attempted"), "{log}");
    // Secrets and signatures have this form here.
    assert!(!log.contains("whsec_"), "{log}");
}
