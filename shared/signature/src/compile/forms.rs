//! The forms of secrets as written in, checked against the signatures that need them.

use super::{Compiler, not_one_of, versions};
use crate::algorithm::Algorithm;
use crate::encoding::Encoding;
use crate::scheme::Place;
use crate::secret::{KeyKind, SecretForm};
use crate::spec::SecretSpec;

/// A shorter shared key is warned of where the scheme says nothing else.
const DEFAULT_MIN_BYTES: usize = 16;

impl Compiler {
    pub(super) fn forms(&mut self, specs: &[SecretSpec], places: &[Place]) -> Vec<SecretForm> {
        let default = [SecretSpec::default()];
        let specs = if specs.is_empty() { &default } else { specs };
        let forms: Vec<_> = specs
            .iter()
            .enumerate()
            .map(|(n, spec)| self.form(n, spec))
            .collect();
        let before_the_last = forms.split_last().map_or(&[][..], |(_, before)| before);
        if let Some(n) = before_the_last
            .iter()
            .position(SecretForm::takes_everything)
        {
            self.wrong(
                format!("secret[{n}]"),
                "takes every secret, so that those behind it are never tried: put it last",
            );
        }
        for (n, form) in forms.iter().enumerate() {
            if form.decode != Encoding::Text
                && versions(places).any(|version| version.algorithm == Algorithm::Token)
            {
                self.wrong(
                    format!("secret[{n}].decode"),
                    "a token is compared as the text it is: leave it out",
                );
            }
            if !places.is_empty()
                && !versions(places).any(|version| form.kind.fits(version.algorithm))
            {
                self.wrong(
                    format!("secret[{n}].key"),
                    "is of a kind that no [[signature]] uses",
                );
            }
        }
        if versions(places)
            .any(|version| !forms.iter().any(|form| form.kind.fits(version.algorithm)))
        {
            self.wrong("secret", "has no form for one of the signatures: ed25519 needs key = \"ed25519-public\", the others a shared key");
        }
        forms
    }

    fn form(&mut self, n: usize, spec: &SecretSpec) -> SecretForm {
        let field = |name: &str| format!("secret[{n}].{name}");
        let decode = spec.decode.as_deref().unwrap_or("text");
        let kind = spec.key.as_deref().unwrap_or("shared");
        if spec.prefix.is_none() && spec.prefix_optional {
            self.wrong(field("prefix_optional"), "there is no `prefix`");
        }
        if spec.prefix.as_deref() == Some("") {
            self.wrong(field("prefix"), "is empty: leave it out");
        }
        SecretForm {
            prefix: spec.prefix.clone(),
            prefix_optional: spec.prefix_optional,
            decode: Encoding::named(decode).unwrap_or_else(|| {
                self.wrong(field("decode"), not_one_of(decode, &Encoding::NAMES));
                Encoding::Text
            }),
            kind: KeyKind::named(kind).unwrap_or_else(|| {
                self.wrong(
                    field("key"),
                    not_one_of(kind, &["shared", "ed25519-public", "ed25519-private"]),
                );
                KeyKind::Shared
            }),
            min_bytes: spec.min_bytes.unwrap_or(DEFAULT_MIN_BYTES),
            max_bytes: spec.max_bytes,
        }
    }
}
