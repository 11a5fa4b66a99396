//! What one transaction does with each request. No request can spoil another's.

use std::collections::HashSet;
use std::path::Path;

use mcproctor_proto::id::RunId;
use rusqlite::{Connection, OptionalExtension, Savepoint, Transaction, params};

use super::command::{Answer, Command};
use super::error::StoreError;
use super::handle::PutAttempt;
use super::hash::ContentHash;
use super::layout::Layout;
use super::pack::Packed;
use super::piece::{HEADER, PieceHeader};
use super::place;
use super::row::{AttemptRow, RunRow, class_or_cause, sql_int, state_name};

/// Why a request was refused.
enum Refusal {
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
    fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Database(error) => StoreError::database(path, error),
        }
    }
}

/// Up to where a pack holds acknowledged pieces.
pub(super) fn acknowledged_length(connection: &Connection, number: u32) -> rusqlite::Result<u64> {
    let length: Option<i64> = connection
        .prepare_cached("SELECT length FROM pack WHERE number = ?1")?
        .query_row([number], |row| row.get(0))
        .optional()?;
    Ok(length.and_then(|length| u64::try_from(length).ok()).unwrap_or(0))
}

/// Those of `hashes` that need not be stored again.
pub(super) fn known_among(
    connection: &Connection,
    layout: &Layout,
    hashes: impl Iterator<Item = ContentHash>,
) -> rusqlite::Result<HashSet<ContentHash>> {
    let mut known = HashSet::new();
    for hash in hashes {
        if place::locate(connection, &hash)?.is_some_and(|located| located.is_present(layout)) {
            known.insert(hash);
        }
    }
    Ok(known)
}

/// Enters pieces that are durable in their packs.
pub(super) fn enter_packed(transaction: &Transaction<'_>, packed: &[Packed]) -> rusqlite::Result<()> {
    for piece in packed {
        let end = piece.position + HEADER as u64 + piece.header.stored_bytes;
        enter_piece(transaction, &piece.header, Some((piece.number, piece.position)))?;
        transaction
            .prepare_cached(
                "INSERT INTO pack (number, length) VALUES (?1, ?2)
                 ON CONFLICT (number) DO UPDATE SET length = max(length, excluded.length)",
            )?
            .execute(params![piece.number, sql_int(end)])?;
    }
    Ok(())
}

/// Carries out one request and keeps its answer until the commit. `pieces` says what became of the batch's packs.
pub(super) fn apply(
    transaction: &mut Transaction<'_>,
    path: &Path,
    command: Command,
    pieces: &Result<(), StoreError>,
) -> Answer {
    match command {
        Command::CreateRun(run, reply) => {
            Answer::Done(reply, alone(transaction, path, |database| create_run(database, &run)))
        }
        Command::SetState(run, state, reply) => Answer::Done(
            reply,
            alone(transaction, path, |database| {
                let changed = database
                    .prepare_cached("UPDATE run SET state = ?2 WHERE id = ?1")?
                    .execute(params![run.as_str(), state_name(state)])?;
                if changed == 0 {
                    Err(StoreError::NoSuchRun { run: run.clone() }.into())
                } else {
                    Ok(())
                }
            }),
        ),
        Command::PutAttempt(attempt, reply) => Answer::Put(
            reply,
            alone(transaction, path, |database| put_attempt(database, &attempt)),
        ),
        Command::PutLate(attempt, reply) => Answer::Done(
            reply,
            alone(transaction, path, |database| {
                let run = run_key(database, &attempt.run)?;
                check_evidence(database, &attempt)?;
                put_late(database, run, &attempt)
            }),
        ),
        Command::PutPiece(_, reply) => Answer::Done(reply, pieces.clone()),
        Command::PutObject(header, reply) => Answer::Done(
            reply,
            alone(transaction, path, |database| Ok(enter_piece(database, &header, None)?)),
        ),
    }
}

/// Runs one request inside a savepoint, so that what it half did is undone when it is refused.
fn alone<T>(
    transaction: &mut Transaction<'_>,
    path: &Path,
    request: impl FnOnce(&Savepoint<'_>) -> Result<T, Refusal>,
) -> Result<T, StoreError> {
    let savepoint = transaction
        .savepoint()
        .map_err(|error| StoreError::database(path, error))?;
    let value = request(&savepoint).map_err(|refusal| refusal.at(path))?;
    savepoint.commit().map_err(|error| StoreError::database(path, error))?;
    Ok(value)
}

fn create_run(database: &Connection, run: &RunRow) -> Result<(), Refusal> {
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

fn put_attempt(database: &Connection, attempt: &AttemptRow) -> Result<PutAttempt, Refusal> {
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
    Ok(PutAttempt::Accepted)
}

fn put_late(database: &Connection, run: i64, attempt: &AttemptRow) -> Result<(), Refusal> {
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

fn run_key(database: &Connection, run: &RunId) -> Result<i64, Refusal> {
    database
        .prepare_cached("SELECT key FROM run WHERE id = ?1")?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()?
        .ok_or_else(|| StoreError::NoSuchRun { run: run.clone() }.into())
}

fn check_evidence(database: &Connection, attempt: &AttemptRow) -> Result<(), Refusal> {
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

fn enter_piece(database: &Connection, piece: &PieceHeader, place: Option<(u32, u64)>) -> rusqlite::Result<()> {
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
