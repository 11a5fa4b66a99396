//! From a request to its record, which never holds a key.

use crate::conversation::{Conversation, ToolKind};
use crate::dialect::Dialect;
use crate::record::RequestRecord;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use std::collections::BTreeMap;

const AUTH_HEADERS: [&str; 4] = ["authorization", "x-api-key", "api-key", "proxy-authorization"];

/// The key a request carries.
pub(super) fn offered_key(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name).map(HeaderValue::to_str).and_then(Result::ok);
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    text("x-api-key").or(bearer).or_else(|| text("api-key"))
}

/// What a request looked like, before anything is known about its answer.
pub(super) fn record(parts: &Parts, dialect: Option<Dialect>, conversation: Option<&Conversation>) -> RequestRecord {
    let carries_key = |name: &str| AUTH_HEADERS.contains(&name);
    let mut headers = BTreeMap::new();
    let mut auth_headers = Vec::new();
    for (name, value) in &parts.headers {
        if carries_key(name.as_str()) {
            auth_headers.push(name.to_string());
        } else {
            headers.insert(name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned());
        }
    }
    let tools = conversation.map_or(&[][..], |conversation| &conversation.tools).iter();
    let tools = tools.map(|tool| match &tool.kind {
        ToolKind::Namespaced(namespace)
        | ToolKind::JavaScript {
            namespace: Some(namespace),
            ..
        } => {
            format!("{namespace}.{}", tool.name)
        }
        _ => tool.name.clone(),
    });
    RequestRecord {
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        headers,
        auth_headers,
        dialect,
        model: conversation.map(|conversation| conversation.model.clone()),
        stream: conversation.is_some_and(|conversation| conversation.stream),
        tools: tools.collect(),
        scenario: None,
        play: None,
        iteration: None,
        turn: None,
        outcome: String::new(),
        usage: None,
    }
}
