//! The bytes that came in: header lines, method, URL, body. Nothing here is trusted, parsed or changed.

use std::fmt;

/// HTTP header lines in the order received.
///
/// Names compare case-insensitively (ASCII), values are bytes, duplicates are kept. White space around
/// a value is not part of it (RFC 9110, section 5.5); verification skips it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    /// No header lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one header line after those that are there. Nothing is replaced.
    pub fn push(&mut self, name: impl AsRef<str>, value: impl AsRef<[u8]>) {
        self.0
            .push((name.as_ref().to_owned(), value.as_ref().to_vec()));
    }

    /// The values of every line of this name, in the order received.
    pub fn get_all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.lines(name).map(|(_, value)| value)
    }

    /// The value of the first line of this name.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.lines(name).next().map(|(_, value)| value)
    }

    /// Every line, in the order received, with its name as it was sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// The lines of one name, each with the name as it was sent.
    pub(crate) fn lines<'a>(&'a self, name: &str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        self.0
            .iter()
            .filter(move |(have, _)| have.eq_ignore_ascii_case(name))
            .map(|(have, value)| (have.as_str(), value.as_slice()))
    }
}

/// Shows names and lengths only: values hold signatures and tokens.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(name, value)| (name, value.len())))
            .finish()
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(lines: I) -> Self {
        let mut headers = Self::new();
        for (name, value) in lines {
            headers.push(name, value);
        }
        headers
    }
}

/// One inbound HTTP request, as received.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// The request method, as sent: `POST`.
    pub method: &'a str,
    /// The full URL where it is known, else the path with its query.
    pub url: &'a str,
    /// Every header line.
    pub headers: &'a Headers,
    /// The body, byte for byte as the sender sent it: not re-encoded, not decompressed.
    pub body: &'a [u8],
}

/// Shows the body's length, not the body: messages end up in logs.
impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", self.headers)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}
