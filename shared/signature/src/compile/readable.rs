//! What a scheme writes into headers, it must read there: separators, keys and prefixes as written in,
//! a mistake for each that would hide a right signature, or read one header as two things.

use super::Compiler;
use crate::algorithm::Algorithm;
use crate::encoding::Encoding;
use crate::spec::{SchemeSpec, SignatureSpec};
use crate::template::Part;

impl Compiler {
    pub(super) fn readable(&mut self, spec: &SchemeSpec, parts: &[Part]) {
        let stamp_key = spec
            .timestamp
            .as_ref()
            .and_then(|stamp| stamp.key.as_deref());
        for (n, signature) in spec.signature.iter().enumerate() {
            let field = |name: &str| format!("signature[{n}].{name}");
            for (name, text) in [
                ("separator", &signature.separator),
                ("key_separator", &signature.key_separator),
                ("key", &signature.key),
                ("prefix", &signature.prefix),
            ] {
                self.printable(field(name), text.as_deref().unwrap_or_default());
            }
            let between = signature.key_separator.as_deref().unwrap_or_default();
            self.key(field("key"), signature.key.as_deref(), between);
            if signature
                .prefix
                .as_ref()
                .is_some_and(|p| p.trim_start() != p)
            {
                self.wrong(field("prefix"), "begins with white space, which is not part of a header's value: leave that out");
            }
            self.separator(field("separator"), signature, spec, stamp_key);
        }
        if let Some(signature) = spec.signature.first() {
            let between = signature.key_separator.as_deref().unwrap_or_default();
            self.key("timestamp.key".into(), stamp_key, between);
        }
        self.printable("timestamp.key".into(), stamp_key.unwrap_or_default());
        self.headers_are_apart(spec, parts);
    }

    fn printable(&mut self, field: String, text: &str) {
        if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            self.wrong(
                field,
                "holds a character that is not printable ASCII, which no signature header may hold",
            );
        }
    }

    /// An item is split at the first `key_separator`, and what is in front of it is trimmed.
    fn key(&mut self, field: String, key: Option<&str>, between: &str) {
        let Some(key) = key.filter(|_| !between.is_empty()) else {
            return;
        };
        if key.trim() != key {
            self.wrong(
                field,
                "begins or ends with white space, which is not part of a key: leave that out",
            );
        } else if format!("{key}{between}").find(between) != Some(key.len()) {
            self.wrong(field, "runs into its `key_separator`, so that the item would be split elsewhere: use another");
        }
    }

    /// A header is split at every separator; one that could stand inside an item would split that.
    fn separator(
        &mut self,
        field: String,
        signature: &SignatureSpec,
        spec: &SchemeSpec,
        stamp_key: Option<&str>,
    ) {
        let Some(separator) = signature
            .separator
            .as_deref()
            .filter(|text| !text.is_empty())
        else {
            return;
        };
        let inside = |c: char| {
            let written = |text: Option<&str>| text.is_some_and(|text| text.contains(c));
            stamp_key.is_some() && (c.is_ascii_digit() || written(stamp_key))
                || spec
                    .signature
                    .iter()
                    .filter(|other| other.header.eq_ignore_ascii_case(&signature.header))
                    .any(|other| {
                        written(other.key.as_deref())
                            || written(other.key_separator.as_deref())
                            || written(other.prefix.as_deref())
                            || may_stand_in_a_signature(other, c)
                    })
        };
        // One character that stands in no item is enough: no item can then hold the whole.
        if separator.chars().all(inside) {
            self.wrong(field, "could stand inside an item (in its key, its key_separator, its prefix or the signature), and would split it: write one that holds another character");
        }
    }

    /// Two values in one header are none that could be signed or read.
    fn headers_are_apart(&mut self, spec: &SchemeSpec, parts: &[Part]) {
        let signatures: Vec<&str> = spec
            .signature
            .iter()
            .map(|signature| signature.header.as_str())
            .collect();
        let among = |header: &str, known: &[&str]| {
            known.iter().any(|known| known.eq_ignore_ascii_case(header))
        };
        for part in parts {
            if let Part::Header(header) = part
                && among(header, &signatures)
            {
                self.wrong(
                    "signed",
                    format!("covers `{header}`, which holds the signature itself"),
                );
            }
        }
        let mut taken = signatures;
        let stamp = spec
            .timestamp
            .as_ref()
            .and_then(|stamp| stamp.header.as_deref());
        let stamp = stamp.map(|header| ("timestamp.header".to_owned(), header));
        let ids = spec.id.iter().enumerate().filter_map(|(n, id)| {
            let header = id.header.as_deref()?;
            Some((format!("id[{n}].header"), header))
        });
        // Senders have one header for the event's type: the first that is named.
        let event = spec.event.iter().enumerate().find_map(|(n, event)| {
            let header = event.header.as_deref()?;
            Some((format!("event[{n}].header"), header))
        });
        for (field, header) in stamp.into_iter().chain(ids).chain(event) {
            if among(header, &taken) {
                self.wrong(
                    field,
                    format!(
                        "`{}` holds something else already: a header holds one value",
                        header.escape_debug()
                    ),
                );
            }
            taken.push(header);
        }
    }
}

/// Whether a signature of this kind, as it is written, may hold this character.
fn may_stand_in_a_signature(signature: &SignatureSpec, c: char) -> bool {
    if Algorithm::named(&signature.algorithm) == Some(Algorithm::Token) {
        // A token may be any text; where it holds the separator, signing says so.
        return false;
    }
    match signature.encoding.as_deref().and_then(Encoding::named) {
        Some(Encoding::Hex) => c.is_ascii_hexdigit(),
        Some(Encoding::Base64) => c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='),
        Some(Encoding::Base64Url) => c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '='),
        Some(Encoding::Text) | None => false,
    }
}
