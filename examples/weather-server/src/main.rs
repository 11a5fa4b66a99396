//! Runs the weather server alone, over Streamable HTTP or stdio.

use anyhow::Context;
use clap::Parser;
use rmcp::ServiceExt;
use std::io::Write;
use std::net::IpAddr;
use std::process::ExitCode;
use tokio::net::TcpListener;
use weather_server::{MCP_PATH, WeatherServer, serve};

/// A small deterministic MCP server to try mcproctor on.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 3210)]
    port: u16,
    /// Speak MCP on stdin and stdout instead of HTTP.
    #[arg(long, conflicts_with_all = ["host", "port"])]
    stdio: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The exit code is left to tell if standard error fails too.
            let _ = writeln!(std::io::stderr(), "weather-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    if arguments.stdio {
        WeatherServer.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let address = (arguments.host, arguments.port);
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("failed to listen on {}:{}", arguments.host, arguments.port))?;
    writeln!(
        std::io::stderr(),
        "weather server listens on http://{}{MCP_PATH}",
        listener.local_addr()?
    )?;
    serve(listener, async {
        // Without a working signal handler the default action ends the process anyway.
        let _ = tokio::signal::ctrl_c().await;
    })
    .await?;
    Ok(())
}
