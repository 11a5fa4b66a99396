//! What a value should be like.

use std::collections::BTreeMap;

use super::expression::Expression;
#[cfg(test)]
use super::fault::Faults;
use super::json::{Json, JsonType};
use super::number::Number;
#[cfg(test)]
use super::read_pattern;
use super::schema::Schema;

/// A value that may have matchers in it.
///
/// [`Pattern::to_json`] writes it as a test case has it, `{"$gte": 3}` for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `null`, a boolean, a number or a text: equal to it.
    Scalar(Json),
    /// A list of the same length, each item like its pattern.
    List(Vec<Self>),
    /// An object whose keys are like their patterns. It may have further keys, except inside of [`Pattern::Exact`].
    Object(BTreeMap<String, Self>),
    /// `$exact`: like the pattern, and no object in it has a key that the pattern does not name.
    Exact(Box<Self>),
    /// `$any`: there, whatever it is.
    Any,
    /// `$absent`: not there.
    Absent,
    /// All of these hold; at least one.
    Matchers(Vec<Matcher>),
}

/// One thing that is asked of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// `$regex`: a text in which the expression is found.
    Regex(Expression),
    /// `$contains`: a text that has this text in it, or a list that has an item like this.
    Contains(Box<Pattern>),
    /// `$oneOf`: like one of these.
    OneOf(Vec<Pattern>),
    /// `$gt`, `$gte`, `$lt`, `$lte`: a number within the bound.
    Bound(Bound),
    /// `$type`: of one of these types.
    Type(Vec<JsonType>),
    /// `$schema`: valid by a JSON Schema.
    Schema(Schema),
}

/// A bound of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Which side.
    pub limit: Limit,
    /// Where it lies.
    pub than: Number,
}

/// Which side of a bound a number is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `$gt`: greater.
    Above,
    /// `$gte`: greater or equal.
    AtLeast,
    /// `$lt`: less.
    Below,
    /// `$lte`: less or equal.
    AtMost,
}

impl Limit {
    /// Every side.
    pub const ALL: [Self; 4] = [Self::Above, Self::AtLeast, Self::Below, Self::AtMost];

    /// Its key in test cases.
    pub fn key(self) -> &'static str {
        match self {
            Self::Above => "$gt",
            Self::AtLeast => "$gte",
            Self::Below => "$lt",
            Self::AtMost => "$lte",
        }
    }

    /// Whether it keeps numbers from being too small.
    pub fn is_lower(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }

    /// Whether a number at the bound itself is within it.
    pub fn includes_itself(self) -> bool {
        matches!(self, Self::AtLeast | Self::AtMost)
    }
}

impl Bound {
    /// Whether `number` is within.
    pub fn holds(&self, number: &Number) -> bool {
        match self.limit {
            Limit::Above => number > &self.than,
            Limit::AtLeast => number >= &self.than,
            Limit::Below => number < &self.than,
            Limit::AtMost => number <= &self.than,
        }
    }
}

impl Pattern {
    /// The pattern of exactly these values, keys with a dollar sign included; objects may have further keys.
    pub fn of_value(value: &Json) -> Self {
        match value {
            Json::List(items) => Self::List(items.iter().map(Self::of_value).collect()),
            Json::Object(entries) => Self::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::of_value(value)))
                    .collect(),
            ),
            scalar => Self::Scalar(scalar.clone()),
        }
    }

    /// The keys that an object has to have to be like it, as far as that is plain.
    pub fn required_keys(&self) -> Vec<&str> {
        match self {
            Self::Object(entries) => entries
                .iter()
                .filter(|(_, value)| value.asks_to_be_there())
                .map(|(key, _)| key.as_str())
                .collect(),
            Self::Exact(inner) => inner.required_keys(),
            Self::Scalar(_) | Self::List(_) | Self::Any | Self::Absent | Self::Matchers(_) => Vec::new(),
        }
    }

    pub(super) fn asks_to_be_there(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Exact(inner) => inner.asks_to_be_there(),
            Self::Matchers(matchers) => !matchers.iter().all(|matcher| match matcher {
                Matcher::OneOf(choices) => choices.iter().any(|choice| !choice.asks_to_be_there()),
                _ => false,
            }),
            Self::Scalar(_) | Self::List(_) | Self::Object(_) | Self::Any => true,
        }
    }
}

#[cfg(test)]
impl Pattern {
    /// The pattern that `text` is in a test case.
    pub(crate) fn parse(text: &str) -> Self {
        let value = Json::parse(text).unwrap_or_else(|why| unreachable!("{text}: {why}"));
        let mut faults = Faults::default();
        read_pattern::pattern(&value, read_pattern::Absence::Allowed, &mut faults)
            .unwrap_or_else(|| unreachable!("{text}"))
    }
}
