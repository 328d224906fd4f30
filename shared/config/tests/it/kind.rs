//! `[destination.NAME]` of the kinds beside HTTP.

use std::time::Duration;

use ackbox_config::{
    Config, Group, Invocation, Kind, LambdaDestination, SqsDestination, StepFunctionsDestination,
    Workflow,
};
use ackbox_domain::{Carriage, Form, Idempotency, OnUnknown};

use crate::{Case, case, check_edited, mistakes, warnings};

/// A destination of each kind, without warnings.
const KINDS: &str = include_str!("kinds.toml");

fn edited(old: &str, new: &str) -> String {
    if old.is_empty() {
        return format!("{KINDS}{new}");
    }
    assert_eq!(KINDS.matches(old).count(), 1, "{old:?} stands once");
    KINDS.replace(old, new)
}

fn parsed(old: &str, new: &str) -> Config {
    match Config::parse("f", &edited(old, new)) {
        Ok(config) => config,
        Err(mistakes) => panic!("{mistakes}"),
    }
}

#[test]
fn what_the_kind_fixes_is_known_without_being_written() {
    let config = parsed("", "");
    assert_eq!(config.warnings, []);
    let minutes = |minutes: u64| Idempotency::Window(Duration::from_secs(60 * minutes));
    let jobs = &config.destinations["jobs"];
    assert_eq!(
        jobs.to,
        Kind::Sqs(SqsDestination {
            queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo".to_owned(),
            region: Some("eu-central-1".to_owned()),
            group: Some(Group::Value("/data/tenant".parse().unwrap())),
        })
    );
    assert_eq!(jobs.policy.idempotency, minutes(5));
    assert_eq!(jobs.policy.on_unknown, OnUnknown::Retry);
    let fulfil = &config.destinations["fulfil"];
    assert_eq!(
        fulfil.to,
        Kind::StepFunctions(StepFunctionsDestination {
            state_machine: "arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil"
                .to_owned(),
            region: "eu-central-1".to_owned(),
            workflow: Workflow::Standard,
        })
    );
    assert_eq!(fulfil.policy.idempotency, minutes(90 * 24 * 60));
    let ship = &config.destinations["ship"];
    assert_eq!(
        ship.to,
        Kind::Lambda(LambdaDestination {
            function: "ship:live".to_owned(),
            region: None,
            invocation: Invocation::RequestResponse,
        })
    );
    assert_eq!(ship.policy.idempotency, Idempotency::None);
    assert_eq!(ship.policy.on_unknown, OnUnknown::Hold);
}

#[test]
fn what_keeps_no_keys_is_never_retried_after_an_unknown_outcome() {
    let config = parsed("jobs.fifo\"\ngroup = \"/data/tenant\"", "jobs\"");
    let jobs = &config.destinations["jobs"];
    assert_eq!(jobs.policy.idempotency, Idempotency::None);
    assert_eq!(jobs.policy.on_unknown, OnUnknown::Hold);
    let config = parsed("type = \"standard\"", "type = \"express\"");
    assert_eq!(
        config.destinations["fulfil"].policy.idempotency,
        Idempotency::None
    );
}

#[test]
fn a_service_can_be_trusted_for_less_than_it_keeps_and_a_function_for_what_its_author_says() {
    for (old, new, name, window) in [
        (
            "group = \"/data/tenant\"",
            "idempotency = { window = \"4m\" }",
            "jobs",
            Some(240),
        ),
        (
            "group = \"/data/tenant\"",
            "idempotency = \"none\"",
            "jobs",
            None,
        ),
        (
            "type = \"standard\"",
            "idempotency = { window = \"30d\" }",
            "fulfil",
            Some(30 * 86_400),
        ),
        (
            "invocation = \"request-response\"",
            "idempotency = { window = \"1d\" }",
            "ship",
            Some(86_400),
        ),
    ] {
        let config = parsed(old, new);
        let known = window.map_or(Idempotency::None, |s| {
            Idempotency::Window(Duration::from_secs(s))
        });
        assert_eq!(config.destinations[name].policy.idempotency, known, "{new}");
    }
}

#[test]
fn whoever_works_behind_a_service_can_be_asked() {
    let question = "reconcile = { url = \"https://10.1.2.3/jobs/{key}\", answers = [{ status = 200, means = \"applied\" }] }\non_unknown = \"reconcile\"\nallow_private = true";
    for (name, old) in [
        ("jobs", "group = \"/data/tenant\""),
        ("fulfil", "type = \"standard\""),
        ("ship", "invocation = \"request-response\""),
    ] {
        let config = parsed(old, question);
        let destination = &config.destinations[name];
        assert_eq!(destination.policy.on_unknown, OnUnknown::Reconcile);
        assert!(destination.reconcile.is_some());
    }
}

#[test]
fn a_rule_knows_what_the_way_to_its_destination_can_carry() {
    let config = parsed("", "");
    let rules = &config.sources["orders"].source.rules;
    let json = |max| Carriage {
        form: Form::Json,
        max: Some(max),
        group: None,
    };
    let text = Carriage {
        form: Form::Text,
        max: Some(1024 * 1023),
        group: Some("/data/tenant".parse().unwrap()),
    };
    let carriages: Vec<_> = rules.iter().map(|rule| rule.carriage.clone()).collect();
    assert_eq!(carriages, [text, json(256 * 1024), json(6 << 20)]);
}

#[test]
fn who_answers_there_is_told_apart() {
    let base = parsed("", "");
    for (name, old, new) in [
        ("jobs", "/jobs.fifo", "/other.fifo"),
        ("jobs", "group = \"/data/tenant\"", "group = \"key\""),
        ("jobs", "group = \"/data/tenant\"", ""),
        ("fulfil", "stateMachine:fulfil", "stateMachine:fulfil:2"),
        ("ship", "ship:live", "ship:next"),
    ] {
        let other = parsed(old, new);
        let origins = [&base, &other].map(|config| config.destinations[name].origin());
        assert_ne!(origins[0], origins[1], "{new}");
    }
    let other = parsed("invocation = \"request-response\"", "timeout = \"20s\"");
    assert_eq!(
        base.destinations["ship"].origin(),
        other.destinations["ship"].origin()
    );
}

#[test]
fn a_destination_is_shown_as_what_is_called_there() {
    let shown = |config: &Config, name: &str| config.destinations[name].to.to_string();
    let config = parsed("\"request-response\"", "\"event\"");
    assert_eq!(
        shown(&config, "jobs"),
        "SendMessage https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo"
    );
    assert_eq!(
        shown(&config, "fulfil"),
        "StartExecution arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil"
    );
    assert_eq!(shown(&config, "ship"), "Invoke ship:live (event)");
}

#[test]
fn every_mistake_of_a_kind_is_named_with_its_place() {
    check_edited(MISTAKES, edited, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "a kind that is none",
        "kind = \"sqs\"",
        "kind = \"kafka\"",
        "21:8: there is no kind \"kafka\"; write kind = \"http\" (or leave it out), \"sqs\", \"step-functions\" or \"lambda\"",
    ),
    case(
        "a slip of a kind",
        "kind = \"step-functions\"",
        "kind = \"stepfunctions\"",
        "26:8: there is no kind \"stepfunctions\"; did you mean \"step-functions\"?",
    ),
    case(
        "a kind that is a number",
        "kind = \"sqs\"",
        "kind = 5",
        "21:8: `kind` is a number, not a text; write kind = \"http\" (or leave it out), \"sqs\", \"step-functions\" or \"lambda\"",
    ),
    case(
        "a key of another kind",
        "group = \"/data/tenant\"",
        "url = \"https://jobs.example.com\"",
        "23:1: [destination.jobs] has no key \"url\"; this is kind = \"sqs\", and `url` belongs to kind = \"http\": change the kind, or remove it",
    ),
    case(
        "no kind, and the keys of one",
        "kind = \"lambda\"\nfunction = \"ship:live\"\ninvocation = \"request-response\"",
        "function = \"ship:live\"\nidempotency = \"none\"",
        "30:1: [destination.ship] has no `url`; write url = \"https://mail.example.com/actions\"\n31:1: [destination.ship] has no key \"function\"; this is kind = \"http\", and `function` belongs to kind = \"lambda\": change the kind, or remove it",
    ),
    case(
        "an unknown key",
        "group =",
        "groups =",
        "23:1: [destination.jobs] has no key \"groups\"; did you mean `group`?",
    ),
    case(
        "no queue",
        "queue = \"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"\n",
        "",
        "20:1: [destination.jobs] has no `queue`; write queue = \"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"",
    ),
    case(
        "a queue by its name alone",
        "\"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"",
        "\"jobs.fifo\"",
        "22:9: `queue` is not the URL of a queue; write the queue's URL as SQS shows it: queue = \"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"",
    ),
    case(
        "a queue's ARN",
        "\"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"",
        "\"arn:aws:sqs:eu-central-1:123456789012:jobs.fifo\"",
        "22:9: `queue` is not the URL of a queue: https://HOST/ACCOUNT/NAME, nothing more; write the queue's URL as SQS shows it: queue = \"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"",
    ),
    case(
        "a queue without an account",
        "/123456789012/jobs.fifo",
        "/jobs.fifo",
        "22:9: `queue` is not the URL of a queue: https://HOST/ACCOUNT/NAME, nothing more; write the queue's URL as SQS shows it: queue = \"https://sqs.eu-central-1.amazonaws.com/123456789012/jobs.fifo\"",
    ),
    case(
        "a group of a standard queue",
        "/jobs.fifo",
        "/jobs",
        "23:9: `group` is for FIFO queues, whose names end with \".fifo\"; remove it, or name a FIFO queue",
    ),
    case(
        "a group that is no place",
        "\"/data/tenant\"",
        "\"tenant\"",
        "23:9: `group` cannot be \"tenant\"; write \"key\" (each action by itself) or a JSON pointer into the body that is sent, as in \"/data/tenant\"",
    ),
    case(
        "a group that is no pointer",
        "\"/data/tenant\"",
        "\"/data/~tenant\"",
        "23:9: \"/data/~tenant\" is no JSON pointer: in a JSON pointer '~' is written \"~0\" and '/' inside a name \"~1\"; write one as in \"/data/id\"",
    ),
    case(
        "more than a FIFO queue keeps",
        "group = \"/data/tenant\"",
        "idempotency = { window = \"1h\" }",
        "23:26: the `window` is 1h, and a FIFO queue keeps a key for 5m; write at most window = \"5m\", or leave `idempotency` out",
    ),
    case(
        "a header where there are none",
        "group = \"/data/tenant\"",
        "idempotency = { header = \"X-Key\", window = \"5m\" }",
        "23:17: `idempotency` of [destination.jobs] has no key \"header\"; known here: `window`",
    ),
    case(
        "a window of a standard queue",
        "jobs.fifo\"\ngroup = \"/data/tenant\"",
        "jobs\"\nidempotency = { window = \"5m\" }",
        "23:15: a standard queue keeps no keys: it has no window; leave `idempotency` out, or send to a FIFO queue, which keeps them for 5m",
    ),
    case(
        "a standard queue that is to be retried",
        "jobs.fifo\"\ngroup = \"/data/tenant\"",
        "jobs\"\non_unknown = \"retry\"",
        "23:14: on_unknown = \"retry\" would execute an action twice: with idempotency = \"none\" the destination keeps no keys; write on_unknown = \"hold\" or \"reconcile\", or the destination's window in `idempotency`",
    ),
    case(
        "an attempt longer than a FIFO queue keeps its key",
        "group = \"/data/tenant\"",
        "timeout = \"6m\"",
        "23:11: `lease` (45s) must be longer than the longest timeout (6m, of jobs) + settle_margin (5s) + clock_skew (5s), which is 6m 10s; write lease = \"6m 15s\" in [delivery], and first_due longer than that, or a timeout under 35s in [destination.jobs]; else an action could be attempted twice at once\n23:11: `function_timeout` (1m) must be longer than the longest timeout (6m, of jobs) + settle_margin (5s), which is 6m 5s; write function_timeout = \"6m 10s\" in [delivery] (and as the function's own timeout), or a timeout under 55s in [destination.jobs]; else an attempt would be stopped in the middle\n23:11: the `window` of jobs (5m) must be longer than its timeout (6m) + clock_skew (5s), which is 6m 5s: no repetition would fit; write how long the destination really keeps its keys; if it is not longer, write idempotency = \"none\"",
    ),
    case(
        "no state machine",
        "state_machine = \"arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil\"\n",
        "",
        "25:1: [destination.fulfil] has no `state_machine`; write state_machine = \"arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil\"",
    ),
    case(
        "an execution's ARN",
        ":stateMachine:fulfil",
        ":execution:fulfil:1",
        "27:17: `state_machine` is not the ARN of a state machine; write it as Step Functions shows it, a version or alias behind it if one is meant: state_machine = \"arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil\"",
    ),
    case(
        "a part of a state machine",
        ":stateMachine:fulfil",
        ":stateMachine:fulfil/label",
        "27:17: `state_machine` is not the ARN of a state machine; write it as Step Functions shows it, a version or alias behind it if one is meant: state_machine = \"arn:aws:states:eu-central-1:123456789012:stateMachine:fulfil\"",
    ),
    case(
        "a type that is none",
        "type = \"standard\"",
        "type = \"STANDARD\"",
        "28:8: `type` cannot be \"STANDARD\"; write \"standard\" or \"express\", as the state machine was created",
    ),
    case(
        "more than a state machine keeps",
        "type = \"standard\"",
        "idempotency = { window = \"91d\" }",
        "28:26: the `window` is 91d, and a standard state machine keeps a key for 90d; write at most window = \"90d\", or leave `idempotency` out",
    ),
    case(
        "a window of an express state machine",
        "type = \"standard\"",
        "type = \"express\"\nidempotency = { window = \"1d\" }",
        "29:15: an express state machine keeps no keys: it has no window; leave `idempotency` out, or start a standard one, which keeps them for 90d",
    ),
    case(
        "no function",
        "function = \"ship:live\"\n",
        "",
        "30:1: [destination.ship] has no `function`; write function = \"fulfil:live\"",
    ),
    case(
        "a function that cannot be",
        "\"ship:live\"",
        "\"123456789012:function:ship\"",
        "32:12: `function` is neither the name nor the ARN of a function; write its name or whole ARN, a version or alias behind it if one is meant: function = \"fulfil:live\"",
    ),
    case(
        "the ARN of something else",
        "\"ship:live\"",
        "\"arn:aws:sqs:eu-central-1:123456789012:ship\"",
        "32:12: `function` is neither the name nor the ARN of a function; write its name or whole ARN, a version or alias behind it if one is meant: function = \"fulfil:live\"",
    ),
    case(
        "an invocation that is none",
        "\"request-response\"",
        "\"async\"",
        "33:14: `invocation` cannot be \"async\"; write \"request-response\" (its answer is waited for) or \"event\" (it is queued)",
    ),
    case(
        "idempotency of another kind",
        "invocation = \"request-response\"",
        "idempotency = true",
        "33:15: `idempotency` is neither \"none\" nor a table with a window; write idempotency = { window = \"24h\" } if the function itself executes one key once, for at least that long; else leave it out",
    ),
    case(
        "several at once",
        "group = \"/data/tenant\"",
        "group = 1\ntimeout = 1\nidempotency = 1",
        "23:9: `group` is a number, not a text; write group = \"key\"\n24:11: `timeout` is a number, not a text; write timeout = \"10s\"\n25:15: `idempotency` is neither \"none\" nor a table with a window; leave it out: a FIFO queue keeps a key for 5m, and that is taken",
    ),
];

#[test]
fn what_is_doubtful_in_a_kind_is_warned_of() {
    check_edited(WARNINGS, edited, warnings);
}

const WARNINGS: &[Case] = &[
    case(
        "a queue of no Region",
        "sqs.eu-central-1.amazonaws.com",
        "queues.example.com",
        "22:9: `queue` names no Region of AWS: messages go to the endpoint of the SDK's own configuration; write the queue's URL as SQS shows it, unless that is meant",
    ),
    case(
        "a queue on this machine",
        "https://sqs.eu-central-1.amazonaws.com/",
        "http://127.0.0.1:4566/",
        "",
    ),
    case(
        "an event whose function is said to keep keys",
        "invocation = \"request-response\"",
        "invocation = \"event\"\nidempotency = { window = \"1d\" }",
        "30:14: [destination.ship] is said to keep keys, and Lambda hands an event's function no client context: it does not see the key; write payload = \"envelope\" in its rules, which has the key in it, or invocation = \"request-response\"; unless the function knows the action by its own content",
    ),
    case(
        "an event whose function is not",
        "\"request-response\"",
        "\"event\"",
        "",
    ),
];
