//! The environment that an agent is given: from nothing.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret as _;

use super::spec::Spec;
use super::tree::MARKER;

/// The name that agents see as the user's, whoever the user is.
pub(super) const USER: &str = "agent";

/// What is the sandbox's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<'a> {
    /// The home folder, as the agent sees it.
    pub(super) home: &'a Path,
    /// The temporary folder, as the agent sees it.
    pub(super) temporary: &'a Path,
    /// What marks every process of the attempt.
    pub(super) marker: &'a str,
}

/// The environment of `spec` in a sandbox. Nothing of the worker's own is in it.
pub(super) fn environment(spec: &Spec, own: Own<'_>) -> BTreeMap<OsString, OsString> {
    let mut folders = spec.path.clone();
    for usual in [
        "/usr/local/sbin",
        "/usr/local/bin",
        "/usr/sbin",
        "/usr/bin",
        "/sbin",
        "/bin",
    ] {
        folders.push(PathBuf::from(usual));
    }
    // A folder whose name holds a colon cannot be in PATH at all.
    folders.retain(|folder| !folder.as_os_str().as_encoded_bytes().contains(&b':'));
    let mut environment: BTreeMap<OsString, OsString> = BTreeMap::from([
        ("PATH".into(), env::join_paths(folders).unwrap_or_default()),
        ("HOME".into(), own.home.into()),
        ("TMPDIR".into(), own.temporary.into()),
        ("USER".into(), USER.into()),
        ("LOGNAME".into(), USER.into()),
        ("SHELL".into(), "/bin/sh".into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("TERM".into(), "dumb".into()),
        ("NO_COLOR".into(), "1".into()),
    ]);
    for (name, value) in &spec.env {
        environment.insert(name.into(), value.expose_secret().into());
    }
    environment.insert(MARKER.into(), own.marker.into());
    environment
}
