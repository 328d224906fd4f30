//! `[source.NAME]`.

use crate::{Case, case, check, mistakes, warnings};

#[test]
fn every_mistake_of_a_source_is_named_with_its_place() {
    check(MISTAKES, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "an unknown key, nearly right",
        "max_body =",
        "max_bdy =",
        "4:1: [source.reports] has no key \"max_bdy\"; did you mean `max_body`?",
    ),
    case(
        "an unknown key, like none",
        "max_body =",
        "frobnicate =",
        "4:1: [source.reports] has no key \"frobnicate\"; known here: `scheme`, `secrets`, `signature_header`, `timestamp_header`, `max_body`, `tolerance`, `id`, `event`, `subject`, `account`, `each`, `max_each`, `test_events`, `progress_events`, `trust_unsigned_id`, `trust_body`, `on_conflict`, `previously`, `time`, `max_age`, `retention`, `rule`, `job`",
    ),
    case(
        "no scheme",
        "scheme = \"standard-webhooks\"\n",
        "",
        "1:1: [source.reports] has no `scheme`; write scheme = \"standard-webhooks\"",
    ),
    case(
        "an unknown scheme, nearly right",
        "\"standard-webhooks\"",
        "\"standard-webhook\"",
        "2:10: there is no scheme \"standard-webhook\"; did you mean \"standard-webhooks\"?",
    ),
    case(
        "an unknown scheme, like none",
        "\"standard-webhooks\"",
        "\"frobnicator\"",
        "2:10: there is no scheme \"frobnicator\"; write one of github, openrouter, shopify, slack, standard-webhooks, stripe, sume, svix, token, tornado, tornado-key, or describe your sender in a [scheme.NAME] table",
    ),
    case(
        "no secrets",
        "secrets = [\"env:REPORTS\"]\n",
        "",
        "1:1: [source.reports] has no `secrets`; write secrets = [\"env:REPORTS_SECRET\"]",
    ),
    case(
        "an empty list of secrets",
        "[\"env:REPORTS\"]",
        "[]",
        "3:11: `secrets` is empty; write secrets = [\"env:REPORTS_SECRET\"]",
    ),
    case(
        "one secret that is no list",
        "[\"env:REPORTS\"]",
        "\"env:REPORTS\"",
        "3:11: `secrets` is a text, not a list; write secrets = [\"env:REPORTS_SECRET\"]",
    ),
    case(
        "a secret's value",
        "[\"env:REPORTS\"]",
        "[\"whsec_dontsay\", \"env:A\"]",
        "3:12: an entry of `secrets` is no reference to a secret; write where the value stands, never the value itself: \"env:NAME\", \"file:PATH\" or \"ssm:/name\"; if a secret stood here, replace it at the sender",
    ),
    case(
        "a secret that is a number",
        "[\"env:REPORTS\"]",
        "[12345]",
        "3:12: `secrets` has an entry that is a number, not a text; write secrets = [\"env:REPORTS_SECRET\"]",
    ),
    case(
        "a variable that cannot be",
        "env:REPORTS",
        "env:dont-say",
        "3:12: an entry of `secrets` names no environment variable after \"env:\"; letters, digits and underscores, not starting with a digit, as in \"env:STRIPE_SECRET\"",
    ),
    case(
        "a parameter without its slash",
        "env:REPORTS",
        "ssm:dontsay",
        "3:12: an entry of `secrets` names no parameter after \"ssm:\"; the parameter's full name with its slash, as in \"ssm:/ackbox/stripe/secret\"",
    ),
    case(
        "a file without a path",
        "env:REPORTS",
        "file:",
        "3:12: an entry of `secrets` names no file after \"file:\"; a path, as in \"file:secrets/stripe\"",
    ),
    case(
        "a size without a unit",
        "\"256 KiB\"",
        "\"262144\"",
        "4:12: `max_body`: \"262144\" is a number without a unit; write a number with its unit, as in \"256 KiB\" or \"1 MiB\"",
    ),
    case(
        "a size that is a number",
        "\"256 KiB\"",
        "262144",
        "4:12: `max_body` is a number, not a text; write max_body = \"256 KiB\"",
    ),
    case(
        "a size with a strange unit",
        "\"256 KiB\"",
        "\"256 parsec\"",
        "4:12: `max_body`: \"256 parsec\" is no size; write a number with its unit, as in \"256 KiB\" or \"1 MiB\"",
    ),
    case(
        "a size over what a function takes",
        "\"256 KiB\"",
        "\"7 MB\"",
        "4:12: `max_body` is 6.7 MiB; write between \"1 B\" and \"6.0 MiB\"",
    ),
    case(
        "a size of nothing",
        "\"256 KiB\"",
        "\"0 B\"",
        "4:12: `max_body` is 0 B; write between \"1 B\" and \"6.0 MiB\"",
    ),
    case(
        "a tolerance without a unit",
        "tolerance = \"5m\"",
        "tolerance = 300",
        "5:13: `tolerance` is a number, not a text; write tolerance = \"5m\"",
    ),
    case(
        "a tolerance of months",
        "tolerance = \"5m\"",
        "tolerance = \"5M\"",
        "5:13: `tolerance`: \"5M\" counts in months or years, whose length varies; write minutes as \"m\", and more than weeks in days, as in \"90d\"",
    ),
    case(
        "a tolerance of nothing",
        "tolerance = \"5m\"",
        "tolerance = \"0s\"",
        "5:13: `tolerance` is 0s; write between \"1s\" and \"1d\"",
    ),
    case(
        "an unknown word",
        "\"refuse\"",
        "\"reject\"",
        "6:15: `on_conflict` cannot be \"reject\"; write \"acknowledge\" or \"refuse\"",
    ),
    case(
        "a place that is none",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nid = \"webhook-id\"",
        "6:6: \"webhook-id\" is no place in a message; write \"header:NAME\" or a JSON pointer, as in \"/data/id\"",
    ),
    case(
        "a place in a header that cannot be",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nsubject = \"header:a b\"",
        "6:11: \"a b\" is not the name of a header; write \"header:NAME\" or a JSON pointer, as in \"/data/id\"",
    ),
    case(
        "a pointer that is none",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nsubject = \"/a~2\"",
        "6:11: \"/a~2\" is no JSON pointer: in a JSON pointer '~' is written \"~0\" and '/' inside a name \"~1\"; write one as in \"/data/id\"",
    ),
    case(
        "an empty list of places",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nsubject = []",
        "6:11: `subject` is empty; write subject = \"/data/id\", or leave it out",
    ),
    case(
        "a place that is a number",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nsubject = [\"/a\", 5]",
        "6:18: `subject` is a number, not a place, or a list of places; write subject = \"/data/id\"",
    ),
    case(
        "a batch's bound without a batch",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nmax_each = 10",
        "6:12: `max_each` bounds a batch, and this source has none; write each = \"/pointer\" to the array of events, or remove `max_each`",
    ),
    case(
        "a batch's bound over the limit",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nmax_each = 5000",
        "6:12: `max_each` is 5000; write a number from 1 to 1000",
    ),
    case(
        "a batch that is no pointer",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\neach = \"events\"",
        "6:8: \"events\" is no JSON pointer: a JSON pointer starts with '/', as in \"/data/id\"; write one as in \"/data/id\"",
    ),
    case(
        "a batch whose elements share a key",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\neach = \"/events\"",
        "12:7: `key` is the same for every element of a batch, so one message would make one action, and conflicts; add a value of the element, as in \"/id\"",
    ),
    case(
        "an empty test event",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\ntest_events = [\"\"]",
        "6:16: `test_events` has an empty entry; write the event's type, or remove the entry",
    ),
    case(
        "a pattern among progress events",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\nprogress_events = [\"a.*\"]",
        "6:20: `progress_events` has an entry with a star; write each event's type in full; patterns are for a rule's `on`",
    ),
    case(
        "a flag that is a text",
        "tolerance = \"5m\"",
        "tolerance = \"5m\"\ntrust_body = \"yes\"",
        "6:14: `trust_body` is a text, not true or false; write trust_body = true",
    ),
    case(
        "a name that cannot stand in a path",
        "",
        "[source.\"A b\"]\nscheme = \"github\"\nsecrets = [\"env:A\"]\n",
        "37:9: a source's name: \"A b\" is not a name: use 1 to 64 lower-case letters, digits and hyphens, starting with a letter or digit",
    ),
    case(
        "a source that is a list",
        "[source.reports]\n",
        "[[source.reports]]\n",
        "1:1: [source.reports] is a list, not a table; write [source.reports] on a line, and its keys below",
    ),
    case(
        "a source without a name",
        "",
        "[[source]]\n",
        "37:3: the table \"source\" stands here a second time; rename one of the two, or put both together",
    ),
    case(
        "a tolerance where no time is signed",
        "",
        "[source.gh]\nscheme = \"github\"\nsecrets = [\"env:A\"]\ntolerance = \"1m\"\n",
        "40:13: `tolerance` has nothing to act on: the scheme \"github\" signs no time; remove it; an old message of this sender is told from a new one by its key alone",
    ),
];

#[test]
fn what_is_doubtful_in_a_source_is_warned_of() {
    check(WARNINGS, warnings);
}

const WARNINGS: &[Case] = &[
    case("nothing", "256 KiB", "1 MiB", ""),
    case(
        "one secret twice",
        "[\"env:REPORTS\"]",
        "[\"env:A\", \"env:A\"]",
        "3:21: `secrets` names one secret twice; remove one of the two",
    ),
    case(
        "a source without rules",
        "",
        "[source.gh]\nscheme = \"github\"\nsecrets = [\"env:A\"]\n",
        "37:1: [source.gh] has no rule: its messages are acknowledged and make nothing; write a [[source.gh.rule]]",
    ),
    case(
        "a permission that nothing needs",
        "tolerance = \"5m\"",
        "trust_unsigned_id = true\ntrust_body = true",
        "5:21: `trust_unsigned_id` is not needed: neither a key part, nor a choice between rules, nor what tells of a job stands in a header that the signature leaves out; remove it\n\
         6:14: `trust_body` is not needed: the signature covers the body; remove it",
    ),
    case(
        "a test event twice",
        "tolerance = \"5m\"",
        "test_events = [\"a\", \"a\"]",
        "5:21: `test_events` names one event twice; remove one of the two",
    ),
];
