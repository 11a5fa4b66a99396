//! Which of two calls is nearer to what is expected. Pure.

use std::cmp::Reverse;

use crate::record::Difference;

/// Characters of a value that are compared at most.
const MOST_CHARACTERS: usize = 48;

/// How far arguments are from those that are expected, the nearest first: by the number of differences, then by those in
/// fields that say which thing is meant, then by how unlike the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    differences: usize,
    of_identity: usize,
    alike: Reverse<u32>,
}

impl Distance {
    pub(super) fn of(differences: &[Difference]) -> Self {
        Self {
            differences: differences.len(),
            of_identity: differences.iter().filter(|it| names_a_thing(&it.at)).count(),
            alike: Reverse(differences.iter().map(|it| alike(&it.expected, &it.found)).sum()),
        }
    }
}

/// Whether the field at a JSON Pointer is an `id`, a `name`, a `key` or the like by its name: `order_id`, `userId`, `uri`.
fn names_a_thing(at: &str) -> bool {
    let field = at.rsplit('/').next().unwrap_or_default();
    let last_word = match field.rfind(['_', '-', '.']) {
        Some(before) => &field[before + 1..],
        None => &field[field.rfind(char::is_uppercase).unwrap_or(0)..],
    };
    ["id", "uuid", "name", "key", "uri", "url", "slug"]
        .iter()
        .any(|word| last_word.eq_ignore_ascii_case(word) || field.eq_ignore_ascii_case(word))
}

/// How much of the longer of two values in words is their longest common part, in thousandths; case and type say nothing.
fn alike(expected: &str, found: &str) -> u32 {
    let (expected, found) = (bare(expected), bare(found));
    let longer = expected.len().max(found.len());
    let mut longest = 0;
    let mut ending_before = vec![0_usize; found.len() + 1];
    for one in &expected {
        let mut ending_here = vec![0_usize; found.len() + 1];
        for (at, other) in found.iter().enumerate() {
            if one == other {
                ending_here[at + 1] = ending_before[at] + 1;
                longest = longest.max(ending_here[at + 1]);
            }
        }
        ending_before = ending_here;
    }
    let share = (longest * 1_000).checked_div(longer).unwrap_or(0);
    u32::try_from(share).unwrap_or(1_000)
}

/// The letters and digits of a value, without the name of its type behind it.
fn bare(words: &str) -> Vec<char> {
    let value = words.rsplit_once(" (").map_or(words, |(value, _)| value);
    value
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(MOST_CHARACTERS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_type_make_no_value_less_alike() {
        assert_eq!(alike("\"5\" (string)", "5 (number)"), 1_000);
        assert_eq!(alike("\"Vienna\" (string)", "\"vienna\" (string)"), 1_000);
        assert_eq!(alike("\"Vienna\" (string)", "nothing"), 142);
        assert_eq!(alike("", ""), 0);
    }

    #[test]
    fn a_field_says_which_thing_is_meant_by_its_last_word() {
        for at in ["/id", "/order/order_id", "/userId", "/Name", "/file-name", "/URL"] {
            assert!(names_a_thing(at), "{at}");
        }
        for at in ["", "/valid", "/username", "/idle", "/days"] {
            assert!(!names_a_thing(at), "{at}");
        }
    }
}
