//! What a source gives, and why it may not.

use std::path::PathBuf;

/// The largest document that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// The most documents that a source may have.
pub const MAX_DOCUMENTS: usize = 10_000;

/// A place that test cases are read from.
pub trait DocumentSource {
    /// The place as people name it, a folder for example.
    fn location(&self) -> PathBuf;

    /// Every document in the order of its name, byte by byte. A document that cannot be read is given with its fault, so
    /// that all faults are reported at once.
    ///
    /// # Errors
    ///
    /// The place as a whole cannot be read, or has more than [`MAX_DOCUMENTS`].
    fn documents(&self) -> Result<Vec<Document>, SourceError>;
}

/// One document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its name, relative to the source.
    pub name: String,
    /// Where it is, as people look it up.
    pub path: PathBuf,
    /// What it holds, at most [`MAX_DOCUMENT_BYTES`].
    pub content: Result<Vec<u8>, DocumentFault>,
}

/// Why a document cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentFault {
    /// It would lead to files that nobody offered as test cases.
    #[error("it is a link that leads out of the folder")]
    LeadsOutside,
    /// A folder, a pipe, a device.
    #[error("it is not an ordinary file")]
    NotAFile,
    /// Larger than [`MAX_DOCUMENT_BYTES`].
    #[error("it has more than {MAX_DOCUMENT_BYTES} bytes")]
    TooLarge,
    /// A name that cannot be shown, stored and compared.
    #[error("its name is not UTF-8 text")]
    NameNotText,
    /// The system's own words.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Why a source cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There is nothing at that place.
    #[error("the folder {} does not exist", .0.display())]
    Missing(PathBuf),
    /// There is something else.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// More than [`MAX_DOCUMENTS`].
    #[error("{} holds more than {MAX_DOCUMENTS} test cases", .0.display())]
    TooMany(PathBuf),
    /// The system's own words.
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
