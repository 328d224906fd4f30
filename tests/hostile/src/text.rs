//! The form of a seed: some first lines that say how, then header lines, an empty line, and the body.
//! Any bytes have a reading, so that no input of the fuzzer is wasted.

use ackbox_signature::Headers;

/// An input, taken apart.
#[derive(Debug)]
pub(crate) struct Text<'i, const N: usize> {
    /// The first lines; empty where the input has fewer.
    pub(crate) first: [&'i [u8]; N],
    /// The header lines, in order.
    pub(crate) headers: Headers,
    /// Everything behind the empty line.
    pub(crate) body: &'i [u8],
}

/// Takes an input apart.
pub(crate) fn read<const N: usize>(input: &[u8]) -> Text<'_, N> {
    let mut rest = input;
    let first = [(); N].map(|()| line(&mut rest));
    let mut headers = Headers::new();
    loop {
        let text = line(&mut rest);
        if text.is_empty() {
            break;
        }
        let at = text.iter().position(|byte| *byte == b':');
        let (name, value) = text.split_at(at.unwrap_or(text.len()));
        let value = value.get(1..).unwrap_or_default();
        headers.push(String::from_utf8_lossy(name), value);
    }
    Text {
        first,
        headers,
        body: rest,
    }
}

/// Takes the next line off, without its end.
pub(crate) fn line<'i>(rest: &mut &'i [u8]) -> &'i [u8] {
    let (line, behind) = match rest.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (*rest, &[][..]),
    };
    *rest = behind;
    line
}

/// Writes a seed in this form.
pub(crate) fn write<'h>(
    first: &[&str],
    headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
    body: &[u8],
) -> Vec<u8> {
    let mut out = Vec::new();
    for line in first {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    for (name, value) in headers {
        out.extend_from_slice(name.as_bytes());
        out.push(b':');
        out.extend_from_slice(value);
        out.push(b'\n');
    }
    out.push(b'\n');
    out.extend_from_slice(body);
    out
}
