//! How a command names a stored run.

use mcproctor_proto::id::RunId;

use super::exit::Exit;
use crate::store::{Reader, RunHead, StoreError};

/// Why no run was found.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotFound {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An empty name fits every run.
    #[error("find a run without a name: give an id, the beginning of one, or `latest`")]
    Empty,
    /// The store has no run at all.
    #[error("find a run: there is none yet")]
    NoRuns,
    /// No id begins so.
    #[error("find the run {0}: `mcproctor list` shows those that are there")]
    None(String),
    /// More than one does.
    #[error("find the run {asked}: {count} runs begin so; give more of the id")]
    Several {
        /// What was asked for.
        asked: String,
        /// How many begin so.
        count: usize,
    },
}

/// How a command ends that needs the store: one that is not there was named wrongly, one that cannot be read is broken.
pub(super) fn exit_of(error: &StoreError) -> Exit {
    match error {
        StoreError::Missing { .. } => Exit::Usage,
        _ => Exit::Failure,
    }
}

impl NotFound {
    /// How a command ends that needs the run.
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Store(error) => exit_of(error),
            Self::Empty | Self::NoRuns | Self::None(_) | Self::Several { .. } => Exit::Usage,
        }
    }
}

/// The run with that id, or the only one whose id begins so; `latest` is the newest.
///
/// # Errors
/// [`NotFound`].
pub(super) fn find(reader: &Reader, asked: &str) -> Result<RunHead, NotFound> {
    let runs = reader.runs()?;
    let ids: Vec<RunId> = runs.iter().map(|run| run.id.clone()).collect();
    let found = among(&ids, asked)?;
    let run = runs.into_iter().find(|run| run.id == *found);
    run.ok_or_else(|| NotFound::None(asked.to_owned()))
}

/// `ids` are the newest first.
fn among<'a>(ids: &'a [RunId], asked: &str) -> Result<&'a RunId, NotFound> {
    match asked {
        "" => return Err(NotFound::Empty),
        "latest" => return ids.first().ok_or(NotFound::NoRuns),
        _ => {}
    }
    if let Some(exact) = ids.iter().find(|id| id.as_str() == asked) {
        return Ok(exact);
    }
    let begin: Vec<&RunId> = ids.iter().filter(|id| id.as_str().starts_with(asked)).collect();
    match begin.as_slice() {
        [only] => Ok(only),
        [] => Err(NotFound::None(asked.to_owned())),
        several => Err(NotFound::Several {
            asked: asked.to_owned(),
            count: several.len(),
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn a_run_is_named_by_its_id_the_beginning_of_it_or_as_the_latest() {
        let ids = ["2026-11-06-b", "2026-11-05-a", "2026-11"].map(RunId::new);
        let found = |asked: &str| among(&ids, asked).map(|id| id.as_str().to_owned());
        assert_eq!(found("latest").unwrap(), "2026-11-06-b");
        assert_eq!(found("2026-11-05").unwrap(), "2026-11-05-a");
        assert_eq!(
            found("2026-11").unwrap(),
            "2026-11",
            "a whole id is no beginning of another"
        );
        assert!(matches!(found("2026-11-0"), Err(NotFound::Several { count: 2, .. })));
        assert!(matches!(found("nightly"), Err(NotFound::None(_))));
        assert!(matches!(found(""), Err(NotFound::Empty)));
        assert!(matches!(among(&[], "latest"), Err(NotFound::NoRuns)));
    }
}
