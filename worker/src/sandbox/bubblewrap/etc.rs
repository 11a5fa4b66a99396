//! The few files of `/etc` that are not the host's.

use std::fs;
use std::io;
use std::path::Path;

use crate::sandbox::environment::USER;

/// The user's and the group's number inside, whoever the worker is.
pub(super) const ID: &str = "1000";

/// The files that are written here, by name.
pub(super) const OWN: [&str; 5] = ["group", "hosts", "nsswitch.conf", "passwd", "resolv.conf"];

/// Writes them to `folder`: the agent as the only user, its own machine as the only host, and nobody to ask for others.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    let texts = [
        format!("root:x:0:\n{USER}:x:{ID}:\nnogroup:x:65534:\n"),
        "127.0.0.1 localhost\n".to_owned(),
        "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
        format!(
            "root:x:0:0::/root:/bin/sh\n{USER}:x:{ID}:{ID}::/agent/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
        ),
        String::new(),
    ];
    for (name, text) in OWN.into_iter().zip(texts) {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}
