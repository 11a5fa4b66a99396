//! A close look at one iteration, on a worker thread: what costs time there and is counted later.

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use jsonschema::{ValidationError, Validator};
use mcproctor_proto::call::{CallState, ToolCall};
use serde_json::Value;

use crate::cut::cut;
use crate::record::AttemptRecord;
use crate::report::Iteration;
use crate::report::error_text::ErrorText;

use super::tool_list::{ToolList, ToolLists};

/// Misfits told of one call at most.
const MOST_MISFITS: usize = 20;

/// A sample is cut here.
const MOST_SAMPLE_BYTES: usize = 240;

/// What was found in an iteration's result.
#[derive(Debug, Default)]
pub(in crate::report) struct Findings {
    /// The tool lists that the agent was shown, by server.
    pub(in crate::report) shown: Vec<(String, Arc<ToolList>)>,
    /// One for each call, in their order.
    pub(in crate::report) calls: Vec<CallFindings>,
}

/// What was found in a call.
#[derive(Debug)]
pub(in crate::report) struct CallFindings {
    /// Its arguments against the schema that the agent was shown.
    pub(in crate::report) arguments: Arguments,
    /// What it was told when it failed.
    pub(in crate::report) error: Option<ErrorText>,
}

/// Arguments against a schema.
#[derive(Debug)]
pub(in crate::report) enum Arguments {
    /// No schema, or the arguments were too large to be kept.
    NotChecked,
    /// They fit.
    Fit,
    /// They do not.
    Misfit(Vec<Misfit>),
}

/// One place where arguments do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Misfit {
    /// Where, as a JSON Pointer with `*` for every index of an array.
    pub(in crate::report) field: String,
    /// What is wrong there, in words.
    pub(in crate::report) problem: String,
    /// The same in one call's own values.
    pub(in crate::report) sample: String,
}

impl Findings {
    pub(super) fn of(iteration: &Iteration, lists: &ToolLists<'_>) -> Self {
        let Some(result) = &iteration.result else {
            return Self::default();
        };
        let shown = shown(result, lists);
        let calls = result
            .calls
            .iter()
            .map(|call| CallFindings {
                arguments: check(call, &shown),
                error: (call.state != CallState::Ok).then(|| ErrorText::of(call)),
            })
            .collect();
        Self { shown, calls }
    }

    /// Whether the agent was shown a tool of that name; `None` when it is not known what it was shown.
    pub(in crate::report) fn offered(&self, tool: &str) -> Option<bool> {
        (!self.shown.is_empty()).then(|| self.shown.iter().any(|(_, list)| list.contains_key(tool)))
    }
}

fn shown(result: &AttemptRecord, lists: &ToolLists<'_>) -> Vec<(String, Arc<ToolList>)> {
    result
        .exposures
        .iter()
        .filter_map(|exposure| Some((exposure.server.clone(), lists.shown(exposure)?)))
        .collect()
}

fn check(call: &ToolCall, shown: &[(String, Arc<ToolList>)]) -> Arguments {
    let list = shown.iter().find(|(server, _)| *server == call.server);
    let Some(schema) = list.and_then(|(_, list)| list.get(&call.tool)?.schema.as_ref()) else {
        return Arguments::NotChecked;
    };
    let arguments = match &call.arguments {
        Some(raw) => serde_json::from_str(raw.get()).ok(),
        None if call.truncated => None,
        // The protocol lets a client leave out arguments that are empty.
        None => Some(Value::Object(serde_json::Map::new())),
    };
    let Some(arguments) = arguments else {
        return Arguments::NotChecked;
    };
    let misfits = misfits(schema, &arguments);
    if misfits.is_empty() {
        Arguments::Fit
    } else {
        Arguments::Misfit(misfits)
    }
}

fn misfits(schema: &Validator, arguments: &Value) -> Vec<Misfit> {
    if schema.is_valid(arguments) {
        return Vec::new();
    }
    let mut misfits = Vec::new();
    for error in schema.iter_errors(arguments).take(MOST_MISFITS) {
        let sample = cut(&error.to_string(), MOST_SAMPLE_BYTES).into_owned();
        let place = place(&error);
        for (name, problem) in named(&error) {
            let field = match name {
                Some(name) => format!("{place}/{}", escaped(name)),
                None => place.clone(),
            };
            misfits.push(Misfit {
                field: cut(&field, MOST_SAMPLE_BYTES).into_owned(),
                problem,
                sample: sample.clone(),
            });
        }
    }
    misfits.truncate(MOST_MISFITS);
    misfits
}

/// The fields that an error is about, below the place where it was found, and what is wrong with each.
fn named<'e>(error: &'e ValidationError<'_>) -> Vec<(Option<&'e str>, String)> {
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![(property.as_str(), "missing".to_owned())]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| (Some(name.as_str()), "not in the schema".to_owned()))
            .collect(),
        ValidationErrorKind::Type { .. } => vec![(None, "wrong type".to_owned())],
        ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. } => {
            vec![(None, "not an allowed value".to_owned())]
        }
        kind => vec![(None, format!("does not meet {}", kind.keyword()))],
    }
}

fn place(error: &ValidationError<'_>) -> String {
    error.instance_path().segments().fold(String::new(), |place, segment| {
        place
            + "/"
            + &match segment {
                LocationSegment::Property(name) => escaped(&name),
                LocationSegment::Index(_) => "*".to_owned(),
            }
    })
}

/// A name as a token of a JSON Pointer (RFC 6901, section 3).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn found(arguments: &Value) -> Vec<(String, String)> {
        let schema = jsonschema::validator_for(&json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 2},
                "units": {"enum": ["metric", "imperial"]},
                "stops": {"type": "array", "items": {"type": "object", "required": ["a/b"]}},
            },
            "required": ["city"],
            "additionalProperties": false,
        }))
        .unwrap();
        let mut found: Vec<_> = misfits(&schema, arguments)
            .into_iter()
            .map(|misfit| (misfit.field, misfit.problem))
            .collect();
        found.sort();
        found
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(field, problem)| ((*field).to_owned(), (*problem).to_owned()))
            .collect()
    }

    #[test]
    fn every_misfit_names_the_field_that_it_is_about() {
        assert_eq!(found(&json!({"city": "Graz", "units": "metric"})), []);
        assert_eq!(found(&json!({})), pairs(&[("/city", "missing")]));
        assert_eq!(
            found(&json!({"city": 3, "units": "kelvin", "town": 1})),
            pairs(&[
                ("/city", "wrong type"),
                ("/town", "not in the schema"),
                ("/units", "not an allowed value")
            ])
        );
        assert_eq!(
            found(&json!({"city": "x", "stops": [{}, {"a/b": 1}, {}]})),
            pairs(&[
                ("/city", "does not meet minLength"),
                ("/stops/*/a~1b", "missing"),
                ("/stops/*/a~1b", "missing")
            ])
        );
    }
}
