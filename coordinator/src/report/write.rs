//! Writing the files of a run's folder.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Figures, ReportError, RunData, html, json};

/// Where the files are, those that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// `report.html`.
    pub html: PathBuf,
    /// `results.json`.
    pub json: PathBuf,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `report.html`.
    Html,
    /// `results.json`.
    Json,
}

/// Writes every report of a run into `dir`, as [`write()`] does.
///
/// # Errors
///
/// As [`write()`].
pub fn write_all(data: &dyn RunData, dir: &Path) -> Result<Written, ReportError> {
    write(data, dir, &[Format::Html, Format::Json])
}

/// Writes the reports of a run into `dir`, which is created if it is not there. Each file is replaced whole: a reader sees
/// the old one or the new one.
///
/// # Errors
///
/// When the run cannot be read or a file cannot be written; what was there before stays.
pub fn write(data: &dyn RunData, dir: &Path, formats: &[Format]) -> Result<Written, ReportError> {
    std::fs::create_dir_all(dir).map_err(|source| ReportError::Write {
        path: dir.to_owned(),
        source,
    })?;
    let figures = Figures::collect(data)?;
    let written = Written {
        html: dir.join("report.html"),
        json: dir.join("results.json"),
    };
    if formats.contains(&Format::Json) {
        replace(&written.json, |out| json::write(data, &figures, out))?;
    }
    if formats.contains(&Format::Html) {
        replace(&written.html, |out| html::write(data, &figures, out))?;
    }
    Ok(written)
}

/// Writes a file under a temporary name beside its place and renames it.
fn replace(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let failed = |source| ReportError::Write {
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".report-")
        .suffix(".tmp")
        .permissions_of_a_plain_file()
        .tempfile_in(folder)
        .map_err(failed)?;
    let mut out = BufWriter::with_capacity(256 * 1024, file.as_file_mut());
    content(&mut out)?;
    out.flush().map_err(failed)?;
    drop(out);
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

trait PlainPermissions {
    fn permissions_of_a_plain_file(&mut self) -> &mut Self;
}

impl PlainPermissions for tempfile::Builder<'_, '_> {
    /// Reports are made to be shared; the umask decides who may read them, as for any other file.
    fn permissions_of_a_plain_file(&mut self) -> &mut Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            self.permissions(std::fs::Permissions::from_mode(0o666));
        }
        self
    }
}
