//! What holds an agent.
//!
//! A [`Sandbox`] is one attempt's: fresh folders, an environment from nothing, and a process tree that is killed whole. What
//! stands around the agent beyond that is its [level](mcproctor_proto::assignment::SandboxLevel). At the levels that confine,
//! the worker starts its own program anew ([`sandboxed`]), which shuts itself in and becomes the agent.
//!
//! A [`RunningProcess`] writes to files and is read from them, so no descendant that keeps a pipe open can hold an attempt
//! up.

mod ability;
mod beneath;
#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod confined;
#[cfg(target_os = "linux")]
mod container;
mod counted;
mod end;
mod environment;
mod error;
#[cfg(target_os = "linux")]
mod etc;
mod folder;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod installation;
#[cfg(target_os = "linux")]
mod landlock;
mod launcher;
mod limits;
#[cfg(not(target_os = "linux"))]
mod nowhere;
mod place;
#[cfg(target_os = "linux")]
mod plan;
mod running;
mod secrecy;
mod shortage;
mod spec;
mod tail;
mod tally;
mod tree;
mod view;
mod wall;
#[cfg(target_os = "linux")]
mod way;
#[cfg(target_os = "linux")]
mod ways;
mod word;

pub use ability::{Ability, Unavailable, abilities, ability, image_id};
pub use end::{Output, ProcessEnd};
pub use error::SandboxError;
#[cfg(target_os = "linux")]
pub use inside::{SandboxedArgs, sandboxed};
pub use launcher::Launcher;
pub use limits::not_enforced;
#[cfg(not(target_os = "linux"))]
pub use nowhere::{SandboxedArgs, sandboxed};
pub use place::Sandbox;
pub use running::RunningProcess;
pub use secrecy::keep_to_itself;
pub use shortage::Shortage;
pub use spec::{Limits, OutputFiles, Spec};
pub(crate) use tree::{MARKER, Marks};
