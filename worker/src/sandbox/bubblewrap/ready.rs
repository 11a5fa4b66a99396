//! Whether this machine can do it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::arguments::NAMESPACES;
use crate::question::{Answer, ask};
use crate::sandbox::ability::{self, Unavailable};
use crate::search_path;

/// The program.
const PROGRAM: &str = "bwrap";

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the level holds, for people.
pub(in crate::sandbox) fn describe(program: &Path) -> String {
    format!(
        "{}: no network, namespaces of its own, a read-only system",
        program.display()
    )
}

/// The program, once it has been seen to work. Starts it for that, once in the life of this process.
pub(in crate::sandbox) fn ready() -> Result<PathBuf, Unavailable> {
    static READY: OnceLock<Result<PathBuf, Unavailable>> = OnceLock::new();
    READY.get_or_init(try_it).clone()
}

fn try_it() -> Result<PathBuf, Unavailable> {
    ability::filter()?;
    let program = search_path::find(PROGRAM).ok_or_else(|| {
        Unavailable::new(
            "the program `bwrap` is not installed",
            "install it (`apt-get install bubblewrap`), or use `landlock`",
        )
    })?;
    let mut command = Command::new(&program);
    command
        .args(NAMESPACES)
        .args([
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--as-pid-1",
            "--",
            "/bin/true",
        ])
        .env_clear();
    match ask(&mut command, PATIENCE) {
        Ok(answer) if answer.status.success() => Ok(program),
        Ok(answer) => Err(Unavailable::new(
            format!("`bwrap` does not work here: {}", last_words(&answer)),
            "allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0; in a \
             container also an unmasked /proc), or use `landlock`",
        )),
        Err(error) => Err(Unavailable::new(
            format!("{} cannot be started: {error}", program.display()),
            "install it anew (`apt-get install bubblewrap`), or use `landlock`",
        )),
    }
}

/// What it said, or, of one that said nothing, how it ended.
fn last_words(answer: &Answer) -> String {
    match answer.stderr.trim() {
        "" => format!("it said nothing, and ended with {}", answer.status),
        said => said.to_owned(),
    }
}
