//! `judge`: the model that gives a second opinion on every iteration.

use crate::yaml::{Item, Number, Problems, Text};

/// The section.
pub(in crate::config) struct JudgeSection {
    pub(in crate::config) base_url: Option<Text>,
    pub(in crate::config) model: Option<Text>,
    pub(in crate::config) api_key: Option<Text>,
    pub(in crate::config) timeout_seconds: Option<Number>,
}

/// What an endpoint speaks: OpenAI's Chat Completions, as most model servers do. There is nothing to choose yet.
const PROVIDERS: [(&str, ()); 1] = [("openai-compatible", ())];

impl JudgeSection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        let base_url = fields
            .require("baseUrl", problems)
            .and_then(|item| item.filled_text(problems));
        let model = fields
            .require("model", problems)
            .and_then(|item| item.filled_text(problems));
        // A local endpoint needs none, and the variable it comes from may then be empty.
        let api_key = fields.get("apiKey").and_then(|item| item.definite_text(problems));
        let timeout_seconds = fields.get("timeoutSeconds").and_then(|item| item.number(problems));
        if let Some(item) = fields.get("provider") {
            // It says itself when it is another one.
            let _ = item.word(&PROVIDERS, &[], problems);
        }
        fields.finish(problems);
        Some(Self {
            base_url,
            model,
            api_key,
            timeout_seconds,
        })
    }
}
