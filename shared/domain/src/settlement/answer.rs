//! Judges what a destination answered when it was asked: an answer as far as it came, and the rules of
//! the configuration, come in; its word goes out. What must never happen: that a rule speaks because an
//! earlier one could not be looked at. An answer that was cut off, or that cannot be read, says nothing
//! where its body could have said something else.

use std::fmt;

use super::Word;
use crate::json::{NotAScalar, Pointer, Scalar, find};

/// An answer to a question, as far as it came.
#[derive(Clone, Copy)]
pub struct Answer<'a> {
    /// Its status.
    pub status: u16,
    /// Its body, or the beginning of it.
    pub body: &'a [u8],
    /// Whether that is all of the body.
    pub is_whole: bool,
}

/// One line of `answers`: what an answer of this form means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRule<W = Word> {
    /// The status.
    pub status: u16,
    /// Values of the answer's JSON body, all of which must be so; numbers are compared as written.
    pub conditions: Vec<(Pointer, String)>,
    /// What it means.
    pub means: W,
}

/// Why the body of an answer cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// It did not come to its end.
    CutOff,
    /// It is no JSON, or a value in question can be read in two ways.
    Unreadable,
}

/// Continues "it said 200, but ..".
impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::CutOff => "the answer was cut off",
            Self::Unreadable => "the answer cannot be read as JSON",
        })
    }
}

/// What an answer means: the first rule that fits counts, and where none does it is still unknown.
///
/// It is still unknown too, and the flaw says why, where a rule that was to be looked at goes by the
/// body, and the body is flawed: the rules behind it are for answers that surely do not fit it.
pub fn meaning(rules: &[AnswerRule], answer: &Answer<'_>) -> Result<Word, Flaw> {
    let means = fitting(rules, answer)?;
    Ok(means.copied().unwrap_or(Word::StillUnknown))
}

/// What the first rule that fits an answer says, whatever such rules are about; `None` where none fits.
///
/// # Errors
/// As [`meaning`]: the body is flawed where a rule goes by it.
pub fn fitting<'r, W>(
    rules: &'r [AnswerRule<W>],
    answer: &Answer<'_>,
) -> Result<Option<&'r W>, Flaw> {
    for rule in rules.iter().filter(|rule| rule.status == answer.status) {
        if rule.fits(answer)? {
            return Ok(Some(&rule.means));
        }
    }
    Ok(None)
}

impl<W> AnswerRule<W> {
    /// Whether an answer of this status fits.
    fn fits(&self, answer: &Answer<'_>) -> Result<bool, Flaw> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        if !answer.is_whole {
            return Err(Flaw::CutOff);
        }
        let mut fits = true;
        // All of them, also behind one that does not fit: which is written first makes no difference.
        for (pointer, wanted) in &self.conditions {
            let found = scalar_at(answer.body, pointer)?;
            fits &= found.is_some_and(|found| found.as_str() == wanted);
        }
        Ok(fits)
    }

    /// Whether this rule fits every answer that the other one fits: behind it, the other is never
    /// reached.
    pub fn covers(&self, other: &Self) -> bool {
        let is_asked_there = |condition| other.conditions.contains(condition);
        self.status == other.status && self.conditions.iter().all(is_asked_there)
    }
}

/// The value there, `None` where there is none to compare.
fn scalar_at(body: &[u8], pointer: &Pointer) -> Result<Option<Scalar>, Flaw> {
    let Some(raw) = find(body, pointer).map_err(|_| Flaw::Unreadable)? else {
        return Ok(None);
    };
    match Scalar::from_raw(raw) {
        Ok(scalar) => Ok(Some(scalar)),
        Err(NotAScalar::Null | NotAScalar::Container) => Ok(None),
        Err(NotAScalar::NotUnicode) => Err(Flaw::Unreadable),
    }
}

/// Shows how long the body is, and nothing of it.
impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("body_bytes", &self.body.len())
            .field("is_whole", &self.is_whole)
            .finish()
    }
}
