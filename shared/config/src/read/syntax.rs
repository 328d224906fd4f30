//! A text that is no valid TOML: the parser's words come in, a place and what to write go out. The
//! text of the file is not repeated: it may hold what was meant to be a secret.

use toml::de::Error;

use super::nearest::shown;
use super::report::Span;

/// One mistake of the syntax: its place, what is wrong, and what to write instead.
pub(crate) fn mistake(text: &str, error: &Error) -> (Span, String, String) {
    let span = error.span().unwrap_or(0..0);
    let message = error.message();
    if message.starts_with("duplicate key") {
        return twice(text, span);
    }
    let help = if message.starts_with("string values must be quoted") {
        "put the value in double quotes; times and sizes are texts too, as in \"10s\""
    } else if message.starts_with("unclosed") {
        "close it, before the next line begins"
    } else if message.starts_with("key with no value") {
        "write key = value"
    } else {
        ""
    };
    (span, format!("not valid TOML: {message}"), help.to_owned())
}

fn twice(text: &str, span: Span) -> (Span, String, String) {
    let name = shown(text.get(span.clone()).unwrap_or_default());
    let before = text.get(..span.start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let (what, help) = if line.trim_start().starts_with('[') {
        ("table", "rename one of the two, or put both together")
    } else {
        ("key", "remove one of the two")
    };
    (
        span,
        format!("the {what} {name} stands here a second time"),
        help.to_owned(),
    )
}

/// Whether more of the file than the value itself may be hidden behind the mistake.
pub(crate) fn hides(error: &Error) -> bool {
    let message = error.message();
    !message.starts_with("string values must be quoted") && !message.starts_with("duplicate key")
}
