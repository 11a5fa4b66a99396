//! What happens between the fork and the agent: `mcproctor sandboxed`, a program of ours that shuts itself in and then
//! becomes the agent.
//!
//! A process that was forked from one with threads may do no more than async-signal-safe calls (fork(2)), and laying down
//! rules takes memory and files. So the worker starts its own program anew, and that, alone in its process, has all the
//! time it needs. It forks once more, and the child confines itself for good, says so if it cannot, and executes the agent.
//! The parent stays outside the confinement, where the agent cannot reach it, and sees that nothing outlives the agent.
//!
//! A container is started by its engine, which inherits nothing. There the program is started twice: an outpost beside the worker
//! has the engine start the container, with the program as its first process, and hands over to it all that it was started with.

mod capabilities;
mod carry;
mod command;
mod error;
mod filter;
mod handover;
mod inherited;
mod landlock;
mod limits;
mod outpost;
mod passing_on;
mod supervisor;

pub use command::{SandboxedArgs, sandboxed};
