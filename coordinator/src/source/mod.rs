//! Where test cases come from: a [`DocumentSource`] gives named documents in order, whatever they hold.

mod document;
mod filesystem;
mod memory;
mod open;

pub use document::{Document, DocumentFault, DocumentSource, MAX_DOCUMENT_BYTES, MAX_DOCUMENTS, SourceError};
pub use filesystem::FilesystemSource;
pub use memory::MemorySource;
pub use open::open;
