//! What a plain scalar means beside its text.

/// The text is what YAML 1.2's core schema (section 10.3.2) calls null.
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// A whole number in decimal digits. A leading zero is refused: YAML 1.1 reads it as octal, 1.2 does not.
/// What does not fit becomes the largest or smallest number, which every range refuses.
pub(super) fn whole_number(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !decimal || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    let magnitude: i128 = digits.parse().unwrap_or(i128::MAX);
    Some(if negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decimal_digits_are_a_whole_number() {
        assert_eq!(whole_number("0"), Some(0));
        assert_eq!(whole_number("-12"), Some(-12));
        assert_eq!(
            whole_number("99999999999999999999999999999999999999999"),
            Some(i128::MAX)
        );
        for text in ["", "-", "0123", "1e3", "0x10", "1_000", "3.0", "12:30:00", " 3"] {
            assert_eq!(whole_number(text), None, "{text}");
        }
    }
}
