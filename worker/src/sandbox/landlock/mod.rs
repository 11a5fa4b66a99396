//! The level `landlock`: files, TCP, signals and abstract sockets confined by the kernel, for users without privileges.

mod abi;
mod rules;
mod system;

pub(super) use abi::{Abi, MINIMUM};
pub(super) use rules::{FileRight, Rules, Sockets};
pub(super) use system::SYSTEM;
