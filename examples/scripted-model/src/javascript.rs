//! Scripts for the `exec` tool that codex gives its newest models: JavaScript whose `tools` object holds every other
//! tool, and whose `ALL_TOOLS` lists them, also those that the tool's description leaves out.

use serde_json::{Value, json};

/// A script that calls tools at the same time, each by the end of its name, and gives their results as text.
pub(crate) fn calls(calls: &[(&str, &Value)]) -> String {
    let wanted: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| json!([identifier(name), arguments]))
        .collect();
    let wanted = Value::Array(wanted);
    format!(
        r#"// @exec: {{"yield_time_ms": 120000}}
const find = (name) => ALL_TOOLS.map((tool) => tool.name).find((full) => full === name || full.endsWith("__" + name));
const call = async ([name, input]) => {{
  const full = find(name);
  if (!full) return `I cannot call ${{name}}: it is not offered to me.`;
  try {{ const result = await tools[full](input); return result?.structuredContent ?? result; }} catch (error) {{ return String(error); }}
}};
for (const result of await Promise.all({wanted}.map(call))) text(result);
"#
    )
}

/// The name under which the script sees a tool.
fn identifier(name: &str) -> String {
    name.chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '_'
            }
        })
        .collect()
}
