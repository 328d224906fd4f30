//! Amazon Resource Names, as far as destinations need them: a text comes in, its parts go out.
//!
//! `arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE` (AWS General Reference, "Amazon Resource Names").

/// The parts of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arn<'t> {
    pub(super) service: &'t str,
    pub(super) region: &'t str,
    /// What stands after the account.
    pub(super) resource: &'t str,
}

impl<'t> Arn<'t> {
    /// Reads a name of something in a Region of an account.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let mut parts = text.splitn(6, ':');
        let (arn, partition, service) = (parts.next()?, parts.next()?, parts.next()?);
        let (region, account, resource) = (parts.next()?, parts.next()?, parts.next()?);
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        let is_name = arn == "arn"
            && partition.starts_with("aws")
            && is_word(partition)
            && is_word(service)
            && is_word(region)
            && account.len() == 12
            && account.bytes().all(|b| b.is_ascii_digit())
            && !resource.is_empty();
        is_name.then_some(Self {
            service,
            region,
            resource,
        })
    }
}
