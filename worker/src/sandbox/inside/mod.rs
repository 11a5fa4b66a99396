//! What happens between the fork and the agent: `mcproctor sandboxed`, a program of ours that shuts itself in and then
//! becomes the agent.
//!
//! A process that was forked from one with threads may do no more than async-signal-safe calls (fork(2)), and laying down
//! rules takes memory and files. So the worker starts its own program anew, and that, alone in its process, has all the
//! time it needs: it confines itself for good, says so if it cannot, and executes the agent.

mod capabilities;
mod command;
mod descriptors;
mod error;
mod filter;
mod landlock;

pub use command::{SandboxedArgs, sandboxed};
