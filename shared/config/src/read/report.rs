//! Collects what is wrong: spans and words come in, mistakes with lines and columns go out, in the
//! order of the file. Nothing is dropped, and nothing stops at the first.

use std::cell::RefCell;
use std::ops::Range;

use super::syntax::Found;
use crate::mistake::{Mistake, Mistakes};

/// A range of bytes of the file.
pub(crate) type Span = Range<usize>;

/// A mistake has been reported; there is no value to go on with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

/// A value, or the token that says that the reason for its absence is on the report.
pub(crate) type Read<T> = Result<T, Reported>;

/// Everything that is found in one file.
pub(crate) struct Report<'t> {
    file: &'t str,
    text: &'t str,
    /// The file is no valid TOML: what seems to be absent may stand in a part that could not be read.
    is_broken: bool,
    mistakes: RefCell<Vec<Mistake>>,
    warnings: RefCell<Vec<Mistake>>,
}

impl<'t> Report<'t> {
    pub(crate) fn new(file: &'t str, text: &'t str, is_broken: bool) -> Self {
        Self {
            file,
            text,
            is_broken,
            mistakes: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// Something is wrong at a place.
    pub(crate) fn mistake(
        &self,
        span: &Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        let mistake = self.at(span, message.into(), help.into());
        self.mistakes.borrow_mut().push(mistake);
        Reported
    }

    /// Something that must be there is not. Not said of a file that could only be read in part.
    pub(crate) fn absent(
        &self,
        span: &Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        if !self.is_broken {
            self.mistake(span, message, help);
        }
        Reported
    }

    /// Something is allowed, and probably not meant.
    pub(crate) fn warn(&self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        let warning = self.at(span, message.into(), help.into());
        self.warnings.borrow_mut().push(warning);
    }

    /// The part of a place that reads so; the whole place where no part does (it is written with escapes).
    pub(crate) fn inside(&self, span: &Span, part: &str) -> Span {
        let written = self.text.get(span.clone()).unwrap_or_default();
        match written.find(part) {
            Some(at) => span.start + at..span.start + at + part.len(),
            None => span.clone(),
        }
    }

    fn at(&self, span: &Span, message: String, help: String) -> Mistake {
        let (line, column) = place(self.text, span.start);
        Mistake {
            file: self.file.to_owned(),
            line,
            column,
            message: visible(message),
            help: visible(help),
        }
    }

    /// Adds the mistakes of the syntax. What else was found on their lines is only their echo, and so is
    /// everything behind one that hides the rest.
    pub(crate) fn add_syntax(&self, found: Vec<Found>) {
        let mut mistakes = self.mistakes.borrow_mut();
        for Found {
            span,
            message,
            help,
            hides_the_rest,
        } in found
        {
            let syntax = self.at(&span, message, help);
            mistakes.retain(|other| {
                let is_behind = hides_the_rest && other.line > syntax.line;
                other.line != syntax.line && !is_behind
            });
            mistakes.push(syntax);
        }
    }

    /// The warnings, or every mistake.
    pub(crate) fn finish(self) -> Result<Vec<Mistake>, Mistakes> {
        let in_order = |found: RefCell<Vec<Mistake>>| {
            let mut found = found.into_inner();
            found.sort_by_key(|mistake| (mistake.line, mistake.column));
            found
        };
        let mistakes = in_order(self.mistakes);
        if mistakes.is_empty() {
            Ok(in_order(self.warnings))
        } else {
            Err(Mistakes(mistakes))
        }
    }
}

/// The same text with whatever would steer a terminal or hide from a reader escaped: names of the file
/// stand in messages, and a key in quotes may hold any character.
fn visible(text: String) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(hides) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Line and column, both from 1, of a byte; the column counts characters.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let at = text.floor_char_boundary(at);
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(start..).unwrap_or_default();
    (
        line,
        column.trim_start_matches('\u{feff}').chars().count() + 1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a\nä = 1\n";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, 2), (2, 1));
        assert_eq!(place(text, 3), (2, 1));
        assert_eq!(place(text, 4), (2, 2));
        assert_eq!(place(text, 99), (3, 1));
    }
}
