//! How much an agent has written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::sandbox::shortage::Shortage;

/// How often is looked. One file cannot grow past the limit in between, but many can.
const INTERVAL: Duration = Duration::from_secs(1);

/// Watches the folders of one agent.
#[derive(Debug)]
pub(in crate::sandbox) struct DiskWatch {
    folders: Vec<PathBuf>,
    limit: u64,
    looked: Instant,
    /// A look that is under way: whoever waits for it may stop waiting, and wait for it again.
    looking: Option<JoinHandle<bool>>,
    /// Whether that is the last one, when nothing changes any more.
    last: bool,
}

impl DiskWatch {
    /// Watches `folders`, which may take `limit` bytes together.
    pub(in crate::sandbox) fn new(folders: Vec<PathBuf>, limit: u64) -> Self {
        Self {
            folders,
            limit,
            looked: Instant::now(),
            looking: None,
            last: false,
        }
    }

    /// The limit, if more was taken: then the agent has to be ended. Looks only when it is time to.
    pub(in crate::sandbox) async fn exceeded(&mut self) -> Option<Shortage> {
        if self.looking.is_none() && self.looked.elapsed() < INTERVAL {
            return None;
        }
        self.look().await
    }

    /// The same at the end, when nothing changes any more.
    pub(in crate::sandbox) async fn exceeded_at_the_end(&mut self) -> Option<Shortage> {
        if !self.last {
            // One that began before may have missed something.
            self.last = true;
            self.looking = None;
        }
        self.look().await
    }

    async fn look(&mut self) -> Option<Shortage> {
        let looking = self.looking.get_or_insert_with(|| {
            let (folders, limit) = (self.folders.clone(), self.limit);
            tokio::task::spawn_blocking(move || used(&folders, limit) > limit)
        });
        let over = looking.await.unwrap_or(false);
        (self.looking, self.looked) = (None, Instant::now());
        over.then_some(Shortage::Disk { limit: self.limit })
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

    #[tokio::test]
    async fn a_look_that_nobody_waits_for_any_more_is_not_lost_and_not_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), vec![1; 100_000]).unwrap();
        let mut watch = DiskWatch::new(vec![folder.path().to_owned()], 1_000);
        for _ in 0..3 {
            // Polled once, and dropped.
            let _ = futures_util::FutureExt::now_or_never(watch.exceeded_at_the_end());
        }
        let told = watch.exceeded_at_the_end().await;
        assert!(told.is_some());
    }

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
