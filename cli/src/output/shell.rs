//! Text of whatever origin becomes what a person may copy into a shell.

/// A text as one word of a POSIX shell.
pub fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&b));
    if is_plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_whatever_is_in_it() {
        assert_eq!(
            quoted("http://127.0.0.1:9911/hooks/a"),
            "http://127.0.0.1:9911/hooks/a"
        );
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $x"), "'it'\\''s $x'");
        assert_eq!(quoted(""), "''");
    }
}
