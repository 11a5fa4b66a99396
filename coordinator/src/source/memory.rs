//! Documents that are handed in.

use std::path::PathBuf;

use super::document::{Document, DocumentFault, DocumentSource, MAX_DOCUMENT_BYTES, SourceError};

/// A source without files.
#[derive(Clone, Debug, Default)]
pub struct MemorySource(Vec<(String, Vec<u8>)>);

impl MemorySource {
    /// The documents, in any order.
    pub fn new<N: Into<String>, B: Into<Vec<u8>>>(documents: impl IntoIterator<Item = (N, B)>) -> Self {
        Self(
            documents
                .into_iter()
                .map(|(name, bytes)| (name.into(), bytes.into()))
                .collect(),
        )
    }
}

impl DocumentSource for MemorySource {
    fn location(&self) -> PathBuf {
        PathBuf::from("memory")
    }

    fn documents(&self) -> Result<Vec<Document>, SourceError> {
        let mut documents: Vec<Document> = self
            .0
            .iter()
            .map(|(name, bytes)| Document {
                name: name.clone(),
                path: PathBuf::from(name),
                content: if bytes.len() > MAX_DOCUMENT_BYTES {
                    Err(DocumentFault::TooLarge)
                } else {
                    Ok(bytes.clone())
                },
            })
            .collect();
        documents.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(documents)
    }
}
