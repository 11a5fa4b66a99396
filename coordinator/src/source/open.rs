//! The source that a config names.

use super::document::DocumentSource;
use super::filesystem::FilesystemSource;
use crate::config;

/// The source that `testcases` names; nothing is read yet.
pub fn open(source: &config::Source) -> Box<dyn DocumentSource> {
    match source {
        config::Source::Filesystem { path } => Box::new(FilesystemSource::new(path)),
    }
}
