//! Header lines in; the signatures and the timestamp that they hold out, or a reason. Any bytes may come.

use crate::algorithm::Algorithm;
use crate::message::Headers;
use crate::refusal::Refusal;
use crate::scheme::{Place, Scheme, StampPlace, StampRule, Version};
use crate::stamp::{self, Stamp};

/// No sender comes near; a longer value is refused before it is looked at.
pub(crate) const MAX_HEADER_BYTES: usize = 4_096;
/// Signatures of known versions in one message. Senders send one for each live secret.
pub(crate) const MAX_SIGNATURES: usize = 32;
/// Of these, Ed25519 signatures: each costs a pass over the body.
pub(crate) const MAX_ED25519: usize = 8;

/// What the headers hold, read and not yet believed.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) stamp: Option<Stamp<'a>>,
    pub(crate) signatures: Vec<Candidate>,
    /// The headers that the signatures came from, for messages.
    pub(crate) header: String,
}

/// A signature, decoded.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) algorithm: Algorithm,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The items of one header, sorted by what they are.
#[derive(Default)]
struct Sorted<'a> {
    stamps: Vec<&'a [u8]>,
    signatures: Vec<Candidate>,
    broken: Vec<String>,
    unknown: Vec<String>,
}

/// Reads the headers that the scheme names.
pub(crate) fn read<'a>(scheme: &Scheme, headers: &'a Headers) -> Result<Reading<'a>, Refusal> {
    let mut stamps = Vec::new();
    let mut signatures = Vec::new();
    let mut present = Vec::new();
    for place in &scheme.places {
        let Some(value) = single(headers, &place.header)? else {
            continue;
        };
        let sorted = sort(scheme, place, value)?;
        stamps.extend(sorted.stamps);
        signatures.extend(sorted.signatures);
        present.push(place.header.as_str());
    }
    if present.is_empty() {
        return Err(no_signature(scheme, headers));
    }
    let stamp = scheme
        .stamp
        .as_ref()
        .map(|rule| stamp::find(scheme, rule, headers, &stamps))
        .transpose()?;
    Ok(Reading {
        stamp,
        signatures,
        header: present.join("` and `"),
    })
}

/// The value of a header that may stand once, without the white space around it.
pub(crate) fn single<'a>(headers: &'a Headers, name: &str) -> Result<Option<&'a [u8]>, Refusal> {
    let mut lines = headers.get_all(name);
    let Some(value) = lines.next() else {
        return Ok(None);
    };
    match lines.count() {
        0 => Ok(Some(value.trim_ascii())),
        more => Err(Refusal::DuplicateHeader {
            header: name.to_owned(),
            lines: more + 1,
        }),
    }
}

/// Refuses what no sender sends: nothing, kilobytes, control characters and bytes outside of ASCII.
pub(crate) fn plain(value: &[u8]) -> Result<(), String> {
    if value.is_empty() {
        return Err("is empty".into());
    }
    if value.len() > MAX_HEADER_BYTES {
        return Err(format!(
            "has {} bytes, more than {MAX_HEADER_BYTES}",
            value.len()
        ));
    }
    match value.iter().position(|byte| !(b' '..=b'~').contains(byte)) {
        Some(at) => Err(format!(
            "holds byte 0x{:02x} at position {at}, which is not printable ASCII",
            value[at]
        )),
        None => Ok(()),
    }
}

/// Bytes from outside, cut and escaped for a message.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 32;
    let cut = &bytes[..bytes.len().min(MOST)];
    format!(
        "`{}`{}",
        cut.escape_ascii(),
        if bytes.len() > MOST { " (cut)" } else { "" }
    )
}

fn sort<'a>(scheme: &Scheme, place: &Place, value: &'a [u8]) -> Result<Sorted<'a>, Refusal> {
    let malformed = |problem: String| Refusal::MalformedHeader {
        header: place.header.clone(),
        problem,
        expected: place.expected(scheme.stamp.as_ref()),
    };
    // A token may be any text; everything else that stands in headers is ASCII.
    let checked = if scheme.is_token() && !value.is_ascii() && value.len() <= MAX_HEADER_BYTES {
        Ok(())
    } else {
        plain(value)
    };
    checked.map_err(malformed)?;

    let mut sorted = Sorted::default();
    for item in split(value, place.separator.as_deref()) {
        take(scheme, place, item.trim_ascii(), &mut sorted);
    }
    let ed25519 = sorted
        .signatures
        .iter()
        .filter(|found| found.algorithm == Algorithm::Ed25519)
        .count();
    if sorted.signatures.len() + sorted.broken.len() > MAX_SIGNATURES || ed25519 > MAX_ED25519 {
        return Err(malformed(format!(
            "holds more than {MAX_SIGNATURES} signatures, or more than {MAX_ED25519} by Ed25519"
        )));
    }
    if !sorted.signatures.is_empty() {
        return Ok(sorted);
    }
    if let Some(problem) = sorted.broken.first() {
        return Err(malformed(problem.clone()));
    }
    if sorted.unknown.is_empty() {
        return Err(malformed("holds no signature".into()));
    }
    let known: Vec<_> = place
        .versions
        .iter()
        .map(|version| format!("`{}`", version.name()))
        .collect();
    Err(Refusal::UnknownVersion {
        header: place.header.clone(),
        found: sorted.unknown.join(", "),
        known: known.join(", "),
    })
}

/// Puts one item where it belongs. What has no key, in a header whose items have keys, is skipped.
fn take<'a>(scheme: &Scheme, place: &Place, item: &'a [u8], sorted: &mut Sorted<'a>) {
    let Some(key_separator) = &place.key_separator else {
        let version = &place.versions[0];
        return sorted.signature(version, item);
    };
    let Some((key, value)) = split_once(item, key_separator.as_bytes()) else {
        return;
    };
    let (key, value) = (key.trim_ascii(), value.trim_ascii());
    let is_stamp = matches!(
        &scheme.stamp,
        Some(StampRule { place: StampPlace::Item(name), .. }) if name.as_bytes() == key
    );
    if is_stamp {
        sorted.stamps.push(value);
    } else if let Some(version) = place.versions.iter().find(|version| version.has_key(key)) {
        sorted.signature(version, value);
    } else if sorted.unknown.len() < 4 {
        sorted.unknown.push(version_name(key));
    }
}

impl Sorted<'_> {
    fn signature(&mut self, version: &Version, text: &[u8]) {
        match version.read(text) {
            Ok(bytes) => self.signatures.push(Candidate {
                algorithm: version.algorithm,
                name: version.name(),
                bytes,
            }),
            Err(problem) => self.broken.push(problem),
        }
    }
}

impl Version {
    fn has_key(&self, key: &[u8]) -> bool {
        self.key
            .as_ref()
            .is_some_and(|known| known.as_bytes() == key)
    }

    /// The bytes of a signature. The problem does not show the text, which may be somebody's valid signature.
    fn read(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let name = self.name();
        let text = match &self.prefix {
            None => text,
            Some(prefix) => text
                .strip_prefix(prefix.as_bytes())
                .ok_or_else(|| format!("does not begin with `{prefix}`"))?
                .trim_ascii(),
        };
        if text.is_empty() {
            return Err(format!("has nothing where {name} should stand"));
        }
        let bytes = self.encoding.decode(text).ok_or_else(|| {
            format!(
                "has a signature ({name}) that is not {}",
                self.encoding.name()
            )
        })?;
        match self.algorithm.signature_bytes() {
            Some(right) if right != bytes.len() => Err(format!(
                "has a signature ({name}) of {} bytes instead of {right}",
                bytes.len()
            )),
            _ => Ok(bytes),
        }
    }
}

/// The name of an unknown version. A long or odd one may be a signature that was split in the wrong place.
fn version_name(key: &[u8]) -> String {
    let looks_like_a_name =
        key.len() <= 12 && key.iter().all(u8::is_ascii_alphanumeric) && !key.is_empty();
    if looks_like_a_name {
        format!("`{}`", key.escape_ascii())
    } else {
        format!("a name of {} bytes", key.len())
    }
}

fn no_signature(scheme: &Scheme, headers: &Headers) -> Refusal {
    let names: Vec<_> = scheme
        .places
        .iter()
        .map(|place| place.header.as_str())
        .collect();
    let hint = if headers.iter().next().is_none() {
        "there are no headers at all".to_owned()
    } else {
        "is a secret set at the sender, does the request come from this sender, and did a proxy drop the header?".to_owned()
    };
    Refusal::MissingHeader {
        header: names.join("` or `"),
        hint,
    }
}

/// Splits at every separator, or not at all.
fn split<'a>(value: &'a [u8], separator: Option<&str>) -> Vec<&'a [u8]> {
    let Some(separator) = separator else {
        return vec![value];
    };
    let mut items = Vec::new();
    let mut rest = value;
    while let Some((item, after)) = split_once(rest, separator.as_bytes()) {
        items.push(item);
        rest = after;
    }
    items.push(rest);
    items
}

fn split_once<'a>(value: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = value
        .windows(separator.len())
        .position(|window| window == separator)?;
    Some((&value[..at], &value[at + separator.len()..]))
}
