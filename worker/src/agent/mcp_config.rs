//! The file that tells an agent about its MCP servers.

use serde_json::{Map, Value, json};

/// The servers in the common `mcpServers` form, with an entry of type `http` each.
pub(super) fn common_form(servers: &[(String, String)]) -> Vec<u8> {
    let entries: Map<String, Value> = servers
        .iter()
        .map(|(name, url)| (name.clone(), json!({ "type": "http", "url": url })))
        .collect();
    json!({ "mcpServers": entries }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::common_form;

    #[test]
    fn names_become_keys_whatever_they_hold() {
        let servers = [("a\"b".to_owned(), "http://127.0.0.1:1/mcp".to_owned())];
        let read: serde_json::Value = serde_json::from_slice(&common_form(&servers)).unwrap();
        assert_eq!(read["mcpServers"]["a\"b"]["url"], "http://127.0.0.1:1/mcp");
        assert_eq!(read["mcpServers"]["a\"b"]["type"], "http");
    }
}
