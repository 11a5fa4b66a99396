//! Why a report could not be written.

use std::path::PathBuf;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run's records could not be read.
    #[error("read {what}: {source}")]
    Read {
        /// What was read.
        what: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A record names a cell that the run does not have.
    #[error("read the attempts: cell {cell} is not part of the run, which has {cells}")]
    UnknownCell {
        /// The cell of the record.
        cell: u32,
        /// How many the run has.
        cells: usize,
    },
    /// The records did not come ordered by cell, iteration and attempt.
    #[error("read the attempts: attempt {attempt} of iteration {iteration} in cell {cell} came out of order")]
    OutOfOrder {
        /// Index of the cell.
        cell: u32,
        /// Number of the iteration.
        iteration: u32,
        /// Number of the attempt.
        attempt: u32,
    },
    /// A file could not be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A part of a report could not be encoded, or the disk took no more of it.
    #[error("write a report: {0}")]
    Output(#[from] std::io::Error),
    /// A value could not be written as JSON.
    #[error("write a report: {0}")]
    Json(#[from] serde_json::Error),
    /// The page could not be rendered.
    #[error("render the report page: {0}")]
    Page(#[from] askama::Error),
}

impl ReportError {
    /// The records could not be read.
    pub fn read(what: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Read {
            what: what.into(),
            source: source.into(),
        }
    }
}
