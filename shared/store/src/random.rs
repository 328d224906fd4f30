//! Ids that no two processes share: claims, changes of a pause and request tokens are told apart by them.

/// 160 random bits of the operating system's as 32 characters of base32. Two sandboxes that start alike draw
/// other ones, which a generator seeded by the process does not promise.
pub fn random_id() -> String {
    let mut bytes = [0; 20];
    // Without the system's randomness there is still a claim's fence, and a token only saves a read.
    if getrandom::fill(&mut bytes).is_err() {
        bytes.fill_with(|| fastrand::u8(..));
    }
    data_encoding::BASE32_NOPAD
        .encode(&bytes)
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::random_id;

    #[test]
    fn an_id_fits_a_claim_and_a_token_and_is_another_each_time() {
        let ids: std::collections::BTreeSet<String> = (0..1000).map(|_| random_id()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 32 && id.is_ascii()));
    }
}
