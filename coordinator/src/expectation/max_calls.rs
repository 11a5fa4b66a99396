//! `maxCalls`: how often tools may be called.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most calls, failed ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaxCalls {
    /// Of all tools together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
    /// Of single tools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, u32>,
}

impl MaxCalls {
    /// Whether there is no limit.
    pub fn is_empty(&self) -> bool {
        self.total.is_none() && self.tools.is_empty()
    }
}
