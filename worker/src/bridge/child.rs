//! The child process: started in a group of its own, watched, and ended with all that it started.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::server::StdioServer;
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::error::BridgeError;
use super::lines::{self, Line};
use super::message::Pieces;
use super::server::Mark;
use super::switchboard::Switchboard;
use crate::descriptors;

/// What every child gets of the worker's own environment.
const ENVIRONMENT: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// How long output is waited for once the child has exited: something that it left behind may hold the pipe open.
const LAST_OUTPUT: Duration = Duration::from_millis(250);

/// How long an exit is waited for once the child has closed its output.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Longest line of the standard error that is kept.
const ERROR_LINE: usize = 16 * 1024;

/// Starts a server, whose processes can be told by `mark`.
pub(super) fn spawn(server: &StdioServer, mark: Option<&Mark>) -> Result<Child, BridgeError> {
    let mut command = Command::new(&server.command);
    command.args(&server.args).env_clear();
    command.envs(
        ENVIRONMENT
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command.envs(server.env.iter().map(|(name, value)| (name, value.expose_secret())));
    command.envs(mark.map(|mark| (mark.variable, &mark.value)));
    if let Some(cwd) = &server.cwd {
        if !cwd.is_dir() {
            return Err(BridgeError::WorkingFolder(cwd.clone()));
        }
        command.current_dir(cwd);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    descriptors::give_limit_found(&mut command);
    command.spawn().map_err(|source| BridgeError::Spawn {
        command: server.command.clone(),
        source,
    })
}

/// Lines of standard error that the reason for a server's end holds, and their characters at most.
const SHOWN_LINES: usize = 3;
const SHOWN: usize = 300;

/// Watches a child until it is gone, or until told to end it.
pub(super) async fn watch(
    mut child: Child,
    mark: Option<Mark>,
    switchboard: Arc<Switchboard>,
    input: mpsc::UnboundedReceiver<Pieces>,
    line_limit: usize,
    grace: Duration,
    stop: CancellationToken,
) {
    let mut started = Started::of(&child, mark);
    let writer = child.stdin.take().map(|stdin| tokio::spawn(write(stdin, input)));
    let errors = child.stderr.take().map(|stderr| {
        let switchboard = Arc::clone(&switchboard);
        tokio::spawn(async move {
            let mut reader = BufReader::new(stderr);
            while let Ok(Some(line)) = lines::next(&mut reader, ERROR_LINE).await {
                let (Line::Whole(line) | Line::TooLong { start: line }) = line;
                switchboard.log().line(&line);
            }
        })
    });
    let mut reader = {
        let switchboard = Arc::clone(&switchboard);
        let stdout = child.stdout.take();
        tokio::spawn(async move {
            let Some(stdout) = stdout else { return };
            let mut reader = BufReader::with_capacity(64 * 1024, stdout);
            while let Ok(Some(line)) = lines::next(&mut reader, line_limit).await {
                switchboard.child_wrote(line);
            }
        })
    };

    let mut errors = errors;
    // A task that has ended must not be waited for again.
    let mut all_read = false;
    let why = tokio::select! {
        status = child.wait() => {
            all_read = tokio::time::timeout(LAST_OUTPUT, &mut reader).await.is_ok();
            let last_words = last_words(&mut errors, &switchboard).await;
            exited(status) + &last_words
        }
        _ = &mut reader => {
            all_read = true;
            match tokio::time::timeout(LAST_WORDS, child.wait()).await {
                Ok(status) => exited(status) + &last_words(&mut errors, &switchboard).await,
                Err(_) => "server closed its output".to_owned(),
            }
        }
        () = stop.cancelled() => "server was stopped".to_owned(),
    };
    // Closes the queue to the child, and with it the child's input once the queue is written.
    switchboard.child_gone(why);
    end(&mut child, &mut started, writer, grace).await;
    for mut task in [(!all_read).then_some(reader), errors].into_iter().flatten() {
        if tokio::time::timeout(LAST_OUTPUT, &mut task).await.is_err() {
            task.abort();
        }
    }
}

/// What the child said on standard error before it went, for whoever has to mend it.
async fn last_words(errors: &mut Option<JoinHandle<()>>, switchboard: &Switchboard) -> String {
    if let Some(task) = errors
        && tokio::time::timeout(LAST_OUTPUT, task).await.is_ok()
    {
        *errors = None;
    }
    let log = switchboard.log().text();
    let mut lines: Vec<&str> = log
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .rev()
        .take(SHOWN_LINES)
        .collect();
    lines.reverse();
    let words: String = lines.join(" / ").chars().take(SHOWN).collect();
    if words.is_empty() { words } else { format!(": {words}") }
}

/// Ends a child: its input is closed, then it is asked, then it is killed, and whatever it started with it.
///
/// The order is the one of the specification's stdio shutdown (2025-11-25, lifecycle, shutdown).
async fn end(child: &mut Child, started: &mut Started, writer: Option<JoinHandle<()>>, grace: Duration) {
    if let Some(mut writer) = writer {
        // A child that does not read would hold the last lines, and its own input open, for ever.
        if tokio::time::timeout(grace, &mut writer).await.is_err() {
            writer.abort();
        }
    }
    if tokio::time::timeout(grace, child.wait()).await.is_err() {
        started.signal(Signal::TERM);
        let _ = tokio::time::timeout(grace, child.wait()).await;
    }
    started.signal(Signal::KILL);
    let _ = child.wait().await;
    // What left the group.
    if let Some(mark) = started.mark.clone() {
        let killed = tokio::task::spawn_blocking(move || (mark.kill_all)(&mark.value)).await;
        if killed.is_ok() {
            started.mark = None;
        }
    }
}

async fn write(mut stdin: ChildStdin, mut input: mpsc::UnboundedReceiver<Pieces>) {
    while let Some(pieces) = input.recv().await {
        for piece in pieces.iter().map(|piece| &piece[..]).chain([&b"\n"[..]]) {
            if stdin.write_all(piece).await.is_err() {
                return;
            }
        }
        if stdin.flush().await.is_err() {
            return;
        }
    }
}

fn exited(status: std::io::Result<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("server exited with status {code}"),
            (None, Some(signal)) => format!("server was killed by signal {signal}"),
            (None, None) => "server exited".to_owned(),
        },
        Err(error) => format!("server could not be waited for: {error}"),
    }
}

/// The child and what it started. Dropped, all of it is killed.
struct Started {
    group: Option<Pid>,
    /// None once everything that carries it is dead.
    mark: Option<Mark>,
}

impl Started {
    fn of(child: &Child, mark: Option<Mark>) -> Self {
        Self {
            group: child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)),
            mark,
        }
    }

    /// Signals the child's process group.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails when nobody is left in it.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if let Some(mark) = &self.mark {
            (mark.kill_all)(&mark.value);
        }
    }
}
