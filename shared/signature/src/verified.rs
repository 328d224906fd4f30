//! A message whose sender is proven. Only a successful verification makes one.

use crate::message::Message;

/// At most this many headers may be part of the signed bytes.
pub(crate) const MAX_COVERED: usize = 8;

/// A message whose sender is proven. Only [`Scheme::verify`](crate::Scheme::verify) makes one:
///
/// ```compile_fail,E0451
/// use ackbox_signature::{Headers, Message, Verified};
/// let headers = Headers::new();
/// let message = Message { method: "POST", url: "/", headers: &headers, body: b"{}" };
/// let forged = Verified { message, label: "mine", index: 0, signed_at_ms: None, covered: [None; 8] };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Verified<'a> {
    message: Message<'a>,
    label: &'a str,
    index: usize,
    signed_at_ms: Option<u64>,
    covered: [Option<&'a str>; MAX_COVERED],
}

impl<'a> Verified<'a> {
    pub(crate) fn new(
        message: Message<'a>,
        (index, label): (usize, &'a str),
        signed_at_ms: Option<u64>,
        covered: [Option<&'a str>; MAX_COVERED],
    ) -> Self {
        Self {
            message,
            label,
            index,
            signed_at_ms,
            covered,
        }
    }

    /// The message, as it came.
    pub fn message(&self) -> &Message<'a> {
        &self.message
    }

    /// The label of the secret that matched: its reference, never its value.
    pub fn secret_label(&self) -> &str {
        self.label
    }

    /// The position of the secret that matched, in the order given; the first, where several matched.
    pub fn secret_index(&self) -> usize {
        self.index
    }

    /// The signed timestamp, in milliseconds since 1970, for senders that sign one.
    pub fn signed_at_ms(&self) -> Option<u64> {
        self.signed_at_ms
    }

    /// Whether this header is part of the signed bytes, so that its value is proven.
    pub fn covers(&self, header: &str) -> bool {
        self.covered
            .iter()
            .flatten()
            .any(|name| name.eq_ignore_ascii_case(header))
    }
}
