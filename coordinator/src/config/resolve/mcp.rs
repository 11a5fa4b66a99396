//! The server under test.

use std::path::Path;

use mcproctor_proto::server::{Header, HttpServer, Server, StdioServer, Transport};

use super::context::{Context, http_url};
use super::env::resolve_env;
use super::header::resolve_header;
use super::path::{resolve_path, resolve_program};
use crate::config::file::{HttpSection, McpSection, StdioSection, TransportSection};
use crate::yaml::{Problems, Text};

/// The name under which agents know a server that is given none.
const DEFAULT_NAME: &str = "mcp-under-test";

/// Larger files are no certificates.
const MAX_CA_BYTES: u64 = 4 * 1024 * 1024;

pub(super) fn resolve_server(section: &McpSection, context: &Context<'_>, problems: &mut Problems) -> Option<Server> {
    let name = match &section.name {
        Some(name) => resolve_name(name, problems),
        None => Some(DEFAULT_NAME.to_owned()),
    };
    let transport = match section.transport.as_ref()? {
        TransportSection::Http(http) => resolve_http(http, context, problems).map(Transport::Http),
        TransportSection::Stdio(stdio) => resolve_stdio(stdio, context, problems).map(Transport::Stdio),
    };
    Some(Server {
        name: name?,
        transport: transport?,
    })
}

/// Agents make tool names of it (`mcp__<name>__<tool>`), which model APIs limit to these characters.
fn resolve_name(name: &Text, problems: &mut Problems) -> Option<String> {
    let valid = name.value.len() <= 64
        && name
            .value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if valid {
        return Some(name.value.clone());
    }
    let problem = name.problem(problems, format!("`{}` cannot name a server", name.shown));
    problems.add(problem.accepted("up to 64 letters, digits, `-` and `_`"));
    None
}

fn resolve_http(section: &HttpSection, context: &Context<'_>, problems: &mut Problems) -> Option<HttpServer> {
    let url = http_url(&section.url, problems);
    if url.as_ref().is_some_and(|url| url.fragment().is_some()) {
        problems.add(
            section
                .url
                .problem(problems, "the URL has a `#…`, which no server ever sees")
                .remedy("remove it"),
        );
    }
    let headers: Vec<Option<Header>> = section
        .headers
        .iter()
        .map(|header| resolve_header(&header.name, &header.value, problems))
        .collect();
    let ca_pem = section.ca_file.as_ref().map(|text| read_ca(text, context, problems));
    Some(HttpServer {
        // The text itself and not what the parser makes of it: a path or query may depend on how it is written.
        url: url.map(|_| section.url.value.clone())?,
        headers: headers.into_iter().collect::<Option<_>>()?,
        ca_pem: ca_pem.map_or(Some(None), |pem| pem.map(Some))?,
    })
}

/// A file with certificates.
pub(super) fn read_ca(text: &Text, context: &Context<'_>, problems: &mut Problems) -> Option<String> {
    read_pem(text, "CERTIFICATE", context, problems)
}

/// A file with PEM blocks whose label ends so (RFC 7468, section 3).
pub(super) fn read_pem(text: &Text, label: &str, context: &Context<'_>, problems: &mut Problems) -> Option<String> {
    let path = resolve_path(text, context.base, context.variables.shell, problems)?;
    let begins = |line: &str| {
        let inside = line.trim().strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
        inside.ends_with(label).then_some(())
    };
    let what = match read_small(&path) {
        Ok(pem) if pem.lines().any(|line| begins(line).is_some()) => return Some(pem),
        Ok(_) => format!("{} holds no {} in PEM form", path.display(), label.to_lowercase()),
        Err(error) => format!("{} cannot be read: {error}", path.display()),
    };
    problems.add(
        text.problem(problems, what)
            .accepted(format!("a file with `-----BEGIN {label}-----` blocks")),
    );
    None
}

fn read_small(path: &Path) -> std::io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MAX_CA_BYTES {
        return Err(std::io::Error::other("not an ordinary small file"));
    }
    std::fs::read_to_string(path)
}

fn resolve_stdio(section: &StdioSection, context: &Context<'_>, problems: &mut Problems) -> Option<StdioServer> {
    let shell = context.variables.shell;
    let command = resolve_program(&section.command, context.base, shell, problems);
    let cwd = section
        .cwd
        .as_ref()
        .map(|text| resolve_path(text, context.base, shell, problems));
    let env = resolve_env(&section.env, problems);
    Some(StdioServer {
        command: command?,
        args: section.args.iter().map(|arg| arg.value.clone()).collect(),
        env: env?,
        cwd: cwd.map_or(Some(None), |path| path.map(Some))?,
    })
}
