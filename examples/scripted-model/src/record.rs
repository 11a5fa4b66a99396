//! What was asked of the endpoint, for tests and logs.

use crate::dialect::Dialect;
use serde::Serialize;
use std::collections::BTreeMap;

/// One request and what it got.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RequestRecord {
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers by lower-case name, without those that carry a key.
    pub headers: BTreeMap<String, String>,
    /// The names of the headers that carried a key.
    pub auth_headers: Vec<String>,
    /// The API, if the path belongs to one.
    pub dialect: Option<Dialect>,
    /// The model asked for.
    pub model: Option<String>,
    /// Whether the answer was asked for as a stream.
    pub stream: bool,
    /// The tools offered, by full name; those in a namespace as `namespace.name`.
    pub tools: Vec<String>,
    /// The scenario played; none for requests outside any conversation.
    pub scenario: Option<String>,
    /// The play of the scenario.
    pub play: Option<String>,
    /// The conversation's number in its scenario, from 1.
    pub iteration: Option<u64>,
    /// The turn of the model in its conversation, from 0.
    pub turn: Option<usize>,
    /// What was sent: a status, or `hang`, `cut` or `errorEvent`.
    pub outcome: String,
    /// The tokens that the answer said were used; none for an answer with a fault, and outside any conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ToldUsage>,
}

/// Tokens as an answer told them.
#[derive(Debug, Clone, Copy, Serialize, PartialEq, Eq)]
pub struct ToldUsage {
    /// All of the input, cached ones included.
    pub input: u64,
    /// The part of it that counts as read from a cache.
    pub cached: u64,
    /// The output.
    pub output: u64,
}
