//! What an attempt may use: control groups where they can be made, limits of processes otherwise, and a watch on its disk.

mod disk;
mod enforced;
#[cfg(target_os = "linux")]
mod group;
mod means;
#[cfg(target_os = "linux")]
mod mounts;

pub(super) use disk::DiskWatch;
#[cfg(target_os = "linux")]
pub(super) use enforced::Enforced;
#[cfg(target_os = "linux")]
pub(super) use group::{Group, planned_folders, remove_named};
pub use means::not_enforced;
#[cfg(target_os = "linux")]
pub(super) use means::process_limit;
