//! What the judge said of attempts.

use mcproctor_proto::id::RunId;
use rusqlite::{Connection, OptionalExtension, params};

use super::insert::{Refusal, run_key};
use super::row::JudgementRow;
use crate::event::AttemptKey;

/// Adds what was said; it counts from now on.
pub(super) fn put(database: &Connection, judgement: &JudgementRow) -> Result<(), Refusal> {
    let run = run_key(database, &judgement.run)?;
    let AttemptKey {
        cell,
        iteration,
        attempt,
    } = judgement.key;
    database
        .prepare_cached(
            "INSERT INTO judgement (run, cell, iteration, attempt, settled, json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            run,
            cell,
            iteration,
            attempt,
            judgement.settled,
            judgement.json
        ])?;
    Ok(())
}

/// The newest of an attempt whose key is not beyond `up_to`.
pub(super) fn newest(
    database: &Connection,
    run: &RunId,
    key: AttemptKey,
    up_to: i64,
) -> rusqlite::Result<Option<Vec<u8>>> {
    database
        .prepare_cached(
            "SELECT json FROM judgement WHERE run = (SELECT key FROM run WHERE id = ?1)
                 AND cell = ?2 AND iteration = ?3 AND attempt = ?4 AND key <= ?5
             ORDER BY key DESC LIMIT 1",
        )?
        .query_row(
            params![run.as_str(), key.cell, key.iteration, key.attempt, up_to],
            |row| row.get(0),
        )
        .optional()
}

/// Results about which the judge has said nothing that lasts.
pub(super) fn missing(database: &Connection, run: i64) -> rusqlite::Result<u64> {
    let count: i64 = database.query_row(
        "SELECT count(*) FROM attempt WHERE run = ?1 AND last AND outcome IN ('passed', 'failed') AND NOT EXISTS (
             SELECT 1 FROM judgement WHERE judgement.run = attempt.run AND judgement.cell = attempt.cell
                 AND judgement.iteration = attempt.iteration AND judgement.attempt = attempt.attempt AND settled)",
        [run],
        |row| row.get(0),
    )?;
    Ok(u64::try_from(count).unwrap_or(0))
}
