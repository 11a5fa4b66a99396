//! The file: suites with their counts above their test cases.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::record::RunRecord;
use crate::report::pass::Spool;
use crate::report::time::rfc3339;
use crate::report::{Figures, ReportError, RunData, Tally};

use super::case::{Part, not_run, seconds};
use super::name::Names;
use super::xml;

/// `junit.xml` as far as it is written: the test cases, cell after cell.
pub(in crate::report) struct Draft {
    cases: Spool,
    names: Arc<Names>,
    /// For each cell begun: where its test cases lie, and the sum of their milliseconds.
    cells: Vec<(Range<u64>, u64)>,
    planned: u32,
    /// The number of the iteration that comes next in the newest cell.
    next: u32,
}

impl Draft {
    pub(in crate::report) fn new(run: &RunRecord, folder: &Path) -> Result<Self, ReportError> {
        Ok(Self {
            cases: Spool::new(folder)?,
            names: Names::of(run),
            cells: Vec::with_capacity(run.cells()),
            planned: run.iterations,
            next: 1,
        })
    }

    /// What test cases are called.
    pub(in crate::report) fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names)
    }

    /// Adds what `render` made, and what was not run in between.
    pub(in crate::report) fn add(&mut self, parts: &[Part]) -> Result<(), ReportError> {
        for part in parts {
            self.reach(part.cell)?;
            self.not_run_until(part.iteration)?;
            self.cases.write_all(part.xml.as_bytes())?;
            self.next = part.iteration.saturating_add(1);
            let end = self.cases.written();
            if let Some((range, duration_ms)) = self.cells.last_mut() {
                range.end = end;
                *duration_ms = duration_ms.saturating_add(part.duration_ms);
            }
        }
        Ok(())
    }

    /// Ends the cells before `cell` and begins it.
    fn reach(&mut self, cell: usize) -> Result<(), ReportError> {
        while self.cells.len() <= cell {
            self.end_cell()?;
            let at = self.cases.written();
            self.cells.push((at..at, 0));
            self.next = 1;
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), ReportError> {
        if self.cells.is_empty() {
            return Ok(());
        }
        self.not_run_until(self.planned.saturating_add(1))
    }

    fn not_run_until(&mut self, iteration: u32) -> Result<(), ReportError> {
        let Some(cell) = self.cells.len().checked_sub(1) else {
            return Ok(());
        };
        while self.next < iteration.min(self.planned.saturating_add(1)) {
            self.cases.write_all(not_run(&self.names, cell, self.next).as_bytes())?;
            self.next += 1;
        }
        let end = self.cases.written();
        if let Some((range, _)) = self.cells.last_mut() {
            range.end = end;
        }
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// When `out` takes no more.
    pub(in crate::report) fn finish(
        mut self,
        data: &dyn RunData,
        figures: &Figures,
        out: &mut impl Write,
    ) -> Result<(), ReportError> {
        let run = data.run();
        if let Some(last) = run.cells().checked_sub(1) {
            self.reach(last)?;
        }
        self.end_cell()?;
        let mut parts = self.cases.into_parts()?;
        let started = rfc3339(run.started_at_unix_ms);
        let total: u64 = self
            .cells
            .iter()
            .fold(0, |sum, (_, duration_ms)| sum.saturating_add(*duration_ms));
        let mut head = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
        xml::attribute(&mut head, "name", &format!("mcproctor {}", run.id));
        counts(&mut head, &figures.total.tally, run.total_iterations(), total);
        writeln!(out, "{head}>")?;
        for (index, (range, duration_ms)) in self.cells.iter().enumerate() {
            let mut head = String::from("<testsuite");
            xml::attribute(&mut head, "id", &index.to_string());
            if let Some(name) = self.names.cell(index) {
                xml::attribute(&mut head, "name", &name.of_suite());
                xml::attribute(&mut head, "file", &name.file);
            }
            let tally = figures
                .cells
                .get(index)
                .map(|cell| cell.group.tally)
                .unwrap_or_default();
            counts(&mut head, &tally, u64::from(run.iterations), *duration_ms);
            xml::attribute(&mut head, "timestamp", &started);
            writeln!(out, "{head}>")?;
            parts.copy(range.clone(), out)?;
            writeln!(out, "</testsuite>")?;
        }
        Ok(writeln!(out, "</testsuites>")?)
    }
}

fn counts(head: &mut String, tally: &Tally, planned: u64, duration_ms: u64) {
    let decided = tally.passed + tally.failed() + tally.invalid();
    let tests = planned.max(tally.total());
    for (name, count) in [
        ("tests", tests),
        ("failures", tally.failed()),
        ("errors", tally.invalid()),
        ("skipped", tests - decided),
    ] {
        xml::attribute(head, name, &count.to_string());
    }
    xml::attribute(head, "time", &seconds(duration_ms));
}
