//! The file: the head, the pieces as they come, the script.

use std::io::Write;

use askama::Template;

use crate::report::{Figures, ReportError, RunData, for_each_iteration};

use super::detail::DetailView;
use super::page::{Page, SCRIPT};
use super::pieces::{DETAILS, Pieces, ROWS};
use super::row::RowView;

/// Writes `report.html`.
///
/// # Errors
///
/// When the run cannot be read or `out` takes no more.
pub(in crate::report) fn write(data: &dyn RunData, figures: &Figures, out: &mut dyn Write) -> Result<(), ReportError> {
    writeln!(out, "{}", Page::of(data, figures)?.render()?)?;
    let (mut rows, mut details) = (Pieces::new(ROWS), Pieces::new(DETAILS));
    for_each_iteration(data, &mut |iteration| {
        let piece = details.add(out, iteration.cell, &DetailView::of(data, iteration)?)?;
        rows.add(out, iteration.cell, &RowView::of(iteration, piece))?;
        Ok(())
    })?;
    details.close(out)?;
    rows.close(out)?;
    write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    Ok(())
}
