//! Asking a program, for a limited time.

use std::io::{self, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at whether it has answered.
const POLL: Duration = Duration::from_millis(1);

/// The most that is read of an answer, in bytes. No longer one is asked for.
const LONGEST: u64 = 60 * 1024;

/// What a program said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs `command` to its end. Its answers have to fit into a pipe.
///
/// # Errors
/// When it cannot be started, or takes longer than `patience` ([`io::ErrorKind::TimedOut`]); it is killed then.
pub(super) fn ask(command: &mut Command, patience: Duration) -> io::Result<Answer> {
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
    Ok(answer(&mut child, status))
}

fn answer(child: &mut Child, status: ExitStatus) -> Answer {
    Answer {
        status,
        stdout: child.stdout.take().map(text).unwrap_or_default(),
        stderr: child.stderr.take().map(text).unwrap_or_default(),
    }
}

fn text(pipe: impl io::Read) -> String {
    let mut bytes = Vec::new();
    let _ = pipe.take(LONGEST).read_to_end(&mut bytes);
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
    fn an_answer_comes_with_what_was_said_beside_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo yes; echo but >&2; exit 3"]);
        let answer = ask(&mut command, Duration::from_secs(30)).unwrap();
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("yes", "but"));
        assert_eq!(answer.status.code(), Some(3));
    }
}
