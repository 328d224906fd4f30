//! What the receiver answered becomes words and an exit code. What it says is escaped: it may be anybody.

use std::process::ExitCode;

use bytes::Bytes;
use http::Response;

use crate::commands::CommandError;
use crate::output::{self, Terminal, Tone, escaped};

/// Tells the answer; the exit code is 0 for a 2xx, else 1.
pub(super) fn tell(
    response: &Response<Bytes>,
    terminal: &Terminal,
) -> Result<ExitCode, CommandError> {
    let status = response.status();
    let outcome = response.headers().get("ackbox-outcome");
    let outcome = outcome.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let (tone, code) = if status.is_success() {
        (Tone::Good, ExitCode::SUCCESS)
    } else {
        (Tone::Bad, ExitCode::FAILURE)
    };
    let word = outcome.as_deref().map(escaped).unwrap_or_default();
    let verdict = terminal.paint(tone, format!("{} {word}", status.as_u16()).trim_end());
    terminal.line(format!("{verdict}: {}", in_words(outcome.as_deref())))?;
    if outcome.is_none() && !response.body().is_empty() {
        let body = String::from_utf8_lossy(response.body());
        let start: String = body.chars().take(500).collect();
        output::note(&escaped(&start));
    }
    Ok(code)
}

/// What the receiver's word means.
fn in_words(outcome: Option<&str>) -> &'static str {
    match outcome {
        Some("accepted") => "committed; what it makes will be delivered",
        Some("duplicate") => "known already; nothing was written",
        Some("ignored") => {
            "no rule and no job wants this event, or it is the sender's test event; nothing was written"
        }
        Some("progress") => "the job goes on; nothing was written",
        Some("parked") => {
            "the job is not bound yet; its end is kept until it is (`ackbox list --state parked`)"
        }
        Some("unbound") => {
            "the job is not bound, and the source refuses its end until it is; a sender would send again later"
        }
        Some("conflict") => {
            "other content is known under the same key, or it does not agree with its job; this is on the record, and the original stands (`ackbox list --state conflict`)"
        }
        Some("refused") => {
            "the signature was not accepted; does the receiver run with the same configuration and secrets, and the same clock?"
        }
        Some("malformed") => {
            "a value that is needed (by a rule, to know a job, or for the fact's time) is missing or cannot be used; the receiver's log says which, and so does `ackbox verify`"
        }
        Some("too-old") => {
            "the fact is older than the source's `max_age`; nothing was written, and a repetition would be refused too"
        }
        Some("unknown-source") => "the receiver's configuration names no such source",
        Some("method") => "the receiver takes only POST",
        Some("too-large") => {
            "the body is over the source's `max_body`, or over what one item holds"
        }
        Some("unavailable") => {
            "the table or a secret was not available in time; a sender would send again later"
        }
        Some("error") => "a defect of the receiver; its log says more",
        Some(_) => "a word that this version does not know; is the receiver newer?",
        None => "no `ackbox-outcome` in the answer; is that an ackbox receiver?",
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn what_can_be_missing_is_a_value_of_a_rule_of_a_job_or_the_facts_time() {
        let words = in_words(Some("malformed"));
        for part in ["by a rule", "to know a job", "the fact's time"] {
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn every_word_of_the_receiver_is_known_here() {
        let receiver = include_str!("../../../../functions/receiver/src/response.rs");
        let word = receiver.split("const fn word(").nth(1).unwrap();
        let word = word.split("const fn").next().unwrap();
        let words: Vec<&str> = word.split('"').skip(1).step_by(2).collect();
        assert!(words.contains(&"parked"), "{words:?}");
        let unknown = in_words(Some("a word of tomorrow"));
        for word in words {
            assert_ne!(in_words(Some(word)), unknown, "{word}");
        }
    }
}
