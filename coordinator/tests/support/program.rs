//! The real program.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::processes::{Process, descendants};

/// The longest that one start of the program may take: in the long form of a test, which says how many iterations it has, an
/// hour.
fn patience() -> Duration {
    match std::env::var_os("MCPROCTOR_TEST_ITERATIONS") {
        None => Duration::from_mins(4),
        Some(_) => Duration::from_hours(1),
    }
}

/// Gives the program under test a second name in `folder`, because a build that goes on meanwhile replaces the first.
/// Another build of it can be named in `MCPROCTOR_BIN`.
pub(super) fn place_program(folder: &Path) -> PathBuf {
    let built = std::env::var_os("MCPROCTOR_BIN").map_or_else(|| env!("CARGO_BIN_EXE_mcproctor").into(), PathBuf::from);
    let own = folder.join("mcproctor");
    if fs::hard_link(&built, &own).is_err() {
        fs::copy(&built, &own).unwrap();
    }
    own
}

/// A start of the program that is not over. Dropping it kills the program; its workers then end by themselves.
pub struct Running {
    child: Child,
    folder: PathBuf,
    output: PathBuf,
    begun: Instant,
}

/// How a start of the program ended.
pub struct Ran {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Everything on standard output.
    pub stdout: String,
    /// Everything on standard error.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl Running {
    /// `user` is who runs it and owns the folder with all that is in it, if not who runs the test.
    pub(super) fn start(folder: &Path, user: Option<u32>, env: &[(String, String)], args: &[&str]) -> Self {
        // Files, so that nothing waits for a reader; each start has its own.
        let output = (0..)
            .map(|n| folder.join(format!("output-{n}")))
            .find(|path| !path.exists())
            .unwrap();
        fs::create_dir(&output).unwrap();
        for home in ["home", "cache"] {
            fs::create_dir_all(folder.join(home)).unwrap();
        }
        let mut command = Command::new(folder.join("mcproctor"));
        if let Some(user) = user {
            give(folder, user);
            command.uid(user).gid(user);
        }
        let child = command
            .args(args)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.join("home"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(File::create(output.join("stdout")).unwrap())
            .stderr(File::create(output.join("stderr")).unwrap())
            .spawn()
            .unwrap();
        Self {
            child,
            folder: folder.to_owned(),
            output,
            begun: Instant::now(),
        }
    }

    /// Its process id.
    pub fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        fs::read_to_string(self.output.join("stdout")).unwrap_or_default()
    }

    /// What it started and what that started, as long as it runs.
    pub fn descendants(&self) -> Vec<Process> {
        descendants(self.id())
    }

    /// Its worker processes.
    pub fn workers(&self) -> Vec<Process> {
        let mut found = self.descendants();
        found.retain(|process| process.parent == self.id() && process.args.get(1).is_some_and(|arg| arg == "worker"));
        found
    }

    /// Sends a signal to it alone.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_raw(self.id()).unwrap(), signal);
    }

    /// Whether it is over.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until `condition` holds of what it printed; a program that ends or takes too long first fails the test.
    pub fn wait_for(&mut self, what: &str, condition: impl Fn(&str) -> bool) {
        loop {
            if condition(&self.stdout()) {
                return;
            }
            let over = self.is_over();
            if over || self.begun.elapsed() > patience() {
                let stderr = fs::read_to_string(self.output.join("stderr")).unwrap_or_default();
                panic!("no {what} (over: {over}):\n{}\n{stderr}", self.stdout());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Ran {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                self.begun.elapsed() < patience(),
                "it goes on and on:\n{}",
                self.stdout()
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        let ran = Ran {
            code: status.code(),
            stdout: self.stdout(),
            stderr: fs::read_to_string(self.output.join("stderr")).unwrap(),
            took: self.begun.elapsed(),
        };
        eprintln!(
            "{}: {:?} (signal {:?}) after {:.1?}\n{}\n{}",
            self.folder.display(),
            ran.code,
            status.signal(),
            ran.took,
            ran.stdout,
            ran.stderr
        );
        ran
    }
}

fn give(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ran {
    /// The events of `--output json`.
    pub fn events(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }
}
