//! The link's handle on an attempt.

use mcproctor_proto::assignment::Instruction;
use mcproctor_proto::id::Lease;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// The link's handle on a running attempt.
#[derive(Debug)]
pub struct Control {
    /// The lease under which it runs.
    pub lease: Lease,
    pub(super) words: UnboundedSender<(u32, Instruction)>,
    pub(super) cancel: CancellationToken,
}

impl Control {
    /// Passes on the coordinator's word after a turn.
    pub fn instruct(&self, after_turn: u32, instruction: Instruction) {
        // An attempt that has ended needs no word.
        let _ = self.words.send((after_turn, instruction));
    }

    /// Kills the agent; the attempt then ends with what was recorded.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Whether the attempt's task is gone.
    pub fn is_closed(&self) -> bool {
        self.words.is_closed()
    }
}
