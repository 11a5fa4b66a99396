//! JSON Schemas of test cases.

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};

use super::json::Json;
use super::stand_in::{misfit, stand_ins};

/// A JSON Schema (2020-12 unless its `$schema` names an older draft), compiled. It refers to nothing outside itself, and its
/// `format`s are checked.
///
/// Its validator knows only numbers of 64 bits. What others would decide is not decided.
#[derive(Clone)]
pub struct Schema {
    source: Json,
    /// One; several where the schema has numbers that need stand-ins.
    validators: Arc<[Validator]>,
    /// Whether it asks for multiples.
    multiples: bool,
}

/// One place in which a value is not what a schema asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON Pointer (RFC 6901).
    pub at: String,
    /// What the schema says, in words.
    pub what: String,
}

impl Schema {
    /// Compiles it.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn new(source: Json) -> Result<Self, String> {
        if !matches!(source, Json::Object(_) | Json::Bool(_)) {
            return Err("a schema is a mapping, `true` or `false`".to_owned());
        }
        let values = stand_ins(&source, false).ok_or("it cannot be read as JSON")?;
        let validators = values.iter().map(compiled).collect::<Result<_, _>>()?;
        Ok(Self {
            multiples: has_key(&source, "multipleOf"),
            source,
            validators,
        })
    }

    /// As it was written.
    pub fn source(&self) -> &Json {
        &self.source
    }

    /// Where `value` is not what it asks for, in the order of the places.
    ///
    /// # Errors
    /// Why it cannot be told: it depends on digits that the validator does not have.
    pub fn violations(&self, value: &Json) -> Result<Vec<Violation>, String> {
        let values = stand_ins(value, self.multiples).ok_or("a part of it cannot be read")?;
        let mut all = self
            .validators
            .iter()
            .flat_map(|validator| values.iter().map(move |value| violations(validator, value)));
        let nearest = all.next().unwrap_or_default();
        if all.all(|other| other.is_empty() == nearest.is_empty()) {
            return Ok(nearest);
        }
        let number = misfit(value).or_else(|| misfit(&self.source));
        let number = number.map(|number| number.text().chars().take(40).collect::<String>());
        Err(format!(
            "{} has more digits than a JSON Schema is checked with",
            number.unwrap_or_default()
        ))
    }
}

fn compiled(value: &serde_json::Value) -> Result<Validator, String> {
    jsonschema::options()
        // Patterns take time in proportion to the text, as everywhere in a test case.
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .build(value)
        .map_err(|error| match error.instance_path().as_str() {
            "" => one_line(&error.to_string()),
            at => format!("at {at}: {}", one_line(&error.to_string())),
        })
}

fn violations(validator: &Validator, value: &serde_json::Value) -> Vec<Violation> {
    let errors = validator.iter_errors(value).map(|error| Violation {
        at: error.instance_path().as_str().to_owned(),
        what: one_line(&error.to_string()),
    });
    let mut violations: Vec<Violation> = errors.collect();
    violations.sort_by(|a, b| a.at.cmp(&b.at));
    violations
}

fn has_key(value: &Json, key: &str) -> bool {
    match value {
        Json::Object(entries) => entries.contains_key(key) || entries.values().any(|value| has_key(value, key)),
        Json::List(items) => items.iter().any(|item| has_key(item, key)),
        _ => false,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    fn schema(text: &str) -> Result<Schema, String> {
        Schema::new(Json::parse(text).unwrap())
    }

    #[test]
    fn a_violation_says_where_and_what() {
        let schema = schema(r#"{"properties":{"days":{"type":"integer","maximum":3}},"required":["city"]}"#).unwrap();
        assert_eq!(
            schema.violations(&Json::parse(r#"{"city":"Graz","days":3.0}"#).unwrap()),
            Ok(vec![])
        );
        let found = schema.violations(&Json::parse(r#"{"days":5}"#).unwrap()).unwrap();
        let places: Vec<&str> = found.iter().map(|violation| violation.at.as_str()).collect();
        assert_eq!(places, ["", "/days"]);
        assert!(found[0].what.contains("city"), "{}", found[0].what);
    }

    #[test]
    fn formats_are_checked() {
        let schema = schema(r#"{"format":"date"}"#).unwrap();
        assert_eq!(schema.violations(&Json::text("2025-10-03")), Ok(vec![]));
        assert_eq!(schema.violations(&Json::text("03/10/2025")).unwrap().len(), 1);
    }

    #[test]
    fn numbers_that_the_validator_cannot_hold_decide_nothing_that_depends_on_their_digits() {
        let holds = |text: &str, value: &str| {
            let told = schema(text).unwrap().violations(&Json::parse(value).unwrap());
            told.map(|violations| violations.is_empty()).ok()
        };
        let big = "12345678901234567890123";
        for (text, value, told) in [
            (r#"{"const":12345678901234567890123}"#, "12345678901234567890124", None),
            (r#"{"const":12345678901234567890123}"#, "12345678901234568000000", None),
            (r#"{"const":12345678901234567890123}"#, "3", Some(false)),
            (r#"{"enum":[3,12345678901234567890123]}"#, "3", Some(true)),
            (r#"{"minimum":12345678901234567890123}"#, big, None),
            (r#"{"maximum":10}"#, big, Some(false)),
            (r#"{"minimum":10}"#, big, Some(true)),
            (r#"{"minimum":10}"#, "1e400", Some(true)),
            (r#"{"maximum":1e400}"#, "3", Some(true)),
            (r#"{"minimum":0}"#, "-1e400", Some(false)),
            (r#"{"type":"integer"}"#, big, Some(true)),
            (r#"{"type":"integer"}"#, "12345678901234567890.5", None),
            (r#"{"type":"integer"}"#, "0.99999999999999999999", None),
            (r#"{"type":"number"}"#, "3.14159265358979323846", Some(true)),
            (r#"{"multipleOf":7}"#, big, None),
            (r#"{"const":0.1}"#, "0.10", Some(true)),
            (r#"{"const":18446744073709551615}"#, "18446744073709551615", Some(true)),
            (r#"{"const":9007199254740993}"#, "9007199254740992", Some(false)),
            (
                r#"{"uniqueItems":true}"#,
                "[12345678901234567890123,12345678901234567890124]",
                None,
            ),
            (
                r#"{"required":["city"]}"#,
                r#"{"city":"Graz","id":12345678901234567890123,"far":1e400}"#,
                Some(true),
            ),
            (r#"{"required":["city"]}"#, r#"{"far":1e400}"#, Some(false)),
        ] {
            assert_eq!(holds(text, value), told, "{text} {value}");
        }
    }

    #[test]
    fn a_schema_that_is_none_or_lies_elsewhere_is_refused() {
        for text in [
            r#"{"type":"strng"}"#,
            "3",
            r#"{"$ref":"https://example.com/schema.json"}"#,
            r##"{"$ref":"#/$defs/missing"}"##,
            r#"{"pattern":"("}"#,
        ] {
            assert!(schema(text).is_err(), "{text}");
        }
    }
}
