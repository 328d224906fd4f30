//! Text from outside comes in; the same text goes out, such that no log and no terminal is steered by it.

/// A character as it is, or escaped where it would steer a terminal or hide from a reader: controls,
/// and the marks that turn the direction of text.
pub fn visible(c: char) -> impl Iterator<Item = char> {
    let steers = c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let (plain, escaped) = if steers {
        (None, Some(c.escape_unicode()))
    } else {
        (Some(c), None)
    };
    plain.into_iter().chain(escaped.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_escaped() {
        let text: String = "a\u{1b}[31m\u{202e}\u{9b}\nä"
            .chars()
            .flat_map(visible)
            .collect();
        assert_eq!(text, "a\\u{1b}[31m\\u{202e}\\u{9b}\\u{a}ä");
    }
}
