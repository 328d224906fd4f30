//! The URL of a question: a URL with places in its path or query comes in, and for an action the URL
//! that asks about it goes out. What must never happen: that a value chooses who is asked, or leaves
//! its place and asks about something else.

use ackbox_domain::json::find;
use ackbox_domain::{Pointer, Scalar};
use url::{Position, Url};

/// A URL with places for the action's key (`{key}`) and for values of the body that was sent
/// (`{/pointer}`), or for a job's id (`{job_id}`), its own text as the URL standard writes it. Its query may hold a token, so it is
/// never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlTemplate(Vec<Piece>);

/// A template as it is written: its places stand behind the host for whoever reads it.
pub(crate) struct Written(Vec<Piece>);

/// Which places a template may have.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// What is asked about.
    what: &'static str,
    /// The place of what names it.
    name: &'static str,
    /// Whether values of a body may stand beside it, or instead of it.
    has_values: bool,
}

impl Places {
    /// Of a question about an action.
    pub(crate) const ACTION: Self = Self {
        what: "action",
        name: "key",
        has_values: true,
    };
    /// Of a question about a job.
    pub(crate) const JOB: Self = Self {
        what: "job",
        name: "job_id",
        has_values: false,
    };

    /// "write {key} or {/pointer}" and the like.
    fn known(self, between: &str) -> String {
        let values = if self.has_values {
            format!(" {between} {{/pointer}}")
        } else {
            String::new()
        };
        format!("{{{}}}{values}", self.name)
    }

    fn absent(self) -> String {
        let Self { what, name, .. } = self;
        if self.has_values {
            format!("names no {what}: it has neither {{{name}}} nor a {{/pointer}}")
        } else {
            format!("names no {what}: it has no {{{name}}}")
        }
    }
}

const BEFORE_PATH: &str = "has a place before its path; a value must not choose the host";

const HALF_A_CODE: &str =
    "has a % before a place; a value would be read as the rest of its code. Write a percent as %25";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// What is asked about: the action's key, the job's id.
    Name,
    Value(Pointer),
}

/// Why an action cannot be asked about. Shows neither the URL nor a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unaskable {
    /// The body that was sent does not have a value that the URL needs.
    #[error("the body that was sent has no one value at {0}")]
    Missing(Pointer),
    /// The value is empty or blank, or means a place in the path.
    #[error(
        "the value at {0} of the body that was sent is blank or a dot segment, and names nothing"
    )]
    NamesNothing(Pointer),
    /// With its places filled, the URL is read as another one than it is written.
    #[error("with its places filled, the URL asks about something else")]
    Elsewhere,
}

impl Written {
    /// Reads the places of a template; the error continues "the URL ..".
    pub(crate) fn parse(text: &str, places: Places) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (place, behind) = after
                .split_once('}')
                .ok_or_else(|| format!("has a {{ without its }}; write {}", places.known("or")))?;
            if ends_in_half_a_code(before) {
                return Err(HALF_A_CODE.to_owned());
            }
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(self::place(place, places)?);
            rest = behind;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        if pieces.len() == 1 {
            return Err(places.absent());
        }
        let (before, _) = text.split_once('{').unwrap_or_default();
        let host = before.split_once("://").map(|(_, rest)| rest);
        if host.is_some_and(|rest| rest.contains(['/', '?'])) {
            Ok(Self(pieces))
        } else {
            Err(BEFORE_PATH.to_owned())
        }
    }

    /// The URL with every place filled: for checks of its form.
    pub(crate) fn example(&self) -> String {
        let mark = self.mark();
        let pieces = self.0.iter();
        pieces
            .map(|piece| match piece {
                Piece::Text(text) => text,
                _ => &mark,
            })
            .map(String::as_str)
            .collect()
    }

    /// A text that stands nowhere in the template, that no URL writes otherwise, and of which no end is
    /// its beginning: in a URL that is filled with it, it stands where the places are and nowhere else.
    fn mark(&self) -> String {
        let stands_there = |mark: &String| {
            let own = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(mark));
            self.0.iter().any(own)
        };
        let mut mark = "qz".to_owned();
        while stands_there(&mark) {
            mark.push('z');
        }
        mark
    }

    /// The template, if every place stands behind the host also as a URL is read: for it, `///{/a}` has
    /// a host. The error continues "the URL ..".
    pub(crate) fn placed(self) -> Result<UrlTemplate, String> {
        let mark = self.mark();
        let url =
            Url::parse(&self.example()).map_err(|error| format!("cannot be read: {error}"))?;
        let behind = &url[Position::BeforePath..];
        let before = &url[..Position::BeforePath];
        if before.contains(&mark) {
            return Err(BEFORE_PATH.to_owned());
        }
        let texts: Vec<&str> = behind.split(&mark).collect();
        let (places, _): (Vec<Piece>, Vec<Piece>) = self
            .0
            .into_iter()
            .partition(|piece| !matches!(piece, Piece::Text(_)));
        if texts.len() != places.len() + 1 {
            return Err("has a place that its own path leaves again by ../".to_owned());
        }
        let mut texts = texts.into_iter();
        let first = before.to_owned() + texts.next().unwrap_or_default();
        let mut pieces = vec![Piece::Text(first)];
        for (place, text) in places.into_iter().zip(texts) {
            pieces.extend([place, Piece::Text(text.to_owned())]);
        }
        Ok(UrlTemplate(pieces))
    }
}

/// Whether what comes next could be read as a part of a percent code.
fn ends_in_half_a_code(text: &str) -> bool {
    let end = text.trim_end_matches(|c: char| c.is_ascii_hexdigit());
    end.ends_with('%') && text.len() - end.len() < 2
}

fn place(text: &str, places: Places) -> Result<Piece, String> {
    match text {
        name if name == places.name => Ok(Piece::Name),
        pointer if pointer.starts_with('/') && places.has_values => pointer
            .parse()
            .map(Piece::Value)
            .map_err(|why| format!("has {{{pointer}}}, which is no JSON pointer: {why}")),
        other => {
            let other = other.escape_debug().take(40).collect::<String>();
            let known = places.known("and");
            let are = if places.has_values { "are" } else { "is" };
            Err(format!("has {{{other}}}; only {known} {are} known"))
        }
    }
}

impl UrlTemplate {
    /// The URL that asks about an action (by its key and the body that was sent) or a job (by its id, and no
    /// body): the template's own, with each place filled by one value that is still that value when the URL
    /// is read.
    pub fn url(&self, name: &str, body: &[u8]) -> Result<Url, Unaskable> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(own) => text.push_str(own),
                Piece::Name => text.push_str(&encoded(name)),
                Piece::Value(pointer) => text.push_str(&encoded(&value(body, pointer)?)),
            }
        }
        let url = Url::parse(&text).map_err(|_| Unaskable::Elsewhere)?;
        // Written anew it would be another one: `/.{/a}` with a dot in it climbs up the path.
        if url.as_str() == text {
            Ok(url)
        } else {
            Err(Unaskable::Elsewhere)
        }
    }
}

fn value(body: &[u8], pointer: &Pointer) -> Result<String, Unaskable> {
    let raw = find(body, pointer).ok().flatten();
    let scalar = raw.and_then(|raw| Scalar::from_raw(raw).ok());
    let scalar = scalar.ok_or_else(|| Unaskable::Missing(pointer.clone()))?;
    match scalar.as_str() {
        // What a URL makes of dots it makes of their percent codes too.
        "." | ".." => Err(Unaskable::NamesNothing(pointer.clone())),
        blank if blank.trim().is_empty() => Err(Unaskable::NamesNothing(pointer.clone())),
        value => Ok(value.to_owned()),
    }
}

/// Percent-encoded but for the unreserved characters (RFC 3986, section 2.3), and the dot too.
fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests;
