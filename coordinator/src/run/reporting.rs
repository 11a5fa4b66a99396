//! Reports while the run goes on, and at its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::stored::StoredRun;
use crate::clock::Clock;
use crate::config::{ReportFormat, ReportSettings};
use crate::event::{Envelope, Event, Events};
use crate::record::{RunRecord, RunState};
use crate::report::{self, Format, ReportError};
use crate::store::Store;

/// At least this long between two live reports.
const PAUSE: Duration = Duration::from_secs(2);
/// And this many times as long as the last one took, so that writing them never takes more than a small share.
const SHARE: u32 = 20;

/// Writes the reports of one run into `<outDir>/<run-id>/` and points `<outDir>/latest` there.
#[derive(Clone)]
pub(super) struct ReportWriter {
    store: Store,
    run: RunRecord,
    settings: ReportSettings,
    clock: Arc<dyn Clock>,
}

impl ReportWriter {
    pub(super) fn new(store: Store, run: RunRecord, settings: ReportSettings, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            run,
            settings,
            clock,
        }
    }

    /// The same, of the run's record as it is at its end.
    pub(super) fn about(self, run: RunRecord) -> Self {
        Self { run, ..self }
    }

    /// Writes every form that the config asks for; gives the one that people are shown.
    ///
    /// # Errors
    /// When the run cannot be read or a file cannot be written.
    pub(super) async fn write(&self, state: RunState) -> Result<PathBuf, ReportError> {
        let writer = self.clone();
        tokio::task::spawn_blocking(move || writer.write_now(state))
            .await
            .unwrap_or_else(|error| Err(ReportError::Output(std::io::Error::other(error))))
    }

    fn write_now(&self, state: RunState) -> Result<PathBuf, ReportError> {
        let name = self.run.id.as_str();
        let out_dir = &self.settings.out_dir;
        let reader = self.store.reader().map_err(|source| ReportError::Read {
            what: "the store".to_owned(),
            source: Box::new(source),
        })?;
        let data = StoredRun::new(reader, self.run.clone(), state, self.clock.now_unix_ms())?;
        let formats: Vec<Format> = self.settings.formats.iter().copied().map(format).collect();
        let folder = out_dir.join(name);
        report::write(&data, &folder, &formats)?;
        point_latest_to(out_dir, name).map_err(|source| ReportError::Write {
            path: out_dir.join("latest"),
            source,
        })?;
        let shown = Format::ALL.into_iter().find(|format| formats.contains(format));
        Ok(folder.join(shown.unwrap_or(Format::Html).file_name()))
    }

    /// Writes the report soon after the first result, and then again and again, until `stop`. `events` is where a reader is
    /// told of it.
    pub(super) async fn keep_writing(
        self,
        mut heard: UnboundedReceiver<Envelope>,
        events: Events,
        stop: CancellationToken,
    ) {
        let mut told = false;
        let mut pending = false;
        let mut next = tokio::time::Instant::now();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                envelope = heard.recv() => match envelope {
                    None => return,
                    Some(envelope) => pending |= matches!(
                        envelope.event,
                        Event::AttemptFinished { last: true, .. } | Event::Judged { .. }
                    ),
                },
                () = tokio::time::sleep_until(next), if pending => {
                    pending = false;
                    let begun = Instant::now();
                    let result = self.write(RunState::Running).await;
                    next = tokio::time::Instant::now() + PAUSE.max(begun.elapsed() * SHARE);
                    if !told {
                        told = true;
                        events.say(match result {
                            Ok(path) => Event::ReportWritten { path: path.display().to_string() },
                            Err(error) => Event::Notice { text: format!("failed to write the live report: {error}") },
                        });
                    }
                }
            }
        }
    }
}

fn format(format: ReportFormat) -> Format {
    match format {
        ReportFormat::Html => Format::Html,
        ReportFormat::Json => Format::Json,
        ReportFormat::Junit => Format::Junit,
        ReportFormat::Markdown => Format::Markdown,
    }
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
