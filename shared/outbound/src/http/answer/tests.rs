use super::*;

const NOW: Timestamp = Timestamp::from_unix_ms(784_111_777_000); // Sun, 06 Nov 1994 08:49:37 GMT

fn wait(value: &str) -> Option<Duration> {
    let mut headers = HeaderMap::new();
    headers.insert(
        RETRY_AFTER,
        HeaderValue::from_bytes(value.as_bytes()).unwrap(),
    );
    retry_after(&headers, NOW)
}

#[test]
fn retry_after_is_seconds_or_a_date_in_any_of_its_forms() {
    let seconds = |s| Some(Duration::from_secs(s));
    for (value, expected) in [
        ("0", seconds(0)),
        ("120", seconds(120)),
        (" 120 ", seconds(120)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", seconds(60)),
        ("Sunday, 06-Nov-94 08:50:37 GMT", seconds(60)),
        ("Sun Nov  6 08:50:37 1994", seconds(60)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", seconds(0)),
        ("Sun, 06 Nov 1988 08:49:37 GMT", seconds(0)),
    ] {
        assert_eq!(wait(value), expected, "{value}");
    }
}

#[test]
fn a_wait_without_end_is_a_week() {
    for value in [
        "604801",
        "99999999999999999999999999",
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ] {
        assert_eq!(wait(value), Some(RETRY_AFTER_MAX), "{value}");
    }
}

#[test]
fn anything_else_says_no_time() {
    for value in [
        "",
        " ",
        "-1",
        "+5",
        "1.5",
        "5s",
        "5, 6",
        "soon",
        "1994-11-06T08:49:37Z",
        "\u{e9}",
    ] {
        assert_eq!(wait(value), None, "{value}");
    }
    assert_eq!(retry_after(&HeaderMap::new(), NOW), None);
}
