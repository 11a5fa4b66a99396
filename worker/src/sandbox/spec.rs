//! What is run in a sandbox.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcproctor_proto::assignment::Resources;
use secrecy::SecretString;

/// What to run.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments, without the program.
    pub args: Vec<String>,
    /// Its environment, on top of `HOME`, `PATH`, `TMPDIR`, `LANG`, `TERM`, `NO_COLOR`, `USER`, `LOGNAME` and `SHELL`, which it
    /// may replace.
    pub env: BTreeMap<String, SecretString>,
    /// Folders that come first in its `PATH`.
    pub path: Vec<PathBuf>,
    /// Further files and folders that it may read and execute, at levels that confine files.
    pub reads: Vec<PathBuf>,
    /// Written to its standard input, which is then closed.
    pub stdin: Vec<u8>,
    /// Its current directory, as it sees it.
    pub cwd: PathBuf,
}

/// Where the output goes. Both files are made when missing, and appended to.
#[derive(Clone, Debug)]
pub struct OutputFiles {
    /// Standard output.
    pub stdout: PathBuf,
    /// Standard error.
    pub stderr: PathBuf,
}

/// What one run of a program may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of standard output and error together; beyond it the program is killed and its output counts as incomplete.
    pub output_bytes: u64,
    /// What the program and all that it starts may use together. At the level `process` only as far as control groups enforce it.
    pub resources: Resources,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_bytes: 512 * 1024 * 1024,
            resources: Resources::default(),
        }
    }
}
