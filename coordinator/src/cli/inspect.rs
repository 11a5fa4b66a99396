//! Asking a server for its tools before anything costs money, the way an agent will: through proxy and bridge.

use std::time::Duration;

use mcproctor_proto::server::Server;
use mcproctor_worker::endpoint::Endpoint;
use mcproctor_worker::probe::{Probe, ProbeError, probe};
use serde_json::Value;

use super::runtime::chain;
use crate::config::address;
use crate::testcase::TestCase;
use crate::yaml::nearest;

/// How long a server may take to name its tools.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a server did not name its tools.
#[derive(Debug, thiserror::Error)]
pub(super) enum InspectError {
    /// It answered 401.
    #[error(
        "the server {0} answered 401: it needs a login, which is not supported in this version; \
         set an Authorization header under mcp.headers"
    )]
    LoginRequired(String),
    /// Nobody answers at its address, or its process cannot be started.
    #[error("the server {server} at {address} cannot be reached: {why}")]
    Unreachable {
        /// Its configured name.
        server: String,
        /// Where it should be, without secrets.
        address: String,
        /// What stands in the way.
        why: String,
    },
    /// There is no place for what the server says.
    #[error("failed to make a temporary folder: {0}")]
    TemporaryFolder(std::io::Error),
    /// It answered, but not as the protocol says.
    #[error("the server {server} did not name its tools: failed to {error}")]
    Unclear {
        /// Its configured name.
        server: String,
        /// What was wrong.
        error: ProbeError,
    },
}

/// Asks `server` for its tools.
pub(super) async fn inspect(server: &Server) -> Result<Probe, InspectError> {
    let unreachable = |why: String| InspectError::Unreachable {
        server: server.name.clone(),
        address: address(server),
        why,
    };
    let spill = tempfile::tempdir().map_err(InspectError::TemporaryFolder)?;
    let endpoint = Endpoint::start(server, spill.path(), |_| {})
        .await
        .map_err(|error| unreachable(format!("failed to {}", chain(&error))))?;
    let answer = probe(endpoint.proxy.url(), PATIENCE).await;
    let exposure = endpoint.proxy.exposure().await;
    let gone = endpoint.bridge.as_ref().and_then(|bridge| bridge.gone());
    if let Some(bridge) = endpoint.bridge {
        bridge.stop().await;
    }
    match answer {
        Ok(probe) => Ok(probe),
        Err(_) if gone.is_some() => Err(unreachable(gone.unwrap_or_default())),
        Err(_) if exposure.login_required => Err(InspectError::LoginRequired(server.name.clone())),
        // 502 is what the proxy and the bridge say for a server that is not there.
        Err(error @ (ProbeError::Unreachable(_) | ProbeError::Status { status: 502, .. })) => Err(unreachable(
            exposure
                .faults
                .last()
                .map_or_else(|| error.to_string(), |fault| fault.what.clone()),
        )),
        Err(error) => Err(InspectError::Unclear {
            server: server.name.clone(),
            error,
        }),
    }
}

/// What test cases name that the server does not offer, one sentence each.
pub(super) fn not_offered(cases: &[TestCase], probe: &Probe) -> Vec<String> {
    let offered: Vec<&str> = probe.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut missing = Vec::new();
    for case in cases {
        let mut seen: Vec<&str> = Vec::new();
        let expected = case.expected_tools.iter().map(|tool| ("expects", tool));
        let arguments = &case.expectations.expected_arguments;
        let arguments = arguments.iter().map(|entry| ("expects arguments of", &entry.tool));
        // A slip in one of these would make it hold whatever happens.
        let forbidden = case.expectations.forbidden_tools.iter().map(|tool| ("forbids", tool));
        let limited = case.expectations.max_calls.tools.keys().map(|tool| ("limits", tool));
        for (how, tool) in expected.chain(arguments).chain(forbidden).chain(limited) {
            if offered.contains(&tool.as_str()) || seen.contains(&tool.as_str()) {
                continue;
            }
            seen.push(tool);
            let hint = nearest(tool, &offered)
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            missing.push(format!(
                "{}: {how} `{tool}`, which the server does not offer{hint}",
                case.file
            ));
        }
    }
    missing
}

/// Arguments that test cases expect of a tool that has no such argument, one sentence each.
pub(super) fn unknown_arguments(cases: &[TestCase], probe: &Probe) -> Vec<String> {
    let mut unknown = Vec::new();
    for case in cases {
        for entry in &case.expectations.expected_arguments {
            let tool = probe.tools.iter().find(|tool| tool.name == entry.tool);
            let Some(known) = tool.and_then(|tool| named_arguments(&tool.input_schema)) else {
                continue;
            };
            for argument in entry.arguments.required_keys() {
                if known.contains(&argument) {
                    continue;
                }
                let hint = nearest(argument, &known)
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                unknown.push(format!(
                    "{}: expects the argument `{argument}` of `{}`, which the tool does not name{hint}",
                    case.file, entry.tool
                ));
            }
        }
    }
    unknown
}

/// The arguments that a schema names. `None` where it names none or says that there may be others.
fn named_arguments(schema: &Value) -> Option<Vec<&str>> {
    let others = schema
        .get("additionalProperties")
        .is_some_and(|allowed| *allowed != Value::Bool(false));
    if others || schema.get("patternProperties").is_some() {
        return None;
    }
    let named: Vec<&str> = schema
        .get("properties")?
        .as_object()?
        .keys()
        .map(String::as_str)
        .collect();
    (!named.is_empty()).then_some(named)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_schema_that_leaves_no_room_for_others_names_the_arguments() {
        let named = |rest: Value| {
            let mut schema = json!({"type": "object", "properties": {"city": {}}});
            if let (Some(schema), Some(rest)) = (schema.as_object_mut(), rest.as_object()) {
                schema.extend(rest.clone());
            }
            named_arguments(&schema).map(|named| named.join(","))
        };
        assert_eq!(named(json!({})).as_deref(), Some("city"));
        assert_eq!(named(json!({"additionalProperties": false})).as_deref(), Some("city"));
        for others in [
            json!({"additionalProperties": true}),
            json!({"additionalProperties": {"type": "string"}}),
            json!({"patternProperties": {"^x-": {}}}),
            json!({"properties": {}}),
        ] {
            assert_eq!(named(others.clone()), None, "{others}");
        }
    }
}
