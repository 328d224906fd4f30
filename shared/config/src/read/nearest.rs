//! "Did you mean": a word that is not known comes in, the nearest known one goes out.

/// The known word that is nearest to `word`, if one is near enough to be meant.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Distances cost the product of both lengths: a word that long is no slip of a known one.
    const MAX: usize = 128;
    if word.len() > MAX {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    known
        .into_iter()
        .map(|candidate| (distance(&word, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

/// "did you mean `near`?", else the list of what is known.
pub(crate) fn suggestion<'k>(
    word: &str,
    known: impl IntoIterator<Item = &'k str> + Clone,
) -> String {
    if let Some(near) = nearest(word, known.clone()) {
        return format!("did you mean `{near}`?");
    }
    let known: Vec<String> = known.into_iter().map(|word| format!("`{word}`")).collect();
    if known.is_empty() {
        "there is none".to_owned()
    } else {
        format!("known here: {}", known.join(", "))
    }
}

/// A text from the file as messages show it: quoted, escaped, cut.
pub(crate) fn shown(text: &str) -> String {
    const MAX: usize = 80;
    if text.chars().nth(MAX).is_none() {
        format!("{text:?}")
    } else {
        let cut: String = text.chars().take(MAX).collect();
        format!("{cut:?}..")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_slip_of_a_known_word_is_taken_for_it() {
        let known = ["max_body", "scheme", "secrets", "on"];
        assert_eq!(nearest("maxbody", known), Some("max_body"));
        assert_eq!(nearest("max-body", known), Some("max_body"));
        assert_eq!(nearest("shceme", known), Some("scheme"));
        assert_eq!(nearest("Secret", known), Some("secrets"));
        assert_eq!(nearest("retries", known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }
}
