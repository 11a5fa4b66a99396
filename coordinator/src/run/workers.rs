//! Workers as child processes of this one: the same program, over a Unix socket.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use crate::rpc::Tokens;
use crate::scheduler::Input;

/// Times that a worker process is started anew before the run goes on without it.
const RESTARTS: u32 = 5;
/// The pause before a worker process is started anew.
const PAUSE: Duration = Duration::from_millis(500);
/// How long workers may take to end by themselves.
const GRACE: Duration = Duration::from_secs(15);

/// How a worker process is started. The coordinator's socket, a name, and the number of slots are added to it.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments.
    pub args: Vec<OsString>,
    /// Where its log goes.
    pub log_folder: PathBuf,
}

/// The worker processes of a run. Dropping them closes their standard input, which tells them to end.
pub(super) struct Workers {
    tasks: tokio::task::JoinSet<()>,
    stop: CancellationToken,
}

impl Workers {
    /// Starts `count` worker processes that share `slots` among them.
    pub(super) fn start(
        command: &WorkerCommand,
        socket: &Path,
        tokens: &Tokens,
        inputs: &Sender<Input>,
        count: u32,
        slots: u32,
    ) -> Self {
        let stop = CancellationToken::new();
        let mut tasks = tokio::task::JoinSet::new();
        let count = count.clamp(1, slots.max(1));
        for index in 0..count {
            let keeper = Keeper {
                command: command.clone(),
                socket: socket.to_owned(),
                tokens: tokens.clone(),
                name: format!("worker-{}", index + 1),
                slots: slots / count + u32::from(index < slots % count),
                stop: stop.clone(),
            };
            tasks.spawn(keeper.keep(inputs.clone(), count));
        }
        Self { tasks, stop }
    }

    /// Waits until all have ended, which they do once they are sent home; those that do not are killed.
    pub(super) async fn end(mut self) {
        self.stop.cancel();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        // Children die with their tasks: they were started to be killed on drop.
        let _ = tokio::time::timeout(GRACE, all).await;
    }
}

/// Keeps one worker process alive.
struct Keeper {
    command: WorkerCommand,
    socket: PathBuf,
    tokens: Tokens,
    name: String,
    slots: u32,
    stop: CancellationToken,
}

impl Keeper {
    async fn keep(self, inputs: Sender<Input>, siblings: u32) {
        let mut why = String::new();
        for restart in 0..=RESTARTS {
            // At the end of a run nobody waits for the pause after a worker that was sent home.
            let pause = if restart > 0 { PAUSE } else { Duration::ZERO };
            if self.stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            match self.start().await {
                Err(error) => why = error.to_string(),
                Ok((mut child, stdin)) => {
                    match child.wait().await {
                        Ok(status) => why = format!("it ended with {status}"),
                        Err(error) => why = error.to_string(),
                    }
                    drop(stdin);
                }
            }
        }
        if siblings == 1 && !self.stop.is_cancelled() {
            let log = self.log();
            let reason = format!("no worker can be kept alive: {why}; its log is {}", log.display());
            // When the schedule is over, nobody needs to know.
            let _ = inputs.send(Input::Abandon { reason }).await;
        }
    }

    fn log(&self) -> PathBuf {
        self.command.log_folder.join(format!("{}.log", self.name))
    }

    /// The process and its standard input, which has to stay open: its end tells the worker that the coordinator is
    /// gone, however that came about.
    async fn start(&self) -> std::io::Result<(Child, Option<ChildStdin>)> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log())?;
        let mut command = Command::new(&self.command.program);
        command
            .args(&self.command.args)
            .arg("--connect")
            .arg(format!("unix:{}", self.socket.display()))
            .arg("--name")
            .arg(&self.name)
            .arg("--slots")
            .arg(self.slots.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log))
            // Ctrl-C is for the coordinator, which tells its workers what to do.
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        // Taken out, because waiting for a child closes the standard input that it still owns.
        let mut stdin = child.stdin.take();
        if let Some(stdin) = &mut stdin {
            // Not in the arguments, where every user of the machine could read it.
            let token = format!("{}\n", self.tokens.issue().expose_secret());
            stdin.write_all(token.as_bytes()).await?;
        }
        Ok((child, stdin))
    }
}
