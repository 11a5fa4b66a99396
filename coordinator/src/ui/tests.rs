//! What a user reads, under snapshot.
#![allow(clippy::unwrap_used, clippy::panic)]

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::model::View;
use super::plain::PlainLog;
use super::sample::{START, Sample};
use super::summary::summary;
use super::text::width;
use super::theme::{Theme, with_sgr, without_style};
use super::tui::{Screenful, Viewer};
use crate::event::{AttemptKey, Envelope, Event};
use crate::outcome::{InvalidCause, Outcome};
use crate::record::RunState;

const NO_COLOUR: Theme = Theme { colour: false };

/// The state after `seconds`.
fn view_after(sample: &Sample, seconds: i64) -> View {
    let mut view = View::default();
    let until = START + seconds * 1000;
    sample
        .events()
        .iter()
        .take_while(|envelope| envelope.at <= until)
        .for_each(|envelope| view.apply(envelope));
    view
}

fn view_at_end(sample: &Sample) -> View {
    view_after(sample, 1_000_000)
}

fn screen_with(view: &View, seconds: i64, columns: u16, rows: u16, viewer: &mut Viewer) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let screenful = Screenful {
        view,
        now: START + seconds * 1000,
        theme: NO_COLOUR,
    };
    terminal.draw(|frame| screenful.render(frame, viewer)).unwrap();
    terminal.backend().to_string()
}

fn screen(sample: &Sample, seconds: i64, columns: u16, rows: u16) -> String {
    screen_with(
        &view_after(sample, seconds),
        seconds,
        columns,
        rows,
        &mut Viewer::default(),
    )
}

fn summary_text(view: &View, columns: usize) -> String {
    let resume = Some("mcproctor run -c examples/eval.yaml --resume");
    let lines: Vec<String> = summary(view, columns, resume, NO_COLOUR)
        .iter()
        .map(without_style)
        .collect();
    lines.join("\n")
}

mod log;
mod screens;
mod summaries;
