//! What a misspelt word may have been meant to be.

/// The known word that `word` is most like; `None` when it is like none.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = plain(word);
    known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&plain, &self::plain(candidate)), *candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(plain.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `timeout_seconds`, `timeout-seconds` and `timeoutSeconds` are one word.
fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .take(64)
        .collect()
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn listed(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_or_another_way_of_writing_is_recognised() {
        let known = ["iterations", "agents", "timeoutSeconds"];
        assert_eq!(nearest("iteration", &known), Some("iterations"));
        assert_eq!(nearest("timeout_seconds", &known), Some("timeoutSeconds"));
        assert_eq!(nearest("agnets", &known), Some("agents"));
        assert_eq!(nearest("colour", &known), None);
    }
}
