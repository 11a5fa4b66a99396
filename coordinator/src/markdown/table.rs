//! Tables.

/// The head of a table: its columns, those after the first `text` ones with numbers.
pub(crate) fn head(columns: &[&str], text: usize) -> String {
    let rule: Vec<&str> = (0..columns.len())
        .map(|at| if at < text { "---" } else { "--:" })
        .collect();
    format!("{}\n{}\n", row(columns), row(&rule))
}

/// A row of a table; its cells hold no `|`.
pub(crate) fn row(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |", cells.join(" | "))
}
