//! For programs.

use serde::Serialize;

use super::Comparison;

/// The version of the JSON; it grows when a field changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema_version: u32,
    margin: f64,
    notices: &'a [String],
    comparisons: &'a [Comparison],
}

/// The comparisons with every figure.
///
/// # Errors
///
/// When a value cannot be written as JSON.
pub fn json(comparisons: &[Comparison], notices: &[String], margin: f64) -> Result<String, serde_json::Error> {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        margin,
        notices,
        comparisons,
    };
    serde_json::to_string_pretty(&document).map(|text| text + "\n")
}
