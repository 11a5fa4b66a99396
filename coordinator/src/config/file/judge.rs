//! `judge`: read and checked, so that a config that has it can be used; this version does not run it.

use crate::yaml::{Item, Number, Place, Problems, Text};

/// The section.
pub(in crate::config) struct JudgeSection {
    pub(in crate::config) place: Place,
    pub(in crate::config) base_url: Option<Text>,
    pub(in crate::config) timeout_seconds: Option<Number>,
}

impl JudgeSection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        fields.later(&["provider"]);
        let base_url = fields
            .require("baseUrl", problems)
            .and_then(|item| item.filled_text(problems));
        if let Some(model) = fields.require("model", problems) {
            model.filled_text(problems);
        }
        if let Some(key) = fields.get("apiKey") {
            key.definite_text(problems);
        }
        let timeout_seconds = fields.get("timeoutSeconds").and_then(|item| item.number(problems));
        let place = fields.place();
        fields.finish(problems);
        Some(Self {
            place,
            base_url,
            timeout_seconds,
        })
    }
}
