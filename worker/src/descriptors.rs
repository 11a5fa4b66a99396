//! How many files and connections the worker may have open at once.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::process::Command;

/// The limit that this process was started with, once it has another one.
static FOUND: OnceLock<Rlimit> = OnceLock::new();

/// Lets this process have as many open as the system lets it; many systems begin at 1024, which a worker with many slots
/// uses up. Where it fails nothing changes.
pub(crate) fn raise_limit() {
    let found = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: found.maximum,
        maximum: found.maximum,
    };
    if setrlimit(Resource::Nofile, raised).is_ok() {
        let _ = FOUND.set(found);
    }
}

/// The limit that this process was started with.
pub(crate) fn limit_found() -> Rlimit {
    FOUND.get().copied().unwrap_or_else(|| getrlimit(Resource::Nofile))
}

/// Starts `command` with the limit that this process was started with: some programs go through all numbers that a file
/// may have, and others cannot handle high ones (select(2)).
pub(crate) fn give_limit_found(command: &mut Command) {
    let Some(&found) = FOUND.get() else { return };
    // SAFETY: the closure runs between fork and exec and makes one system call, which is async-signal-safe.
    unsafe {
        command.pre_exec(move || setrlimit(Resource::Nofile, found).map_err(Into::into));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn what_is_started_has_the_limit_that_was_found_and_not_the_raised_one() {
        // Only the lower of the two limits is touched, which anybody may raise again.
        let before = getrlimit(Resource::Nofile);
        let low = Rlimit {
            current: Some(200),
            ..before
        };
        setrlimit(Resource::Nofile, low).unwrap();
        raise_limit();
        assert_eq!(getrlimit(Resource::Nofile).current, before.maximum);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -Sn"]);
        give_limit_found(&mut command);
        let said = command.output().await.unwrap().stdout;
        setrlimit(Resource::Nofile, before).unwrap();
        assert_eq!(String::from_utf8(said).unwrap().trim(), "200");
        assert_eq!(limit_found().current, Some(200));
    }
}
