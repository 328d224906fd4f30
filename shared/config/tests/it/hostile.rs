//! Any text: never a panic, never a value that may be a secret, always places inside the file.

use ackbox_config::Config;
use proptest::prelude::*;

use crate::BASE;
use crate::example::EXAMPLE;

fn is_sane(text: &str) {
    if let Err(mistakes) = Config::parse("f", text) {
        assert!(!mistakes.0.is_empty(), "refused without a reason");
        let lines = text.matches('\n').count() + 1;
        for mistake in &mistakes.0 {
            assert!((1..=lines).contains(&mistake.line), "{mistake}");
            assert!(mistake.column >= 1, "{mistake}");
            assert!(
                !mistake.to_string().contains(char::is_control),
                "{mistake:?}"
            );
        }
    }
}

/// A key in quotes may hold any character, and keys stand in messages.
#[test]
fn a_name_that_steers_a_terminal_is_shown_escaped_wherever_it_stands() {
    let name = "a\\u001b[31m\\u202e\\u0007";
    for text in [
        "[source.\"NAME\"]\nx = 1\n",
        "[source.a\u{1b}[31m\u{202e}\u{7}]\nx = 1\n",
        "[destination.\"NAME\"]\nurl = 1\n",
        "[scheme.\"NAME\"]\nx = 1\n",
        "[scheme.a]\n\"NAME\" = 1\n",
        "[scheme.a]\nsigned = \"{NAME}\"\n",
        "[scheme.a]\nsigned = \"{body}\"\nredelivery = \"NAME\"\n",
        "\"NAME\" = 1\n",
        "[delivery]\n\"NAME\" = 1\nlease = \"NAME\"\n",
        "[source.a]\n\"NAME\" = 1\nscheme = \"NAME\"\nsecrets = [\"NAME\"]\nid = \"NAME\"\n",
        "[[source.a.rule]]\nname = \"NAME\"\non = [\"NAME\"]\nkey = [\"NAME\"]\nnamespace = \"NAME\"\ndestination = \"NAME\"\n",
        "[destination.a]\nurl = \"NAME\"\nheaders = { \"NAME\" = \"NAME\" }\nidempotency = { \"NAME\" = 1 }\n",
        "[destination.a]\nidempotency = { header = \"NAME\" }\nbackoff = { \"NAME\" = 1 }\n",
        "\"NAME\" = 1\n\"NAME\" = 2\n",
        "[source.a]\nscheme = \"sume\"\nsecrets = [\"env:A\"]\nsignature_header = \"NAME\"\ntimestamp_header = \"NAME\"\n",
        "[source.a]\nscheme = \"sume\"\nsecrets = [\"env:A\"]\n[source.a.job]\n\"NAME\" = 1\nspace = \"NAME\"\nids = \"NAME\"\non = [\"NAME\", \"*NAME\"]\naccount = \" \"\naccounts = { \"NAME\" = \"NAME\" }\nstatus = \"NAME\"\noutcomes = { \"NAME\" = \"NAME\" }\nprogress = [\"NAME\"]\nvalues = { \"NAME\" = \"NAME\" }\n",
        "[source.a]\nscheme = \"sume\"\nsecrets = [\"env:A\"]\n[source.a.job]\noutcomes = { \"NAME\" = \"a\" }\nprogress = [\"NAME\"]\n",
        "[source.a]\nscheme = \"sume\"\nsecrets = [\"env:A\"]\n[source.a.job.lookup]\n\"NAME\" = 1\nurl = \"https://a.example/{NAME}\"\nheaders = { \"NAME\" = \"NAME\" }\nanswers = [{ status = 1, \"NAME\" = 1, means = \"NAME\" }, { status = 200, outcome = \"NAME\" }]\n",
        "[scheme.a]\nlike = \"NAME\"\n[scheme.a.job]\noutcomes = { \"NAME\" = \"NAME\" }\nprogress = [\"NAME\"]\nstatus = [\"NAME\"]\nvalues = { \"NAME\" = [\"NAME\"] }\n[scheme.a.job.lookup]\nurl = \"NAME\"\nheaders = [\"NAME\"]\n",
    ] {
        let text = text.replace("NAME", name);
        is_sane(&text);
        let Err(mistakes) = Config::parse("f", &text) else {
            panic!("{text}");
        };
        assert!(!mistakes.to_string().contains('\u{202e}'), "{mistakes}");
    }
}

/// A text that could be a secret, and that no reference is.
fn secret() -> impl Strategy<Value = String> {
    "[A-Za-z0-9+/=_.-]{16,40}".prop_map(|text| format!("Zq{text}qZ"))
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        is_sane(&text);
    }

    #[test]
    fn any_text_of_the_words_of_the_file_is_read_or_refused(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "[", "]", "[[", "]]", "=", "\n", "\"", "'", "{", "}", ",", ".", "source", "rule", "scheme",
                "destination", "delivery", "a", "key", "secrets", "\"env:A\"", "\"10s\"", "10s", "5", "true",
                "name", "job", "lookup", "outcomes", "{job_id}", "like", "url", "idempotency", "\"none\"", "signature", "\"\"\"", "#", "\u{feff}", "ä", "\\",
            ]),
            0..60,
        ),
    ) {
        is_sane(&words.concat());
        is_sane(&words.join(" "));
    }

    #[test]
    fn the_example_with_anything_done_to_it_is_read_or_refused(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, ".{0,8}"), 1..6),
    ) {
        let mut chars: Vec<char> = EXAMPLE.chars().collect();
        for (at, length, put) in cuts {
            let from = at.index(chars.len() + 1);
            let to = (from + length).min(chars.len());
            chars.splice(from..to, put.chars());
        }
        is_sane(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn a_value_in_a_secrets_place_is_never_repeated(
        value in secret(),
        place in prop::sample::select(vec![
            "[\"env:REPORTS\"]", "\"env:REPORTS\"", "\"ssm:/ackbox/mailer\"", "[\"env:SIGNING\"]", "\"env:SIGNING\"",
            "{ Authorization = \"ssm:/ackbox/mailer\" }",
        ]),
        form in prop::sample::select(vec![
            "\"X\"", "X", "'X'", "\"X", "[X]", "[\"X\", 5]", "{ a = \"X\" }", "\"Bearer X\"", "\"env:X-\"", "\"\"\"X",
            "\"ssm:X\"", "\"file:\u{1}X\"", "\"https://u:X@h.example\"", "\"\\X\"", "\"a\" X",
        ]),
    ) {
        let text = BASE.replace(place, &form.replace('X', &value));
        match Config::parse("f", &text) {
            Err(mistakes) => prop_assert!(!mistakes.to_string().contains(&value), "{}", mistakes),
            Ok(_) => prop_assert!(false, "{}", text),
        }
    }
}
