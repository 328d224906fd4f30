//! A secret as the operator pasted it in, a key ready for use out. Its value is never shown, and wiped when dropped.

use std::fmt;

use zeroize::Zeroizing;

/// A decoded secret with the reference under which it is known.
#[derive(Clone)]
pub struct Secret {
    label: String,
    #[allow(dead_code)]
    key: Zeroizing<Vec<u8>>,
    warning: Option<String>,
}

impl Secret {
    /// The reference under which the secret is known. Not secret.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What is doubtful about the secret, though it can be used: too short to resist guessing, white space at an end.
    pub fn warning(&self) -> Option<String> {
        self.warning.clone()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}
impl Secret {
    pub(crate) fn text(label: &str, text: &str) -> Self {
        Self {
            label: label.to_owned(),
            key: Zeroizing::new(text.as_bytes().to_vec()),
            warning: None,
        }
    }
}
