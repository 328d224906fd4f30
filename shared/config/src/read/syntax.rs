//! A text that is no valid TOML: the parser's words come in, a place and what to write go out. The
//! text of the file is not repeated: it may hold what was meant to be a secret.

use toml::de::Error;

use super::nearest::shown;
use super::report::{Span, place};

/// One mistake of the syntax.
pub(crate) struct Found {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: String,
    /// Everything behind it was misread.
    pub(crate) hides_the_rest: bool,
}

impl Found {
    fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: help.into(),
            hides_the_rest: false,
        }
    }
}

/// The mistakes of the syntax, in the order of the file, at most one for each line.
///
/// Behind a list that is not closed the parser takes everything for its elements: only where that
/// begins is said.
pub(crate) fn mistakes(text: &str, errors: &[Error]) -> Vec<Found> {
    let mut errors: Vec<&Error> = errors.iter().collect();
    errors.sort_by_key(|error| start(error));
    let is_list = |error: &Error| {
        let message = error.message();
        message.contains("array") || message.contains("inline table") || message.contains("comma")
    };
    let is_open = errors.iter().any(|error| {
        let message = error.message();
        message.starts_with("unclosed array") || message.starts_with("unclosed inline table")
    });
    let mut found = Vec::new();
    let mut last_line = 0;
    for error in errors {
        if is_open && is_list(error) {
            found.push(open_list(text, start(error)));
            break;
        }
        let (line, _) = place(text, start(error));
        if line != last_line {
            found.push(mistake(text, error));
        }
        last_line = line;
    }
    found
}

fn start(error: &Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

fn open_list(text: &str, at: usize) -> Found {
    let before = text.get(..at).unwrap_or(text).trim_end();
    let end = before.char_indices().next_back().map_or(0, |(at, _)| at);
    let message = "not valid TOML: a list or table is not closed here, or a comma is missing";
    Found {
        hides_the_rest: true,
        ..Found::new(end..end, message, "close it with ] or }")
    }
}

fn mistake(text: &str, error: &Error) -> Found {
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
    Found::new(span, format!("not valid TOML: {message}"), help)
}

fn twice(text: &str, span: Span) -> Found {
    let name = shown(text.get(span.clone()).unwrap_or_default());
    let before = text.get(..span.start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let (what, help) = if line.trim_start().starts_with('[') {
        ("table", "rename one of the two, or put both together")
    } else {
        ("key", "remove one of the two")
    };
    Found::new(
        span,
        format!("the {what} {name} stands here a second time"),
        help,
    )
}

/// Whether more of the file than the value itself may be hidden behind the mistake.
pub(crate) fn hides(error: &Error) -> bool {
    let message = error.message();
    !message.starts_with("string values must be quoted") && !message.starts_with("duplicate key")
}
