//! Which program shuts itself in.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// How `sandboxed` is started: a program and its first arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The program; it is seen, but not changed, inside the sandboxes that have a file system of their own.
    pub program: PathBuf,
    /// What comes before the command's own arguments.
    pub args: Vec<OsString>,
}

impl Launcher {
    /// The subcommand of this program, which both `mcproctor` and `mcproctor-worker` have.
    ///
    /// # Errors
    ///
    /// When the system does not tell where the program is.
    pub fn of_this_program() -> io::Result<Self> {
        env::current_exe().map(Self::of)
    }

    /// The subcommand of `program`.
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: vec!["sandboxed".into()],
        }
    }
}
