//! `[delivery]`, and the relations between times.

use crate::{Case, case, check, mistakes, warnings};

#[test]
fn every_mistake_of_the_delivery_settings_is_named_with_its_place() {
    check(MISTAKES, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "an unknown key",
        "concurrency =",
        "concurency =",
        "33:1: [delivery] has no key \"concurency\"; did you mean `concurrency`?",
    ),
    case(
        "a table that is none",
        "[delivery]\n",
        "[[delivery]]\n",
        "27:1: [delivery] is a list, not a table; write [delivery] on a line, and its keys below",
    ),
    case(
        "a concurrency of nothing",
        "concurrency = 64",
        "concurrency = 0",
        "33:15: `concurrency` is 0; write a number from 1 to 1000",
    ),
    case(
        "a concurrency that is a text",
        "concurrency = 64",
        "concurrency = \"64\"",
        "33:15: `concurrency` is a text, not a whole number; write concurrency = 64",
    ),
    case(
        "a concurrency below nothing",
        "concurrency = 64",
        "concurrency = -1",
        "33:15: `concurrency` is -1; write a number from 1 to 1000",
    ),
    case(
        "a lease that is a number",
        "lease = \"45s\"",
        "lease = 45",
        "28:9: `lease` is a number, not a text; write lease = \"45s\"",
    ),
    case(
        "an accept budget that no sender waits for",
        "accept_budget = \"8s\"",
        "accept_budget = \"1m\"",
        "36:17: `accept_budget` is 1m; write between \"1ms\" and \"28s\"",
    ),
    case(
        "a lease shorter than an attempt",
        "lease = \"45s\"",
        "lease = \"20s\"",
        "28:9: `lease` (20s) must be longer than the longest timeout (10s, of mailer) + settle_margin (5s) + clock_skew (5s), which is 20s; write lease = \"25s\" in [delivery], and first_due longer than that, or a timeout under 10s in [destination.mailer]; else an action could be attempted twice at once",
    ),
    case(
        "a timeout longer than the lease allows",
        "timeout = \"10s\"\nretry",
        "timeout = \"40s\"\nretry",
        "28:9: `lease` (45s) must be longer than the longest timeout (40s, of mailer) + settle_margin (5s) + clock_skew (5s), which is 50s; write lease = \"55s\" in [delivery], and first_due longer than that, or a timeout under 35s in [destination.mailer]; else an action could be attempted twice at once",
    ),
    case(
        "a lease shorter than margins alone",
        "lease = \"45s\"",
        "lease = \"5s\"",
        "28:9: `lease` (5s) must be longer than the longest timeout (10s, of mailer) + settle_margin (5s) + clock_skew (5s), which is 20s; write lease = \"25s\" in [delivery], and first_due longer than that; else an action could be attempted twice at once",
    ),
    case(
        "a sweep before the lease ends",
        "first_due = \"60s\"",
        "first_due = \"45s\"",
        "31:13: `first_due` (45s) must be longer than `lease` (45s): the sweep would take up what is claimed; write first_due = \"1m\" in [delivery]",
    ),
    case(
        "a function shorter than an attempt",
        "function_timeout = \"60s\"",
        "function_timeout = \"15s\"",
        "35:20: `function_timeout` (15s) must be longer than the longest timeout (10s, of mailer) + settle_margin (5s), which is 15s; write function_timeout = \"20s\" in [delivery] (and as the function's own timeout), or a timeout under 10s in [destination.mailer]; else an attempt would be stopped in the middle",
    ),
    case(
        "a stream's budget as long as its function",
        "stream_budget = \"5s\"",
        "stream_budget = \"60s\"",
        "34:17: `stream_budget` (1m) must be shorter than `function_timeout` (1m): the stream would wait until the function is stopped; write stream_budget = \"5s\" or so in [delivery]: the sweep takes the rest",
    ),
    case(
        "a timeout that fits neither lease nor function",
        "timeout = \"10s\"\nretry",
        "timeout = \"2m\"\nretry",
        "28:9: `lease` (45s) must be longer than the longest timeout (2m, of mailer) + settle_margin (5s) + clock_skew (5s), which is 2m 10s; write lease = \"2m 15s\" in [delivery], and first_due longer than that, or a timeout under 35s in [destination.mailer]; else an action could be attempted twice at once\n\
         35:20: `function_timeout` (1m) must be longer than the longest timeout (2m, of mailer) + settle_margin (5s), which is 2m 5s; write function_timeout = \"2m 10s\" in [delivery] (and as the function's own timeout), or a timeout under 55s in [destination.mailer]; else an attempt would be stopped in the middle",
    ),
];

#[test]
fn what_is_doubtful_in_the_delivery_settings_is_warned_of() {
    check(WARNINGS, warnings);
}

const WARNINGS: &[Case] = &[
    case(
        "a lease longer than any attempt can live",
        "lease = \"45s\"\nsettle_margin = \"5s\"\nclock_skew = \"5s\"\nfirst_due = \"60s\"",
        "lease = \"70s\"\nfirst_due = \"80s\"",
        "28:9: `lease` (1m 10s) is longer than function_timeout (1m) + clock_skew (5s): no attempt lives that long, so it only delays the next one after a crash; write a shorter lease",
    ),
    case(
        "the least that fits",
        "lease = \"45s\"",
        "lease = \"20001ms\"",
        "",
    ),
];
