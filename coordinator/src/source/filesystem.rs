//! The `.yaml` and `.yml` files of a folder, without its subfolders and hidden files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::document::{Document, DocumentFault, DocumentSource, MAX_DOCUMENT_BYTES, MAX_DOCUMENTS, SourceError};

/// A folder.
#[derive(Clone, Debug)]
pub struct FilesystemSource {
    folder: PathBuf,
}

impl FilesystemSource {
    /// The folder need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl DocumentSource for FilesystemSource {
    fn location(&self) -> PathBuf {
        self.folder.clone()
    }

    fn documents(&self) -> Result<Vec<Document>, SourceError> {
        let unreadable = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => SourceError::Missing(self.folder.clone()),
            ErrorKind::NotADirectory => SourceError::NotAFolder(self.folder.clone()),
            _ => SourceError::Unreadable {
                path: self.folder.clone(),
                reason: error.to_string(),
            },
        };
        // The folder itself may well be reached through a link; what counts is to stay inside it.
        let root = fs::canonicalize(&self.folder).map_err(unreadable)?;
        let mut names: Vec<OsString> = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            if !is_test_case(Path::new(&name)) {
                continue;
            }
            if names.len() == MAX_DOCUMENTS {
                return Err(SourceError::TooMany(self.folder.clone()));
            }
            names.push(name);
        }
        names.sort();
        Ok(names.into_iter().map(|name| self.document(&root, name)).collect())
    }
}

impl FilesystemSource {
    fn document(&self, root: &Path, name: OsString) -> Document {
        let path = self.folder.join(&name);
        let (name, content) = match name.into_string() {
            Ok(name) => (name, read(root, &path)),
            Err(name) => (name.to_string_lossy().into_owned(), Err(DocumentFault::NameNotText)),
        };
        Document { name, path, content }
    }
}

fn is_test_case(name: &Path) -> bool {
    let hidden = name.as_os_str().as_encoded_bytes().starts_with(b".");
    !hidden
        && name
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Reads a file that lies inside `root` once every link is followed.
fn read(root: &Path, path: &Path) -> Result<Vec<u8>, DocumentFault> {
    let unreadable = |error: std::io::Error| DocumentFault::Unreadable(error.to_string());
    let real = fs::canonicalize(path).map_err(unreadable)?;
    if !real.starts_with(root) {
        return Err(DocumentFault::LeadsOutside);
    }
    // Before it is opened: opening a pipe waits for a writer.
    if !fs::metadata(&real).map_err(unreadable)?.is_file() {
        return Err(DocumentFault::NotAFile);
    }
    let mut bytes = Vec::new();
    let limit = MAX_DOCUMENT_BYTES as u64 + 1;
    File::open(&real)
        .map_err(unreadable)?
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(DocumentFault::TooLarge);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        FilesystemSource::new(folder)
            .documents()
            .unwrap()
            .into_iter()
            .map(|document| document.name)
            .collect()
    }

    fn fault(folder: &Path, name: &str) -> DocumentFault {
        let documents = FilesystemSource::new(folder).documents().unwrap();
        documents
            .into_iter()
            .find(|document| document.name == name)
            .unwrap()
            .content
            .unwrap_err()
    }

    #[test]
    fn both_endings_are_read_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "b.yml",
            "a.yaml",
            "B.yaml",
            "10.yaml",
            "9.yaml",
            "notes.md",
            ".hidden.yaml",
            "c.yaml.bak",
        ] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/d.yaml"), "d").unwrap();
        assert_eq!(names(folder.path()), ["10.yaml", "9.yaml", "B.yaml", "a.yaml", "b.yml"]);
    }

    #[test]
    fn a_missing_folder_and_a_file_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert_eq!(
            FilesystemSource::new(&missing).documents().unwrap_err(),
            SourceError::Missing(missing)
        );
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(
            FilesystemSource::new(&file).documents().unwrap_err(),
            SourceError::NotAFolder(file)
        );
    }

    #[test]
    fn a_large_file_and_a_folder_are_faults_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("large.yaml"), vec![b'x'; MAX_DOCUMENT_BYTES + 1]).unwrap();
        fs::write(folder.path().join("limit.yaml"), vec![b'x'; MAX_DOCUMENT_BYTES]).unwrap();
        fs::create_dir(folder.path().join("folder.yaml")).unwrap();
        assert_eq!(fault(folder.path(), "large.yaml"), DocumentFault::TooLarge);
        assert_eq!(fault(folder.path(), "folder.yaml"), DocumentFault::NotAFile);
        let documents = FilesystemSource::new(folder.path()).documents().unwrap();
        assert_eq!(documents[2].content.as_ref().unwrap().len(), MAX_DOCUMENT_BYTES);
    }

    #[cfg(unix)]
    #[test]
    fn links_may_not_lead_out_of_the_folder() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("real.yaml"), "inside").unwrap();
        symlink("real.yaml", folder.path().join("inside.yaml")).unwrap();
        symlink(outside.path().join("secret"), folder.path().join("outside.yaml")).unwrap();
        symlink("loop.yaml", folder.path().join("loop.yaml")).unwrap();
        symlink("nowhere", folder.path().join("dangling.yaml")).unwrap();
        let documents = FilesystemSource::new(folder.path()).documents().unwrap();
        let inside = documents
            .iter()
            .find(|document| document.name == "inside.yaml")
            .unwrap();
        assert_eq!(inside.content.as_deref(), Ok(&b"inside"[..]));
        assert_eq!(fault(folder.path(), "outside.yaml"), DocumentFault::LeadsOutside);
        assert!(matches!(
            fault(folder.path(), "loop.yaml"),
            DocumentFault::Unreadable(_)
        ));
        assert!(matches!(
            fault(folder.path(), "dangling.yaml"),
            DocumentFault::Unreadable(_)
        ));
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_itself_may_be_a_link() {
        let real = tempfile::tempdir().unwrap();
        fs::write(real.path().join("a.yaml"), "a").unwrap();
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("cases");
        std::os::unix::fs::symlink(real.path(), &link).unwrap();
        let documents = FilesystemSource::new(&link).documents().unwrap();
        assert_eq!(documents[0].content.as_deref(), Ok(&b"a"[..]));
    }
}
