//! A program that runs in a sandbox.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::counted::Counters;
use super::end::{Output, ProcessEnd};
use super::error::SandboxError;
use super::limits::DiskWatch;
use super::shortage::Shortage;
use super::spec::{Limits, OutputFiles, Spec};
use super::tail::{self, LINE_LIMIT, Tail};
use super::tally::{Ending, Tally, Told};
use super::tree::Marks;
use super::word::{Listener, Word};

/// How often the output file is looked at. The exit is noticed at once; what is printed before it only shows that the agent is
/// not silent.
const POLL: Duration = Duration::from_millis(50);

/// How much of standard error [`ProcessEnd`] carries, in bytes.
const STDERR_TAIL: u64 = 8 * 1024;

/// How long who stays with the agent may take to end everything.
const LAST_WORD: Duration = Duration::from_secs(2);

/// A program that runs. Dropping it kills it with everything that it started.
#[derive(Debug)]
pub struct RunningProcess {
    child: Child,
    marks: Marks,
    stdin: Option<JoinHandle<()>>,
    stdout: Tail,
    stderr: PathBuf,
    stderr_start: u64,
    limits: Limits,
    begun: Instant,
    state: State,
    killed: bool,
    output_fault: Option<String>,
    tally: Tally,
    /// Hears what the sandbox has to say.
    listener: Option<Listener>,
    disk: Option<DiskWatch>,
    /// Which limit it is ended for.
    overuse: Option<Shortage>,
    /// Whether everything is to be ended, and may not be yet.
    ending: bool,
}

/// What is watched while a program runs, beside the program itself.
pub(super) struct Watched {
    /// Hears what the sandbox has to say.
    pub(super) listener: Option<Listener>,
    /// Sees what it writes.
    pub(super) disk: Option<DiskWatch>,
    /// Where the kernel counts, if the program has a group of its own.
    pub(super) counters: Counters,
}

#[derive(Debug)]
enum State {
    /// Waits for output or for the exit.
    Running,
    /// The program is over; what it printed is still being handed on.
    Exited(ExitStatus, Duration),
    /// The end was handed on.
    Over(ProcessEnd),
}

impl RunningProcess {
    pub(super) fn start(
        mut command: Command,
        spec: &Spec,
        files: &OutputFiles,
        limits: Limits,
        marks: &Marks,
        watched: Watched,
    ) -> Result<Self, SandboxError> {
        let file_error = |path: &Path, source| SandboxError::File {
            path: path.to_owned(),
            source,
        };
        let stdout_file = open(&files.stdout).map_err(|error| file_error(&files.stdout, error))?;
        let stderr_file = open(&files.stderr).map_err(|error| file_error(&files.stderr, error))?;
        let stdout = Tail::from_end(&files.stdout).map_err(|error| file_error(&files.stdout, error))?;
        let stderr_start = stderr_file
            .metadata()
            .map_err(|error| file_error(&files.stderr, error))?
            .len();
        let tally = Tally::begin(watched.counters);
        let begun = Instant::now();
        let mut child = command
            .stdout(stdout_file)
            .stderr(stderr_file)
            .spawn()
            .map_err(|source| SandboxError::Start {
                program: spec.program.clone(),
                source,
            })?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        let streams = [&files.stdout, &files.stderr]
            .into_iter()
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        let marks = marks.led_by(leader, streams);
        let stdin = child.stdin.take().map(|mut pipe| {
            let bytes = spec.stdin.clone();
            // A program may well end without reading all of it; that is no fault.
            tokio::spawn(async move {
                let _ = pipe.write_all(&bytes).await;
            })
        });
        Ok(Self {
            child,
            marks,
            stdin,
            stdout,
            stderr: files.stderr.clone(),
            stderr_start,
            limits,
            begun,
            state: State::Running,
            killed: false,
            output_fault: None,
            tally,
            listener: watched.listener,
            disk: watched.disk,
            overuse: None,
            ending: false,
        })
    }

    /// The next line of output, or the end. May be dropped and called again without losing anything; after the end it
    /// gives the end again.
    pub async fn next(&mut self) -> Output {
        loop {
            if let Some(line) = self.stdout.next_line() {
                return Output::Line(line);
            }
            let more = self.read_output();
            if self.ending {
                self.end_everything().await;
                self.ending = false;
            }
            match &self.state {
                _ if more => {}
                State::Running => {
                    tokio::select! {
                        status = self.child.wait() => {
                            // Waiting for one's own child fails only when someone else has reaped it.
                            let status = status.unwrap_or_else(|_| ExitStatus::from_raw(-1));
                            self.state = State::Exited(status, self.begun.elapsed());
                        }
                        () = tokio::time::sleep(POLL) => {}
                    }
                    self.watch_the_disk().await;
                }
                State::Exited(status, duration) => {
                    let (status, duration) = (*status, *duration);
                    if let Some(line) = self.stdout.take_partial() {
                        return Output::Line(line);
                    }
                    let end = self.end(status, duration).await;
                    self.state = State::Over(end.clone());
                    return Output::Ended(end);
                }
                State::Over(end) => return Output::Ended(end.clone()),
            }
        }
    }

    /// The id of the first process, until its end was noticed.
    pub fn id(&self) -> Option<i32> {
        self.child.id().and_then(|id| i32::try_from(id).ok())
    }

    /// Waits for the end, leaving the lines of output to the file.
    pub async fn wait(&mut self) -> ProcessEnd {
        loop {
            if let Output::Ended(end) = self.next().await {
                return end;
            }
        }
    }

    /// Kills the program with everything that it started, those with sessions of their own included. What it printed can
    /// still be read with [`Self::next`].
    pub async fn kill_tree(&mut self) {
        if matches!(self.state, State::Running) {
            self.killed = true;
        }
        self.end_everything().await;
    }

    async fn end_everything(&mut self) {
        if let Some(listener) = &self.listener {
            // Who stays with the agent knows all that it started, also what hides from a search.
            listener.hang_up();
            let _ = tokio::time::timeout(LAST_WORD, self.child.wait()).await;
        }
        self.sweep().await;
    }

    async fn watch_the_disk(&mut self) {
        let Some(disk) = &mut self.disk else { return };
        if self.overuse.is_none()
            && let Some(overuse) = disk.exceeded().await
        {
            self.overuse = Some(overuse);
            self.ending = true;
        }
    }

    async fn sweep(&self) -> usize {
        let marks = self.marks.clone();
        tokio::task::spawn_blocking(move || marks.kill_all()).await.unwrap_or(0)
    }

    fn read_output(&mut self) -> bool {
        if matches!(self.state, State::Over(_)) || self.output_fault.is_some() {
            return false;
        }
        let more = match self.stdout.read_some() {
            Ok(more) => more,
            Err(error) => {
                self.output_fault = Some(format!("the output could not be read back: {error}"));
                false
            }
        };
        let stderr = self
            .stderr
            .metadata()
            .map_or(0, |meta| meta.len().saturating_sub(self.stderr_start));
        if self.stdout.bytes() + stderr > self.limits.output_bytes {
            self.output_fault = Some(format!(
                "the agent printed more than {} bytes",
                self.limits.output_bytes
            ));
            self.ending = true;
        } else if self.stdout.cut_a_line() {
            self.output_fault = Some(format!("the agent printed a line of more than {LINE_LIMIT} bytes"));
        }
        more
    }

    /// What it means that who stands between said nothing.
    fn silence(&self, status: ExitStatus) -> Option<String> {
        (self.listener.is_some() && !self.ended_by_us())
            .then(|| format!("what held the agent was ended from outside ({status})"))
    }

    fn ended_by_us(&self) -> bool {
        self.killed || self.overuse.is_some() || self.output_fault.is_some()
    }

    async fn end(&mut self, status: ExitStatus, duration: Duration) -> ProcessEnd {
        if let Some(writer) = self.stdin.take() {
            writer.abort();
        }
        let leftovers = self.sweep().await;
        let overuse = match (&self.overuse, &mut self.disk) {
            (None, Some(disk)) if !self.killed => disk.exceeded_at_the_end().await,
            (overuse, _) => *overuse,
        };
        // Nothing is awaited from here on: a word is heard only once, and whoever waits may stop waiting at any await.
        let stderr_tail = tail::last_text(&self.stderr, self.stderr_start, STDERR_TAIL).unwrap_or_default();
        let mut told = Told::default();
        let (code, signal, inner_leftovers, sandbox_fault) = match self.listener.as_mut().and_then(Listener::word) {
            // Who stands between says more than its own end does.
            Some(Word::Ended {
                code,
                signal,
                leftovers,
                out_of_memory,
                out_of_processes,
            }) => {
                told = Told {
                    out_of_memory,
                    out_of_processes,
                };
                (code, signal, leftovers, None)
            }
            Some(Word::Failed(reason)) => (status.code(), status.signal(), 0, Some(reason)),
            None => (status.code(), status.signal(), 0, self.silence(status)),
        };
        let ending = Ending {
            code,
            signal,
            by_us: self.ended_by_us(),
        };
        let short_of = overuse.or_else(|| self.tally.shortage(&self.limits.resources, ending, told));
        ProcessEnd {
            code,
            signal,
            sandbox_fault,
            killed: self.killed,
            output_fault: self.output_fault.clone(),
            short_of,
            leftovers: leftovers + inner_leftovers,
            stderr_tail,
            duration,
        }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        if let Some(writer) = self.stdin.take() {
            writer.abort();
        }
        if matches!(self.state, State::Over(_)) {
            return;
        }
        if let Some(listener) = &self.listener {
            listener.hang_up();
            let begun = Instant::now();
            while begun.elapsed() < LAST_WORD && matches!(self.child.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.marks.kill_all();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}
