//! `[source.NAME.job]`, and headers that are settings of the sender.

use std::time::Duration;

use ackbox_config::Config;
use ackbox_domain::EventPattern;
use ackbox_domain::job::{Ids, Jobs, Unbound};

use crate::said_of_jobs::JOBS;
use crate::{Case, case, check_edited, mistakes, warnings};

/// A valid file with a job whose scheme knows nothing of jobs.
const WRITTEN: &str = r#"[source.renderer]
scheme = "standard-webhooks"
secrets = ["env:A", "env:B"]
subject = "/data/job"

[source.renderer.job]
space = "videos"
ids = "per-account"
on = ["render.*"]
account = "own"
accounts = { "env:B" = "acme" }
unbound = "park"
parked_for = "2d"
status = ["/data/state", "/state"]
outcomes = { Done = "completed", error = "failed" }
progress = ["Waiting"]
values = { url = "/data/url" }
"#;

/// A valid file with a job of which the scheme knows all.
const SHORT: &str = "[source.tornado]\nscheme = \"tornado\"\nsecrets = [\"env:A\"]\njob = {}\n";

fn edited(old: &str, new: &str) -> String {
    if old.is_empty() {
        return format!("{WRITTEN}{new}");
    }
    assert_eq!(WRITTEN.matches(old).count(), 1, "{old:?}");
    WRITTEN.replace(old, new)
}

fn jobs(text: &str, source: &str) -> Jobs {
    let config = Config::parse("f", text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes}"));
    config.sources[source].source.jobs.clone().unwrap()
}

fn short(job: &str) -> Jobs {
    jobs(&SHORT.replace("{}", job), "tornado")
}

#[test]
fn what_is_written_of_jobs_is_meant() {
    assert_eq!(warnings(WRITTEN), "");
    let jobs = jobs(WRITTEN, "renderer");
    assert_eq!(jobs.space.as_str(), "videos");
    assert_eq!(jobs.ids, Ids::PerAccount);
    assert_eq!(jobs.on, [EventPattern::from("render.*")]);
    assert_eq!(jobs.own_account(), "own");
    assert_eq!(jobs.accounts["env:B"], "acme");
    assert_eq!(jobs.unbound, Unbound::Park);
    assert_eq!(jobs.parked_for, Duration::from_secs(2 * 86_400));
    assert_eq!(jobs.status.len(), 2);
    let words: Vec<(&str, &str)> = jobs
        .outcomes
        .iter()
        .map(|(word, outcome)| (word.as_str(), outcome.as_str()))
        .collect();
    assert_eq!(words, [("done", "completed"), ("error", "failed")]);
    assert!(jobs.progress.contains("waiting"));
    assert_eq!(jobs.values.len(), 1);
}

#[test]
fn what_is_not_written_of_jobs_has_its_default() {
    for scheme in ["tornado", "sume", "openrouter"] {
        let text = SHORT.replace("\"tornado\"", &format!("\"{scheme}\""));
        assert_eq!(warnings(&text), "");
        let jobs = jobs(&text, "tornado");
        assert_eq!(jobs.space.as_str(), "tornado");
        assert_eq!((jobs.ids, jobs.unbound), (Ids::Shared, Unbound::Park));
        assert_eq!(jobs.on, [EventPattern::Any]);
        assert_eq!(jobs.own_account(), "default");
        assert!(jobs.accounts.is_empty());
        assert_eq!(jobs.parked_for, Duration::from_secs(7 * 86_400));
        assert_eq!(jobs.outcomes["completed"].as_str(), "completed");
        assert!(!jobs.status.is_empty() && !jobs.progress.is_empty());
    }
    let config = Config::parse("f", SHORT).unwrap();
    assert_eq!(config.sources["tornado"].lookup, None);
    let plain = SHORT.replace("job = {}\n", "");
    let config = Config::parse("f", &plain).unwrap();
    assert_eq!(config.sources["tornado"].source.jobs, None);
}

#[test]
fn a_files_own_words_stand_beside_those_of_the_scheme_and_win() {
    let usual = short("{}");
    let own = short(
        "{ outcomes = { Archived = \"archived\", PROCESSING = \"stuck\" }, progress = [\"Warning\"], values = { key = \"/key\", title = [\"/name\", \"/data/name\"] } }",
    );
    assert_eq!(own.outcomes["archived"].as_str(), "archived");
    assert_eq!(own.outcomes["completed"], usual.outcomes["completed"]);
    assert_eq!(own.outcomes["processing"].as_str(), "stuck");
    assert!(usual.progress.contains("processing") && !own.progress.contains("processing"));
    assert!(usual.outcomes.contains_key("warning") && !own.outcomes.contains_key("warning"));
    assert!(own.progress.contains("warning") && own.progress.contains("pending"));
    let value = |name: &str| own.values[name].len();
    assert_eq!((value("key"), value("title"), value("folder")), (1, 2, 2));
    // Pointers to the status are another matter: the first that is there counts.
    let status = short("{ status = \"/state\" }").status;
    assert_eq!(status, ["/state".parse().unwrap()]);
}

#[test]
fn every_mistake_of_a_job_is_named_with_its_place() {
    check_edited(MISTAKES, edited, mistakes);
}

const NAME_HELP: &str = "is not a name: use 1 to 64 lower-case letters, digits and hyphens, starting with a letter or digit";

const MISTAKES: &[Case] = &[
    case(
        "a key that is not known",
        "unbound =",
        "unbnd =",
        "12:1: [source.renderer.job] has no key \"unbnd\"; did you mean `unbound`?",
    ),
    case(
        "a word that is none",
        "\"per-account\"",
        "\"global\"",
        "8:7: `ids` cannot be \"global\"; write \"shared\" or \"per-account\"",
    ),
    case(
        "what becomes of the unbound",
        "\"park\"",
        "\"drop\"",
        "12:11: `unbound` cannot be \"drop\"; write \"park\", \"refuse\" or \"ignore\"",
    ),
    case(
        "a time for what is not parked",
        "\"park\"",
        "\"refuse\"",
        "13:14: `parked_for` has nothing to act on: ends of unbound jobs are not parked; remove it, or write unbound = \"park\"",
    ),
    case(
        "a time that is too long",
        "\"2d\"",
        "\"366d\"",
        "13:14: `parked_for` is 366d; write between \"1s\" and \"365d\"",
    ),
    case(
        "an empty list of events",
        "[\"render.*\"]",
        "[]",
        "9:6: `on` is empty: the job wants nothing; write the events that it wants, or leave `on` out for all of them",
    ),
    case(
        "a blank account",
        "\"own\"",
        "\" \"",
        "10:11: `account` is empty or blank; write the account as the jobs' bindings name it",
    ),
    case(
        "a secret of another source",
        "\"env:B\" = \"acme\"",
        "\"env:C\" = \"acme\"",
        "11:14: `accounts` names env:C, which is none of the source's `secrets`; write it in `secrets` too, or remove it here",
    ),
    case(
        "a secret's value",
        "\"env:B\" = \"acme\"",
        "whsec_dontsay = \"acme\"",
        "11:14: a secret of `accounts` is no reference to a secret; write where the value stands, never the value itself: \"env:NAME\", \"file:PATH\" or \"ssm:/name\"; if a secret stood here, replace it at the sender",
    ),
    case(
        "an account that is a number",
        "\"acme\" }",
        "5 }",
        "11:24: `accounts` has an account that is a number, not a text; write accounts = { \"env:ACME_SECRET\" = \"acme\" }",
    ),
    case(
        "accounts that are a list",
        "{ \"env:B\" = \"acme\" }",
        "[]",
        "11:12: `accounts` is a list, not a table of secrets and accounts; write accounts = { \"env:ACME_SECRET\" = \"acme\" }",
    ),
    case(
        "a status that is no pointer",
        "\"/state\"",
        "\"state\"",
        "14:26: \"state\" is no JSON pointer: a JSON pointer starts with '/', as in \"/data/id\"; write one as in \"/data/id\"",
    ),
    case(
        "no place of a status",
        "[\"/data/state\", \"/state\"]",
        "[]",
        "14:10: `status` has an empty list of places; write status = \"/status\"",
    ),
    case(
        "a place that is a number",
        "\"/state\"",
        "5",
        "14:26: `status` has a place that is a number, not a JSON pointer; write status = \"/status\"",
    ),
    case(
        "an outcome that is ours",
        "\"failed\"",
        "\"silent\"",
        "15:42: \"silent\" is the outcome of a job that was given up; no message tells it; write another name",
    ),
    case(
        "a word twice",
        "error =",
        "done =",
        "15:34: `outcomes` has \"done\" twice: case makes no difference; remove one of the two",
    ),
    case(
        "an empty word",
        "error =",
        "\" \" =",
        "15:34: `outcomes` has an empty word; write a status or an event's type, as the sender does",
    ),
    case(
        "an outcome that is a number",
        "\"failed\"",
        "5",
        "15:42: `outcomes` has an outcome that is a number, not a text; write outcomes = { done = \"completed\", failed = \"failed\" }",
    ),
    case(
        "a word that goes on and ends",
        "\"Waiting\"",
        "\"DONE\"",
        "16:13: `progress` has \"done\", which `outcomes` takes for an end; write it in one of the two",
    ),
    case(
        "no outcomes",
        "outcomes = { Done = \"completed\", error = \"failed\" }\n",
        "",
        "6:1: [source.renderer.job] has no `outcomes`, and the scheme \"standard-webhooks\" does not say how its jobs end; write outcomes = { done = \"completed\", failed = \"failed\" }",
    ),
    case(
        "no place of the job's id",
        "subject = \"/data/job\"\n",
        "",
        "5:1: [source.renderer.job] does not know where a job's id stands; write subject = \"/pointer\" in [source.renderer]",
    ),
    case(
        "an id in a header that nobody signed",
        "subject = \"/data/job\"",
        "subject = \"header:X-Job\"\naccount = [\"/account\", \"header:X-Account\"]\nevent = \"header:X-Event\"",
        "8:1: a job's id stands in the header x-job, which the signature of \"standard-webhooks\" does not cover; write subject = \"/pointer\" in [source.renderer], where the body tells it; or write trust_unsigned_id = true there, which means: whoever replays a signed body can change that header, and so end another job, or end it otherwise\n\
         8:1: the account stands in the header x-account, which the signature of \"standard-webhooks\" does not cover; write account = \"/pointer\" in [source.renderer], where the body tells it; or write trust_unsigned_id = true there, which means: whoever replays a signed body can change that header, and so end another job, or end it otherwise\n\
         8:1: the event's type stands in the header x-event, which the signature of \"standard-webhooks\" does not cover; write event = \"/pointer\" in [source.renderer], where the body tells it; or write trust_unsigned_id = true there, which means: whoever replays a signed body can change that header, and so end another job, or end it otherwise",
    ),
    case(
        "two sources of a space that do not agree",
        "",
        "[source.other]\nscheme = \"tornado\"\nsecrets = [\"env:A\"]\njob = { space = \"videos\", ids = \"shared\" }\n",
        "21:33: [source.other] and [source.renderer] share the job space \"videos\", and do not agree on `ids`: \"shared\" and \"per-account\"; write ids = \"per-account\" in both, or another `space` in one of them",
    ),
    case(
        "a job that is no table",
        "",
        "[source.other]\nscheme = \"tornado\"\nsecrets = [\"env:A\"]\njob = true\n",
        "21:7: [source.other.job] is true or false, not a table; write [source.other.job] on a line, and its keys below",
    ),
];

#[test]
fn names_that_are_none_are_refused_wherever_they_stand() {
    for (old, new, said) in [
        (
            "\"videos\"",
            "\"My Videos\"",
            "7:9: a job space's name: \"My Videos\"",
        ),
        (
            "\"completed\"",
            "\"Done!\"",
            "15:21: an outcome's name: \"Done!\"",
        ),
        (
            "url = \"/data/url\"",
            "URL = \"/data/url\"",
            "17:12: a value's name: \"URL\"",
        ),
    ] {
        assert_eq!(mistakes(&edited(old, new)), format!("{said} {NAME_HELP}"));
    }
}

#[test]
fn something_must_tell_how_a_job_ended() {
    let bare = WRITTEN
        .replace("status = [\"/data/state\", \"/state\"]\n", "")
        .replace("\"standard-webhooks\"", "\"own\"")
        .replace("on = [\"render.*\"]\n", "");
    let own = "[scheme.own]\nsigned = \"{body}\"\n[[scheme.own.signature]]\nheader = \"X-S\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n";
    let said = mistakes(&format!("{bare}{own}"));
    assert!(
        said.contains("[source.renderer.job] has no `status`, and [source.renderer] does not know where the event's type stands: nothing tells how a job ended; write status = \"/status\", or event = \"/pointer\" in the source"),
        "{said}"
    );
    let by_type = bare.replace("subject =", "event = \"/type\"\nsubject =");
    assert_eq!(mistakes(&format!("{by_type}{own}")), "no mistake");
}

#[test]
fn a_body_that_nobody_signed_ends_jobs_only_where_the_user_says_so() {
    let key = SHORT.replace("\"tornado\"", "\"tornado-key\"");
    assert_eq!(
        mistakes(&key),
        "4:7: what is told of jobs stands in the body, which the signature of \"tornado-key\" does not cover; choose a scheme that signs the body, if the sender has one; or write trust_body = true in [source.tornado], which means: whoever knows the secret, or stands between, can put anything there, and so end any job"
    );
    let trusted = key.replace("job =", "trust_body = true\njob =");
    assert_eq!(warnings(&trusted), "");
    let header = WRITTEN.replace(
        "subject = \"/data/job\"",
        "subject = \"header:X-Job\"\ntrust_unsigned_id = true",
    );
    assert_eq!(warnings(&header), "");
    // A header that the signature covers needs no trust.
    let covered = WRITTEN.replace("\"/data/job\"", "\"header:webhook-id\"");
    assert_eq!(warnings(&covered), "");
}

#[test]
fn a_source_with_jobs_needs_no_rule_and_its_destinations_need_none() {
    let there =
        "[destination.there]\nurl = \"https://there.example.com/\"\nidempotency = \"none\"\n";
    assert_eq!(warnings(&format!("{SHORT}{there}")), "");
    let plain = warnings(&format!("{}{there}", SHORT.replace("job = {}\n", "")));
    assert!(
        plain.contains("has no rule") && plain.contains("is used by no rule"),
        "{plain}"
    );
}

#[test]
fn a_rule_that_wants_what_ends_a_job_is_warned_of() {
    let with = |job: &str, on: &str| {
        format!(
            "{}[[source.tornado.rule]]\nname = \"r\"\non = {on}\nkey = [\"message:subject\"]\ndestination = \"there\"\n[destination.there]\nurl = \"https://there.example.com/\"\nidempotency = \"none\"\n",
            SHORT.replace("{}", job)
        )
    };
    let said = "4:7: the rule r wants events that may end a job: each of them makes an action by the rule, beside those of the job's steps; remove the rule, if the steps of the jobs do its work; or write in `on` of the job and of the rule what is whose";
    for on in [
        "[\"*\"]",
        "[\"job_*\"]",
        "[\"Job_Failed\"]",
        "[\"x\", \"batch_completed\"]",
        "[\"another\"]",
    ] {
        assert_eq!(warnings(&with("{}", on)), said, "{on}");
    }
    assert_eq!(warnings(&with("{}", "[\"progress\"]")), "");
    assert_eq!(warnings(&with("{ on = [\"job_*\"] }", "[\"batch_*\"]")), "");
}

#[test]
fn spaces_that_agree_are_shared() {
    let config = Config::parse("f", JOBS).unwrap();
    let space = "tornado".parse().unwrap();
    let names: Vec<&str> = config
        .sources_of(&space)
        .map(|(source, _)| source.source.name.as_str())
        .collect();
    assert_eq!(names, ["tornado", "tornado-org"]);
    assert_eq!(config.ids_of(&space), Some(Ids::Shared));
    assert_eq!(warnings(JOBS), "");
}

#[test]
fn a_header_that_is_a_setting_takes_the_schemes_place() {
    let named = |scheme: &str, keys: &str| {
        SHORT
            .replace("\"tornado\"", &format!("\"{scheme}\""))
            .replace("job = {}", keys)
    };
    for (scheme, keys, said) in [
        (
            "tornado",
            "signature_header = \"X Y\"",
            "4:20: `signature_header` of the scheme \"tornado\": `X Y` is not a header name; remove it, or write the name that stands in the sender's settings",
        ),
        (
            "tornado",
            "timestamp_header = \"X-T\"",
            "4:20: `timestamp_header` of the scheme \"tornado\": the scheme has no header of its own for the time; remove it, or write the name that stands in the sender's settings",
        ),
        (
            "sume",
            "signature_header = \"X-A\"\ntimestamp_header = \"x-a\"",
            "5:20: `timestamp_header` of the scheme \"sume\": `x-a` holds something else already: a header holds one value; remove it, or write the name that stands in the sender's settings",
        ),
        (
            "tornado",
            "signature_header = 5",
            "4:20: `signature_header` is a number, not a text; write signature_header = \"X-Signature\"",
        ),
    ] {
        assert_eq!(mistakes(&named(scheme, keys)), said);
    }
    let keys = "job = {}\nsignature_header = \"X-Tornado-Org-Signature\"";
    let config = Config::parse("f", &named("tornado", keys)).unwrap();
    let scheme = &config.sources["tornado"].scheme;
    assert_eq!(scheme.slug(), "tornado");
    let secret = scheme
        .secret("s", "whsec_an_example_and_no_secret")
        .unwrap();
    let request = ackbox_signature::SignRequest {
        method: "POST",
        url: "/",
        body: b"{}",
        now_ms: 0,
        id: "1",
        event: None,
    };
    let signed = scheme.sign(&request, &secret).unwrap();
    assert_eq!(signed[0].0, "X-Tornado-Org-Signature");
}

#[test]
fn a_scheme_of_ones_own_may_say_how_its_jobs_end() {
    let own = r#"
[source.mine]
scheme = "mine"
secrets = ["env:A"]
job = { lookup = { headers = { X-Key = "env:K" } } }
[scheme.mine]
signed = "{body}"
subject = [{ body = "/job" }]
[[scheme.mine.signature]]
header = "X-S"
algorithm = "hmac-sha256"
encoding = "hex"
[scheme.mine.job]
status = ["/state"]
outcomes = { done = "completed" }
[scheme.mine.job.lookup]
url = "https://api.example.com/jobs/{job_id}"
headers = ["X-Key"]
answers = [{ status = 200, where = { "/n" = "2" }, means = "status" }, { status = 410, outcome = "expired" }]
"#;
    assert_eq!(warnings(own), "");
    let config = Config::parse("f", own).unwrap();
    let lookup = config.sources["mine"].lookup.as_ref().unwrap();
    assert_eq!(lookup.answers.len(), 2);
    assert_eq!(lookup.answers[0].conditions.len(), 1);
    let wrong = own.replace("status = 410", "status = \"410\"");
    assert!(
        mistakes(&wrong).contains("`status` cannot be a text; write a number"),
        "{}",
        mistakes(&wrong)
    );
    let wrong = own.replace("{ done = \"completed\" }", "{ done = \"silent\" }");
    assert!(
        mistakes(&wrong).contains("13:1: [scheme.mine] `job.outcomes`")
            || mistakes(&wrong)
                .contains("`job.outcomes`: `silent` is the word for a job that was given up"),
        "{}",
        mistakes(&wrong)
    );
}
