//! The asynchronous runtime of a command, and what a command says on standard error.

use super::exit::Exit;

/// Runs a command's future to its end.
pub(super) fn block_on(command: impl Future<Output = Exit>) -> Exit {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let exit = runtime.block_on(command);
            // What still runs in the background has nothing more to say.
            runtime.shutdown_background();
            exit
        }
        Err(error) => complain(Exit::Failure, &format!("failed to start: {error}")),
    }
}

/// Says what is wrong on standard error, and gives the exit back.
#[expect(clippy::print_stderr, reason = "this is where commands say what is wrong")]
pub(super) fn complain(exit: Exit, message: &str) -> Exit {
    eprintln!("mcproctor: {message}");
    exit
}

/// An error with all that caused it, on one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
