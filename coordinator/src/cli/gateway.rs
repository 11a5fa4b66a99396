//! `mcproctor gateway`: the model relay as a service.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mcproctor_worker::relay::{Gateway, GatewayError, GatewayLimits, GatewayModel, GatewayOptions, GatewayTls};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::exit::Exit;
use super::runtime::{block_on, chain, complain};
use crate::clock::{Clock as _, SystemClock};
use crate::config::{Environment, GatewayConfig, load_gateway};

/// Holds the models' keys for many workers, which show it lease tokens.
///
/// Ends with Ctrl-C or SIGTERM, once what is under way has ended.
#[derive(Debug, Args)]
pub(super) struct GatewayArgs {
    /// The config file.
    #[arg(short, long, value_name = "FILE", default_value = "./gateway.yaml")]
    config: PathBuf,
    /// The address to listen on, in place of `listen`; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// How long answers that are under way may take once it is told to end.
    #[arg(long, value_name = "SECONDS", default_value_t = 25, value_parser = clap::value_parser!(u64).range(0..=3600))]
    drain_seconds: u64,
}

/// Runs until it is told to end.
pub(super) fn run(args: &GatewayArgs) -> Exit {
    match load_gateway(&args.config, args.listen, &Environment::of_process()) {
        Ok(config) => block_on(serve(config, Duration::from_secs(args.drain_seconds))),
        Err(errors) => complain(Exit::Usage, &errors.to_string()),
    }
}

async fn serve(config: GatewayConfig, patience: Duration) -> Exit {
    let signals = signal(SignalKind::interrupt()).and_then(|first| Ok((first, signal(SignalKind::terminate())?)));
    let (mut interrupt, mut terminate) = match signals {
        Ok(signals) => signals,
        Err(error) => return complain(Exit::Failure, &format!("failed to listen to signals: {error}")),
    };
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let names: Vec<&str> = config.models.keys().map(String::as_str).collect();
    let names = names.join(", ");
    let limits = config.limits.in_words();
    let gateway = match Gateway::start(options(config)).await {
        Ok(gateway) => gateway,
        Err(error) => return refuse(&error),
    };
    let limits = if limits.is_empty() {
        String::new()
    } else {
        format!("; {limits}")
    };
    say(&format!(
        "the gateway listens on {scheme}://{} for {names}{limits}",
        gateway.address()
    ));
    told_to_end(&mut interrupt, &mut terminate).await;
    let ended = tokio::select! {
        ended = gateway.drain(patience) => ended,
        () = told_to_end(&mut interrupt, &mut terminate) => false,
    };
    say(if ended {
        "the gateway has ended"
    } else {
        "the gateway has ended, and cut off what was still under way"
    });
    Exit::Success
}

async fn told_to_end(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

fn refuse(error: &GatewayError) -> Exit {
    let exit = if error.is_usage() { Exit::Usage } else { Exit::Failure };
    complain(exit, &format!("failed to {}", chain(error)))
}

fn options(config: GatewayConfig) -> GatewayOptions {
    let prices = config.prices;
    GatewayOptions {
        listen: config.listen,
        tls: config.tls.map(|files| GatewayTls {
            certificate_pem: files.certificate_pem,
            key_pem: files.key_pem,
        }),
        token_key: config.token_key,
        models: config
            .models
            .into_iter()
            .map(|(name, model)| {
                let model = GatewayModel {
                    dialect: model.api,
                    upstream: model.base_url,
                    credential: model.credential,
                };
                (name, model)
            })
            .collect(),
        limits: GatewayLimits {
            max_tokens: config.limits.max_tokens,
            max_cost_usd: config.limits.max_cost_usd,
            requests_per_minute: config.limits.requests_per_minute,
        },
        price_of: Arc::new(move |model| prices.of(model)),
        now_unix_s: Arc::new(|| SystemClock.now_unix_s()),
    }
}

fn say(line: &str) {
    // Whoever closed the pipe does not want to read it.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
