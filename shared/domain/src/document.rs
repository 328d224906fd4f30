//! A verified body made readable: in come the raw bytes and their content headers, out comes JSON
//! text to look values up in. The raw bytes stay what they are; decoding is for reading only.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

use ackbox_signature::{Headers, Verified};
use sha2::{Digest, Sha256};

use crate::acceptance::Hash;
use crate::json::{self, Pointer};
use crate::source::Source;

/// A verified message's body and what can be read of it.
#[derive(Debug)]
pub struct Document<'m> {
    headers: &'m Headers,
    raw: &'m [u8],
    text: Result<Cow<'m, [u8]>, Undecodable>,
    digest: Hash,
    content_type: Option<String>,
    content_encoding: Option<String>,
    found: Mutex<BTreeMap<Pointer, Result<Option<String>, Unread>>>,
}

/// Why a body cannot be read. It can still be accepted where no rule reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// A content encoding that is not read.
    #[error(
        "the body's Content-Encoding is {0:?}: only gzip is read; turn compression off at the sender"
    )]
    Encoding(String),
    /// Broken gzip.
    #[error("the body says Content-Encoding: gzip and is not")]
    Gzip,
    /// The decoded body is over the source's limit.
    #[error("the body expands to more than {0} bytes")]
    Expands(usize),
    /// A form body of a sender whose forms are not known to hold JSON.
    #[error("the body is form-encoded: choose the content type application/json at the sender")]
    Form,
    /// A body that says it is a form, and holds bytes that no form holds.
    #[error(
        "the body is sent as a form and is none: choose the content type application/json at the sender"
    )]
    NotAForm,
    /// A form body without the field that holds the JSON.
    #[error(
        "the form-encoded body has no single field {0:?}: choose the content type application/json at the sender"
    )]
    FormField(String),
    /// A form field with a broken escape.
    #[error("the form field {0:?} holds a broken % escape")]
    FormEscape(String),
}

impl<'m> Document<'m> {
    /// Reads a verified message. Takes a [`Verified`], so that nothing is parsed before the sender is proven.
    pub fn read(source: &Source, verified: &Verified<'m>) -> Self {
        let message = verified.message();
        Self::vouched(source, message.headers, message.body)
    }

    /// Reads a message of which the caller knows by other means who sent it: an answer to a question of our
    /// own, or what the application itself brings.
    pub fn vouched(source: &Source, headers: &'m Headers, body: &'m [u8]) -> Self {
        let content_type = text_header(headers, "content-type");
        let content_encoding = text_header(headers, "content-encoding")
            .filter(|encoding| !encoding.eq_ignore_ascii_case("identity"));
        let text = decode(body, content_encoding.as_deref(), source.max_body)
            .and_then(|text| unform(text, content_type.as_deref(), source));
        Self {
            headers,
            raw: body,
            text,
            digest: Sha256::digest(body).into(),
            content_type,
            content_encoding,
            found: Mutex::default(),
        }
    }

    /// The bytes as the sender sent them.
    pub fn raw(&self) -> &'m [u8] {
        self.raw
    }

    /// SHA-256 of the raw bytes.
    pub fn digest(&self) -> Hash {
        self.digest
    }

    /// The headers of the message.
    pub fn headers(&self) -> &'m Headers {
        self.headers
    }

    /// The content type, where it is text.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The content encoding, where there is one.
    pub fn content_encoding(&self) -> Option<&str> {
        self.content_encoding.as_deref()
    }

    /// The readable text of the body (decoded; of a form the JSON field).
    pub fn text(&self) -> Result<&[u8], &Undecodable> {
        self.text.as_deref()
    }

    /// The raw text of the value at `pointer`.
    pub fn find(&self, pointer: &Pointer) -> Result<Option<&str>, Unread> {
        let text = self.text().map_err(|e| Unread::Body(e.clone()))?;
        Ok(json::find(text, pointer)?)
    }

    /// The same, looked up once however often it is asked: for values of the whole body that every
    /// element of a batch wants, so that a batch costs no walk of the whole body per element.
    pub fn find_once(&self, pointer: &Pointer) -> Result<Option<String>, Unread> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.get(pointer) {
            return known.clone();
        }
        let value = self.find(pointer).map(|raw| raw.map(ToOwned::to_owned));
        found.insert(pointer.clone(), value.clone());
        value
    }
}

/// Why a value could not be looked up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// The body as a whole.
    #[error(transparent)]
    Body(Undecodable),
    /// The JSON on the way to the value.
    #[error("the body cannot be read as JSON on the way there: {0}")]
    Json(#[from] json::Unreadable),
}

fn text_header(headers: &Headers, name: &str) -> Option<String> {
    let value = std::str::from_utf8(headers.first(name)?).ok()?.trim();
    let plain =
        !value.is_empty() && value.len() <= 256 && value.bytes().all(|b| (0x20..0x7f).contains(&b));
    plain.then(|| value.to_owned())
}

fn decode<'m>(
    raw: &'m [u8],
    encoding: Option<&str>,
    max: usize,
) -> Result<Cow<'m, [u8]>, Undecodable> {
    match encoding {
        None => Ok(Cow::Borrowed(raw)),
        Some(gzip) if gzip.eq_ignore_ascii_case("gzip") || gzip.eq_ignore_ascii_case("x-gzip") => {
            let mut text = Vec::new();
            // One byte over the limit is read, to tell "at the limit" from "over it".
            flate2::read::MultiGzDecoder::new(raw)
                .take(max as u64 + 1)
                .read_to_end(&mut text)
                .map_err(|_| Undecodable::Gzip)?;
            if text.len() > max {
                return Err(Undecodable::Expands(max));
            }
            Ok(Cow::Owned(text))
        }
        Some(other) => Err(Undecodable::Encoding(other.to_owned())),
    }
}

fn unform<'m>(
    text: Cow<'m, [u8]>,
    content_type: Option<&str>,
    source: &Source,
) -> Result<Cow<'m, [u8]>, Undecodable> {
    let is_form = content_type.is_some_and(|t| {
        t.split(';').next().is_some_and(|t| {
            t.trim()
                .eq_ignore_ascii_case("application/x-www-form-urlencoded")
        })
    });
    if !is_form {
        return Ok(text);
    }
    // The content type is a header that hardly any signature covers. Were it to decide alone, a
    // signed JSON body could be replayed as a form, and say something else. The signed bytes decide
    // with it: a form holds only what a form may hold, which no JSON object or array does.
    if !text.iter().all(|byte| is_form_byte(*byte)) {
        return Err(Undecodable::NotAForm);
    }
    let field = source.form_field.as_deref().ok_or(Undecodable::Form)?;
    let mut values = text.split(|b| *b == b'&').filter_map(|pair| {
        let at = pair.iter().position(|b| *b == b'=')?;
        (unescape(&pair[..at]).as_deref() == Some(field.as_bytes())).then_some(&pair[at + 1..])
    });
    match (values.next(), values.next()) {
        (Some(value), None) => unescape(value)
            .map(Cow::Owned)
            .ok_or_else(|| Undecodable::FormEscape(field.to_owned())),
        _ => Err(Undecodable::FormField(field.to_owned())),
    }
}

/// What stands in `application/x-www-form-urlencoded` bodies (URL Standard, section 5.2), and what lax
/// encoders leave as it is. Never what JSON cannot do without: quotes, braces and brackets.
const fn is_form_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b'\\')
}

/// Decodes `application/x-www-form-urlencoded` text strictly: a broken escape is `None`, since a
/// lenient reading is a second reading.
fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let pair = [*bytes.next()?, *bytes.next()?];
                data_encoding::HEXLOWER_PERMISSIVE
                    .decode(&pair)
                    .ok()?
                    .first()
                    .copied()?
            }
            other => *other,
        });
    }
    Some(out)
}
