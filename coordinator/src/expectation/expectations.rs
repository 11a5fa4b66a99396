//! Everything that a test case expects beside `expectedTools`.

use serde::{Deserialize, Serialize};

use super::arguments::ExpectedArguments;
use super::expression::Expression;
use super::max_calls::MaxCalls;

/// Everything that a test case expects beside `expectedTools`. The default expects nothing.
///
/// It is stored, and shown in `results.json`, with the keys and values of a test case; what is not expected is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Expectations {
    /// No tool is called at all.
    #[serde(skip_serializing_if = "is_false")]
    pub expect_no_tools: bool,
    /// With which arguments tools are called.
    #[serde(skip_serializing_if = "ExpectedArguments::is_empty")]
    pub expected_arguments: ExpectedArguments,
    /// In which order the expected tools are called.
    #[serde(skip_serializing_if = "Order::is_any")]
    pub order: Order,
    /// Tools that are not called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forbidden_tools: Vec<String>,
    /// The most calls.
    #[serde(skip_serializing_if = "MaxCalls::is_empty")]
    pub max_calls: MaxCalls,
    /// No call repeats one that succeeded.
    #[serde(skip_serializing_if = "is_false")]
    pub no_duplicate_calls: bool,
    /// URIs of resources that are read; one that stands there N times, N times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected_resources: Vec<String>,
    /// Names of prompts that are fetched; one that stands there N times, N times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected_prompts: Vec<String>,
    /// Texts that the last reply has in it, upper and lower case being the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_contains: Vec<String>,
    /// Texts that it does not have in it, upper and lower case being the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_omits: Vec<String>,
    /// Regular expressions that are found in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_matches: Vec<Expression>,
    /// The longest that all turns take together, in seconds, without waiting for a model that refused or was silent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration_seconds: Option<f64>,
    /// The most tokens, read and written, over all turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The most that all turns cost together, in US dollars, as the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

/// In which order the expected tools are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Order {
    /// Whichever.
    #[default]
    Any,
    /// That of `expectedTools`, with whatever calls in between.
    Subsequence,
    /// That of `expectedTools`, and no further calls.
    Exact,
}

impl Order {
    /// Its name in test cases.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Subsequence => "subsequence",
            Self::Exact => "exact",
        }
    }

    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}
