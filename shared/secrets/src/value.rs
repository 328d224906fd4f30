//! One secret value. It is shown only by the one method that says so, and wiped when the last copy goes.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// A resolved secret: text of 1 to [`VALUE_MAX`](crate::VALUE_MAX) bytes that is not blank.
///
/// Cloning shares the text; it is overwritten when the last clone is dropped.
#[derive(Clone)]
pub struct SecretValue(Arc<Zeroizing<String>>);

impl SecretValue {
    pub(crate) fn new(text: Zeroizing<String>) -> Self {
        Self(Arc::new(text))
    }

    /// The value itself. Never log it, and never put it into an error.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Shows that there is a value, and neither the value nor its length.
impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_by_expose_only() {
        let value = SecretValue::new(Zeroizing::new("hunter2".to_owned()));
        assert_eq!(value.expose(), "hunter2");
        let nested = format!("{:?} {:#?}", Some(&value), vec![value.clone()]);
        assert!(!nested.contains("hunter"), "{nested}");
    }
}
