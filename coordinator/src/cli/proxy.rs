//! `mcproctor proxy`: the recording proxy alone, in front of any server for any agent.

mod lines;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mcproctor_proto::server::{Header, HttpServer, StdioServer};
use mcproctor_worker::bridge::{Bridge, BridgeOptions};
use mcproctor_worker::proxy::{Proxy, ProxyOptions};
use secrecy::SecretString;
use tokio::signal::unix::{SignalKind, signal};

use super::exit::Exit;
use super::runtime::{chain, complain};
use lines::CallLines;

/// Puts the recording proxy in front of a server: for an agent of your own, or to see what is said.
///
/// Prints each call as it starts and ends. Ends with Ctrl-C.
#[derive(Debug, Args)]
pub(super) struct ProxyArgs {
    /// The URL of the MCP server
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    target: Option<String>,

    /// The loopback address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Append a JSON object a line to this file when a call starts and when it ends
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// The name of the server, the first part of the calls' ids
    #[arg(long, value_name = "NAME", default_value = "mcp")]
    name: String,

    /// Inject a header, as `name: value`. Others on this machine can see it; use --header-env for secrets
    #[arg(long, value_name = "HEADER", conflicts_with = "command")]
    header: Vec<String>,

    /// Inject a header whose value is in an environment variable, as `name=VARIABLE`
    #[arg(long, value_name = "NAME=VARIABLE", conflicts_with = "command")]
    header_env: Vec<String>,

    /// Trust the certificate authorities in this PEM file too
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    ca_file: Option<PathBuf>,

    /// Give the command this variable of the environment
    #[arg(long, value_name = "VARIABLE", requires = "command")]
    env: Vec<String>,

    /// Write the headers of every request to this file. It contains secrets
    #[arg(long, value_name = "FILE")]
    debug_log: Option<PathBuf>,

    /// The command of a server that speaks over its standard streams
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs until interrupted.
pub(super) fn run(args: ProxyArgs) -> Exit {
    // One thread carries the bytes; the recorder has its own.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(Exit::Failure, &format!("failed to start: {error}")),
    };
    let exit = runtime
        .block_on(serve(args))
        .unwrap_or_else(|(exit, why)| complain(exit, &why));
    runtime.shutdown_background();
    exit
}

type Failed = (Exit, String);

async fn serve(args: ProxyArgs) -> Result<Exit, Failed> {
    let failure =
        |what: &str, error: &dyn std::error::Error| (Exit::Failure, format!("failed to {what}{}", chain(error)));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| failure("listen to signals: ", &error))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| failure("listen to signals: ", &error))?;
    let folder = tempfile::tempdir().map_err(|error| failure("create a temporary folder: ", &error))?;

    let (upstream, bridge) = match stdio(&args)? {
        Some(server) => {
            let bridge = Bridge::start(&server, BridgeOptions::default()).await;
            let bridge = bridge.map_err(|error| failure("", &error))?;
            (
                HttpServer {
                    url: bridge.url(),
                    headers: Vec::new(),
                    ca_pem: None,
                },
                Some(bridge),
            )
        }
        None => (http(&args)?, None),
    };
    let shown = bridge
        .as_ref()
        .map_or_else(|| without_query(&upstream.url), |_| args.command[0].clone());

    let record = args.record.as_deref().map(append).transpose()?;
    let (lines, mut broken) = CallLines::new(record);
    let mut options = ProxyOptions::new(args.name, upstream, folder.path());
    options.listen = args.listen;
    options.inline_cap = options.body_copy_cap;
    options.keep = false;
    options.observer = Some(Box::new(lines));
    options.debug_log = match args.debug_log.as_deref() {
        Some(path) => Some(Box::new(append(path)?)),
        None => None,
    };
    let proxy = Proxy::start(options).await.map_err(|error| {
        let exit = if error.is_usage() { Exit::Usage } else { Exit::Failure };
        (exit, format!("failed to {}", chain(&error)))
    })?;
    say(&format!(
        "{} records what is said to {shown}; Ctrl-C ends it",
        proxy.url()
    ));

    let mut exit = Exit::Success;
    let incomplete = |why: &str| complain(Exit::Failure, &format!("the record is not complete: {why}"));
    // A record that cannot be written is no reason to cut the agent off.
    loop {
        tokio::select! {
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            Some(why) = broken.recv() => exit = incomplete(&why),
        }
    }
    let recorded = proxy.finish().await.map_err(|error| failure("", &error))?;
    if let Some(bridge) = bridge {
        bridge.stop().await;
    }
    if recorded.exposure.login_required {
        exit = complain(Exit::Failure, "the server asks for a login (401)");
    }
    for fault in recorded.exposure.faults {
        complain(exit, &format!("the server: {}", fault.what));
    }
    // The last lines are written when everything is over.
    if let Some(why) = recorded.exposure.recording_fault.or_else(|| broken.try_recv().ok()) {
        exit = incomplete(&why);
    }
    Ok(exit)
}

/// The server behind `--target`.
fn http(args: &ProxyArgs) -> Result<HttpServer, Failed> {
    let usage = |why: String| (Exit::Usage, why);
    let mut headers = Vec::new();
    for header in &args.header {
        // A malformed one may be a secret: it is not repeated.
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| usage("--header wants `name: value`".to_owned()))?;
        headers.push(Header {
            name: name.trim().to_owned(),
            value: SecretString::from(value.trim().to_owned()),
        });
    }
    for pair in &args.header_env {
        let (name, variable) = pair
            .split_once('=')
            .ok_or_else(|| usage("--header-env wants `name=VARIABLE`".to_owned()))?;
        headers.push(Header {
            name: name.trim().to_owned(),
            value: variable_of(variable)?,
        });
    }
    let ca_pem = match &args.ca_file {
        Some(path) => {
            let read = std::fs::read_to_string(path);
            Some(read.map_err(|error| usage(format!("failed to read {}: {error}", path.display())))?)
        }
        None => None,
    };
    Ok(HttpServer {
        url: args.target.clone().unwrap_or_default(),
        headers,
        ca_pem,
    })
}

/// The server behind `-- COMMAND`.
fn stdio(args: &ProxyArgs) -> Result<Option<StdioServer>, Failed> {
    let Some((command, rest)) = args.command.split_first() else {
        return Ok(None);
    };
    let mut env = BTreeMap::new();
    for name in &args.env {
        env.insert(name.clone(), variable_of(name)?);
    }
    Ok(Some(StdioServer {
        command: command.clone(),
        args: rest.to_vec(),
        env,
        cwd: None,
    }))
}

fn variable_of(name: &str) -> Result<SecretString, Failed> {
    let value =
        std::env::var(name).map_err(|_| (Exit::Usage, format!("the environment variable `{name}` is not set")))?;
    Ok(SecretString::from(value))
}

/// Opens a file to append to, for its owner alone: what is recorded may be private.
fn append(path: &std::path::Path) -> Result<std::fs::File, Failed> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    file.map_err(|error| (Exit::Usage, format!("failed to open {}: {error}", path.display())))
}

/// A key may be in the query.
fn without_query(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn say(line: &str) {
    // Whoever closed the pipe does not want to read it.
    let _ = writeln!(io::stdout().lock(), "{line}");
}
