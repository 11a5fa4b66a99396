//! `mcproctor worker`: attempts for a coordinator.

use std::path::PathBuf;

use mcproctor_proto::agent::AgentKind;
use mcproctor_proto::worker::AgentVersion;
use mcproctor_worker::iteration::Environment;
use mcproctor_worker::link::{Address, Settings, work};
use mcproctor_worker::sandbox::ProcessSandbox;
use secrecy::SecretString;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::runtime::{block_on, chain, complain};

/// Arguments of `mcproctor worker`.
#[derive(Debug, clap::Args)]
pub(super) struct WorkerArgs {
    /// The coordinator: `unix:/absolute/path`. The token is read from the first line of standard input, and the end of
    /// standard input ends the worker.
    #[arg(long, value_name = "ADDRESS")]
    connect: Address,
    /// The worker's name, unique among its coordinator's workers.
    #[arg(long)]
    name: String,
    /// Attempts at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    slots: u32,
    /// Where sandboxes are made; not under the temporary folder.
    #[arg(long, value_name = "DIR")]
    base: PathBuf,
    /// An agent that it can run, as KIND=VERSION.
    #[arg(long = "agent", value_name = "KIND=VERSION", value_parser = parse_agent)]
    agents: Vec<AgentVersion>,
    /// Append the headers of every proxied request to this file. Contains secrets.
    #[arg(long, value_name = "FILE")]
    debug_log: Option<PathBuf>,
}

fn parse_agent(text: &str) -> Result<AgentVersion, String> {
    let (kind, version) = text.split_once('=').ok_or("KIND=VERSION is expected")?;
    let kind = AgentKind::from_name(kind).ok_or_else(|| format!("`{kind}` is no kind of agent"))?;
    Ok(AgentVersion {
        kind,
        version: version.to_owned(),
    })
}

pub(super) fn run(args: WorkerArgs) -> Exit {
    block_on(async {
        let mut stdin = BufReader::new(tokio::io::stdin());
        let mut token = String::new();
        if let Err(error) = stdin.read_line(&mut token).await {
            return complain(
                Exit::Failure,
                &format!("failed to read the token from standard input: {error}"),
            );
        }
        if let Err(error) = std::fs::create_dir_all(&args.base) {
            return complain(
                Exit::Failure,
                &format!("failed to make the folder {}: {error}", args.base.display()),
            );
        }
        ProcessSandbox::remove_stale(&args.base);
        let stop = CancellationToken::new();
        let settings = Settings {
            address: args.connect,
            token: SecretString::from(token.trim_end()),
            name: args.name,
            slots: args.slots,
            agents: args.agents,
            environment: Environment {
                base: args.base,
                own_home: std::env::var_os("HOME").map(PathBuf::from),
                debug_log: args.debug_log,
            },
        };
        let parent = stop.clone();
        tokio::spawn(async move {
            // Nothing more is said on it; its end means that the coordinator is gone.
            let mut rest = [0; 64];
            while stdin.read(&mut rest).await.is_ok_and(|read| read > 0) {}
            parent.cancel();
        });
        match work(settings, stop).await {
            Ok(()) => Exit::Success,
            Err(error) => complain(Exit::Failure, &format!("failed to {}", chain(&error))),
        }
    })
}
