//! Templates and arbitrary values: whatever is filled in, the same host is asked about that value.

use proptest::prelude::*;

use super::*;

fn template(text: &str) -> Result<UrlTemplate, String> {
    Written::parse(text, Places::ACTION)?.placed()
}

fn url(text: &str, body: &str) -> Result<Url, Unaskable> {
    template(text).unwrap().url("act_1", body.as_bytes())
}

fn at(pointer: &str) -> Pointer {
    pointer.parse().unwrap()
}

#[test]
fn values_cannot_leave_their_place() {
    let body = r#"{"id":"../..//evil?a=b#c%00"}"#;
    let url = url("https://a.example/x/{/id}/y?k={key}", body).unwrap();
    assert_eq!(url.host_str(), Some("a.example"));
    assert_eq!(
        url.path(),
        "/x/%2E%2E%2F%2E%2E%2F%2Fevil%3Fa%3Db%23c%2500/y"
    );
    assert_eq!(url.query(), Some("k=act_1"));
}

#[test]
fn a_body_without_the_value_cannot_be_asked_about() {
    let text = "https://a.example/{/id}";
    for body in [
        "{}",
        r#"{"id":null}"#,
        r#"{"id":{}}"#,
        "no json",
        r#"{"id":1,"id":2}"#,
    ] {
        assert_eq!(
            url(text, body),
            Err(Unaskable::Missing(at("/id"))),
            "{body}"
        );
    }
    let url = url(text, r#"{"id":10000000000000000001}"#).unwrap();
    assert_eq!(url.path(), "/10000000000000000001");
}

#[test]
fn a_value_that_names_nothing_or_climbs_cannot_be_asked_about() {
    for text in [
        "https://a.example/jobs/{/id}",
        "https://a.example/jobs/{/id}/state",
        "https://a.example/jobs/{key}?id={/id}",
    ] {
        for value in ["", " ", "\t\r\n", "\u{a0}\u{2003}", ".", ".."] {
            let body = serde_json_text(value);
            assert_eq!(
                url(text, &body),
                Err(Unaskable::NamesNothing(at("/id"))),
                "{text} {value:?}"
            );
        }
    }
    // Dots that climb only together with what stands beside them.
    let beside = "https://a.example/jobs/%2E{/id}/state";
    assert_eq!(
        url(beside, r#"{"id":"."}"#),
        Err(Unaskable::NamesNothing(at("/id")))
    );
    let twice = template("https://a.example/jobs/{/a}{/b}").unwrap();
    let body = br#"{"a":"x","b":"..."}"#;
    assert!(twice.url("act_1", body).is_ok());
    assert!(url("https://a.example/v1.{/id}", r#"{"id":"..x"}"#).is_ok());
}

/// `41` behind a percent would be read as an A.
#[test]
fn a_value_is_not_the_rest_of_a_percent_code() {
    for half in [
        "https://a.example/%{/id}",
        "https://a.example/%2{/id}",
        "https://a.example/x?y=%{key}",
        "https://a.example/%25%a{/id}",
    ] {
        assert_eq!(template(half), Err(HALF_A_CODE.to_owned()), "{half}");
    }
    for whole in [
        "https://a.example/%25{/id}",
        "https://a.example/%41b{/id}",
        "https://a.example/%254{/id}",
        "https://a.example/{/id}%20",
        "https://a.example/a%20b4{/id}",
    ] {
        let url = url(whole, r#"{"id":"41"}"#).unwrap();
        assert!(url.as_str().contains("41"), "{url}");
    }
}

/// A body whose `/id` is this text.
fn serde_json_text(value: &str) -> String {
    let mut text = String::new();
    for unit in value.encode_utf16() {
        text += &format!("\\u{unit:04x}");
    }
    format!(r#"{{"id":"{text}"}}"#)
}

#[test]
fn a_template_names_the_action_and_nothing_of_who_is_asked() {
    for bad in [
        "https://a.example/x",
        "https://a.example/{key",
        "https://a.example/{id}",
        // What is left again is no place.
        "https://a.example/{key}/../x",
        "https://a.example/{key}/%2e%2E/x?{/a}",
        "https://a.example/{/a}/..",
    ] {
        assert!(template(bad).is_err(), "{bad}");
    }
    for chosen in [
        "{key}",
        "https://{key}.example/x",
        "https://a.example:{/port}/{key}",
        "https://{/user}@a.example/{key}",
        "https://a.example{/path}",
        // For a URL, more slashes, backslashes, tabs and line ends begin the host all the same.
        "https:///{/host}/jobs/{key}",
        "https:////{/a}/{key}",
        "https://\\/{/host}/{key}",
        "https:///\\{/host}/{key}",
        "https:///{/user}@a.example/{key}",
        "https://\t/{/host}/{key}",
        "https://\n/\r/{/host}?{key}",
    ] {
        assert_eq!(template(chosen), Err(BEFORE_PATH.to_owned()), "{chosen}");
    }
    for unreadable in ["https:///?{key}", "https:///a.example:{/port}/{key}"] {
        assert!(template(unreadable).is_err(), "{unreadable}");
    }
    for good in [
        "https://a.example/{/a~1b}?key={key}",
        "https://a.example:8443/qz/qzz/{key}",
        "https://a.example?{key}",
        "HTTPS://A.example:443/a/../b c/{key}\"<{/a}",
    ] {
        assert!(template(good).is_ok(), "{good}");
    }
}

/// One template, and the places of `/id` in its path.
const TEMPLATES: [&str; 5] = [
    "https://a.example/jobs/{/id}",
    "https://a.example:8443/{/id}/state?key={key}",
    "https://a.example/a/{key}/b/{/id}/c?d=e",
    "https://a.example/{/id}//",
    "HTTP://A.Example:80/a/./b/%7e/{/id}/x",
];

fn segments(url: &Url) -> Vec<&str> {
    url.path_segments().unwrap().collect()
}

fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        rest = more;
        match (first, more) {
            (b'%', [high, low, more @ ..]) => {
                let code = [*high, *low];
                let code = std::str::from_utf8(&code).unwrap();
                bytes.push(u8::from_str_radix(code, 16).unwrap());
                rest = more;
            }
            _ => bytes.push(*first),
        }
    }
    bytes
}

fn values() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[./%\\\\ ?#@:a2eE]{0,6}", "\\PC{0,3}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_value_is_the_same_host_is_asked_about_that_value(
        value in values(),
        text in proptest::sample::select(TEMPLATES.to_vec()),
    ) {
        let template = template(text).unwrap();
        let example = template.url("act_1", br#"{"id":"k"}"#).unwrap();
        let names_nothing = value.trim().is_empty() || value == "." || value == "..";
        let url = match template.url("act_1", serde_json_text(&value).as_bytes()) {
            Ok(url) => url,
            Err(why) => {
                prop_assert!(names_nothing, "{}", why);
                return Ok(());
            }
        };
        prop_assert!(!names_nothing);
        prop_assert_eq!(&url[..url::Position::BeforePath], &example[..url::Position::BeforePath]);
        prop_assert_eq!(url.query(), example.query());
        prop_assert_eq!(url.fragment(), None);
        let (asked, fixed) = (segments(&url), segments(&example));
        prop_assert_eq!(asked.len(), fixed.len());
        for (asked, fixed) in asked.into_iter().zip(fixed) {
            if fixed == "k" {
                prop_assert_eq!(decoded(asked), value.as_bytes());
            } else {
                prop_assert_eq!(asked, fixed);
            }
        }
    }

    /// Whatever is written around the places: no two values ask two hosts.
    #[test]
    fn no_value_chooses_who_is_asked(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("/"), Just("\\"), Just("?"), Just("#"), Just("@"), Just(":"), Just(".."), Just("."),
                Just("%2e"), Just("\t"), Just("a"), Just("a.example"), Just("{key}"), Just("{/id}"), Just("8"),
            ],
            0..8,
        ),
        start in prop_oneof![Just("https://"), Just("https:/"), Just("https:"), Just("http:///")],
        one in values(),
        other in values(),
    ) {
        let text = start.to_owned() + &pieces.concat();
        let Ok(template) = template(&text) else { return Ok(()) };
        let url = |value: &str| template.url("act_1", serde_json_text(value).as_bytes()).ok();
        if let (Some(one), Some(other)) = (url(&one), url(&other)) {
            prop_assert_eq!(&one[..url::Position::BeforePath], &other[..url::Position::BeforePath]);
        }
    }
}

#[test]
fn a_job_is_named_by_its_id_and_by_nothing_else() {
    let job = |text: &str| Written::parse(text, Places::JOB)?.placed();
    let template = job("https://a.example/jobs/{job_id}/status").unwrap();
    let url = template.url("../x?y", b"").unwrap();
    assert_eq!(url.path(), "/jobs/%2E%2E%2Fx%3Fy/status");
    for id in [".", ".."] {
        assert_eq!(template.url(id, b""), Err(Unaskable::Elsewhere), "{id}");
    }
    for (text, said) in [
        ("https://a.example/jobs", "names no job: it has no {job_id}"),
        (
            "https://a.example/{key}",
            "has {key}; only {job_id} is known",
        ),
        (
            "https://a.example/{job_id}/{/id}",
            "has {/id}; only {job_id} is known",
        ),
        (
            "https://a.example/{job_id",
            "has a { without its }; write {job_id}",
        ),
    ] {
        assert_eq!(job(text).unwrap_err(), said);
    }
}
