//! A grammar as written in, a scheme or every mistake in it out. A scheme that cannot be secure does not compile.

mod facts;
mod forms;
mod job;
mod readable;

use std::time::Duration;

use crate::algorithm::Algorithm;
use crate::builtin;
use crate::encoding::Encoding;
use crate::error::GrammarError;
use crate::scheme::{Place, Scheme, StampPlace, StampRule, Version};
use crate::spec::{SchemeSpec, SignatureSpec, TimestampSpec};
use crate::template::{self, Part, TOUCHING_TOLERANCE, is_header_name};
use crate::verified::MAX_COVERED;

/// What most senders and the Standard Webhooks libraries allow.
const DEFAULT_TOLERANCE: Duration = Duration::from_secs(300);

impl Scheme {
    /// Compiles a grammar, of this crate or of a user's own.
    ///
    /// # Errors
    ///
    /// Every mistake, each with its field and what to write instead.
    pub fn compile(slug: &str, mut spec: SchemeSpec) -> Result<Scheme, Vec<GrammarError>> {
        let mut compiler = Compiler::default();
        compiler.like(&mut spec);
        let mut scheme = compiler.scheme(slug, &spec);
        scheme.spec = spec;
        if compiler.mistakes.is_empty() {
            Ok(scheme)
        } else {
            Err(compiler.mistakes)
        }
    }
}

#[derive(Default)]
struct Compiler {
    mistakes: Vec<GrammarError>,
}

impl Compiler {
    fn wrong(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.mistakes.push(GrammarError {
            field: field.into(),
            message: message.into(),
        });
    }

    /// What the spec does not say, as the built-in scheme that it names says it.
    fn like(&mut self, spec: &mut SchemeSpec) {
        let Some(slug) = spec.like.take() else {
            return;
        };
        match builtin::spec(&slug) {
            Some(base) => spec.fill_from(base),
            None => {
                let known: Vec<&str> = Scheme::builtin_slugs().collect();
                self.wrong("like", not_one_of(&slug, &known));
            }
        }
    }

    fn scheme(&mut self, slug: &str, spec: &SchemeSpec) -> Scheme {
        let places = self.places(&spec.signature);
        let is_token = self.is_token(&places, spec);
        let parts = if is_token {
            Vec::new()
        } else {
            self.parts(spec)
        };
        let stamp = spec
            .timestamp
            .as_ref()
            .map(|stamp| self.stamp(stamp, &places));
        self.stamp_is_signed(stamp.as_ref(), &parts, is_token);
        self.readable(spec, &parts);
        let covered = covered(&parts, stamp.as_ref().map(|(rule, _)| rule));
        if covered.len() > MAX_COVERED {
            self.wrong(
                "signed",
                format!("covers {} headers; at most {MAX_COVERED}", covered.len()),
            );
        }
        Scheme {
            slug: slug.to_owned(),
            facts: self.facts(
                slug,
                spec,
                &parts,
                &covered,
                stamp.as_ref().map(|(_, tolerance)| *tolerance),
            ),
            forms: self.forms(&spec.secret, &places),
            places,
            template: spec.signed.clone().unwrap_or_default(),
            parts,
            stamp: stamp.map(|(rule, _)| rule),
            spec: SchemeSpec::default(),
        }
    }

    /// The signatures, grouped by the header that they stand in.
    fn places(&mut self, specs: &[SignatureSpec]) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        if specs.is_empty() {
            self.wrong(
                "signature",
                "is missing: name at least one [[signature]] with header, algorithm, encoding",
            );
        }
        for (n, spec) in specs.iter().enumerate() {
            let field = |name: &str| format!("signature[{n}].{name}");
            self.header(field("header"), &spec.header);
            for (name, text) in [
                ("separator", &spec.separator),
                ("key_separator", &spec.key_separator),
                ("key", &spec.key),
                ("prefix", &spec.prefix),
            ] {
                if text.as_deref() == Some("") {
                    self.wrong(field(name), "is empty: leave it out");
                }
            }
            match (&spec.key, &spec.key_separator) {
                (Some(_), None) => self.wrong(field("key_separator"), "is missing: a `key` needs what stands behind it, as \"=\""),
                (None, Some(_)) => self.wrong(field("key"), "is missing: with `key_separator` say which items hold the signature, as \"v1\""),
                _ => {}
            }
            let version = self.version(n, spec);
            match places
                .iter_mut()
                .find(|place| place.header.eq_ignore_ascii_case(&spec.header))
            {
                None => places.push(Place {
                    header: spec.header.clone(),
                    separator: spec.separator.clone(),
                    key_separator: spec.key_separator.clone(),
                    versions: vec![version],
                }),
                Some(place)
                    if place.separator != spec.separator
                        || place.key_separator != spec.key_separator =>
                {
                    self.wrong(field("separator"), "differs from another [[signature]] of this header: one header splits in one way");
                }
                Some(place)
                    if version.key.is_none()
                        || place.versions.iter().any(|other| other.key == version.key) =>
                {
                    self.wrong(
                        field("key"),
                        "several signatures in one header need a `key` each, and no two the same",
                    );
                }
                Some(place) => place.versions.push(version),
            }
        }
        places
    }

    fn version(&mut self, n: usize, spec: &SignatureSpec) -> Version {
        let algorithm = Algorithm::named(&spec.algorithm).unwrap_or_else(|| {
            self.wrong(
                format!("signature[{n}].algorithm"),
                not_one_of(&spec.algorithm, &Algorithm::NAMES),
            );
            Algorithm::HmacSha256
        });
        let field = format!("signature[{n}].encoding");
        let encoding = match (algorithm, spec.encoding.as_deref()) {
            (Algorithm::Token, None) => Encoding::Text,
            (Algorithm::Token, Some(_)) => {
                self.wrong(field, "a token has none: leave it out");
                Encoding::Text
            }
            (_, given) => match given.and_then(Encoding::named) {
                Some(encoding) if encoding != Encoding::Text => encoding,
                _ => {
                    self.wrong(
                        field,
                        not_one_of(given.unwrap_or_default(), &Encoding::NAMES[1..]),
                    );
                    Encoding::Hex
                }
            },
        };
        Version {
            key: spec.key.clone(),
            prefix: spec.prefix.clone(),
            algorithm,
            encoding,
        }
    }

    fn is_token(&mut self, places: &[Place], spec: &SchemeSpec) -> bool {
        let tokens = versions(places)
            .filter(|version| version.algorithm == Algorithm::Token)
            .count();
        if tokens == 0 {
            return false;
        }
        if tokens < versions(places).count() {
            self.wrong("signature", "a token and a signature in one scheme: a message would be as weak as the token; make two schemes");
        }
        if spec.signed.is_some() {
            self.wrong("signed", "a token signs nothing: leave it out");
        }
        true
    }

    fn parts(&mut self, spec: &SchemeSpec) -> Vec<Part> {
        let Some(signed) = &spec.signed else {
            self.wrong(
                "signed",
                "is missing: write the signed bytes, as \"{timestamp}.{body}\" or \"{body}\"",
            );
            return Vec::new();
        };
        let id = spec
            .id
            .first()
            .and_then(|locator| locator.header.as_deref());
        template::parse(signed, id).unwrap_or_else(|message| {
            self.wrong("signed", message);
            Vec::new()
        })
    }

    fn stamp(&mut self, spec: &TimestampSpec, places: &[Place]) -> (StampRule, Duration) {
        let place = match (&spec.header, &spec.key) {
            (Some(header), None) => {
                self.header("timestamp.header".into(), header);
                StampPlace::Header(header.clone())
            }
            (None, Some(key)) => {
                self.stamp_item(key, places);
                StampPlace::Item(key.clone())
            }
            _ => {
                self.wrong("timestamp", "needs exactly one of `header` (a header of its own) and `key` (an item of the signature header)");
                StampPlace::Item(String::new())
            }
        };
        let ms_per_unit = match spec.unit.as_deref() {
            None | Some("seconds") => 1_000,
            Some("milliseconds") => 1,
            Some(other) => {
                self.wrong(
                    "timestamp.unit",
                    not_one_of(other, &["seconds", "milliseconds"]),
                );
                1_000
            }
        };
        let tolerance = match &spec.tolerance {
            None => DEFAULT_TOLERANCE,
            Some(text) => self.duration("timestamp.tolerance", text),
        };
        if tolerance.is_zero() {
            self.wrong("timestamp.tolerance", "is zero, which would refuse every message: write how far clocks and queues may be off, as \"5m\"");
        }
        (StampRule { place, ms_per_unit }, tolerance)
    }

    fn stamp_item(&mut self, key: &str, places: &[Place]) {
        let [place] = places else {
            if places.len() > 1 {
                self.wrong(
                    "timestamp.key",
                    "is an item of the signature header, and there are several: use `header`",
                );
            }
            return;
        };
        if place.separator.is_none() || place.key_separator.is_none() {
            self.wrong("timestamp.key", "is an item of the signature header: give the signature a `separator` and a `key_separator`");
        }
        if place
            .versions
            .iter()
            .any(|version| version.key.as_deref() == Some(key))
        {
            self.wrong("timestamp.key", format!("`{key}` is a signature's key"));
        }
    }

    fn stamp_is_signed(
        &mut self,
        stamp: Option<&(StampRule, Duration)>,
        parts: &[Part],
        is_token: bool,
    ) {
        let signed = parts.contains(&Part::Timestamp);
        if stamp.is_none() && signed {
            self.wrong("timestamp", "is missing: `signed` has {timestamp}; say where it stands, as [timestamp] header = \"X-Example-Timestamp\"");
        }
        if stamp.is_some() && !signed && (is_token || !parts.is_empty()) {
            self.wrong("timestamp", "is not part of `signed`: whoever repeats a message could change it, so it proves nothing; leave it out");
        }
        if stamp.is_some_and(|(_, tolerance)| *tolerance > TOUCHING_TOLERANCE)
            && template::timestamp_touches(parts)
        {
            self.wrong("timestamp.tolerance", "is too long for a {timestamp} that touches another value, where only its closeness to now tells how many digits it has: write at most \"1d\"");
        }
    }

    fn header(&mut self, field: String, name: &str) {
        if !is_header_name(name) {
            self.wrong(
                field,
                format!("`{}` is not a header name", name.escape_debug()),
            );
        }
    }

    fn duration(&mut self, field: &str, text: &str) -> Duration {
        humantime::parse_duration(text).unwrap_or_else(|_| {
            self.wrong(
                field,
                format!(
                    "`{}` is not a length of time: write one as \"300s\" or \"5m\"",
                    text.escape_debug()
                ),
            );
            DEFAULT_TOLERANCE
        })
    }
}

fn versions(places: &[Place]) -> impl Iterator<Item = &Version> {
    places.iter().flat_map(|place| &place.versions)
}

/// The headers whose values are part of the signed bytes.
fn covered(parts: &[Part], stamp: Option<&StampRule>) -> Vec<String> {
    parts
        .iter()
        .filter_map(|part| match (part, stamp) {
            (Part::Header(name), _) => Some(name.clone()),
            (
                Part::Timestamp,
                Some(StampRule {
                    place: StampPlace::Header(name),
                    ..
                }),
            ) => Some(name.clone()),
            _ => None,
        })
        .collect()
}

fn not_one_of(given: &str, known: &[&str]) -> String {
    let given = given.escape_debug();
    let known = known.join(", ");
    if given.to_string().is_empty() {
        format!("is missing: write one of {known}")
    } else {
        format!("`{given}` is unknown: write one of {known}")
    }
}
