//! JSON values that keep every digit.
//!
//! `serde_json` keeps them only with its feature `arbitrary_precision`. Cargo switches a feature on for every crate of a
//! program, and with this one numbers no longer pass through the untagged and flattened types that the MCP messages of `rmcp`
//! are made of. So it stays off, and values are read by way of `RawValue`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::value::RawValue;

use super::number::Number;

/// How deep a value may be nested.
const MAX_DEPTH: usize = 128;

/// A JSON value. Two are equal when they are the same value: the order of keys and the way a number is written do not
/// count, types do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, all of its digits.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object; of a key that is given twice the last value counts.
    Object(BTreeMap<String, Self>),
    /// What cannot be compared; only [`Json::read`] makes it.
    Unread(Unread),
}

/// A value of which no more is known than its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unread {
    /// Its type.
    pub kind: JsonType,
    /// Why it cannot be compared.
    pub why: NotComparable,
    /// As it was written.
    text: String,
}

/// What becomes of parts that cannot be compared.
#[derive(Clone, Copy)]
enum Broken {
    Refused,
    Kept,
}

/// Why a value cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NotComparable {
    /// Lists or objects deeper than 128 levels.
    #[error("it is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// Not JSON.
    #[error("it is not valid JSON")]
    Broken,
}

/// The types of JSON, and `integer` as JSON Schema has it: a number without a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// Any number.
    Number,
    /// A number without a fraction.
    Integer,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::String,
        Self::Number,
        Self::Integer,
        Self::Boolean,
        Self::Object,
        Self::Array,
        Self::Null,
    ];

    /// Its name in test cases and in JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Whether `value` is of it.
    pub fn includes(self, value: &Json) -> bool {
        match (self, value) {
            (Self::Integer, Json::Number(number)) => number.is_whole(),
            (wanted, value) => wanted == value.json_type(),
        }
    }
}

impl Json {
    /// The value that `text` is.
    ///
    /// # Errors
    /// When it is no JSON, or nested too deeply to be compared.
    pub fn parse(text: &str) -> Result<Self, NotComparable> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|_| NotComparable::Broken)?;
        Self::of_raw(raw, 0, Broken::Refused)
    }

    /// The value that `text` is. Parts of it that cannot be compared are [`Json::Unread`], so that they matter only to those
    /// who look at them.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn read(text: &str) -> Result<Self, NotComparable> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|_| NotComparable::Broken)?;
        Self::of_raw(raw, 0, Broken::Kept)
    }

    fn of_raw(raw: &RawValue, depth: usize, parts: Broken) -> Result<Self, NotComparable> {
        Self::of_sound(raw, depth, parts).or_else(|why| match parts {
            Broken::Refused => Err(why),
            Broken::Kept => Ok(Self::Unread(Unread {
                kind: match raw.get().as_bytes().first() {
                    Some(b'"') => JsonType::String,
                    Some(b'[') => JsonType::Array,
                    // `null`, booleans and numbers are always read.
                    _ => JsonType::Object,
                },
                why,
                text: raw.get().to_owned(),
            })),
        })
    }

    fn of_sound(raw: &RawValue, depth: usize, parts: Broken) -> Result<Self, NotComparable> {
        let text = raw.get();
        let broken = |_| NotComparable::Broken;
        match text.as_bytes().first() {
            Some(b'n') => Ok(Self::Null),
            Some(b't') => Ok(Self::Bool(true)),
            Some(b'f') => Ok(Self::Bool(false)),
            Some(b'"') => serde_json::from_str(text).map(Self::Text).map_err(broken),
            Some(b'[' | b'{') if depth > MAX_DEPTH => Err(NotComparable::TooDeep),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text).map_err(broken)?;
                let items = items.into_iter().map(|item| Self::of_raw(item, depth + 1, parts));
                items.collect::<Result<_, _>>().map(Self::List)
            }
            Some(b'{') => {
                let entries: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(broken)?;
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| Ok((key, Self::of_raw(value, depth + 1, parts)?)));
                entries.collect::<Result<_, _>>().map(Self::Object)
            }
            _ => Number::parse(text).map(Self::Number).ok_or(NotComparable::Broken),
        }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An object with one key.
    pub fn entry(key: impl Into<String>, value: Self) -> Self {
        Self::Object(BTreeMap::from([(key.into(), value)]))
    }

    /// Its type.
    pub fn json_type(&self) -> JsonType {
        match self {
            Self::Null => JsonType::Null,
            Self::Bool(_) => JsonType::Boolean,
            Self::Number(_) => JsonType::Number,
            Self::Text(_) => JsonType::String,
            Self::List(_) => JsonType::Array,
            Self::Object(_) => JsonType::Object,
            Self::Unread(unread) => unread.kind,
        }
    }

    /// Why it cannot be compared as a whole: the first part of it that cannot be.
    pub fn unread(&self) -> Option<NotComparable> {
        match self {
            Self::Unread(unread) => Some(unread.why),
            Self::List(items) => items.iter().find_map(Self::unread),
            Self::Object(entries) => entries.values().find_map(Self::unread),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => None,
        }
    }
}

/// Compact JSON, its keys sorted, its numbers as they were written.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => as_written(number.text(), serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => serializer.collect_map(entries),
            Self::Unread(unread) => as_written(&unread.text, serializer),
        }
    }
}

fn as_written<S: Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &RawValue = serde_json::from_str(json).map_err(ser::Error::custom)?;
    raw.serialize(serializer)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use std::collections::HashSet;

    use super::*;

    #[test]
    fn values_are_equal_by_value_and_type() {
        let same = |a: &str, b: &str| {
            let (a, b) = (Json::parse(a).unwrap(), Json::parse(b).unwrap());
            assert_eq!(a == b, HashSet::from([a.clone()]).contains(&b));
            a == b
        };
        assert!(same(r#"{"a": 3, "b": [1.0]}"#, r#"{"b":[1],"a":3.0}"#));
        assert!(same(r#""\u0041""#, r#""A""#));
        assert!(!same("3", r#""3""#));
        assert!(!same("null", "false"));
        assert!(!same("[1,2]", "[2,1]"));
        assert!(!same("9007199254740993", "9007199254740992"));
    }

    #[test]
    fn a_value_is_written_as_it_was_read() {
        let text = r#"{"big":12345678901234567890123,"list":[null,true,"a\"b",1.50],"none":{}}"#;
        let value = Json::parse(text).unwrap();
        assert_eq!(value.to_string(), text);
        let stored = serde_json::to_string(&value).unwrap();
        assert_eq!(stored, text);
        assert_eq!(serde_json::from_str::<Json>(&stored).unwrap(), value);
    }

    #[test]
    fn a_nest_without_end_is_not_followed() {
        let deep = "[".repeat(5_000) + &"]".repeat(5_000);
        assert_eq!(Json::parse(&deep), Err(NotComparable::TooDeep));
        assert_eq!(Json::parse("{"), Err(NotComparable::Broken));
        let fine = "[".repeat(100) + &"]".repeat(100);
        assert!(Json::parse(&fine).is_ok());
    }

    #[test]
    fn what_cannot_be_compared_leaves_the_rest_alone() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let text = format!(r#"{{"city":"Graz","deep":{deep},"half":"\ud800","odd":{{"\udc00":1}}}}"#);
        assert!(Json::parse(&text).is_err());
        let Json::Object(entries) = Json::read(&text).unwrap() else {
            unreachable!("{text}")
        };
        assert_eq!(entries["city"], Json::text("Graz"));
        assert_eq!(entries["city"].unread(), None);
        assert_eq!(entries["deep"].unread(), Some(NotComparable::TooDeep));
        for (key, kind) in [("half", JsonType::String), ("odd", JsonType::Object)] {
            assert_eq!(
                (entries[key].unread(), entries[key].json_type()),
                (Some(NotComparable::Broken), kind)
            );
        }
        assert_eq!(Json::Object(entries).to_string(), text);
        assert_eq!(Json::read("{"), Err(NotComparable::Broken));
    }

    #[test]
    fn an_integer_is_a_number_without_a_fraction() {
        let is = |kind: JsonType, text: &str| kind.includes(&Json::parse(text).unwrap());
        assert!(is(JsonType::Integer, "3.0") && is(JsonType::Number, "3") && !is(JsonType::Integer, "3.5"));
        assert!(!is(JsonType::Number, "\"3\"") && is(JsonType::Null, "null"));
    }
}
