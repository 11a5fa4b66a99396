//! `mcproctor worker`: attempts for a coordinator.

use mcproctor_worker::command::worker;

use super::exit::Exit;
use super::runtime::{block_on, chain, complain};

/// Arguments of `mcproctor worker`.
pub(super) type WorkerArgs = mcproctor_worker::command::WorkerArgs;

pub(super) fn run(args: WorkerArgs) -> Exit {
    block_on(async {
        match worker(args).await {
            Ok(()) => Exit::Success,
            Err(error) => complain(Exit::Failure, &format!("failed to {}", chain(&error))),
        }
    })
}
