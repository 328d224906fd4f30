//! A message, secrets and a time in; a proven message or a reason out. Every secret is tried, whichever fits.

use std::time::Duration;

use crate::algorithm::Algorithm;
use crate::message::Message;
use crate::read::{self, Reading};
use crate::refusal::Refusal;
use crate::scheme::Scheme;
use crate::secret::{self, Secret};
use crate::signed;
use crate::stamp;
use crate::verified::Verified;

impl Scheme {
    /// Verifies that a holder of one of the secrets sent this message, and when.
    ///
    /// `now_ms` is the time in milliseconds since 1970. `tolerance` replaces the scheme's own; it works in both
    /// directions, and a difference equal to it is accepted. It cannot be switched off: zero accepts only what
    /// was signed at this very moment. It has no effect where [`Facts::tolerance`](crate::Facts::tolerance) is `None`.
    ///
    /// The body is read once for each secret and kind of MAC, and never copied. No secret ends the work early.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] says why nothing is proven. It is about the message, not a fault of this side.
    pub fn verify<'a>(
        &self,
        message: &Message<'a>,
        secrets: &'a [Secret],
        now_ms: u64,
        tolerance: Option<Duration>,
    ) -> Result<Verified<'a>, Refusal> {
        let reading = read::read(self, message.headers)?;
        let signed = signed::collect(self, message, reading.stamp)?;
        if let (Some(stamp), Some(own)) = (reading.stamp, self.facts.tolerance) {
            stamp::is_fresh(stamp, now_ms, tolerance.unwrap_or(own))?;
        }
        let mut matched = None;
        let mut tried = Vec::new();
        for (index, secret) in secrets.iter().enumerate() {
            let (was_tried, fits) = try_secret(secret, &signed.parts, &reading);
            if was_tried {
                tried.push(secret.label());
            }
            if fits && matched.is_none() {
                matched = Some((index, secret.label()));
            }
        }
        match matched {
            Some(secret) => {
                let signed_at_ms = reading.stamp.map(|stamp| stamp.ms);
                Ok(Verified::new(
                    *message,
                    secret,
                    signed_at_ms,
                    signed.covered,
                ))
            }
            None => Err(self.unproven(&reading, &tried, secrets.len())),
        }
    }

    fn unproven(&self, reading: &Reading<'_>, tried: &[&str], secrets: usize) -> Refusal {
        let forms = self.forms_for(reading);
        if tried.is_empty() {
            let problem = if secrets == 0 {
                "the source has none".to_owned()
            } else {
                format!(
                    "header `{}` holds {}, and none of the {secrets} secrets is of that kind",
                    reading.header,
                    names(reading)
                )
            };
            return Refusal::NoUsableSecret {
                problem,
                expected: forms,
            };
        }
        let hint = if self.is_token() {
            "Compare the token set at the sender with the one set here".to_owned()
        } else {
            format!(
                "An altered body cannot be told from a wrong secret. Signed is `{}`. Check that the secret is the one \
                 of this endpoint and environment, in the form: {forms}; and that the body arrives byte for byte, not \
                 parsed and written anew",
                self.template.escape_debug()
            )
        };
        Refusal::NoSecretMatched {
            header: reading.header.clone(),
            tried: format!("`{}`", tried.join("`, `")),
            signatures: names(reading),
            hint,
        }
    }

    /// The forms of secrets that could have made these signatures, in words.
    fn forms_for(&self, reading: &Reading<'_>) -> String {
        let forms = self.forms.iter().filter(|form| {
            let mut signatures = reading.signatures.iter();
            signatures.any(|signature| form.kind.fits(signature.algorithm))
        });
        secret::describe_all(forms)
    }
}

/// Whether any signature is of a kind that this secret could have made, and whether it made one.
fn try_secret(secret: &Secret, parts: &[&[u8]], reading: &Reading<'_>) -> (bool, bool) {
    let (mut tried, mut fits) = (false, false);
    for algorithm in [
        Algorithm::HmacSha256,
        Algorithm::HmacSha1,
        Algorithm::Ed25519,
        Algorithm::Token,
    ] {
        let candidates: Vec<&[u8]> = reading
            .signatures
            .iter()
            .filter(|candidate| candidate.algorithm == algorithm)
            .map(|candidate| candidate.bytes.as_slice())
            .collect();
        if !candidates.is_empty() && secret.key().fits(algorithm) {
            tried = true;
            fits |= secret.key().matches(algorithm, parts, &candidates);
        }
    }
    (tried, fits)
}

/// How many signatures came, and of which versions: `2 signatures (v1, v1a)`.
fn names(reading: &Reading<'_>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for candidate in &reading.signatures {
        if !names.contains(&candidate.name.as_str()) {
            names.push(&candidate.name);
        }
    }
    let count = reading.signatures.len();
    format!(
        "{count} signature{} ({})",
        if count == 1 { "" } else { "s" },
        names.join(", ")
    )
}
