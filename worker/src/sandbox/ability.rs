//! What this machine can hold an agent with.

use std::fmt;

use mcproctor_proto::assignment::SandboxLevel;

/// What a machine can do at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ability {
    /// The level.
    pub level: SandboxLevel,
    /// What holds there (`Landlock ABI 7: …`), or why it cannot be had.
    pub state: Result<String, Unavailable>,
}

/// Why a level cannot be had, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub struct Unavailable {
    /// Why.
    pub reason: String,
    /// What would help.
    pub remedy: String,
}

impl Unavailable {
    pub(super) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Ability {
    /// `landlock (Landlock ABI 7: …)`, or `no bubblewrap: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            Ok(what) => write!(f, "{} ({what})", self.level),
            Err(why) => write!(f, "no {}: {why}", self.level),
        }
    }
}

/// What this machine can do at `levels`. Asks the kernel, and starts programs; blocks for some milliseconds, and at `container`
/// for some seconds where an engine does not answer.
pub fn abilities(levels: &[SandboxLevel], image: &str) -> Vec<Ability> {
    levels
        .iter()
        .map(|&level| Ability {
            level,
            state: ability(level, image),
        })
        .collect()
}

/// What this machine can do at `level`. Containers are made of `image`.
///
/// # Errors
///
/// Why it cannot hold an agent there.
pub fn ability(level: SandboxLevel, image: &str) -> Result<String, Unavailable> {
    let _ = image;
    match level {
        SandboxLevel::Process => Ok("fresh folders, an environment from nothing, no confinement".to_owned()),
        #[cfg(target_os = "linux")]
        SandboxLevel::Landlock => landlock().map(super::landlock::Abi::describe),
        #[cfg(target_os = "linux")]
        SandboxLevel::Container => super::container::ready(image).map(|ready| super::container::describe(&ready)),
        #[cfg(target_os = "linux")]
        SandboxLevel::Bubblewrap => super::bubblewrap::ready().map(|program| super::bubblewrap::describe(&program)),
        #[cfg(not(target_os = "linux"))]
        _ => Err(needs_linux()),
    }
}

/// The id of the image that containers are made of, if they can be: what a run pins.
pub fn image_id(image: &str) -> Option<String> {
    #[cfg(target_os = "linux")]
    return super::container::ready(image)
        .ok()
        .map(|ready| ready.image().to_owned());
    #[cfg(not(target_os = "linux"))]
    {
        let _ = image;
        None
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn needs_linux() -> Unavailable {
    Unavailable::new(
        "this level needs Linux",
        "run on Linux, or use `process` for an agent that you trust",
    )
}

/// Whether system calls can be filtered here.
#[cfg(target_os = "linux")]
pub(super) fn filter() -> Result<(), Unavailable> {
    if !cfg!(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )) {
        return Err(Unavailable::new(
            format!("system calls of {} cannot be filtered", std::env::consts::ARCH),
            "run on x86_64, aarch64 or riscv64",
        ));
    }
    Ok(())
}

/// The kernel's Landlock, if it is enough.
#[cfg(target_os = "linux")]
pub(super) fn landlock() -> Result<super::landlock::Abi, Unavailable> {
    use super::landlock::{Abi, MINIMUM};

    filter()?;
    match Abi::of_kernel() {
        None => Err(Unavailable::new(
            "the kernel has no Landlock, or it is switched off",
            "use Linux 6.7 or newer with `landlock` among its security modules (lsm=landlock,…)",
        )),
        Some(abi) if abi.0 < MINIMUM => Err(Unavailable::new(
            format!(
                "the kernel's Landlock is ABI {}, which does not confine TCP; that takes ABI {MINIMUM}",
                abi.0
            ),
            "use Linux 6.7 or newer",
        )),
        Some(abi) => Ok(abi),
    }
}
