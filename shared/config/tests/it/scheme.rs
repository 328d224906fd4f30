//! `[scheme.NAME]`: a sender's own grammar.

use crate::{BASE, Case, case, check, check_edited, mistakes, warnings};

/// A grammar that is right.
const OWN: &str = "[scheme.own]\nsigned = \"{body}\"\nid = [{ body = \"/id\" }]\n[[scheme.own.signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n";

fn with_own(old: &str, new: &str) -> String {
    assert_eq!(OWN.matches(old).count(), 1, "{old:?}");
    let own = OWN.replace(old, new);
    format!(
        "{}{own}",
        BASE.replace("\"standard-webhooks\"", "\"own\"")
            .replace("tolerance = \"5m\"\n", "event = \"/type\"\n")
    )
}

#[test]
fn a_scheme_of_ones_own_is_used_like_a_built_in_one() {
    assert_eq!(warnings(&with_own("X-Sig", "X-Signature")), "");
}

#[test]
fn every_mistake_of_a_grammar_is_named_with_its_place() {
    check_edited(MISTAKES, with_own, mistakes);
}

const MISTAKES: &[Case] = &[
    case(
        "an unknown part",
        "signed = \"{body}\"",
        "signed = \"{boody}\"",
        "38:10: [scheme.own] `signed`: `{boody}` is not a part of a message; known are {body}, {timestamp}, {id} and {header:NAME}",
    ),
    case(
        "an unknown key",
        "encoding =",
        "encodng =",
        "43:1: [scheme.own]: no key \"encodng\"; did you mean `encoding`?",
    ),
    case(
        "a number for a text",
        "encoding = \"hex\"",
        "encoding = 5",
        "43:12: [scheme.own]: `encoding` cannot be a number; write a text",
    ),
    case(
        "an unknown encoding",
        "encoding = \"hex\"",
        "encoding = \"hax\"",
        "43:12: [scheme.own] `signature[0].encoding`: `hax` is unknown: write one of hex, base64, base64url",
    ),
    case(
        "a secret's value",
        "signed = \"{body}\"",
        "signed = \"{body}\"\nsecret = \"whsec_dontsay\"",
        "39:10: [scheme.own]: `secret` cannot be a text; write a list",
    ),
    case(
        "a redelivery that is a number",
        "signed = \"{body}\"",
        "signed = \"{body}\"\nredelivery = 5",
        "39:14: [scheme.own]: `redelivery` cannot be a number; write \"same-bytes\", or a list of JSON pointers",
    ),
    case(
        "several at once",
        "signed = \"{body}\"",
        "signed = \"{boody}\"\nred = 5\nsecret = \"dontsay, expected x\"\nevent = [5, { haeder = \"a\" }]",
        "38:10: [scheme.own] `signed`: `{boody}` is not a part of a message; known are {body}, {timestamp}, {id} and {header:NAME}\n\
         39:1: [scheme.own]: no key \"red\"; known here: `title`, `docs`, `like`, `signature`, `signed`, `timestamp`, `secret`, `id`, `event`, `subject`, `account`, `test_events`, `progress_events`, `redelivery`, `repeats`, `form_field`, `each`, `acknowledge`, `job`\n\
         40:10: [scheme.own]: `secret` cannot be a text; write a list\n\
         41:10: [scheme.own]: `event` cannot be a number; write a table\n\
         41:15: [scheme.own]: no key \"haeder\"; did you mean `header`?",
    ),
    case(
        "a name that cannot be",
        "[scheme.own]",
        "[scheme.Own]\n[scheme.own]",
        "37:9: a scheme's name: \"Own\" is not a name: use 1 to 64 lower-case letters, digits and hyphens, starting with a letter or digit",
    ),
    case(
        "a scheme that is a text",
        "[scheme.own]",
        "[scheme]\nother = \"github\"\n[scheme.own]",
        "38:9: [scheme.other]: this cannot be a text; write a table",
    ),
];

#[test]
fn what_is_doubtful_in_a_grammar_is_warned_of() {
    check(WARNINGS, warnings);
}

const WARNINGS: &[Case] = &[
    case(
        "used by no source",
        "",
        "[scheme.own]\nsigned = \"{body}\"\n[[scheme.own.signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n",
        "37:9: [scheme.own] is used by no source; remove it, or name it in a source's `scheme`",
    ),
    case(
        "hides a built-in one",
        "",
        "[scheme.github]\nsigned = \"{body}\"\n[[scheme.github.signature]]\nheader = \"X-Sig\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\n[source.gh]\nscheme = \"github\"\nsecrets = [\"env:A\"]\n[[source.gh.rule]]\nname = \"a\"\nkey = [\"/id\"]\ndestination = \"mailer\"\n",
        "37:9: [scheme.github] hides the built-in scheme of that name; choose another name if that is not meant",
    ),
];
