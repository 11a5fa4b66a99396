//! The tools of every server under one roof, as the model is offered them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::MinimalError;
use super::mcp::Mcp;

/// The longest name that model APIs take for a tool.
const NAME_LIMIT: usize = 64;

/// All tools.
#[derive(Debug)]
pub(super) struct Toolbox {
    servers: Vec<Mcp>,
    /// By the name that the model knows: the server's index and the tool's own name.
    tools: BTreeMap<String, (usize, String)>,
    definitions: Vec<Value>,
}

impl Toolbox {
    pub(super) async fn connect(servers: &[(String, String)]) -> Result<Self, MinimalError> {
        let mut toolbox = Self {
            servers: Vec::new(),
            tools: BTreeMap::new(),
            definitions: Vec::new(),
        };
        for (index, (name, url)) in servers.iter().enumerate() {
            let failed = |source| MinimalError::Mcp {
                server: name.clone(),
                source,
            };
            let mcp = Mcp::connect(url).await.map_err(failed)?;
            let tools = mcp.tools().await.map_err(failed)?;
            toolbox.servers.push(mcp);
            for tool in &tools {
                toolbox.add(index, name, tool);
            }
        }
        Ok(toolbox)
    }

    fn add(&mut self, index: usize, server: &str, tool: &Value) {
        let Some(own) = tool.get("name").and_then(Value::as_str) else {
            return;
        };
        let name = free_name(server, own, |name| self.tools.contains_key(name));
        let schema = tool
            .get("inputSchema")
            .cloned()
            .unwrap_or_else(|| json!({ "type": "object" }));
        let mut function = json!({ "name": name, "parameters": schema });
        if let Some(description) = tool.get("description").filter(|text| text.is_string()) {
            function["description"] = description.clone();
        }
        self.definitions
            .push(json!({ "type": "function", "function": function }));
        self.tools.insert(name, (index, own.to_owned()));
    }

    /// The definitions in the Chat Completions form.
    pub(super) fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    /// What the model is told of a call; what goes wrong is for the model to handle.
    pub(super) async fn call(&self, name: &str, arguments: &str) -> String {
        let Some((index, tool)) = self.tools.get(name) else {
            return format!("error: there is no tool `{name}`");
        };
        let Some(server) = self.servers.get(*index) else {
            return "error: the server is gone".to_owned();
        };
        let arguments = match arguments.trim() {
            "" => Ok(json!({})),
            text => serde_json::from_str(text),
        };
        match arguments {
            Ok(arguments) => match server.call(tool, &arguments).await {
                Ok(result) => text(&result),
                Err(error) => format!("error: {error}"),
            },
            Err(error) => format!("error: the arguments are not JSON: {error}"),
        }
    }

    /// Ends every session.
    pub(super) async fn close(&self) {
        futures_util::future::join_all(self.servers.iter().map(Mcp::close)).await;
    }
}

/// A name that model APIs take: letters, digits, `_` and `-`, not too long, and not taken yet.
fn free_name(server: &str, tool: &str, taken: impl Fn(&str) -> bool) -> String {
    let plain = |text: &str| -> String {
        text.chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "_-".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .take(NAME_LIMIT)
            .collect()
    };
    let name = plain(tool);
    if !taken(&name) {
        return name;
    }
    let qualified = plain(&format!("{server}__{tool}"));
    let numbered = (2_u32..).map(|number| {
        let suffix = format!("_{number}");
        let kept = qualified.len().min(NAME_LIMIT - suffix.len());
        format!("{}{suffix}", &qualified[..kept])
    });
    std::iter::once(qualified.clone())
        .chain(numbered)
        .find(|name| !taken(name))
        .unwrap_or(qualified)
}

/// A result as text: its text blocks, else its structured content, else all of it.
fn text(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array);
    let texts: Vec<&str> = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("text")?.as_str())
        .collect();
    let shown = match result.get("structuredContent") {
        _ if !texts.is_empty() => texts.join("\n"),
        Some(structured) => structured.to_string(),
        None => result.to_string(),
    };
    if result.get("isError") == Some(&Value::Bool(true)) {
        format!("error: {shown}")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{NAME_LIMIT, free_name, text};

    #[test]
    fn tools_of_the_same_name_are_told_apart() {
        let taken = |names: &'static [&'static str]| move |name: &str| names.contains(&name);
        assert_eq!(free_name("weather", "get.it", taken(&[])), "get_it");
        assert_eq!(free_name("weather", "get.it", taken(&["get_it"])), "weather__get_it");
        assert_eq!(
            free_name("weather", "get.it", taken(&["get_it", "weather__get_it"])),
            "weather__get_it_2"
        );
        let long = "x".repeat(100);
        let third = free_name("s", &long, |name| !name.ends_with("_2"));
        assert!(third.len() <= NAME_LIMIT && third.ends_with("_2"));
    }

    #[test]
    fn the_model_reads_text_before_structure_and_hears_of_errors() {
        let content = json!([{ "type": "text", "text": "a" }, { "type": "image" }, { "type": "text", "text": "b" }]);
        assert_eq!(
            text(&json!({ "content": content, "structuredContent": { "x": 1 } })),
            "a\nb"
        );
        assert_eq!(
            text(&json!({ "content": [], "structuredContent": { "x": 1 } })),
            r#"{"x":1}"#
        );
        assert_eq!(
            text(&json!({ "content": [{ "type": "text", "text": "no" }], "isError": true })),
            "error: no"
        );
    }
}
