//! A compiled scheme: ready to verify and to sign.

use std::sync::Arc;
use std::time::Duration;

use crate::error::{GrammarError, SecretFormError, SignError};
use crate::facts::{Acknowledge, Facts, Redelivery};
use crate::message::Message;
use crate::refusal::Refusal;
use crate::secret::Secret;
use crate::spec::SchemeSpec;
use crate::verified::Verified;

/// How one sender signs, compiled and checked.
#[derive(Clone, Debug)]
pub struct Scheme {
    slug: String,
    facts: Facts,
}

/// What is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct SignRequest<'a> {
    /// The request method.
    pub method: &'a str,
    /// The URL that the request goes to.
    pub url: &'a str,
    /// The body, byte for byte as it will be sent.
    pub body: &'a [u8],
    /// The secret to sign with.
    pub secret: &'a Secret,
    /// The time of signing, in milliseconds since 1970.
    pub now_ms: u64,
    /// The delivery id, for senders that have one in a header.
    pub id: &'a str,
    /// The event's type, for senders that have it in a header.
    pub event: Option<&'a str>,
}

impl Scheme {
    /// The built-in scheme of this name.
    pub fn builtin(slug: &str) -> Option<Arc<Scheme>> {
        Self::builtin_slugs()
            .find(|known| *known == slug)
            .and_then(|slug| Self::compile(slug, SchemeSpec::default()).ok())
            .map(Arc::new)
    }

    /// The names of every built-in scheme, in alphabetical order.
    pub fn builtin_slugs() -> impl Iterator<Item = &'static str> {
        [
            "github",
            "openrouter",
            "shopify",
            "slack",
            "standard-webhooks",
            "stripe",
            "sume",
            "svix",
            "token",
            "tornado",
        ]
        .into_iter()
    }

    /// Compiles a grammar, or gives every mistake in it.
    pub fn compile(slug: &str, _spec: SchemeSpec) -> Result<Scheme, Vec<GrammarError>> {
        Ok(Self {
            slug: slug.to_owned(),
            facts: Facts {
                title: slug.to_owned(),
                docs: vec![],
                id: vec![],
                event: vec![],
                subject: vec![],
                account: vec![],
                test_events: vec![],
                progress_events: vec![],
                covers_body: true,
                redelivery: Redelivery::SameBytes,
                form_field: None,
                acknowledge: Acknowledge::default(),
                tolerance: None,
                each: None,
            },
        })
    }

    /// The scheme's name.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// What is known of the sender besides its signature.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Reads a secret in one of the forms that this scheme knows.
    pub fn secret(&self, label: &str, text: &str) -> Result<Secret, SecretFormError> {
        Ok(Secret::text(label, text))
    }

    /// Verifies a message.
    pub fn verify<'a>(
        &self,
        message: &Message<'a>,
        secrets: &'a [Secret],
        now_ms: u64,
        tolerance: Option<Duration>,
    ) -> Result<Verified<'a>, Refusal> {
        let _ = (Verified::new, message, secrets, now_ms, tolerance);
        Err(Refusal::NoUsableSecret {
            problem: String::new(),
            expected: String::new(),
        })
    }

    /// The headers that this sender would send for this request.
    pub fn sign(&self, request: &SignRequest<'_>) -> Result<Vec<(String, String)>, SignError> {
        let _ = request;
        Err(SignError::NoSecret)
    }

    /// As [`Scheme::sign`], with several secrets side by side in one header.
    pub fn sign_all(
        &self,
        request: &SignRequest<'_>,
        secrets: &[Secret],
    ) -> Result<Vec<(String, String)>, SignError> {
        let _ = (request, secrets);
        Err(SignError::NoSecret)
    }
}
