//! How records lie in rows: a few plain columns for queries, and the whole record as compressed JSON.

use std::cell::RefCell;

use mcproctor_proto::evidence::EvidenceRef;
use mcproctor_proto::id::RunId;
use mcproctor_proto::turn::Usage;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::hash::ContentHash;
use crate::event::AttemptKey;
use crate::judge::Judgement;
use crate::outcome::{FailureClass, InvalidCause, Outcome};
use crate::record::{AttemptRecord, RunRecord, RunState};

/// Records are small and many: level 3 is where zstd's ratio stops growing cheaply.
pub(super) const LEVEL: i32 = 3;

/// Beyond this, compressing moves off the async threads.
const LARGE_RECORD: usize = 256 << 10;

/// A run, ready for its row.
#[derive(Debug)]
pub(super) struct RunRow {
    pub(super) id: RunId,
    pub(super) started_at_unix_ms: i64,
    pub(super) config_file: String,
    pub(super) test_cases: i64,
    pub(super) agents: i64,
    pub(super) iterations: u32,
    pub(super) record: Vec<u8>,
}

impl RunRow {
    pub(super) async fn of(run: &RunRecord) -> Result<Self, StoreError> {
        check_run_id(&run.id)?;
        Ok(Self {
            id: run.id.clone(),
            started_at_unix_ms: run.started_at_unix_ms,
            config_file: run.config_file.clone(),
            test_cases: sql_int(run.test_cases.len() as u64),
            agents: sql_int(run.agents.len() as u64),
            iterations: run.iterations,
            record: compressed_json(run).await?,
        })
    }
}

/// An attempt that is given out, ready for its row.
#[derive(Debug)]
pub(super) struct LeaseRow {
    pub(super) run: RunId,
    pub(super) key: AttemptKey,
    pub(super) epoch: i64,
    pub(super) worker: String,
    pub(super) given_at_unix_ms: i64,
}

/// An attempt, ready for its row.
#[derive(Debug)]
pub(super) struct AttemptRow {
    pub(super) run: RunId,
    pub(super) epoch: i64,
    pub(super) cell: u32,
    pub(super) iteration: u32,
    pub(super) attempt: u32,
    pub(super) last: bool,
    pub(super) outcome: Outcome,
    pub(super) duration_ms: i64,
    pub(super) worker: String,
    pub(super) usage: Usage,
    pub(super) evidence: Vec<ContentHash>,
    pub(super) record: Vec<u8>,
}

impl AttemptRow {
    pub(super) async fn of(run: &RunId, epoch: u64, record: &AttemptRecord) -> Result<Self, StoreError> {
        let hash_of = |piece: &EvidenceRef| ContentHash::parse(&piece.sha256);
        Ok(Self {
            run: run.clone(),
            epoch: sql_int(epoch),
            cell: record.cell,
            iteration: record.iteration,
            attempt: record.attempt,
            last: record.last,
            outcome: record.outcome,
            duration_ms: sql_int(record.duration_ms),
            worker: record.worker.clone(),
            usage: record.usage(),
            evidence: record.evidence.iter().map(hash_of).collect::<Result<_, _>>()?,
            record: compressed_json(record).await?,
        })
    }
}

/// What the judge said of an attempt, ready for its row.
#[derive(Debug)]
pub(super) struct JudgementRow {
    pub(super) run: RunId,
    pub(super) key: AttemptKey,
    pub(super) settled: bool,
    pub(super) json: Vec<u8>,
}

impl JudgementRow {
    pub(super) async fn of(run: &RunId, key: AttemptKey, judgement: &Judgement) -> Result<Self, StoreError> {
        Ok(Self {
            run: run.clone(),
            key,
            settled: judgement.is_settled(),
            json: compressed_json(judgement).await?,
        })
    }
}

/// A run's name is also the name of a folder, so it may not lead elsewhere.
pub(super) fn check_run_id(run: &RunId) -> Result<(), StoreError> {
    let id = run.as_str();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 128 || id.starts_with('.') || !id.chars().all(plain) {
        return Err(StoreError::BadRunId { run: run.clone() });
    }
    Ok(())
}

async fn compressed_json(record: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let unwritable = |why: String| StoreError::Unreadable {
        what: "a record as JSON".to_owned(),
        why,
    };
    let json = serde_json::to_vec(record).map_err(|error| unwritable(error.to_string()))?;
    let large = json.len() > LARGE_RECORD;
    let compress = move || zstd::bulk::compress(&json, LEVEL);
    let compressed = if large {
        tokio::task::spawn_blocking(compress)
            .await
            .map_err(|error| unwritable(error.to_string()))?
    } else {
        compress()
    };
    compressed.map_err(|error| unwritable(error.to_string()))
}

/// Reads a record back; `what` names it in the error.
pub(super) fn from_compressed_json<T: DeserializeOwned>(
    bytes: &[u8],
    what: impl Fn() -> String,
) -> Result<T, StoreError> {
    let unreadable = |why: String| StoreError::Unreadable { what: what(), why };
    let json = decompressed(bytes).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_slice(&json).map_err(|error| unreadable(error.to_string()))
}

/// A small record is decompressed by what the thread already has: setting that up takes longer than the record.
fn decompressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
    }
    let size = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten();
    // What a damaged record says of its size is not believed.
    let Some(size) = size
        .and_then(|size| usize::try_from(size).ok())
        .filter(|size| *size <= LARGE_RECORD)
    else {
        return zstd::stream::decode_all(bytes);
    };
    DECOMPRESSOR.with_borrow_mut(|slot| match slot {
        Some(decompressor) => decompressor.decompress(bytes, size),
        None => slot.insert(zstd::bulk::Decompressor::new()?).decompress(bytes, size),
    })
}

/// SQLite's integers are signed; what does not fit is far beyond anything that can happen.
pub(super) fn sql_int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The second column of an outcome.
pub(super) fn class_or_cause(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed | Outcome::Aborted => "",
        Outcome::Failed(class) => class.name(),
        Outcome::Invalid(cause) => cause.name(),
    }
}

/// An outcome from its two columns.
pub(super) fn outcome_from(name: &str, class_or_cause: &str) -> Option<Outcome> {
    match name {
        "passed" => Some(Outcome::Passed),
        "aborted" => Some(Outcome::Aborted),
        "failed" => FailureClass::ALL
            .into_iter()
            .find(|class| class.name() == class_or_cause)
            .map(Outcome::Failed),
        "invalid" => InvalidCause::ALL
            .into_iter()
            .find(|cause| cause.name() == class_or_cause)
            .map(Outcome::Invalid),
        _ => None,
    }
}

/// The column of a run's state.
pub(super) fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Completed => "completed",
        RunState::Aborted => "aborted",
    }
}

/// A run's state from its column.
pub(super) fn state_from(name: &str) -> Option<RunState> {
    [RunState::Running, RunState::Completed, RunState::Aborted]
        .into_iter()
        .find(|state| state_name(*state) == name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn every_outcome_comes_back_from_its_columns() {
        let failed = FailureClass::ALL.map(Outcome::Failed);
        let invalid = InvalidCause::ALL.map(Outcome::Invalid);
        for outcome in [Outcome::Passed, Outcome::Aborted]
            .into_iter()
            .chain(failed)
            .chain(invalid)
        {
            assert_eq!(outcome_from(outcome.name(), class_or_cause(outcome)), Some(outcome));
        }
        assert_eq!(outcome_from("failed", "no such class"), None);
    }

    #[test]
    fn a_run_cannot_be_named_after_another_folder() {
        assert!(check_run_id(&RunId::new("2026-11-30T06-54-57-3fa9")).is_ok());
        for name in ["", ".", "..", ".hidden", "a/b", "../a", "a\0b", "a b", &"x".repeat(129)] {
            assert!(
                matches!(check_run_id(&RunId::new(name)), Err(StoreError::BadRunId { .. })),
                "{name:?}"
            );
        }
    }
}
