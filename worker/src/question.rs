//! Asking a program, for a limited time.

use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionbio;

/// Between two looks at whether it has answered.
const POLL: Duration = Duration::from_millis(1);

/// The most that is read of an answer, in bytes. No longer one is asked for.
const LONGEST: u64 = 60 * 1024;

/// What a program said.
#[derive(Debug)]
pub(crate) struct Answer {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// Its standard output, without white space around it.
    pub(crate) stdout: String,
    /// Its standard error, likewise.
    pub(crate) stderr: String,
}

/// Runs `command` to its end. Its answers have to fit into a pipe; what it started and left behind is not waited for.
///
/// # Errors
/// When it cannot be started, or takes longer than `patience` ([`io::ErrorKind::TimedOut`]); it is killed then.
pub(crate) fn ask(command: &mut Command, patience: Duration) -> io::Result<Answer> {
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if begun.elapsed() < patience => thread::sleep(POLL),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    };
    Ok(Answer {
        status,
        stdout: child.stdout.take().map(said).unwrap_or_default(),
        stderr: child.stderr.take().map(said).unwrap_or_default(),
    })
}

/// What is in the pipe of a program that is over. Whoever else holds the other end may never close it.
fn said(pipe: impl io::Read + AsFd) -> String {
    let mut bytes = Vec::new();
    if ioctl_fionbio(&pipe, true).is_ok() {
        // Ends where there is nothing more, with an error where the pipe is still open.
        let _ = pipe.take(LONGEST).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        let begun = Instant::now();
        let silent = ask(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn who_leaves_somebody_behind_with_its_output_is_not_waited_for() {
        let begun = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & echo yes"]);
        let answer = ask(&mut command, Duration::from_secs(30)).unwrap();
        assert_eq!(answer.stdout, "yes");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn an_answer_comes_with_what_was_said_beside_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo yes; echo but >&2; exit 3"]);
        let answer = ask(&mut command, Duration::from_secs(30)).unwrap();
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("yes", "but"));
        assert_eq!(answer.status.code(), Some(3));
    }
}
