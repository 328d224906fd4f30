//! A body and a secret in; the headers that this sender would send out. What is made here, `verify` accepts.

use crate::algorithm::Algorithm;
use crate::error::SignError;
use crate::facts::Locator;
use crate::message::{Headers, Message};
use crate::read::{self, MAX_ED25519, MAX_SIGNATURES};
use crate::refusal::Refusal;
use crate::scheme::{Place, Scheme, StampPlace, Version};
use crate::secret::Secret;
use crate::signed;
use crate::stamp::Stamp;

/// What is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct SignRequest<'a> {
    /// The request method.
    pub method: &'a str,
    /// The URL that the request goes to.
    pub url: &'a str,
    /// The body, byte for byte as it will be sent.
    pub body: &'a [u8],
    /// The time of signing, in milliseconds since 1970. Rounded down where the sender counts seconds.
    pub now_ms: u64,
    /// The delivery id, for senders that have one in a header. It may be empty where it is not signed.
    pub id: &'a str,
    /// The event's type, for senders that have it in a header.
    pub event: Option<&'a str>,
}

impl Scheme {
    /// The headers that this sender would send with this body, in the sender's spelling: id, timestamp, event type
    /// and signature, as far as it has them.
    ///
    /// # Errors
    ///
    /// [`SignError`] where the secret cannot sign, or where a value cannot stand in a header or would make the
    /// signed bytes ambiguous (an id with a `.` under Standard Webhooks).
    pub fn sign(
        &self,
        request: &SignRequest<'_>,
        secret: &Secret,
    ) -> Result<Vec<(String, String)>, SignError> {
        self.sign_all(request, std::slice::from_ref(secret))
    }

    /// As [`Scheme::sign`], with a signature of each of these secrets side by side in one header, so that a receiver
    /// with any of them accepts.
    ///
    /// # Errors
    ///
    /// As [`Scheme::sign`]; and where the sender's header holds one signature only, or more are asked for than a
    /// receiver reads.
    pub fn sign_all(
        &self,
        request: &SignRequest<'_>,
        secrets: &[Secret],
    ) -> Result<Vec<(String, String)>, SignError> {
        // The first header that the scheme names is the one that senders use.
        let place = &self.places[0];
        let versions = self.versions_for(place, secrets)?;
        let mut stamp = String::new();
        if let Some(rule) = &self.stamp {
            stamp = (request.now_ms / rule.ms_per_unit).to_string();
        }
        let mut headers = self.unsigned_headers(request, &stamp)?;
        let lines: Headers = headers.iter().map(|(name, value)| (name, value)).collect();
        let message = Message {
            method: request.method,
            url: request.url,
            headers: &lines,
            body: request.body,
        };
        let stamp_part = self.stamp.as_ref().map(|_| Stamp {
            text: stamp.as_bytes(),
            ms: request.now_ms,
        });
        let signed = signed::collect(self, &message, stamp_part).map_err(unsuitable)?;

        let mut items = self.stamp_item(place, &stamp);
        for (secret, version) in secrets.iter().zip(versions) {
            // A key that fits a version and is not a public one signs: `version_for` saw to that.
            let bytes = secret
                .key()
                .sign(version.algorithm, &signed.parts)
                .unwrap_or_default();
            items.push(version.write(place, &bytes));
        }
        let value = items.join(place.separator.as_deref().unwrap_or_default());
        // Only a token can be unsuitable, and nothing of it may be shown.
        suitable(&place.header, &value).map_err(|_| SignError::Value {
            header: place.header.clone(),
            problem: "the token cannot stand in a header: printable ASCII only, no white space at the ends".into(),
        })?;
        if self.is_token() && !self.reads_back(&value, secrets.len()) {
            return Err(SignError::Value {
                header: place.header.clone(),
                problem: "the token holds what separates items there".into(),
            });
        }
        headers.push((place.header.clone(), value));
        Ok(headers)
    }

    /// The version that each secret signs by; all of them together in one header.
    fn versions_for<'s>(
        &self,
        place: &'s Place,
        secrets: &[Secret],
    ) -> Result<Vec<&'s Version>, SignError> {
        if secrets.is_empty() {
            return Err(SignError::NoSecret);
        }
        let versions = secrets
            .iter()
            .map(|secret| self.version_for(place, secret))
            .collect::<Result<Vec<_>, _>>()?;
        let is_ed25519 = |version: &&&Version| version.algorithm == Algorithm::Ed25519;
        let most = match place.separator {
            _ if versions.iter().filter(is_ed25519).count() > MAX_ED25519 => MAX_ED25519,
            Some(_) => MAX_SIGNATURES,
            None => 1,
        };
        if secrets.len() > most {
            return Err(SignError::TooManySecrets {
                scheme: self.slug.clone(),
                secrets: secrets.len(),
                most,
            });
        }
        Ok(versions)
    }

    /// Whether a header's value gives as many tokens as were written into it. Signatures always do: a
    /// scheme whose separator could stand in one does not compile.
    fn reads_back(&self, value: &str, written: usize) -> bool {
        let headers: Headers = [(&self.places[0].header, value)].into_iter().collect();
        read::read(self, &headers).is_ok_and(|reading| reading.signatures.len() == written)
    }

    fn version_for<'s>(&self, place: &'s Place, secret: &Secret) -> Result<&'s Version, SignError> {
        let label = secret.label().to_owned();
        let version = place
            .versions
            .iter()
            .find(|version| secret.key().fits(version.algorithm));
        match version {
            None => Err(SignError::WrongKind {
                scheme: self.slug.clone(),
                label,
            }),
            Some(_) if secret.key().is_public() => Err(SignError::PublicKey { label }),
            Some(version) => Ok(version),
        }
    }

    /// Every header but the signature.
    fn unsigned_headers(
        &self,
        request: &SignRequest<'_>,
        stamp: &str,
    ) -> Result<Vec<(String, String)>, SignError> {
        let mut headers = Vec::new();
        for locator in &self.facts.id {
            match locator {
                Locator::Header { name, covered } if *covered || !request.id.is_empty() => {
                    headers.push((name.clone(), request.id.to_owned()));
                }
                _ => {}
            }
        }
        if let Some(StampPlace::Header(name)) = self.stamp.as_ref().map(|rule| &rule.place) {
            headers.push((name.clone(), stamp.to_owned()));
        }
        let event = self.facts.event.iter().find_map(|locator| match locator {
            Locator::Header { name, .. } => Some(name),
            Locator::Body { .. } => None,
        });
        if let (Some(name), Some(event)) = (event, request.event) {
            headers.push((name.clone(), event.to_owned()));
        }
        headers
            .iter()
            .try_for_each(|(name, value)| suitable(name, value))?;
        Ok(headers)
    }

    fn stamp_item(&self, place: &Place, stamp: &str) -> Vec<String> {
        match self.stamp.as_ref().map(|rule| &rule.place) {
            Some(StampPlace::Item(key)) => {
                vec![format!(
                    "{key}{}{stamp}",
                    place.key_separator.as_deref().unwrap_or_default()
                )]
            }
            _ => Vec::new(),
        }
    }
}

impl Version {
    /// The item that holds this signature.
    fn write(&self, place: &Place, signature: &[u8]) -> String {
        let key = self.key.as_deref().unwrap_or_default();
        let between = place.key_separator.as_deref().unwrap_or_default();
        let prefix = self.prefix.as_deref().unwrap_or_default();
        format!("{key}{between}{prefix}{}", self.encoding.encode(signature))
    }
}

/// A value that comes through any HTTP stack as it was: printable ASCII, no white space at the ends.
fn suitable(header: &str, value: &str) -> Result<(), SignError> {
    let problem = match read::plain(value.as_bytes()) {
        Err(problem) => problem,
        Ok(()) if value.trim() != value => "begins or ends with white space".into(),
        Ok(()) => return Ok(()),
    };
    Err(SignError::Value {
        header: header.to_owned(),
        problem,
    })
}

fn unsuitable(refusal: Refusal) -> SignError {
    let (header, problem) = match refusal {
        Refusal::MalformedHeader {
            header, problem, ..
        } => (header, problem),
        Refusal::MissingHeader { header, .. } => (
            header,
            "is signed, and a request to sign has no value for it".into(),
        ),
        Refusal::DuplicateHeader { header, .. } => (header, "has two values".into()),
        other => ("?".into(), other.code().into()),
    };
    SignError::Value { header, problem }
}
