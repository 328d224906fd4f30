//! The signed bytes of one message, as slices of what came in: nothing is copied, nothing is re-encoded.

use crate::message::{Headers, Message};
use crate::read;
use crate::refusal::Refusal;
use crate::scheme::{Scheme, StampPlace, StampRule};
use crate::stamp::Stamp;
use crate::template::Part;
use crate::verified::MAX_COVERED;

/// The signed bytes, part by part, and the names of the headers that are among them.
pub(crate) struct Signed<'p, 'a> {
    pub(crate) parts: Vec<&'p [u8]>,
    pub(crate) covered: [Option<&'a str>; MAX_COVERED],
}

/// Collects the signed bytes, or says which header stands in the way.
pub(crate) fn collect<'p, 'a: 'p>(
    scheme: &'p Scheme,
    message: &Message<'a>,
    stamp: Option<Stamp<'a>>,
) -> Result<Signed<'p, 'a>, Refusal> {
    let mut parts: Vec<&'p [u8]> = Vec::with_capacity(scheme.parts.len());
    let mut covered = [None; MAX_COVERED];
    let mut names = 0..MAX_COVERED;
    for (n, part) in scheme.parts.iter().enumerate() {
        let header = match (part, &scheme.stamp) {
            (Part::Header(name), _) => Some(name),
            (
                Part::Timestamp,
                Some(StampRule {
                    place: StampPlace::Header(name),
                    ..
                }),
            ) => Some(name),
            _ => None,
        };
        let bytes: &'p [u8] = match (part, stamp) {
            (Part::Literal(bytes), _) => bytes,
            (Part::Body, _) => message.body,
            (Part::Timestamp, Some(stamp)) => stamp.text,
            // A scheme with this part and no rule for the timestamp does not compile.
            (Part::Timestamp, None) => &[],
            (Part::Header(name), _) => value(message.headers, name)?,
        };
        if let Some(Part::Literal(behind)) = scheme.parts.get(n + 1)
            && !matches!(part, Part::Literal(_))
        {
            keeps_apart(part, header, bytes, behind)?;
        }
        if let (Some(name), Some(slot)) = (header, header.and_then(|_| names.next())) {
            covered[slot] = message.headers.lines(name).next().map(|(name, _)| name);
        }
        parts.push(bytes);
    }
    Ok(Signed { parts, covered })
}

fn value<'a>(headers: &'a Headers, name: &str) -> Result<&'a [u8], Refusal> {
    let value = read::single(headers, name)?.ok_or_else(|| Refusal::MissingHeader {
        header: name.to_owned(),
        hint: "it is part of the signed bytes; did a proxy drop it?".into(),
    })?;
    read::plain(value).map_err(|problem| Refusal::MalformedHeader {
        header: name.to_owned(),
        problem,
        expected: "a value of printable ASCII characters".into(),
    })?;
    Ok(value)
}

/// A value that contains the separator behind it could give bytes to the next value: one signature, two messages.
fn keeps_apart(
    part: &Part,
    header: Option<&String>,
    bytes: &[u8],
    behind: &[u8],
) -> Result<(), Refusal> {
    let after = |at: usize| bytes.get(at).or_else(|| behind.get(at - bytes.len()));
    let clash = (0..bytes.len()).any(|start| {
        behind
            .iter()
            .enumerate()
            .all(|(n, byte)| after(start + n) == Some(byte))
    });
    if !clash {
        return Ok(());
    }
    let name = header
        .cloned()
        .unwrap_or_else(|| format!("{part:?}").to_lowercase());
    Err(Refusal::MalformedHeader {
        header: name,
        problem: format!(
            "contains {}, which separates it from what is signed behind it",
            read::shown(behind)
        ),
        expected: format!("a value without {}", read::shown(behind)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(value: &[u8], behind: &[u8]) -> bool {
        keeps_apart(&Part::Body, None, value, behind).is_ok()
    }

    #[test]
    fn a_value_may_not_contain_or_lean_into_its_separator() {
        assert!(apart(b"msg_1", b"."));
        assert!(apart(b"", b"."));
        assert!(!apart(b"msg.1", b"."));
        assert!(!apart(b"msg.", b"."));
        assert!(
            apart(b"a-", b"--x"),
            "`a-` and `--x` begin apart at one place only"
        );
        assert!(!apart(b"a-", b"--"));
        assert!(!apart(b"a--b", b"--"));
    }
}
