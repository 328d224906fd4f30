//! A file of `Name: value` lines becomes headers. Values are bytes and are kept as they are; a line that
//! is none is refused with its number, and without its text, which may be a signature.

use ackbox_signature::Headers;

/// A line that is no header.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} {problem}")]
pub(super) struct WrongLine {
    /// Its number, from 1.
    pub(super) line: usize,
    /// What is wrong, and what to do.
    pub(super) problem: &'static str,
}

/// Reads the lines. Ends of `\r\n` and `\n` are alike, blank lines at the end are nothing, and so is a
/// byte order mark at the start.
pub(super) fn read(bytes: &[u8]) -> Result<Headers, WrongLine> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    let end = lines
        .iter()
        .rposition(|line| !line.trim_ascii().is_empty())
        .map_or(0, |last| last + 1);
    let mut headers = Headers::new();
    for (index, line) in lines[..end].iter().enumerate() {
        let (name, value) = header(line).map_err(|problem| WrongLine {
            line: index + 1,
            problem,
        })?;
        headers.push(name, value);
    }
    Ok(headers)
}

fn header(line: &[u8]) -> Result<(&str, &[u8]), &'static str> {
    if line.trim_ascii().is_empty() {
        return Err(
            "is blank, and others follow it: the body belongs into a file of its own, for --body",
        );
    }
    if line[0] == b' ' || line[0] == b'\t' {
        return Err("begins with white space: join it to the header before it");
    }
    if line.contains(&0) {
        return Err("holds a zero byte: save the file as plain text (UTF-8, not UTF-16)");
    }
    if line[0] == b':' {
        return Err("is a pseudo-header of HTTP/2: leave it out");
    }
    if is_first_line(line) {
        return Err("is the first line of a request or an answer, not a header: leave it out");
    }
    let colon = line
        .iter()
        .position(|byte| *byte == b':')
        .ok_or("has no colon: a header is written as `Name: value`")?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let name = std::str::from_utf8(name)
        .ok()
        .filter(|name| name.bytes().all(is_token))
        .ok_or("has a name that no header has: letters, digits and hyphens, then a colon, as in `Name: value`")?;
    Ok((name, value.trim_ascii()))
}

/// `POST /hooks/x HTTP/1.1`, or `HTTP/1.1 200 OK`.
fn is_first_line(line: &[u8]) -> bool {
    line.starts_with(b"HTTP/") || line.windows(6).any(|at| at == b" HTTP/")
}

/// A character of a header's name (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_both_kinds_and_blank_lines_at_the_end_are_read() {
        let headers = read(b"\xef\xbb\xbfA: 1\r\nb:2\nEmpty:\r\nC:  x: y \r\n\r\n\n").unwrap();
        let lines: Vec<(&str, &[u8])> = headers.iter().collect();
        let expected: Vec<(&str, &[u8])> =
            vec![("A", b"1"), ("b", b"2"), ("Empty", b""), ("C", b"x: y")];
        assert_eq!(lines, expected);
        assert_eq!(read(b"").unwrap().iter().count(), 0);
    }

    #[test]
    fn values_are_bytes() {
        let headers = read(b"A: \xff\xfe").unwrap();
        assert_eq!(headers.first("a"), Some(&b"\xff\xfe"[..]));
    }

    #[test]
    fn a_wrong_line_is_told_by_its_number() {
        let wrong: [(&[u8], usize, &str); 8] = [
            (b"A: 1\nno colon\n", 2, "colon"),
            (b"A: 1\n\nB: 2", 2, "blank"),
            (b"A: 1\n  folded\n", 2, "white space"),
            (b"POST /hooks/x HTTP/1.1\nA: 1", 1, "first line"),
            (b":method: POST", 1, "HTTP/2"),
            (b"A B: 1", 1, "name"),
            (b"\xff: 1", 1, "name"),
            (b"A\0:\0 1\0", 1, "zero byte"),
        ];
        for (text, line, word) in wrong {
            let error = read(text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.problem.contains(word), "{error}");
        }
    }
}
