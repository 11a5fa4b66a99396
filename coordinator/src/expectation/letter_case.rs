//! Texts in which upper and lower case are the same.

/// The text letter by letter in lower case. Unlike `str::to_lowercase`, what becomes of a letter does not depend on where in
/// its word it stands, so that a part of a text stays a part of it: both forms of the small sigma become one.
pub fn folded(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn a_part_stays_a_part_wherever_its_word_ends() {
        for (text, part) in [
            ("ΟΔΟΣΑ", "ΟΔΟΣ"),
            ("οδος", "ΟΔΟΣ"),
            ("ΟΔΟΣ", "οδος"),
            ("ÄÖ", "äö"),
            ("İSTANBUL", "İs"),
        ] {
            assert!(folded(text).contains(&folded(part)), "{text} {part}");
        }
        assert!(!folded("Graz").contains(&folded("Wien")));
    }
}
