//! The worker as a command: `mcproctor worker` of the coordinator's binary, and `mcproctor-worker` itself.

use std::path::PathBuf;

use clap::Args;
use mcproctor_proto::agent::AgentKind;
use mcproctor_proto::assignment::{DEFAULT_IMAGE, SandboxLevel};
use mcproctor_proto::worker::AgentVersion;
use secrecy::SecretString;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio_util::sync::CancellationToken;

use crate::descriptors;
use crate::iteration::Environment;
use crate::link::{Address, LinkError, Settings, work};
use crate::sandbox::{Launcher, Sandbox, abilities, keep_to_itself};

/// What a worker is started with.
#[derive(Args, Clone, Debug)]
pub struct WorkerArgs {
    /// The coordinator: `unix:/absolute/path`. The token is read from the first line of standard input, and the end of
    /// standard input ends the worker.
    #[arg(long, value_name = "ADDRESS")]
    pub connect: Address,
    /// The worker's name, unique among its coordinator's workers.
    #[arg(long)]
    pub name: String,
    /// Attempts at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub slots: u32,
    /// Where sandboxes are made; not under the temporary folder.
    #[arg(long, value_name = "DIR")]
    pub base: PathBuf,
    /// An agent that it can run, as KIND=VERSION.
    #[arg(long = "agent", value_name = "KIND=VERSION", value_parser = parse_agent)]
    pub agents: Vec<AgentVersion>,
    /// Append the headers of every proxied request to this file. Contains secrets.
    #[arg(long, value_name = "FILE")]
    pub debug_log: Option<PathBuf>,
}

fn parse_agent(text: &str) -> Result<AgentVersion, String> {
    let (kind, version) = text.split_once('=').ok_or("KIND=VERSION is expected")?;
    let kind = AgentKind::from_name(kind).ok_or_else(|| format!("`{kind}` is no kind of agent"))?;
    Ok(AgentVersion {
        kind,
        version: version.to_owned(),
    })
}

/// Why a worker ended otherwise than by being sent home.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The coordinator's token did not come.
    #[error("read the token from standard input")]
    Token(#[source] std::io::Error),
    /// Its memory, where credentials are, could not be kept to itself.
    #[error("keep its memory to itself")]
    Memory(#[source] std::io::Error),
    /// It does not know where its own program is, which sandboxes need.
    #[error("find its own program")]
    Program(#[source] std::io::Error),
    /// There is no place for sandboxes.
    #[error("make the folder {}", path.display())]
    Base {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The coordinator could not be reached, or refused the worker.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// The levels at which this machine can hold an agent. `container` is not among them: whether an engine is there is asked when an
/// attempt needs one, so that one that does not answer holds up nobody else.
async fn sandboxes() -> Vec<SandboxLevel> {
    let found = tokio::task::spawn_blocking(|| {
        let mut asked = SandboxLevel::ALL.to_vec();
        asked.retain(|level| *level < SandboxLevel::Container);
        let able = abilities(&asked, DEFAULT_IMAGE)
            .into_iter()
            .filter(|ability| ability.state.is_ok());
        able.map(|ability| ability.level).collect()
    });
    found.await.unwrap_or_else(|_| vec![SandboxLevel::Process])
}

/// Works for the coordinator until it sends the worker home or standard input ends.
///
/// # Errors
/// When the worker cannot begin, or loses its coordinator for good.
pub async fn worker(args: WorkerArgs) -> Result<(), CommandError> {
    keep_to_itself().map_err(CommandError::Memory)?;
    descriptors::raise_limit();
    let launcher = Launcher::of_this_program().map_err(CommandError::Program)?;
    let mut stdin = BufReader::new(tokio::io::stdin());
    let mut token = String::new();
    stdin.read_line(&mut token).await.map_err(CommandError::Token)?;
    std::fs::create_dir_all(&args.base).map_err(|source| CommandError::Base {
        path: args.base.clone(),
        source,
    })?;
    Sandbox::remove_stale(&args.base);
    let stop = CancellationToken::new();
    let settings = Settings {
        address: args.connect,
        token: SecretString::from(token.trim_end()),
        name: args.name,
        slots: args.slots,
        agents: args.agents,
        sandboxes: sandboxes().await,
        environment: Environment {
            base: args.base,
            launcher,
            own_home: std::env::var_os("HOME").map(PathBuf::from),
            debug_log: args.debug_log,
            pace: std::sync::Arc::default(),
        },
    };
    let parent = stop.clone();
    tokio::spawn(async move {
        // Nothing more is said on it; its end means that the coordinator is gone.
        let mut rest = [0; 64];
        while stdin.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        parent.cancel();
    });
    Ok(work(settings, stop).await?)
}
