//! The files of a run's reports.

use std::path::{Path, PathBuf};

use mcproctor::report::{Format, ReportError, RunData, write};

/// Where they are.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) html: PathBuf,
    pub(crate) json: PathBuf,
    pub(crate) junit: PathBuf,
    pub(crate) markdown: PathBuf,
}

/// Writes every report of a run into `folder`.
pub(crate) fn write_all(data: &dyn RunData, folder: &Path) -> Result<Files, ReportError> {
    write(data, folder, &Format::ALL)?;
    let path = |format: Format| folder.join(format.file_name());
    Ok(Files {
        html: path(Format::Html),
        json: path(Format::Json),
        junit: path(Format::Junit),
        markdown: path(Format::Markdown),
    })
}
