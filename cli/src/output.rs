//! What people and programs read: text goes out whole lines at a time, colours only to a terminal, and
//! control characters from outside never.

mod shell;
mod table;

pub use shell::quoted;
pub use table::Entry;

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use std::time::Duration;

use ackbox_domain::Timestamp;

use crate::edge;

/// Standard output, and whether it may be coloured.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    colours: bool,
}

/// Standard output could not be written to (a full disk, say). A reader that went away is no error.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub struct Unwritten(#[from] io::Error);

/// How a text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All is well.
    Good,
    /// Something wants attention.
    Warn,
    /// Something is wrong.
    Bad,
    /// Beside the point.
    Dim,
    /// A heading.
    Bold,
}

impl Terminal {
    /// Standard output as it is: coloured where it is a terminal and `NO_COLOR` is not set.
    pub fn detect() -> Self {
        Self {
            colours: may_colour(io::stdout().is_terminal()),
        }
    }

    /// Never coloured.
    pub const fn plain() -> Self {
        Self { colours: false }
    }

    /// Whether colours are used.
    pub const fn colours(&self) -> bool {
        self.colours
    }

    /// The text in a tone, where colours are used. The text itself is taken as it is.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        paint(self.colours, tone, text)
    }

    /// Writes the text and a line end.
    ///
    /// # Errors
    ///
    /// [`Unwritten`]; not where the reader has gone away.
    pub fn line(&self, text: impl AsRef<str>) -> Result<(), Unwritten> {
        let mut text = text.as_ref().to_owned();
        text.push('\n');
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(gone) if gone.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }
}

/// Tells an error and what it came from, on standard error.
pub fn error(error: &dyn Error) {
    let colours = may_colour(io::stderr().is_terminal());
    let mut text = paint(colours, Tone::Bad, "error:");
    let _ = write!(text, " {}", escaped_lines(&error.to_string()));
    let mut cause = error.source();
    while let Some(inner) = cause {
        let _ = write!(text, "\n  because: {}", escaped(&inner.to_string()));
        cause = inner.source();
    }
    note(&text);
}

/// Writes the text and a line end to standard error. Where that cannot be written, there is nobody to tell.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The text with every control character, and every character that turns the direction of writing,
/// escaped as in Rust source: what came from outside may not steer the terminal.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// As [`escaped`], with line ends kept.
pub fn escaped_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escaped).collect();
    lines.join("\n")
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}'
        )
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// How long ago that is, roughly: `3m 20s ago`.
pub fn age(time: Timestamp, now: Timestamp) -> String {
    if time >= now {
        return "now".to_owned();
    }
    format!("{} ago", roughly(now.since(time)))
}

/// How long until then, roughly: `in 20s`; `now` where it has passed.
pub fn until(time: Timestamp, now: Timestamp) -> String {
    if time <= now {
        return "now".to_owned();
    }
    format!("in {}", roughly(time.since(now)))
}

/// A span in its two largest units, seconds at least.
pub fn roughly(span: Duration) -> String {
    let whole = humantime::format_duration(Duration::from_secs(span.as_secs())).to_string();
    let units: Vec<&str> = whole.split(' ').take(2).collect();
    units.join(" ")
}

/// `NO_COLOR` as <https://no-color.org> has it: set and not empty.
fn may_colour(is_terminal: bool) -> bool {
    let dumb = edge::environment("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !dumb && edge::environment("NO_COLOR").is_none()
}

fn paint(colours: bool, tone: Tone, text: &str) -> String {
    if !colours {
        return text.to_owned();
    }
    let code = match tone {
        Tone::Good => "32",
        Tone::Warn => "33",
        Tone::Bad => "31",
        Tone::Dim => "2",
        Tone::Bold => "1",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_from_outside_are_shown_and_not_obeyed() {
        assert_eq!(escaped("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(escaped("a\r\nb\tc"), "a\\r\\nb\\tc");
        assert_eq!(escaped("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(escaped("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(escaped("grün 🦀"), "grün 🦀");
        assert_eq!(escaped_lines("a\nb\u{7}"), "a\nb\\u{7}");
    }

    #[test]
    fn spans_are_told_roughly() {
        let now = Timestamp::from_unix_ms(1_000_000_000);
        let ago = |s| age(now.minus(Duration::from_secs(s)), now);
        assert_eq!(ago(0), "now");
        assert_eq!(ago(200), "3m 20s ago");
        assert_eq!(ago(2 * 86_400 + 3 * 3600 + 5), "2days 3h ago");
        assert_eq!(
            until(now.plus(Duration::from_millis(20_900)), now),
            "in 20s"
        );
        assert_eq!(until(now, now), "now");
    }

    #[test]
    fn a_plain_terminal_has_no_colours() {
        assert_eq!(Terminal::plain().paint(Tone::Bad, "x"), "x");
        let coloured = Terminal { colours: true };
        assert_eq!(coloured.paint(Tone::Good, "x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
