//! Laying down Landlock's rules.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::error::InsideError;
use crate::sandbox::landlock::{FileRight, Rules};

/// Confines this process, and all that it becomes and starts, for good. Also gives up new privileges.
///
/// What the kernel's version knows is asked for without exception: nothing is left out silently.
pub(super) fn confine(rules: &Rules) -> Result<(), InsideError> {
    let failed = |error: landlock::RulesetError| InsideError::Landlock(error.to_string());
    let abi = ABI::from(rules.abi);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(failed)?;
    let network = AccessNet::from_all(abi);
    if !network.is_empty() {
        ruleset = ruleset.handle_access(network).map_err(failed)?;
    }
    let scopes = Scope::from_all(abi);
    if !scopes.is_empty() {
        ruleset = ruleset.scope(scopes).map_err(failed)?;
    }
    let mut ruleset = ruleset.create().map_err(failed)?;
    for (path, right) in &rules.files {
        ruleset = allow(ruleset, path, rights(*right, abi), abi)?;
    }
    for &port in &rules.ports {
        ruleset = ruleset
            .add_rule(NetPort::new(port, AccessNet::ConnectTcp))
            .map_err(failed)?;
    }
    let status = ruleset.restrict_self().map_err(failed)?;
    if status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
        Ok(())
    } else {
        Err(InsideError::Partial)
    }
}

/// What `right` stands for. The rights of a file are those of a folder that make sense for one.
fn rights(right: FileRight, abi: ABI) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    match right {
        FileRight::Read => read,
        FileRight::Run => read | AccessFs::Execute,
        FileRight::Device => (AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev) & AccessFs::from_all(abi),
        // No device files: who can make one under a root user reads the disk.
        FileRight::Write => AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev),
    }
}

fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
    abi: ABI,
) -> Result<RulesetCreated, InsideError> {
    let failed = |why: String| InsideError::Path {
        path: path.to_owned(),
        why,
    };
    let meta = match path.metadata() {
        Ok(meta) => meta,
        // Not every system has every folder. What is missing cannot be reached either.
        Err(_) => return Ok(ruleset),
    };
    let rights = if meta.is_dir() {
        rights
    } else {
        rights & AccessFs::from_file(abi)
    };
    let handle = PathFd::new(path).map_err(|error| failed(error.to_string()))?;
    ruleset
        .add_rule(PathBeneath::new(handle, rights))
        .map_err(|error| failed(error.to_string()))
}
