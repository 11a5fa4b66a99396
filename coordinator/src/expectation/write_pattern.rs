//! Patterns as test cases hold them.

use std::collections::BTreeMap;

use super::json::Json;
use super::pattern::{Matcher, Pattern};

impl Pattern {
    /// The value that reads as this pattern.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Scalar(value) => value.clone(),
            Self::List(items) => Json::List(items.iter().map(Self::to_json).collect()),
            Self::Object(entries) => {
                let object = Json::Object(
                    entries
                        .iter()
                        .map(|(key, value)| (key.clone(), value.to_json()))
                        .collect(),
                );
                // Only what stood under `$literal` has such keys, and then there is no matcher in it.
                if entries.keys().any(|key| key.starts_with('$')) {
                    Json::entry("$literal", Self::bare(entries))
                } else {
                    object
                }
            }
            Self::Exact(inner) => Json::entry("$exact", inner.to_json()),
            Self::Any => Json::entry("$any", Json::Bool(true)),
            Self::Absent => Json::entry("$absent", Json::Bool(true)),
            Self::Matchers(matchers) => Json::Object(
                matchers
                    .iter()
                    .map(|matcher| (matcher.key().to_owned(), matcher.operand()))
                    .collect(),
            ),
        }
    }

    /// The value itself, without any `$literal`.
    fn bare(entries: &BTreeMap<String, Self>) -> Json {
        fn value(pattern: &Pattern) -> Json {
            match pattern {
                Pattern::List(items) => Json::List(items.iter().map(value).collect()),
                Pattern::Object(entries) => Pattern::bare(entries),
                other => other.to_json(),
            }
        }
        Json::Object(entries.iter().map(|(key, it)| (key.clone(), value(it))).collect())
    }
}

impl Matcher {
    /// Its key in test cases.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Regex(_) => "$regex",
            Self::Contains(_) => "$contains",
            Self::OneOf(_) => "$oneOf",
            Self::Bound(bound) => bound.limit.key(),
            Self::Type(_) => "$type",
            Self::Schema(_) => "$schema",
        }
    }

    /// What stands under its key.
    pub fn operand(&self) -> Json {
        match self {
            Self::Regex(expression) => Json::text(expression.as_str()),
            Self::Contains(inner) => inner.to_json(),
            Self::OneOf(choices) => Json::List(choices.iter().map(Pattern::to_json).collect()),
            Self::Bound(bound) => Json::Number(bound.than.clone()),
            Self::Type(types) => match types.as_slice() {
                [one] => Json::text(one.name()),
                several => Json::List(several.iter().map(|kind| Json::text(kind.name())).collect()),
            },
            Self::Schema(schema) => schema.source().clone(),
        }
    }
}
