//! What an agent had too little of.

use std::fmt;

/// Bytes of what the config calls a megabyte.
const MB: u64 = 1024 * 1024;

/// A limit that a program ran into. As text: what happened, and which key of the config gives more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// The kernel killed for want of memory.
    Memory {
        /// The program's own limit in bytes; `None` where it was the machine's, or that of somebody around it.
        limit: Option<u64>,
    },
    /// Processes or threads were not started, because it had this many.
    Processes {
        /// The limit.
        limit: u32,
    },
    /// Its folders took more than this on disk.
    Disk {
        /// The limit in bytes.
        limit: u64,
    },
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { limit: None } => f.write_str("the agent was killed for want of memory"),
            Self::Memory { limit: Some(limit) } => {
                write!(
                    f,
                    "the agent was killed for want of memory: raise `run.sandbox.memoryMb`, which is {}",
                    limit / MB
                )
            }
            Self::Processes { limit } => {
                write!(
                    f,
                    "the agent could start no more processes and threads: raise `run.sandbox.processes`, which is {limit}"
                )
            }
            Self::Disk { limit } => {
                let mb = limit / MB;
                write!(
                    f,
                    "the agent took more than {mb} MB of disk: raise `run.sandbox.diskMb`, which is {mb}"
                )
            }
        }
    }
}
