//! Runs at a glance.

use mcproctor_proto::id::RunId;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::row::{from_compressed_json, outcome_from, state_from};
use crate::outcome::Outcome;
use crate::record::RunState;

/// What a list of runs shows of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunHead {
    /// The run.
    pub id: RunId,
    /// How it stands, as it was last stored.
    pub state: RunState,
    /// Whether a process is carrying it on right now. `Running` without that was interrupted.
    pub active: bool,
    /// Milliseconds of Unix time.
    pub started_at_unix_ms: i64,
    /// The config file as the user named it.
    pub config_file: String,
    /// How many test cases.
    pub test_cases: u64,
    /// How many agents.
    pub agents: u64,
    /// Iterations of each cell.
    pub iterations: u32,
    /// Iterations that passed.
    pub passed: u64,
    /// Iterations that failed.
    pub failed: u64,
    /// Iterations that stayed invalid.
    pub invalid: u64,
    /// Iterations that were stopped while they went on, and that no later attempt has replaced.
    pub aborted: u64,
    /// The run whose recordings these are, if it was made by judging them again.
    pub graded_from: Option<RunId>,
}

/// The part of a run's record that is not in a column.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Origin {
    #[serde(default)]
    graded_from: Option<RunId>,
}

impl RunHead {
    /// Iterations of the whole run.
    pub fn total_iterations(&self) -> u64 {
        self.test_cases
            .saturating_mul(self.agents)
            .saturating_mul(u64::from(self.iterations))
    }
}

/// Reads the runs, the newest first. `active` is left for the caller.
pub(super) fn read(database: &Connection) -> rusqlite::Result<Vec<RunHead>> {
    let snapshot = database.unchecked_transaction()?;
    let mut statement = snapshot.prepare_cached(
        "SELECT key, id, state, started_at_unix_ms, config_file, test_cases, agents, iterations, record
         FROM run ORDER BY started_at_unix_ms DESC, key DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut heads = Vec::new();
    while let Some(row) = rows.next()? {
        let state: String = row.get(2)?;
        let mut head = RunHead {
            id: RunId::new(row.get::<_, String>(1)?),
            state: state_from(&state).unwrap_or(RunState::Aborted),
            active: false,
            started_at_unix_ms: row.get(3)?,
            config_file: row.get(4)?,
            test_cases: row.get::<_, u32>(5)?.into(),
            agents: row.get::<_, u32>(6)?.into(),
            iterations: row.get(7)?,
            passed: 0,
            failed: 0,
            invalid: 0,
            aborted: 0,
            graded_from: None,
        };
        // A damaged record is told of by whoever reads the run.
        let record = row.get_ref(8)?.as_blob()?;
        head.graded_from = from_compressed_json::<Origin>(record, || head.id.to_string())
            .ok()
            .and_then(|origin| origin.graded_from);
        count(&snapshot, row.get(0)?, &mut head)?;
        heads.push(head);
    }
    Ok(heads)
}

fn count(database: &Connection, run: i64, head: &mut RunHead) -> rusqlite::Result<()> {
    let mut statement = database.prepare_cached(
        "SELECT outcome, class_or_cause, count(*) FROM attempt WHERE run = ?1 AND last GROUP BY outcome, class_or_cause",
    )?;
    let mut rows = statement.query(params![run])?;
    while let Some(row) = rows.next()? {
        let (name, detail): (String, String) = (row.get(0)?, row.get(1)?);
        let number = u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
        match outcome_from(&name, &detail) {
            Some(Outcome::Passed) => head.passed += number,
            Some(Outcome::Failed(_)) => head.failed += number,
            Some(Outcome::Invalid(_)) => head.invalid += number,
            Some(Outcome::Aborted) | None => head.aborted += number,
        }
    }
    Ok(())
}
