//! The file, element by element.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::record::RunRecord;
use crate::report::pass::Spool;
use crate::report::write::Looked;
use crate::report::{Figures, ReportError, RunData};

use super::findings::FindingsView;
use super::header::{CellView, RunView, ToolView, TotalsView};
use super::iteration::IterationView;

/// The version of the schema: grows when a field is removed or changes its meaning; new fields do not change it.
pub const SCHEMA_VERSION: u32 = 1;

/// Iterations as lines, each with what separates it from the next.
pub(in crate::report) fn render(run: &RunRecord, iterations: &Looked) -> Result<Vec<u8>, ReportError> {
    let mut lines = Vec::new();
    for (iteration, _) in iterations {
        serde_json::to_writer(&mut lines, &IterationView::of(run, iteration))?;
        lines.extend_from_slice(SEPARATOR);
    }
    Ok(lines)
}

const SEPARATOR: &[u8] = b",\n";

/// `results.json` as far as it is written: the iterations, which stand at its end.
pub(in crate::report) struct Draft {
    iterations: Spool,
}

impl Draft {
    pub(in crate::report) fn new(folder: &Path) -> Result<Self, ReportError> {
        Ok(Self {
            iterations: Spool::new(folder)?,
        })
    }

    /// Adds what [`render`] made.
    pub(in crate::report) fn add(&mut self, lines: &[u8]) -> Result<(), ReportError> {
        Ok(self.iterations.write_all(lines)?)
    }

    /// Writes the file. One line each: the run, the totals, every cell, every tool, every iteration.
    ///
    /// # Errors
    ///
    /// When `out` takes no more.
    pub(in crate::report) fn finish(
        self,
        data: &dyn RunData,
        figures: &Figures,
        out: &mut impl Write,
    ) -> Result<(), ReportError> {
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
        for ((server, tool), counted) in figures.tools() {
            list.next(out, &ToolView::of(server, tool, counted))?;
        }
        write!(out, "\n],\n\"findings\": ")?;
        element(out, &FindingsView::of(figures))?;
        write!(out, ",\n\"iterations\": [")?;
        let bytes = self.iterations.written();
        if bytes > 0 {
            out.write_all(b"\n")?;
            let last = bytes - SEPARATOR.len() as u64;
            self.iterations.into_parts()?.copy(0..last, out)?;
        }
        write!(out, "\n]\n}}\n")?;
        Ok(())
    }
}

#[derive(Default)]
struct List {
    started: bool,
}

impl List {
    fn next(&mut self, out: &mut impl Write, value: &impl Serialize) -> Result<(), ReportError> {
        out.write_all(if self.started { b",\n" } else { b"\n" })?;
        self.started = true;
        element(out, value)
    }
}

fn element(out: &mut impl Write, value: &impl Serialize) -> Result<(), ReportError> {
    Ok(serde_json::to_writer(out, value)?)
}
