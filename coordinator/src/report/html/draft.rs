//! The file: the head, the pieces, the script.

use std::io::Write;
use std::path::Path;

use askama::Template;

use crate::outcome::Outcome;
use crate::record::RunRecord;
use crate::report::pass::{Findings, Spool};
use crate::report::write::Looked;
use crate::report::{Figures, Iteration, ReportError, RunData};

use super::budget::Budget;
use super::detail::DetailView;
use super::page::{Page, SCRIPT};
use super::pieces::{Gathered, Packed, ROWS};
use super::row::RowView;

/// The conversations of a chunk, packed: those that did not pass apart, because they are kept first.
pub(in crate::report) struct Part {
    chunk: u32,
    passed: Option<Packed>,
    others: Option<Packed>,
}

/// Packs the conversations of a chunk.
///
/// # Errors
///
/// When evidence that is there cannot be read.
pub(in crate::report) fn render(data: &dyn RunData, chunk: u32, iterations: &Looked) -> Result<Part, ReportError> {
    let (mut passed, mut others) = (Gathered::default(), Gathered::default());
    for (iteration, _) in iterations {
        let line = DetailView::of(data, iteration)?;
        if has_passed(iteration) {
            passed.add(&line)?;
        } else {
            others.add(&line)?;
        }
    }
    Ok(Part {
        chunk,
        passed: passed.pack()?,
        others: others.pack()?,
    })
}

fn has_passed(iteration: &Iteration) -> bool {
    iteration
        .result
        .as_ref()
        .is_some_and(|result| result.outcome == Outcome::Passed)
}

/// `report.html` as far as it is written: everything below the head.
pub(in crate::report) struct Draft {
    pieces: Spool,
    rows: Spool,
    open_rows: Option<(usize, Gathered)>,
    budget: Budget,
}

impl Draft {
    pub(in crate::report) fn new(run: &RunRecord, folder: &Path) -> Result<Self, ReportError> {
        Ok(Self {
            pieces: Spool::new(folder)?,
            rows: Spool::new(folder)?,
            open_rows: None,
            budget: Budget::of(run.cells()),
        })
    }

    /// Adds what [`render`] made, and a row for each iteration.
    pub(in crate::report) fn add(
        &mut self,
        iterations: &[(Iteration, Findings)],
        part: &Part,
    ) -> Result<(), ReportError> {
        let Some(cell) = iterations.first().map(|(iteration, _)| iteration.cell) else {
            return Ok(());
        };
        // Two numbers a chunk: whatever is left out, the others keep theirs.
        let (passed, others) = (2 * part.chunk, 2 * part.chunk + 1);
        let mut keep = |packed: &Option<Packed>, number, of_passed| -> Result<bool, ReportError> {
            let Some(packed) = packed else { return Ok(true) };
            let kept = self.budget.allows(cell, packed.len(), of_passed);
            if kept {
                packed.write("details", cell, Some(number), &mut self.pieces)?;
            }
            Ok(kept)
        };
        let kept_others = keep(&part.others, others, false)?;
        let kept_passed = keep(&part.passed, passed, true)?;
        for (iteration, _) in iterations {
            let (piece, kept) = if has_passed(iteration) {
                (passed, kept_passed)
            } else {
                (others, kept_others)
            };
            self.add_row(cell, &RowView::of(iteration, kept.then_some(piece)))?;
        }
        Ok(())
    }

    fn add_row(&mut self, cell: usize, row: &RowView) -> Result<(), ReportError> {
        if self
            .open_rows
            .as_ref()
            .is_some_and(|(open, rows)| *open != cell || rows.is_full(ROWS))
        {
            self.close_rows()?;
        }
        let (_, rows) = self.open_rows.get_or_insert_with(|| (cell, Gathered::default()));
        rows.add(row)
    }

    fn close_rows(&mut self) -> Result<(), ReportError> {
        if let Some((cell, rows)) = self.open_rows.take()
            && let Some(packed) = rows.pack()?
        {
            packed.write("rows", cell, None, &mut self.rows)?;
        }
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// When the page cannot be rendered or `out` takes no more.
    pub(in crate::report) fn finish(
        mut self,
        data: &dyn RunData,
        figures: &Figures,
        out: &mut impl Write,
    ) -> Result<(), ReportError> {
        self.close_rows()?;
        writeln!(out, "{}", Page::of(data, figures)?.render()?)?;
        self.rows.into_parts()?.copy_all(out)?;
        self.pieces.into_parts()?.copy_all(out)?;
        write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
        Ok(())
    }
}
