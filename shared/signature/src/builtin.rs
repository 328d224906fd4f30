//! The schemes that come with this crate: one data file per sender, compiled in as text, parsed when first asked for.

use std::sync::{Arc, OnceLock};

use crate::error::GrammarError;
use crate::scheme::Scheme;
use crate::spec::SchemeSpec;

struct Builtin {
    slug: &'static str,
    text: &'static str,
    scheme: OnceLock<Arc<Scheme>>,
}

macro_rules! builtins {
    ($($slug:literal),* $(,)?) => {
        [$(Builtin {
            slug: $slug,
            text: include_str!(concat!("../providers/", $slug, ".toml")),
            scheme: OnceLock::new(),
        }),*]
    };
}

/// In alphabetical order, which the search relies on.
static BUILTINS: [Builtin; 11] = builtins![
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
    "tornado-key",
];

impl Scheme {
    /// The built-in scheme of this name. Parsed once, when first asked for, and no other with it.
    pub fn builtin(slug: &str) -> Option<Arc<Scheme>> {
        let builtin = find(slug)?;
        let scheme = builtin.scheme.get_or_init(|| {
            // Every file is compiled by a test of this crate.
            Arc::new(parse(builtin.slug, builtin.text).expect("a built-in scheme compiles"))
        });
        Some(Arc::clone(scheme))
    }

    /// The names of every built-in scheme, in alphabetical order.
    pub fn builtin_slugs() -> impl Iterator<Item = &'static str> {
        BUILTINS.iter().map(|builtin| builtin.slug)
    }

    /// Parses and compiles a grammar from TOML text.
    ///
    /// # Errors
    ///
    /// Every mistake; text that is not TOML of this shape gives one, with the line in its message.
    pub fn from_toml(slug: &str, text: &str) -> Result<Scheme, Vec<GrammarError>> {
        parse(slug, text)
    }
}

fn find(slug: &str) -> Option<&'static Builtin> {
    let at = BUILTINS.binary_search_by(|builtin| builtin.slug.cmp(slug));
    BUILTINS.get(at.ok()?)
}

/// The grammar of a built-in scheme with what it takes from another, for a scheme that is like it.
pub(crate) fn spec(slug: &str) -> Option<SchemeSpec> {
    let scheme = Scheme::builtin(slug)?;
    Some(scheme.spec.clone())
}

fn parse(slug: &str, text: &str) -> Result<Scheme, Vec<GrammarError>> {
    let spec: SchemeSpec = toml::from_str(text).map_err(|error| {
        vec![GrammarError {
            field: slug.to_owned(),
            message: error.to_string(),
        }]
    })?;
    Scheme::compile(slug, spec)
}
