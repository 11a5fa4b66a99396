//! The MCP servers that an attempt is held in front of.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::SecretString;

/// One MCP server.
#[derive(Clone, Debug)]
pub struct Server {
    /// The name under which agents know it.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
}

/// How an MCP server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Streamable HTTP at a URL.
    Http(HttpServer),
    /// A child process per iteration, spoken to over its standard streams.
    Stdio(StdioServer),
}

/// A server over Streamable HTTP.
#[derive(Clone, Debug)]
pub struct HttpServer {
    /// `http` or `https`.
    pub url: String,
    /// Injected into every request by the proxy, never visible to the agent.
    pub headers: Vec<Header>,
    /// Extra certificate authorities, PEM.
    pub ca_pem: Option<String>,
}

/// A header that the proxy injects.
#[derive(Clone, Debug)]
pub struct Header {
    /// The field name.
    pub name: String,
    /// The value, always treated as secret.
    pub value: SecretString,
}

/// A server that is started as a child.
#[derive(Clone, Debug)]
pub struct StdioServer {
    /// The program, looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Added to a minimal environment; values are secret.
    pub env: BTreeMap<String, SecretString>,
    /// Its working folder; the worker's own when absent.
    pub cwd: Option<PathBuf>,
}
