//! `ackbox check`.

use crate::support::{CONFIG, Place};

const TEN_MISTAKES: &str = r#"
[source.Shop]
scheme = "stripe"
secrets = ["env:SHOP"]

[source.one]
scheme = "strpe"
secrets = ["whsec_pasted_secret_value"]
max_body = "a lot"
colour = "red"

[[source.one.rule]]
name = "paid"
on = "invoice.paid"
key = ["message:nothing"]
destination = "mailerr"

[[source.one.rule]]
name = "paid"
key = ["/id"]
destination = "mailer"
payload = "everything"

[destination.mailer]
url = "ftp://mail.example/actions"
timeout = "soon"
idempotency = "none"
on_unknown = "retry"
"#;

#[test]
fn a_sound_configuration_is_counted_and_fine() {
    let ended = Place::configured().run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        ended.out,
        "ackbox.toml: 2 sources, 2 rules, 1 destination, 3 secrets: fine\n"
    );
    assert_eq!(ended.err, "");
}

#[test]
fn every_mistake_is_told_at_once_with_its_place() {
    let place = Place::empty();
    place.file("wrong.toml", TEN_MISTAKES);
    let ended = place.run(&["check", "--config", "wrong.toml"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.out, "");
    let places: Vec<&str> = ended
        .err
        .lines()
        .filter(|line| line.starts_with("wrong.toml:") && line.split(':').count() > 3)
        .collect();
    assert!(places.len() >= 10, "{} in {}", places.len(), ended.err);
    for (line, word) in [(7, "strpe"), (9, "a lot"), (10, "colour"), (16, "mailerr")] {
        let there = format!("wrong.toml:{line}:");
        let found = places
            .iter()
            .any(|p| p.starts_with(&there) && p.contains(word));
        assert!(found, "{line} {word}: {}", ended.err);
    }
    assert!(!ended.err.contains("pasted_secret"), "{}", ended.err);
    let summary = format!("wrong.toml: {} mistakes", places.len());
    assert_eq!(ended.err.lines().last(), Some(summary.as_str()));
}

#[test]
fn a_secret_of_the_wrong_form_is_a_mistake_where_its_reference_stands() {
    let place = Place::configured()
        .without("REPORTS")
        .with("REPORTS", "whsec_not*base64");
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = CONFIG
        .lines()
        .position(|line| line.contains("env:REPORTS"))
        .unwrap()
        + 1;
    let there = format!("ackbox.toml:{line}:12: [source.reports]: secret `env:REPORTS`");
    assert!(ended.err.contains(&there), "{}", ended.err);
    assert!(!ended.err.contains("not*base64"), "{}", ended.err);
}

#[test]
fn a_weak_secret_is_a_warning_and_no_mistake() {
    let place = Place::configured().without("SHOP").with("SHOP", "short");
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.err.starts_with("warning: ackbox.toml:"),
        "{}",
        ended.err
    );
    assert!(
        ended.out.contains("usable, with 1 warning"),
        "{}",
        ended.out
    );
}

#[test]
fn a_secret_that_is_not_here_is_told_and_no_mistake() {
    let ended = Place::configured().without("SHOP").run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("not looked at: env:SHOP (not set here)"),
        "{}",
        ended.out
    );
}

#[test]
fn the_example_has_no_warnings_and_names_every_secret_that_it_needs() {
    let place = Place::empty();
    let example = crate::support::repository("ackbox.toml");
    let ended = place.run(&["check", "--config", example.to_str().unwrap()]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    assert!(ended.out.contains("secrets: fine\n"), "{}", ended.out);
    let text = std::fs::read_to_string(example).unwrap();
    let code = text.lines().map(|line| line.split(" #").next().unwrap());
    let named: std::collections::BTreeSet<String> = code
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .filter(|quoted| quoted.starts_with("env:"))
        .map(ToOwned::to_owned)
        .collect();
    assert!(named.contains("env:TORNADO_API_KEY"), "{named:?}");
    for reference in &named {
        let told = format!("{reference} (not set here)");
        assert!(ended.out.contains(&told), "{reference}: {}", ended.out);
    }
    let count = format!("{} secrets", named.len());
    assert!(ended.out.contains(&count), "{count}: {}", ended.out);
}

#[test]
fn the_headers_of_questions_are_judged_too_each_where_it_stands() {
    let place = Place::configured()
        .with("JOBS", "two\nlines")
        .with("ASKING", "two\nlines");
    let asked = "idempotency = \"none\"\non_unknown = \"reconcile\"\n\n[destination.mailer.reconcile]\nurl = \"https://mail.example/{key}\"\nheaders = { Authorization = \"env:ASKING\" }\nanswers = [{ status = 200, means = \"applied\" }]\n\n[source.tornado]\nscheme = \"tornado\"\nsecrets = [\"env:SHOP\"]\njob = { lookup = { headers = { x-api-key = \"env:JOBS\" } } }\n";
    let text = CONFIG.replace("idempotency = \"none\"\n", asked);
    place.file("ackbox.toml", &text);
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for (reference, table) in [
        ("env:JOBS", "source.tornado.job.lookup"),
        ("env:ASKING", "destination.mailer.reconcile"),
    ] {
        let line = text.lines().position(|line| line.contains(reference));
        let there = format!("ackbox.toml:{}:", line.unwrap() + 1);
        let said = format!("[{table}]: secret {reference}");
        let mut lines = ended.err.lines();
        let is_told = lines.any(|line| line.starts_with(&there) && line.contains(&said));
        assert!(is_told, "{there} {said}: {}", ended.err);
    }
}

#[test]
fn the_public_key_of_a_signing_key_is_told_and_the_private_one_is_not() {
    let seed = "6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc=";
    let place = Place::configured().with("PRIVATE", &format!("whsk_{seed}"));
    let signing = "idempotency = \"none\"\nsigning = [\"env:PRIVATE\"]";
    place.file(
        "ackbox.toml",
        CONFIG.replace("idempotency = \"none\"", signing),
    );
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains(
            "deliveries to destination.mailer, signed by env:PRIVATE, are verified with whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=\n"
        ),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains("6Xb/"), "{}", ended.out);
}

#[test]
fn a_misspelt_hole_is_a_mistake_with_its_line() {
    let place = Place::configured();
    let payload = "key = [\"message:id\"]\npayload.json = {\n  to = \"{/data/to}\",\n  text = \"Order {data.order} is paid\",\n}";
    let text = CONFIG.replacen("key = [\"message:id\"]", payload, 1);
    place.file("ackbox.toml", &text);
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = text.lines().position(|line| line.contains("{data.order}"));
    let there = format!(
        "ackbox.toml:{}:17: `json.text` has {{data.order}}, which reads nothing\n    write a JSON pointer: {{/data/order}}",
        line.unwrap() + 1
    );
    assert!(ended.err.contains(&there), "{}", ended.err);
}
