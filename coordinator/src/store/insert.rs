//! The rows that requests write, and why they may be refused.

use std::path::Path;

use mcproctor_proto::id::RunId;
use rusqlite::{Connection, OptionalExtension, params};

use super::error::StoreError;
use super::handle::PutAttempt;
use super::hash::ContentHash;
use super::piece::PieceHeader;
use super::row::{AttemptRow, LeaseRow, RunRow, class_or_cause, sql_int, state_name};
use crate::record::RunState;

/// Why a request was refused.
pub(super) enum Refusal {
    Store(StoreError),
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Refusal {
    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Database(error) => StoreError::database(path, error),
        }
    }
}

/// A run, if its name is free.
pub(super) fn create_run(database: &Connection, run: &RunRow) -> Result<(), Refusal> {
    let created = database
        .prepare_cached(
            "INSERT INTO run (id, state, started_at_unix_ms, config_file, test_cases, agents, iterations, record)
             VALUES (?1, 'running', ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            run.id.as_str(),
            run.started_at_unix_ms,
            run.config_file,
            run.test_cases,
            run.agents,
            run.iterations,
            run.record
        ])?;
    if created == 0 {
        Err(StoreError::RunExists { run: run.id.clone() }.into())
    } else {
        Ok(())
    }
}

/// How a run stands.
pub(super) fn set_state(database: &Connection, run: &RunId, state: RunState) -> Result<(), Refusal> {
    let changed = database
        .prepare_cached("UPDATE run SET state = ?2 WHERE id = ?1")?
        .execute(params![run.as_str(), state_name(state)])?;
    if changed == 0 {
        Err(StoreError::NoSuchRun { run: run.clone() }.into())
    } else {
        Ok(())
    }
}

/// The record of a run as it is now, and how it stands.
pub(super) fn update_run(database: &Connection, run: &RunRow, state: RunState) -> Result<(), Refusal> {
    set_state(database, &run.id, state)?;
    database
        .prepare_cached("UPDATE run SET record = ?2 WHERE id = ?1")?
        .execute(params![run.id.as_str(), run.record])?;
    Ok(())
}

/// A note that an attempt is given out, instead of an earlier one.
pub(super) fn put_lease(database: &Connection, lease: &LeaseRow) -> Result<(), Refusal> {
    let run = run_key(database, &lease.run)?;
    database
        .prepare_cached(
            "INSERT INTO lease VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (run, cell, iteration, attempt) DO UPDATE SET
                 epoch = excluded.epoch, worker = excluded.worker, given_at_unix_ms = excluded.given_at_unix_ms",
        )?
        .execute(params![
            run,
            lease.key.cell,
            lease.key.iteration,
            lease.key.attempt,
            lease.epoch,
            lease.worker,
            lease.given_at_unix_ms
        ])?;
    Ok(())
}

/// An attempt, if it is the first of its name and its iteration has no result.
pub(super) fn put_attempt(database: &Connection, attempt: &AttemptRow) -> Result<PutAttempt, Refusal> {
    let run = run_key(database, &attempt.run)?;
    check_evidence(database, attempt)?;
    let AttemptRow {
        cell,
        iteration,
        attempt: number,
        ..
    } = *attempt;
    let accepted_epoch: Option<i64> = database
        .prepare_cached("SELECT epoch FROM attempt WHERE run = ?1 AND cell = ?2 AND iteration = ?3 AND attempt = ?4")?
        .query_row(params![run, cell, iteration, number], |row| row.get(0))
        .optional()?;
    if let Some(epoch) = accepted_epoch {
        // Under the same lease it is the same result, sent again because its acknowledgement was lost.
        if epoch != attempt.epoch {
            put_late(database, run, attempt)?;
        }
        return Ok(PutAttempt::Duplicate);
    }
    let result: Option<(u32, String)> = database
        .prepare_cached(
            "SELECT attempt, outcome FROM attempt WHERE run = ?1 AND cell = ?2 AND iteration = ?3 AND last",
        )?
        .query_row(params![run, cell, iteration], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match result {
        // An interrupted iteration has no result yet; the resumed run brings it.
        Some((aborted, outcome)) if outcome == "aborted" => {
            database
                .prepare_cached(
                    "UPDATE attempt SET last = 0 WHERE run = ?1 AND cell = ?2 AND iteration = ?3 AND attempt = ?4",
                )?
                .execute(params![run, cell, iteration, aborted])?;
        }
        Some(_) => {
            put_late(database, run, attempt)?;
            return Ok(PutAttempt::Duplicate);
        }
        None => {}
    }
    let record = put_record(database, attempt)?;
    database
        .prepare_cached("INSERT INTO attempt VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
        .execute(params![
            run,
            cell,
            iteration,
            number,
            attempt.last,
            attempt.outcome.name(),
            class_or_cause(attempt.outcome),
            attempt.duration_ms,
            attempt.worker,
            attempt.epoch,
            record
        ])?;
    database
        .prepare_cached("DELETE FROM lease WHERE run = ?1 AND cell = ?2 AND iteration = ?3 AND attempt = ?4")?
        .execute(params![run, cell, iteration, number])?;
    Ok(PutAttempt::Accepted)
}

/// A result that does not count, once a lease.
pub(super) fn put_late(database: &Connection, run: i64, attempt: &AttemptRow) -> Result<(), Refusal> {
    let key = params![run, attempt.cell, attempt.iteration, attempt.attempt, attempt.epoch];
    let known = database
        .prepare_cached(
            "SELECT 1 FROM late WHERE run = ?1 AND cell = ?2 AND iteration = ?3 AND attempt = ?4 AND epoch = ?5",
        )?
        .exists(key)?;
    if known {
        return Ok(());
    }
    let record = put_record(database, attempt)?;
    let tokens = |count: Option<u64>| count.map(sql_int);
    database
        .prepare_cached("INSERT INTO late VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
        .execute(params![
            run,
            attempt.cell,
            attempt.iteration,
            attempt.attempt,
            attempt.epoch,
            tokens(attempt.usage.input_tokens),
            tokens(attempt.usage.output_tokens),
            attempt.usage.cost_usd,
            record
        ])?;
    Ok(())
}

fn put_record(database: &Connection, attempt: &AttemptRow) -> rusqlite::Result<i64> {
    database
        .prepare_cached("INSERT INTO record (json) VALUES (?1)")?
        .insert([&attempt.record])
}

/// The key of a run.
pub(super) fn run_key(database: &Connection, run: &RunId) -> Result<i64, Refusal> {
    database
        .prepare_cached("SELECT key FROM run WHERE id = ?1")?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()?
        .ok_or_else(|| StoreError::NoSuchRun { run: run.clone() }.into())
}

/// Refuses an attempt whose evidence is not stored.
pub(super) fn check_evidence(database: &Connection, attempt: &AttemptRow) -> Result<(), Refusal> {
    for hash in &attempt.evidence {
        if !has_evidence(database, hash)? {
            return Err(StoreError::MissingEvidence {
                sha256: hash.to_string(),
            }
            .into());
        }
    }
    Ok(())
}

fn has_evidence(database: &Connection, hash: &ContentHash) -> rusqlite::Result<bool> {
    database
        .prepare_cached("SELECT 1 FROM evidence WHERE sha256 = ?1")?
        .exists([hash.as_bytes()])
}

/// A piece that is durable in its place; it replaces what was known of its place.
pub(super) fn enter_piece(
    database: &Connection,
    piece: &PieceHeader,
    place: Option<(u32, u64)>,
) -> rusqlite::Result<()> {
    database
        .prepare_cached(
            "INSERT INTO evidence (sha256, kind, bytes, stored_bytes, pack, position) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (sha256) DO UPDATE SET
                 stored_bytes = excluded.stored_bytes, pack = excluded.pack, position = excluded.position",
        )?
        .execute(params![
            piece.hash.as_bytes(),
            piece.kind.name(),
            sql_int(piece.bytes),
            sql_int(piece.stored_bytes),
            place.map(|(pack, _)| pack),
            place.map(|(_, position)| sql_int(position))
        ])?;
    Ok(())
}
