//! Whether a tool's definition reached the model.

use mcproctor_proto::traffic::ModelTraffic;

/// Whether the model was sent the definition of `tool`; `None` when nobody saw what it was sent.
pub(super) fn reached(_traffic: &ModelTraffic, _tool: &str) -> Option<bool> {
    None
}
