//! What is asked, in which order, of servers old and new.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::error::ProbeError;
use super::exchange::{Answer, Connection};
use super::tool::Tool;

/// The revision that is asked for in `initialize`; a server offers another one that it knows.
const LATEST: &str = "2025-11-25";

/// The first revision without `initialize`.
const STATELESS: &str = "2026-07-28";

/// More pages than any list has: a server that always names a next one must not keep the probe for ever.
const PAGES: usize = 1000;

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The revision that was agreed on.
    pub protocol_version: String,
    /// Its name; empty when it gives none.
    pub server_name: String,
    /// Its version; empty when it gives none.
    pub server_version: String,
    /// Its instructions for models.
    pub instructions: Option<String>,
    /// Its tools, in its order.
    pub tools: Vec<Tool>,
}

/// Asks a server for its tools, over all pages.
///
/// `initialize` is tried first, as all servers before 2026-07-28 need it; one that refuses it is asked in the stateless
/// form.
///
/// # Errors
///
/// When the server cannot be reached, wants a login, answers with an error, breaks the protocol, or has not answered
/// everything within `timeout`.
pub async fn probe(url: &str, timeout: Duration) -> Result<Probe, ProbeError> {
    tokio::time::timeout(timeout, dialogue(url))
        .await
        .unwrap_or(Err(ProbeError::TimedOut(timeout)))
}

async fn dialogue(url: &str) -> Result<Probe, ProbeError> {
    let mut connection = Connection::new(url)?;
    let params = json!({"protocolVersion": LATEST, "capabilities": {}, "clientInfo": client()});
    let refusal = match connection.ask("initialize", params).await {
        Ok(Answer::Result(result)) => return with_session(connection, &result).await,
        Ok(Answer::Error { code, message }) => ProbeError::Refused {
            method: "initialize",
            code,
            message,
        },
        Err(
            error @ ProbeError::Status {
                status: 400 | 404 | 405 | 406 | 426,
                ..
            },
        ) => error,
        Err(error) => return Err(error),
    };
    // What the server said to `initialize` is the better explanation when it does not know the stateless form either.
    match stateless(Connection::new(url)?).await {
        Err(ProbeError::Status { .. } | ProbeError::Refused { .. } | ProbeError::Protocol(_)) => Err(refusal),
        other => other,
    }
}

async fn with_session(mut connection: Connection, result: &Value) -> Result<Probe, ProbeError> {
    let version = result.get("protocolVersion").and_then(Value::as_str);
    let version = version
        .ok_or_else(|| ProbeError::Protocol("it named no protocol version".to_owned()))?
        .to_owned();
    connection.version = Some(version.clone());
    connection.tell("notifications/initialized").await?;
    let tools = tools(&mut connection, &Map::new()).await?;
    connection.leave().await;
    let server = result.get("serverInfo");
    Ok(Probe {
        protocol_version: version,
        server_name: text(server, "name").unwrap_or_default(),
        server_version: text(server, "version").unwrap_or_default(),
        instructions: text(Some(result), "instructions"),
        tools,
    })
}

/// Source: the 2026-07-28 revision, where every request carries version and capabilities in `_meta`.
async fn stateless(mut connection: Connection) -> Result<Probe, ProbeError> {
    connection.version = Some(STATELESS.to_owned());
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let discovered = match connection.ask("server/discover", meta.clone()).await? {
        Answer::Result(result) => result,
        Answer::Error { code, message } => {
            return Err(ProbeError::Refused {
                method: "server/discover",
                code,
                message,
            });
        }
    };
    let params = meta.as_object().cloned().unwrap_or_default();
    let tools = tools(&mut connection, &params).await?;
    let server = discovered.get("serverInfo").or_else(|| {
        discovered
            .get("_meta")
            .and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"))
    });
    Ok(Probe {
        protocol_version: STATELESS.to_owned(),
        server_name: text(server, "name").unwrap_or_default(),
        server_version: text(server, "version").unwrap_or_default(),
        instructions: text(Some(&discovered), "instructions"),
        tools,
    })
}

/// All pages of `tools/list`. A server that does not know the method has no tools.
async fn tools(connection: &mut Connection, params: &Map<String, Value>) -> Result<Vec<Tool>, ProbeError> {
    const METHOD_NOT_FOUND: i64 = -32601;
    let mut tools = Vec::new();
    let mut cursors = HashSet::new();
    let mut params = params.clone();
    for page in 0..PAGES {
        let result = match connection.ask("tools/list", Value::Object(params.clone())).await? {
            Answer::Result(result) => result,
            Answer::Error {
                code: METHOD_NOT_FOUND, ..
            } if page == 0 => return Ok(tools),
            Answer::Error { code, message } => {
                return Err(ProbeError::Refused {
                    method: "tools/list",
                    code,
                    message,
                });
            }
        };
        let entries = result.get("tools").and_then(Value::as_array);
        let entries = entries.ok_or_else(|| ProbeError::Protocol("its list of tools is no list".to_owned()))?;
        for entry in entries {
            tools.push(Tool::read(entry, tools.len())?);
        }
        match result.get("nextCursor").and_then(Value::as_str) {
            None => return Ok(tools),
            Some(cursor) if cursors.insert(cursor.to_owned()) => {
                params.insert("cursor".to_owned(), json!(cursor));
            }
            Some(_) => {
                return Err(ProbeError::Protocol(
                    "its list of tools goes round in a circle".to_owned(),
                ));
            }
        }
    }
    Err(ProbeError::Protocol(format!(
        "its list of tools has more than {PAGES} pages"
    )))
}

fn client() -> Value {
    json!({"name": "mcproctor", "version": env!("CARGO_PKG_VERSION")})
}

fn text(of: Option<&Value>, key: &str) -> Option<String> {
    of?.get(key).and_then(Value::as_str).map(str::to_owned)
}
