//! A compiled scheme: every rule checked, ready to verify and to sign, with no clock and no state.

use crate::algorithm::Algorithm;
use crate::encoding::Encoding;
use crate::error::{GrammarError, SecretFormError};
use crate::facts::Facts;
use crate::secret::{self, Secret, SecretForm};
use crate::spec::{SchemeSpec, TimestampSpec};
use crate::template::Part;

/// How one sender signs, compiled and checked. Made by [`Scheme::builtin`] or [`Scheme::compile`].
///
/// What holds for every scheme:
///
/// - The headers that a scheme reads (signature, timestamp, signed headers) may stand once; a repeated line is
///   refused, even an equal one.
/// - A header value has at most 4,096 bytes and 32 signatures of known versions (8 of them Ed25519, which costs a
///   pass over the body each). Items of unknown versions are skipped. Where a timestamp stands in the signature
///   header, it stands there once.
/// - Hexadecimal is read in either case; base64 with right padding or none.
/// - A signed value may not contain the separator that the template puts behind it, except the last.
#[derive(Clone, Debug)]
pub struct Scheme {
    pub(crate) slug: String,
    pub(crate) facts: Facts,
    pub(crate) places: Vec<Place>,
    pub(crate) template: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) stamp: Option<StampRule>,
    pub(crate) forms: Vec<SecretForm>,
    /// As it was written, to be compiled anew under other header names.
    pub(crate) spec: SchemeSpec,
}

/// One header in which signatures stand, and how its value splits.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) header: String,
    pub(crate) separator: Option<String>,
    pub(crate) key_separator: Option<String>,
    pub(crate) versions: Vec<Version>,
}

/// One kind of signature in a header.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) key: Option<String>,
    pub(crate) prefix: Option<String>,
    pub(crate) algorithm: Algorithm,
    pub(crate) encoding: Encoding,
}

/// Where the signed timestamp stands, and what it counts.
#[derive(Clone, Debug)]
pub(crate) struct StampRule {
    pub(crate) place: StampPlace,
    pub(crate) ms_per_unit: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum StampPlace {
    Header(String),
    Item(String),
}

impl Version {
    pub(crate) fn name(&self) -> String {
        let encoding = self.encoding.name();
        match (&self.key, self.algorithm) {
            (Some(key), _) => key.clone(),
            (None, Algorithm::Token) => "the token".into(),
            (None, _) => format!("a signature in {encoding}"),
        }
    }
}

impl Place {
    /// The form of the header's value, for messages: `t=<timestamp>,v1=<hex>`.
    pub(crate) fn expected(&self, stamp: Option<&StampRule>) -> String {
        let between = self.key_separator.as_deref().unwrap_or_default();
        let mut items = Vec::new();
        if let Some(StampRule {
            place: StampPlace::Item(key),
            ..
        }) = stamp
        {
            items.push(format!("{key}{between}<timestamp>"));
        }
        for version in &self.versions {
            let key = version
                .key
                .as_ref()
                .map(|key| format!("{key}{between}"))
                .unwrap_or_default();
            let prefix = version.prefix.as_deref().unwrap_or_default();
            let value = if version.algorithm == Algorithm::Token {
                "token"
            } else {
                version.encoding.name()
            };
            items.push(format!("{key}{prefix}<{value}>"));
        }
        let between = if self.separator.is_some() {
            self.separator.as_deref()
        } else {
            Some(" or ")
        };
        format!("`{}`", items.join(between.unwrap_or_default()))
    }
}

impl Scheme {
    /// The scheme's name.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// What is known of the sender besides its signature.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Reads a secret in one of the forms that this scheme knows. `label` is the reference under which messages
    /// name it; `text` is the secret as the sender shows it.
    ///
    /// A secret that can be used and is doubtful gives a [`Secret::warning`].
    ///
    /// # Errors
    ///
    /// [`SecretFormError`] where the text has none of the forms. It says which forms are known, and never shows
    /// the text.
    pub fn secret(&self, label: &str, text: &str) -> Result<Secret, SecretFormError> {
        secret::read(&self.forms, label, text).map_err(|problem| SecretFormError {
            label: label.to_owned(),
            scheme: self.slug.clone(),
            problem,
            expected: secret::describe_all(&self.forms),
        })
    }

    /// The same scheme for an endpoint whose settings name the headers: the signature's, the timestamp's.
    ///
    /// # Errors
    ///
    /// Every mistake; `signature_header` and `timestamp_header` are the fields: the scheme has no one such header,
    /// the name is none, or the header holds something else already.
    pub fn with_headers(
        &self,
        signature: Option<&str>,
        timestamp: Option<&str>,
    ) -> Result<Scheme, Vec<GrammarError>> {
        let wrong = |field: &str, message: &str| GrammarError {
            field: field.to_owned(),
            message: message.to_owned(),
        };
        let mut spec = self.spec.clone();
        let mut mistakes = Vec::new();
        if let Some(header) = signature {
            if self.places.len() != 1 {
                mistakes.push(wrong(
                    "signature_header",
                    "the scheme reads signatures from several headers",
                ));
            }
            for place in &mut spec.signature {
                header.clone_into(&mut place.header);
            }
        }
        match (timestamp, &mut spec.timestamp) {
            (
                Some(header),
                Some(TimestampSpec {
                    header: Some(own), ..
                }),
            ) => header.clone_into(own),
            (Some(_), _) => mistakes.push(wrong(
                "timestamp_header",
                "the scheme has no header of its own for the time",
            )),
            (None, _) => {}
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Scheme::compile(&self.slug, spec).map_err(|found| {
            let field = |error: GrammarError| match error.field.starts_with("timestamp") {
                true => wrong("timestamp_header", &error.message),
                false => wrong("signature_header", &error.message),
            };
            found.into_iter().map(field).collect()
        })
    }

    /// Whether nothing is signed: the secret itself is what comes.
    pub(crate) fn is_token(&self) -> bool {
        self.parts.is_empty()
    }
}
