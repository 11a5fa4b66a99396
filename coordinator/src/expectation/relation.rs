//! What two patterns have to do with each other, as far as that is plain. Matchers are not looked into.

use super::pattern::Pattern;

impl Pattern {
    /// Whether all arguments there can be are like it.
    pub fn is_anything(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Object(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// Whether no value can be like both.
    pub fn rules_out(&self, other: &Self) -> bool {
        disjoint((self, false), (other, false))
    }

    /// Whether every object that is like it is like `other` too.
    pub fn is_within(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) => true,
            (one, Self::Any) => one.asks_to_be_there(),
            (Self::Exact(one), Self::Exact(other)) => one == other,
            (_, Self::Exact(_)) => false,
            (Self::Exact(one), other) => one.is_within(other),
            (Self::Scalar(one), Self::Scalar(other)) => one == other,
            (Self::List(one), Self::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_within(other))
            }
            (Self::Object(one), Self::Object(other)) => other
                .iter()
                .all(|(key, other)| one.get(key).is_some_and(|one| one.is_within(other))),
            (Self::Matchers(one), Self::Matchers(other)) => one == other,
            _ => false,
        }
    }

    /// Whether just one object is like it, so that two that are like it are equal.
    pub fn is_one_value(&self) -> bool {
        only_one(self, false)
    }
}

/// Each pattern with whether its objects have no further keys.
fn disjoint((one, one_exact): (&Pattern, bool), (other, other_exact): (&Pattern, bool)) -> bool {
    match (one, other) {
        (Pattern::Exact(one), _) => disjoint((one, true), (other, other_exact)),
        (_, Pattern::Exact(other)) => disjoint((one, one_exact), (other, true)),
        (Pattern::Absent, there) | (there, Pattern::Absent) => there.asks_to_be_there(),
        (Pattern::Any | Pattern::Matchers(_), _) | (_, Pattern::Any | Pattern::Matchers(_)) => false,
        (Pattern::Scalar(one), Pattern::Scalar(other)) => one != other,
        (Pattern::List(ones), Pattern::List(others)) => {
            let apart = |(one, other)| disjoint((one, one_exact), (other, other_exact));
            ones.len() != others.len() || ones.iter().zip(others).any(apart)
        }
        (Pattern::Object(ones), Pattern::Object(others)) => {
            let apart = ones.iter().any(|(key, one)| match others.get(key) {
                Some(other) => disjoint((one, one_exact), (other, other_exact)),
                None => other_exact && one.asks_to_be_there(),
            });
            let missing = |(key, other): (&String, &Pattern)| !ones.contains_key(key) && other.asks_to_be_there();
            apart || (one_exact && others.iter().any(missing))
        }
        // Values of different types.
        _ => true,
    }
}

fn only_one(pattern: &Pattern, exact: bool) -> bool {
    match pattern {
        Pattern::Exact(inner) => only_one(inner, true),
        Pattern::Scalar(_) | Pattern::Absent => true,
        Pattern::List(items) => items.iter().all(|item| only_one(item, exact)),
        Pattern::Object(entries) => exact && entries.values().all(|value| only_one(value, exact)),
        Pattern::Any | Pattern::Matchers(_) => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::Pattern;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text)
    }

    #[test]
    fn patterns_rule_each_other_out_where_no_value_is_like_both() {
        for (one, other, apart) in [
            (r#"{"x":1}"#, r#"{"x":2}"#, true),
            (r#"{"x":1}"#, r#"{"x":1.0}"#, false),
            (r#"{"x":1}"#, r#"{"x":"1"}"#, true),
            (r#"{"x":1}"#, r#"{"y":2}"#, false),
            (r#"{"$exact":{"x":1}}"#, r#"{"y":2}"#, true),
            (r#"{"$exact":{"x":1}}"#, r#"{"y":{"$absent":true}}"#, false),
            (r#"{"x":{"$absent":true}}"#, r#"{"x":{"$any":true}}"#, true),
            (r#"{"x":{"$gt":1}}"#, r#"{"x":0}"#, false),
            (r#"{"x":[1,2]}"#, r#"{"x":[1]}"#, true),
            (r#"{"x":{"a":1}}"#, r#"{"x":{"a":2}}"#, true),
            (r#"{"x":{"a":1}}"#, r#"{"x":[1]}"#, true),
        ] {
            assert_eq!(pattern(one).rules_out(&pattern(other)), apart, "{one} {other}");
            assert_eq!(pattern(other).rules_out(&pattern(one)), apart, "{other} {one}");
        }
    }

    #[test]
    fn a_pattern_that_asks_for_more_lies_within_one_that_asks_for_less() {
        for (one, other, within) in [
            (r#"{"x":1,"y":2}"#, r#"{"x":1}"#, true),
            (r#"{"x":1}"#, r#"{"x":1,"y":2}"#, false),
            (r#"{"$exact":{"x":1}}"#, r#"{"x":1}"#, true),
            (r#"{"x":1}"#, r#"{"$exact":{"x":1}}"#, false),
            (r#"{"x":1}"#, "{}", true),
            (r#"{"x":{"$gt":3}}"#, r#"{"x":{"$any":true}}"#, true),
            (
                r#"{"x":{"$oneOf":[1,{"$absent":true}]}}"#,
                r#"{"x":{"$any":true}}"#,
                false,
            ),
        ] {
            assert_eq!(pattern(one).is_within(&pattern(other)), within, "{one} {other}");
        }
    }

    #[test]
    fn one_value_is_asked_for_only_where_nothing_is_left_open() {
        for (text, one) in [
            (r#"{"$exact":{}}"#, true),
            (r#"{"$exact":{"x":[1,{"y":null}]}}"#, true),
            (r#"{"x":1}"#, false),
            (r#"{"$exact":{"x":{"$any":true}}}"#, false),
        ] {
            assert_eq!(pattern(text).is_one_value(), one, "{text}");
        }
    }
}
