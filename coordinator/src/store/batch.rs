//! What one transaction does with each request. No request can spoil another's.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Savepoint, Transaction, params};

use super::command::{Answer, Command};
use super::error::StoreError;
use super::hash::ContentHash;
use super::insert::{
    Refusal, check_evidence, create_run, enter_piece, put_attempt, put_late, put_lease, run_key, set_state, update_run,
};
use super::judgements;
use super::layout::Layout;
use super::pack::Packed;
use super::piece::HEADER;
use super::place;
use super::row::sql_int;

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
            alone(transaction, path, |database| set_state(database, &run, state)),
        ),
        Command::UpdateRun(run, state, reply) => Answer::Done(
            reply,
            alone(transaction, path, |database| update_run(database, &run, state)),
        ),
        Command::PutLease(lease, reply) => {
            Answer::Done(reply, alone(transaction, path, |database| put_lease(database, &lease)))
        }
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
        Command::PutJudgement(judgement, reply) => Answer::Done(
            reply,
            alone(transaction, path, |database| judgements::put(database, &judgement)),
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
