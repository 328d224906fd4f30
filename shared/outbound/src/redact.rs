//! Texts that came back go in, the same texts without anything of ours that is secret come out.
//! Pieces of a secret count as the secret: an answer may quote the beginning of a token, or be cut
//! in the middle of one.

use std::collections::{BTreeMap, HashSet};

const MARK: &str = "[redacted]";

/// The first words of credentials (RFC 9110, section 11) that are no secret themselves.
const SCHEMES: [&str; 6] = ["basic", "bearer", "token", "digest", "apikey", "key"];

/// Knows the values that must not show, by every short run of characters in them.
///
/// A run is half a value, at least 4 and at most 8 characters; a value shorter than that counts
/// whole. Letters compare in either case. A value that is encoded anew (percent, base64) is not
/// recognised.
#[derive(Default)]
pub(crate) struct Redactor {
    runs: BTreeMap<usize, HashSet<Vec<u8>>>,
}

impl Redactor {
    /// Adds the value of a header.
    pub(crate) fn hide(&mut self, value: &str) {
        let value = printable(value).to_ascii_lowercase();
        let credentials = without_scheme(value.trim());
        self.hide_runs(credentials);
        credentials
            .split([' ', ','])
            .filter(|part| part.len() >= 4)
            .for_each(|part| self.hide_runs(part));
    }

    fn hide_runs(&mut self, secret: &str) {
        let length = (secret.len() / 2).clamp(4, 8).min(secret.len());
        if length > 0 {
            let runs = secret.as_bytes().windows(length).map(<[u8]>::to_vec);
            self.runs.entry(length).or_default().extend(runs);
        }
    }

    /// The text in one line, printable, with every stretch of hidden runs replaced by one mark.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let text = printable(text);
        let hidden = self.hidden(&text);
        let mut scrubbed = String::with_capacity(text.len());
        let mut inside = false;
        for (at, character) in text.char_indices() {
            let hide = hidden[at..at + character.len_utf8()].contains(&true);
            if !hide {
                scrubbed.push(character);
            } else if !inside {
                scrubbed.push_str(MARK);
            }
            inside = hide;
        }
        scrubbed.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// For every byte of the text, whether it belongs to a hidden run.
    fn hidden(&self, text: &str) -> Vec<bool> {
        // Keeps every position: only ASCII letters change.
        let text = text.to_ascii_lowercase();
        let mut hidden = vec![false; text.len()];
        for (length, runs) in &self.runs {
            for (at, run) in text.as_bytes().windows(*length).enumerate() {
                if runs.contains(run) {
                    hidden[at..at + length].fill(true);
                }
            }
        }
        hidden
    }
}

/// `Bearer abc` is secret from `abc` on.
fn without_scheme(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, rest)) if SCHEMES.contains(&scheme) => rest.trim_start(),
        _ => value,
    }
}

/// Control characters, and those that turn the direction of a line around, as spaces.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if is_control(c) { ' ' } else { c })
        .collect()
}

fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
