//! Which limits are enforced.

/// Which limits a control group, or an engine, enforces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sandbox) struct Enforced {
    pub(in crate::sandbox) memory: bool,
    pub(in crate::sandbox) processes: bool,
    pub(in crate::sandbox) cpus: bool,
}
