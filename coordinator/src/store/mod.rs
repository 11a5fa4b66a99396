//! What is durable: runs and attempts in SQLite, evidence by content hash.
//!
//! [`Store`] writes: one thread owns the writing connection and answers many callers after one commit. [`Reader`] reads
//! through its own connection in short transactions. What was acknowledged is on the disk: a piece of evidence is synced
//! before the commit that refers to it, and the commit is synced before the caller is answered.

mod attempts;
mod batch;
mod command;
mod error;
mod evidence_reader;
mod filter;
mod handle;
mod hash;
mod head;
mod insert;
mod judgements;
mod layout;
mod object;
mod pack;
mod piece;
mod place;
mod progress;
mod reader;
mod row;
mod run_lock;
mod schema;
mod spool;
mod tally;
mod upload;
mod writer;

pub use error::StoreError;
pub use evidence_reader::EvidenceReader;
pub use filter::{AttemptFilter, Watermark};
pub use handle::{Have, PutAttempt, Store, SyncCounts};
pub use head::RunHead;
pub use progress::{Progress, Unfinished};
pub use reader::{LateAttempt, Reader, StoredAttempt};
pub use run_lock::RunLock;
pub use tally::CellTally;
pub use upload::Upload;
