//! The signed bytes as a template (`{timestamp}.{body}`) in, a sequence of parts out.

use std::time::Duration;

/// One part of the signed bytes. A new kind of part (the URL, a form field) is one more variant here, one
/// placeholder in [`parse`] and one arm in [`crate::signed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// These bytes, always.
    Literal(Vec<u8>),
    /// The timestamp, as the text that was sent.
    Timestamp,
    /// The value of this header.
    Header(String),
    /// The raw body.
    Body,
}

const KNOWN: &str = "known are {body}, {timestamp}, {id} and {header:NAME}";

/// Parses a template. `id` is the header that `{id}` stands for. The error says what to write instead.
pub(crate) fn parse(template: &str, id: Option<&str>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            literal.push_str(brace);
            rest = after;
            continue;
        }
        let Some((name, after)) = (brace == "{").then(|| rest.split_once('}')).flatten() else {
            return Err(format!(
                "a single `{brace}`: write `{brace}{brace}` for the character itself"
            ));
        };
        if !literal.is_empty() {
            parts.push(Part::Literal(std::mem::take(&mut literal).into_bytes()));
        }
        parts.push(placeholder(name, id)?);
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Part::Literal(literal.into_bytes()));
    }
    check(&parts)?;
    Ok(parts)
}

fn placeholder(name: &str, id: Option<&str>) -> Result<Part, String> {
    match name.split_once(':') {
        None if name == "body" => Ok(Part::Body),
        None if name == "timestamp" => Ok(Part::Timestamp),
        None if name == "id" => id.map(|header| Part::Header(header.to_owned())).ok_or_else(|| {
            "`{id}` stands for the header named first in `id`: name one, as id = [{ header = \"webhook-id\" }]".into()
        }),
        Some(("header", header)) if is_header_name(header) => Ok(Part::Header(header.to_owned())),
        Some(("header", header)) => Err(format!("`{header}` is not a header name")),
        _ => Err(format!("`{{{name}}}` is not a part of a message; {KNOWN}")),
    }
}

/// Two values of unknown length that touch could share their bytes differently, so that one signature would fit
/// two messages. A timestamp may touch a value on one of its sides, where the other side is held fast. Then only
/// its length could change, and a time without leading zeros that gains or loses a digit is at least nine tenths
/// of itself away from what it was: far outside of [`TOUCHING_TOLERANCE`]. With values on both sides its digits
/// could be taken from elsewhere: from an id that holds a time, or from a time further on in the body.
fn check(parts: &[Part]) -> Result<(), String> {
    let once = |part: &Part| parts.iter().filter(|other| *other == part).count() <= 1;
    if !parts.iter().any(|part| !matches!(part, Part::Literal(_))) {
        return Err(format!("signs nothing of the message; {KNOWN}"));
    }
    if let Some(part) = parts
        .iter()
        .find(|part| !matches!(part, Part::Literal(_)) && !once(part))
    {
        return Err(format!("{part:?} stands twice; each part may stand once"));
    }
    let loose = |part: &Part| matches!(part, Part::Header(_) | Part::Body);
    if parts.windows(2).any(|pair| pair.iter().all(loose)) {
        return Err(
            "two values of unknown length touch, so that one signature would fit two messages: \
             put the sender's separator between them"
                .into(),
        );
    }
    if let Some(at) = parts.iter().position(|part| *part == Part::Timestamp)
        && at
            .checked_sub(1)
            .is_some_and(|before| loose(&parts[before]))
        && parts[at + 1..].iter().any(loose)
    {
        return Err(
            "a value of unknown length touches the {timestamp} that follows it, with another value behind, so \
             that one signature would fit two messages: put the sender's separator before {timestamp}"
                .into(),
        );
    }
    Ok(())
}

/// Whether nothing but its digits tells where the timestamp begins or ends.
pub(crate) fn timestamp_touches(parts: &[Part]) -> bool {
    let open = |part: &Part| !matches!(part, Part::Literal(_));
    parts
        .windows(2)
        .any(|pair| pair.contains(&Part::Timestamp) && pair.iter().all(open))
}

/// The longest tolerance of a scheme whose timestamp touches a value: see `check`. A year would do as well.
pub(crate) const TOUCHING_TOLERANCE: Duration = Duration::from_secs(24 * 3600);

/// A header name as RFC 9110, section 5.6.2 (token) has it.
pub(crate) fn is_header_name(name: &str) -> bool {
    let extra = b"!#$%&'*+-.^_`|~";
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Part {
        Part::Literal(text.as_bytes().to_vec())
    }

    #[test]
    fn a_template_is_read_part_by_part() {
        assert_eq!(
            parse("v0:{timestamp}:{body}", None),
            Ok(vec![
                literal("v0:"),
                Part::Timestamp,
                literal(":"),
                Part::Body
            ])
        );
        assert_eq!(
            parse("{id}.{header:X-B}{{}}{body}\n", Some("X-A")),
            Ok(vec![
                Part::Header("X-A".into()),
                literal("."),
                Part::Header("X-B".into()),
                literal("{}"),
                Part::Body,
                literal("\n"),
            ])
        );
    }

    #[test]
    fn a_mistake_in_a_template_is_named() {
        for (template, word) in [
            ("{timestamp", "single `{`"),
            ("a}b{body}", "single `}`"),
            ("{url}{body}", "`{url}`"),
            ("{id}.{body}", "named first in `id`"),
            ("{header:a b}.{body}", "not a header name"),
            ("v0", "signs nothing"),
            ("", "signs nothing"),
            ("{body}.{body}", "twice"),
            ("{header:A}{body}", "touch"),
        ] {
            let error = parse(template, None).unwrap_err();
            assert!(error.contains(word), "{template}: {error}");
        }
    }

    #[test]
    fn a_timestamp_may_touch_a_value_on_one_side_where_the_other_is_held_fast() {
        for template in [
            "{timestamp}{body}",
            "v1:{timestamp}{body}",
            "{id}.{timestamp}{body}",
            "{body}{timestamp}",
            "{id}.{body}{timestamp}\n",
        ] {
            let parts = parse(template, Some("X-Id"));
            assert!(
                parts.as_deref().is_ok_and(timestamp_touches),
                "{template}: {parts:?}"
            );
        }
        let parts = parse("{id}.{timestamp}.{body}", Some("X-Id")).unwrap();
        assert!(!timestamp_touches(&parts));
    }

    #[test]
    fn a_value_before_a_timestamp_with_a_value_behind_is_refused() {
        for template in [
            "{id}{timestamp}{body}",
            "{id}{timestamp}.{body}",
            "v1:{header:X-B}{timestamp}:{body}",
            "{body}{timestamp}.{id}",
        ] {
            let error = parse(template, Some("X-Id")).unwrap_err();
            assert!(error.contains("before {timestamp}"), "{template}: {error}");
        }
    }
}
