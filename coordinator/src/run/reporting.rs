//! Reports while the run goes on, and at its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::stored::StoredRun;
use crate::clock::Clock;
use crate::event::{Envelope, Event, Events};
use crate::record::{RunRecord, RunState};
use crate::report::{ReportError, Written, write_all};
use crate::store::Store;

/// At least this long between two live reports.
const PAUSE: Duration = Duration::from_secs(2);
/// And this many times as long as the last one took, so that writing them never takes more than a small share.
const SHARE: u32 = 20;

/// A report that follows the run.
pub(super) struct LiveReport {
    /// Where a reader is told of it.
    pub(super) events: Events,
    pub(super) store: Store,
    pub(super) run: RunRecord,
    pub(super) folder: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    /// Ends it, between two reports.
    pub(super) stop: CancellationToken,
}

impl LiveReport {
    /// Writes the report soon after the first result, and then again and again.
    pub(super) async fn keep_writing(self, mut heard: UnboundedReceiver<Envelope>) {
        let mut told = false;
        let mut pending = false;
        let mut next = tokio::time::Instant::now();
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                envelope = heard.recv() => match envelope {
                    None => return,
                    Some(envelope) => pending |= matches!(envelope.event, Event::AttemptFinished { last: true, .. }),
                },
                () = tokio::time::sleep_until(next), if pending => {
                    pending = false;
                    let begun = Instant::now();
                    let result = write(&self.store, &self.run, RunState::Running, &self.folder, &self.clock).await;
                    next = tokio::time::Instant::now() + PAUSE.max(begun.elapsed() * SHARE);
                    if !told {
                        told = true;
                        self.events.say(match result {
                            Ok(written) => Event::ReportWritten { path: written.html.display().to_string() },
                            Err(error) => Event::Notice { text: format!("failed to write the live report: {error}") },
                        });
                    }
                }
            }
        }
    }
}

pub(super) async fn write(
    store: &Store,
    run: &RunRecord,
    state: RunState,
    folder: &Path,
    clock: &Arc<dyn Clock>,
) -> Result<Written, ReportError> {
    let (store, run, folder, now) = (store.clone(), run.clone(), folder.to_owned(), clock.now_unix_ms());
    tokio::task::spawn_blocking(move || write_reports(&store, run, state, &folder, now))
        .await
        .unwrap_or_else(|error| Err(ReportError::Output(std::io::Error::other(error))))
}

/// Writes every report of a run into `<folder>/<run-id>/` and points `<folder>/latest` there.
///
/// # Errors
/// When the run cannot be read or a file cannot be written.
pub fn write_reports(
    store: &Store,
    run: RunRecord,
    state: RunState,
    folder: &Path,
    now_unix_ms: i64,
) -> Result<Written, ReportError> {
    let name = run.id.as_str().to_owned();
    let reader = store.reader().map_err(|source| ReportError::Read {
        what: "the store".to_owned(),
        source: Box::new(source),
    })?;
    let data = StoredRun::new(reader, run, state, now_unix_ms)?;
    let written = write_all(&data, &folder.join(&name))?;
    point_latest_to(folder, &name).map_err(|source| ReportError::Write {
        path: folder.join("latest"),
        source,
    })?;
    Ok(written)
}

/// Replaces the link in one step, so that it always points somewhere.
fn point_latest_to(folder: &Path, name: &str) -> std::io::Result<()> {
    let link = folder.join("latest");
    if std::fs::read_link(&link).is_ok_and(|target| target == Path::new(name)) {
        return Ok(());
    }
    let new = folder.join(format!(".latest-{name}"));
    let _ = std::fs::remove_file(&new);
    std::os::unix::fs::symlink(name, &new)?;
    std::fs::rename(&new, &link)
}
