//! Runs the scripted model alone.

use anyhow::Context;
use clap::Parser;
use scripted_model::{RequestRecord, Scenarios, ScriptedModel};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::net::TcpListener;

/// A deterministic model endpoint that plays scenarios from a file.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Scenario file, YAML or JSON; without it the scenarios of the demo are played.
    #[arg(long, value_name = "FILE")]
    scenarios: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 3211)]
    port: u16,
    /// Append one JSON line per request to this file; keys are left out.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The exit code is left to tell if standard error fails too.
            let _ = writeln!(std::io::stderr(), "scripted-model: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let scenarios = match &arguments.scenarios {
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
            Scenarios::from_yaml(&text).with_context(|| format!("failed to read {}", path.display()))?
        }
        None => Scenarios::demo()?,
    };
    let log = match &arguments.log {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            Some(file.with_context(|| format!("failed to open {}", path.display()))?)
        }
        None => None,
    };
    let address = (Ipv4Addr::LOCALHOST, arguments.port);
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("failed to listen on 127.0.0.1:{}", arguments.port))?;
    let model = ScriptedModel::start_observed(listener, scenarios, logger(log))?;
    writeln!(std::io::stderr(), "scripted model listens on {}", model.base_url())?;
    tokio::signal::ctrl_c().await?;
    Ok(())
}

/// Writes a line per request. A log that cannot be written is given up with one message; the endpoint goes on.
fn logger(mut log: Option<File>) -> impl FnMut(&RequestRecord) + Send {
    move |record| {
        let Some(file) = log.as_mut() else { return };
        let written = serde_json::to_string(record)
            .map_err(std::io::Error::from)
            .and_then(|line| file.write_all(format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            // Nobody is left to tell if standard error fails too.
            let _ = writeln!(std::io::stderr(), "failed to write the log, which ends here: {error}");
            log = None;
        }
    }
}
