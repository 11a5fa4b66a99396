//! JSON Schemas of test cases.

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};

use super::json::Json;

/// A JSON Schema (2020-12 unless its `$schema` names an older draft), compiled. It refers to nothing outside itself, and its
/// `format`s are checked.
#[derive(Clone)]
pub struct Schema {
    source: Json,
    validator: Arc<Validator>,
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
        let value = plain(&source).ok_or("it cannot be read as JSON")?;
        jsonschema::options()
            // Patterns take time in proportion to the text, as everywhere in a test case.
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(true)
            .build(&value)
            .map(|validator| Self {
                source,
                validator: Arc::new(validator),
            })
            .map_err(|error| match error.instance_path().as_str() {
                "" => one_line(&error.to_string()),
                at => format!("at {at}: {}", one_line(&error.to_string())),
            })
    }

    /// As it was written.
    pub fn source(&self) -> &Json {
        &self.source
    }

    /// Where `value` is not what it asks for, in the order of the places.
    pub fn violations(&self, value: &Json) -> Vec<Violation> {
        let Some(value) = plain(value) else {
            return vec![Violation {
                at: String::new(),
                what: "it cannot be read as JSON".to_owned(),
            }];
        };
        let errors = self.validator.iter_errors(&value).map(|error| Violation {
            at: error.instance_path().as_str().to_owned(),
            what: one_line(&error.to_string()),
        });
        let mut violations: Vec<Violation> = errors.collect();
        violations.sort_by(|a, b| a.at.cmp(&b.at));
        violations
    }
}

/// Numbers beyond 64 bits become doubles here.
fn plain(value: &Json) -> Option<serde_json::Value> {
    serde_json::from_str(&value.to_string()).ok()
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
            []
        );
        let found = schema.violations(&Json::parse(r#"{"days":5}"#).unwrap());
        let places: Vec<&str> = found.iter().map(|violation| violation.at.as_str()).collect();
        assert_eq!(places, ["", "/days"]);
        assert!(found[0].what.contains("city"), "{}", found[0].what);
    }

    #[test]
    fn formats_are_checked() {
        let schema = schema(r#"{"format":"date"}"#).unwrap();
        assert_eq!(schema.violations(&Json::text("2025-10-03")), []);
        assert_eq!(schema.violations(&Json::text("03/10/2025")).len(), 1);
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
