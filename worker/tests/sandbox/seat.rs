//! A sandbox for one test, and what ran in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcproctor_proto::assignment::{DEFAULT_IMAGE, SandboxLevel};
use mcproctor_worker::sandbox::{
    Launcher, Limits, Output, OutputFiles, ProcessEnd, RunningProcess, Sandbox, Spec, ability,
};
use tempfile::TempDir;

/// Longer than any scenario takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names the worker's program where the tests were copied to another place.
pub(crate) const LAUNCHER: &str = "MCPROCTOR_TEST_LAUNCHER";

/// Names the program of `examples/held_agent.rs` there.
pub(crate) const HELD_AGENT: &str = "MCPROCTOR_TEST_HELD_AGENT";

/// What a hostile program printed, and how it ended.
pub(crate) struct Ran {
    pub(crate) text: String,
    pub(crate) end: ProcessEnd,
}

impl Ran {
    /// Whether one of the lines is exactly this.
    #[track_caller]
    pub(crate) fn assert_line(&self, line: &str) {
        assert!(
            self.text.lines().any(|found| found == line),
            "no line {line:?} in:\n{}\n{:?}",
            self.text,
            self.end
        );
    }
}

pub(crate) struct Seat {
    pub(crate) sandbox: Sandbox,
    files: OutputFiles,
    base: TempDir,
}

pub(crate) fn launcher() -> Launcher {
    Launcher::of(
        std::env::var_os(LAUNCHER).map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_mcproctor-worker")), PathBuf::from),
    )
}

/// The program of `examples/held_agent.rs`.
pub(crate) fn held_agent() -> PathBuf {
    let built = || launcher().program.with_file_name("examples").join("held_agent");
    let program = std::env::var_os(HELD_AGENT).map_or_else(built, PathBuf::from);
    assert!(
        program.exists(),
        "run `cargo build -p mcproctor-worker --example held_agent`"
    );
    program
}

/// Panics, with what would help, where this machine does not have the level.
pub(crate) fn require(level: SandboxLevel) {
    if let Err(why) = ability(level, DEFAULT_IMAGE) {
        panic!("this machine cannot hold an agent in `{level}`: {why}");
    }
}

impl Seat {
    pub(crate) fn new(level: SandboxLevel) -> Self {
        require(level);
        let base = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::set_up(&base.path().join("sandboxes"), level, DEFAULT_IMAGE, &launcher()).unwrap();
        let files = OutputFiles {
            stdout: base.path().join("stdout"),
            stderr: base.path().join("stderr"),
        };
        Self { sandbox, files, base }
    }

    /// A folder of the host's that everybody may read and write, beside the sandbox.
    pub(crate) fn host_folder(&self) -> PathBuf {
        // The temporary folder itself is its owner's alone.
        fs::set_permissions(self.base.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let folder = self.base.path().join("host");
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        folder
    }

    /// Where the sandboxes are.
    pub(crate) fn sandboxes(&self) -> PathBuf {
        self.base.path().join("sandboxes")
    }

    /// The sandbox's name.
    pub(crate) fn name(&self) -> String {
        let mut names = fs::read_dir(self.sandboxes()).unwrap().flatten();
        names.next().unwrap().file_name().into_string().unwrap()
    }

    pub(crate) fn spec(&self, program: &str, args: &[&str]) -> Spec {
        Spec {
            program: program.into(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: BTreeMap::new(),
            path: Vec::new(),
            reads: Vec::new(),
            stdin: Vec::new(),
            cwd: self.sandbox.work().to_owned(),
        }
    }

    pub(crate) fn start(&self, spec: &Spec, limits: Limits) -> RunningProcess {
        self.sandbox.start(spec, &self.files, limits).unwrap()
    }

    pub(crate) async fn run(&self, spec: &Spec) -> Ran {
        finish(self.start(spec, Limits::default())).await
    }

    /// Runs a shell script; `args` are `$1` and so on.
    pub(crate) async fn shell(&self, script: &str, args: &[&str]) -> Ran {
        let all: Vec<&str> = ["-c", script, "sh"].into_iter().chain(args.iter().copied()).collect();
        self.run(&self.spec("/bin/sh", &all)).await
    }

    /// Runs a Python program; `args` are `sys.argv[1]` and so on.
    pub(crate) async fn python(&self, program: &str, args: &[&str]) -> Ran {
        assert!(
            Path::new("/usr/bin/python3").exists(),
            "install Python: apt-get install python3"
        );
        let program = format!("{TRY}\n{program}");
        let all: Vec<&str> = ["-c", &program].into_iter().chain(args.iter().copied()).collect();
        let ran = self.run(&self.spec("/usr/bin/python3", &all)).await;
        assert_eq!(ran.end.code, Some(0), "{}\n{:?}", ran.text, ran.end);
        ran
    }
}

/// `attempt(name, f)` prints `name ok` or `name NAME-OF-THE-ERROR`.
const TRY: &str = "
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, f):
    try:
        f()
        print(name, 'ok')
    except OSError as error:
        print(name, errno.errorcode.get(error.errno, error))
def call(*args):
    result = libc.syscall(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), '')
    return result
";

/// Reads a program to its end.
pub(crate) async fn finish(mut process: RunningProcess) -> Ran {
    let mut text = String::new();
    let reading = async {
        loop {
            match process.next().await {
                Output::Line(line) => {
                    text.push_str(&String::from_utf8_lossy(&line));
                    text.push('\n');
                }
                Output::Ended(end) => return end,
            }
        }
    };
    let end = tokio::time::timeout(PATIENCE, reading).await.expect("no end");
    Ran { text, end }
}

/// Whether the process is there and no zombie.
pub(crate) fn alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        !state.starts_with(['Z', 'X'])
    })
}

/// Waits until `condition` holds.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(
        tokio::time::timeout(Duration::from_secs(20), waiting).await.is_ok(),
        "never: {what}"
    );
}
