//! The file, element by element.

use std::io::Write;

use serde::Serialize;

use crate::report::{Figures, ReportError, RunData, for_each_iteration};

use super::header::{CellView, RunView, ToolView, TotalsView};
use super::iteration::IterationView;

/// The version of the schema: grows when a field is removed or changes its meaning; new fields do not change it.
pub const SCHEMA_VERSION: u32 = 1;

/// Writes `results.json`. One line each: the run, the totals, every cell, every tool, every iteration.
///
/// # Errors
///
/// When the run cannot be read or `out` takes no more.
pub(in crate::report) fn write(data: &dyn RunData, figures: &Figures, out: &mut dyn Write) -> Result<(), ReportError> {
    write!(out, "{{\n\"schemaVersion\": {SCHEMA_VERSION},\n\"run\": ")?;
    element(out, &RunView::of(data, figures))?;
    write!(out, ",\n\"totals\": ")?;
    element(out, &TotalsView::of(data.run(), figures))?;
    write!(out, ",\n\"cells\": [")?;
    let mut list = List::default();
    for index in 0..figures.cells.len() {
        if let Some(cell) = CellView::of(data.run(), figures, index) {
            list.next(out, &cell)?;
        }
    }
    write!(out, "\n],\n\"tools\": [")?;
    let mut list = List::default();
    for ((server, tool), counted) in &figures.tools {
        list.next(out, &ToolView::of(server, tool, counted))?;
    }
    write!(out, "\n],\n\"iterations\": [")?;
    let mut list = List::default();
    for_each_iteration(data, &mut |iteration| {
        list.next(out, &IterationView::of(data.run(), iteration))
    })?;
    write!(out, "\n]\n}}\n")?;
    Ok(())
}

#[derive(Default)]
struct List {
    started: bool,
}

impl List {
    fn next(&mut self, out: &mut dyn Write, value: &impl Serialize) -> Result<(), ReportError> {
        out.write_all(if self.started { b",\n" } else { b"\n" })?;
        self.started = true;
        element(out, value)
    }
}

fn element(out: &mut dyn Write, value: &impl Serialize) -> Result<(), ReportError> {
    Ok(serde_json::to_writer(out, value)?)
}
