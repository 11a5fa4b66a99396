//! What the relay saw of the model.

use serde::{Deserialize, Serialize};

/// The model's side of an attempt, over all turns so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTraffic {
    /// Whether the relay was in the path at all; without it nothing below says anything.
    pub observed: bool,
    /// Requests that the agent sent.
    pub requests: u32,
    /// Those that were answered with success.
    pub succeeded: u32,
    /// Milliseconds spent waiting for a model that refused, failed or stayed silent.
    pub waiting_ms: u64,
    /// The last refusal that no later success got over.
    pub refusal: Option<ModelRefusal>,
    /// The model that the API named in its last response.
    pub response_model: Option<String>,
}

/// The model API said no, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRefusal {
    /// The HTTP status; 0 when the endpoint could not be reached.
    pub status: u16,
    /// The API's own error type or code.
    pub code: Option<String>,
    /// The API's own words, redacted and shortened.
    pub message: String,
    /// How long the API asks to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}
