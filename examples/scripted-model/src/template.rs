//! Placeholders in what a script says: `{result}` and the scenario's own words.

use crate::conversation::Conversation;
use crate::scenario::Scenario;
use serde_json::Value;

/// Fills in placeholders from one conversation.
#[derive(Debug)]
pub(crate) struct Template<'a> {
    values: Vec<(String, &'a str)>,
}

impl<'a> Template<'a> {
    /// `{result}` is the newest tool result. `{NAME}` is the word of that list which the user said last; the list's
    /// first if none was said.
    pub(crate) fn new(scenario: &'a Scenario, conversation: &'a Conversation) -> Self {
        let mut values = vec![(
            "{result}".to_owned(),
            bare(conversation.last_result().unwrap_or_default()),
        )];
        for (name, words) in &scenario.words {
            values.push((format!("{{{name}}}"), last_said(words, conversation)));
        }
        Self { values }
    }

    pub(crate) fn text(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, (placeholder, value)| {
            text.replace(placeholder, value)
        })
    }

    /// Fills in every string of a JSON value.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(map) => Value::Object(
                map.iter()
                    .map(|(key, value)| (key.clone(), self.value(value)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}

/// A result without the head that codex puts before it (wall time, exit code).
fn bare(result: &str) -> &str {
    let codex = ["Wall time", "Chunk ID", "Script completed"]
        .iter()
        .any(|start| result.starts_with(start));
    let output = result
        .split_once("Output:\n")
        .map(|(_, output)| output)
        .filter(|_| codex);
    output.unwrap_or(result).trim_end()
}

fn last_said<'a>(words: &'a [String], conversation: &Conversation) -> &'a str {
    let mut found = words.first().map_or("", String::as_str);
    for text in conversation.user_texts() {
        let text = text.to_lowercase();
        let said = words
            .iter()
            .filter_map(|word| Some((text.rfind(&word.to_lowercase())?, word)));
        if let Some((_, word)) = said.max_by_key(|(position, _)| *position) {
            found = word;
        }
    }
    found
}
