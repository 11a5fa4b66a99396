//! How much an agent has written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often is looked. One file cannot grow past the limit in between, but many can.
const INTERVAL: Duration = Duration::from_secs(1);

/// Watches the folders of one agent.
#[derive(Clone, Debug)]
pub(in crate::sandbox) struct DiskWatch {
    folders: Vec<PathBuf>,
    limit: u64,
    looked: Instant,
}

impl DiskWatch {
    /// Watches `folders`, which may take `limit` bytes together.
    pub(in crate::sandbox) fn new(folders: Vec<PathBuf>, limit: u64) -> Self {
        Self {
            folders,
            limit,
            looked: Instant::now(),
        }
    }

    /// Why the agent has to be ended, if it has. Looks only when it is time to.
    pub(in crate::sandbox) async fn exceeded(&mut self) -> Option<String> {
        if self.looked.elapsed() < INTERVAL {
            return None;
        }
        let (folders, limit) = (self.folders.clone(), self.limit);
        let over = tokio::task::spawn_blocking(move || used(&folders, limit) > limit)
            .await
            .unwrap_or(false);
        self.looked = Instant::now();
        over.then(|| self.reason())
    }

    /// The same at the end, when nothing changes any more.
    pub(in crate::sandbox) async fn exceeded_at_the_end(&mut self) -> Option<String> {
        self.looked = self.looked.checked_sub(INTERVAL).unwrap_or(self.looked);
        self.exceeded().await
    }

    fn reason(&self) -> String {
        format!("the agent took more than {} MB of disk", self.limit / (1024 * 1024))
    }
}

/// The bytes that everything in `folders` takes on disk; counting stops beyond `enough`. No link is followed.
fn used(folders: &[PathBuf], enough: u64) -> u64 {
    // Of stat(2): a block is this long, whatever the file system.
    const BLOCK: u64 = 512;
    let mut bytes: u64 = 0;
    let mut waiting = folders.to_vec();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(meta.blocks().saturating_mul(BLOCK));
            if bytes > enough {
                return bytes;
            }
            if meta.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn counts_what_lies_on_the_disk_and_follows_no_link() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("inner/file"), vec![1; 100_000]).unwrap();
        fs::write(other.path().join("large"), vec![1; 900_000]).unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("link")).unwrap();
        let bytes = used(&[folder.path().to_owned()], u64::MAX);
        assert!((100_000..500_000).contains(&bytes), "{bytes}");
    }
}
