//! Starting what shows a run, and waiting for its end.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::json;
use super::mode::Mode;
use super::output::LineWriter;
use super::plain::PlainLog;
use super::tui;
use crate::clock::Clock;
use crate::event::Envelope;

/// How often the plain log looks whether a progress line is due.
const TICK: Duration = Duration::from_secs(1);
/// Columns of the summary where the width is not known.
const USUAL_COLUMNS: usize = 100;

/// What the user asks for from inside the full-screen view, which keeps the terminal from turning Ctrl-C into a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// Stop, and report what is finished: `q`, or Ctrl-C once.
    Clean,
    /// Stop at once: Ctrl-C after either.
    Hard,
}

/// What the output needs besides the events.
pub struct Options {
    /// Where the keys of the full-screen view ask for a stop.
    pub stop: UnboundedSender<StopRequest>,
    /// The command that goes on with an aborted run, up to the place where the run's id is appended:
    /// `mcproctor run -c eval.yaml --resume`.
    pub resume: Option<String>,
    /// The clock that elapsed times are measured with; the one that stamps the events.
    pub clock: Arc<dyn Clock>,
}

/// The output at work. Dropping it ends the output and gives the terminal back.
#[derive(Debug)]
pub struct UiHandle {
    task: JoinHandle<io::Result<()>>,
    view: Option<tui::Tui>,
}

/// Starts the output. It ends when the sender of `events` is dropped: a run drops it after its last event. Has to be
/// called inside a tokio runtime.
///
/// # Errors
///
/// A thread could not be started. A terminal that cannot be drawn on is none: plain lines are written instead.
pub fn start(mode: Mode, events: UnboundedReceiver<Envelope>, options: Options) -> io::Result<UiHandle> {
    let mode = match mode {
        Mode::Tui { colour } => match tui::Tui::start(colour, &options) {
            Ok(view) => {
                let task = tokio::spawn(view.clone().follow(events));
                return Ok(UiHandle { task, view: Some(view) });
            }
            Err(_) => Mode::Plain,
        },
        other => other,
    };
    let stdout = Box::new(io::stdout());
    let task = if mode == Mode::Json {
        let writer = LineWriter::start(stdout, |lines| format!(r#"{{"event":"left_out","lines":{lines}}}"#))?;
        tokio::spawn(write_json(events, writer))
    } else {
        let writer = LineWriter::start(stdout, |lines| format!("({lines} lines left out: nobody was reading)"))?;
        tokio::spawn(write_plain(events, writer, options))
    };
    Ok(UiHandle { task, view: None })
}

impl UiHandle {
    /// Waits until everything is shown and the terminal is given back.
    ///
    /// # Errors
    ///
    /// Standard output could not be written to.
    pub async fn finished(mut self) -> io::Result<()> {
        match (&mut self.task).await {
            Ok(result) => result,
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl Drop for UiHandle {
    fn drop(&mut self) {
        self.task.abort();
        if let Some(view) = self.view.take() {
            view.abandon();
        }
    }
}

async fn write_json(mut events: UnboundedReceiver<Envelope>, writer: LineWriter) -> io::Result<()> {
    while let Some(envelope) = events.recv().await {
        writer.push(json::line(&envelope)?);
    }
    writer.finish().await
}

async fn write_plain(mut events: UnboundedReceiver<Envelope>, writer: LineWriter, options: Options) -> io::Result<()> {
    let mut log = PlainLog::default();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(envelope) => log.on(&envelope).into_iter().for_each(|line| writer.push(line)),
                None => break,
            },
            _ = ticks.tick() => {
                if let Some(line) = log.tick(options.clock.now_unix_ms()) {
                    writer.push(line);
                }
            }
        }
    }
    for line in log.closing(columns(), options.resume.as_deref()) {
        writer.push(line);
    }
    writer.finish().await
}

/// Columns of the terminal that standard output is, if it is one.
pub(super) fn columns() -> usize {
    let size = io::stdout().is_terminal().then(crossterm::terminal::size);
    match size {
        Some(Ok((columns, _))) => usize::from(columns),
        _ => USUAL_COLUMNS,
    }
}
