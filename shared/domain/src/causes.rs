//! An error with everything behind it, in one line: for logs, where a cause left out is an hour lost.

use std::error::Error;

/// The error's text and the texts of its causes, joined by `: `. Texts that do not repeat their source
/// are what this counts on.
pub fn in_one_line(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::fmt::Error);

    #[test]
    fn every_cause_is_told() {
        let text = in_one_line(&Outer(std::fmt::Error));
        assert_eq!(text, format!("outer: {}", std::fmt::Error));
    }
}
