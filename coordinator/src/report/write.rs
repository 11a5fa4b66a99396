//! Writing the files of a run's folder.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::pass::{Findings, walk};
use super::{Figures, Iteration, ReportError, RunData, html, json, junit, markdown};

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `report.html`.
    Html,
    /// `results.json`.
    Json,
    /// `junit.xml`.
    Junit,
    /// `summary.md`.
    Markdown,
}

impl Format {
    /// Every form, the one that people are shown first.
    pub const ALL: [Self; 4] = [Self::Html, Self::Markdown, Self::Json, Self::Junit];

    /// The name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Html => "report.html",
            Self::Json => "results.json",
            Self::Junit => "junit.xml",
            Self::Markdown => "summary.md",
        }
    }
}

/// Writes the reports of a run into `dir`, which is created if it is not there. The run is read once, and each file is
/// replaced whole at the end: a reader sees the old one or the new one.
///
/// # Errors
///
/// When the run cannot be read or a file cannot be written; what was there before stays.
pub fn write(data: &dyn RunData, dir: &Path, formats: &[Format]) -> Result<(), ReportError> {
    std::fs::create_dir_all(dir).map_err(failed(dir))?;
    let wants = |format| formats.contains(&format);
    let run = data.run();
    let mut figures = Figures::new(run);
    let mut json = wants(Format::Json).then(|| json::Draft::new(dir)).transpose()?;
    let mut html = wants(Format::Html).then(|| html::Draft::new(run, dir)).transpose()?;
    let mut junit = wants(Format::Junit).then(|| junit::Draft::new(run, dir)).transpose()?;
    let (with_json, with_html, names) = (json.is_some(), html.is_some(), junit.as_ref().map(junit::Draft::names));
    walk(
        data,
        |chunk, iterations| {
            Ok(Rendered {
                json: with_json.then(|| json::render(run, iterations)).transpose()?,
                html: with_html.then(|| html::render(data, chunk, iterations)).transpose()?,
                junit: names.as_ref().map(|names| junit::render(names, iterations)),
            })
        },
        |seen| {
            for (iteration, findings) in &seen.iterations {
                figures.add(run, iteration, findings);
            }
            if let (Some(draft), Some(part)) = (&mut json, seen.rendered.json) {
                draft.add(&part)?;
            }
            if let (Some(draft), Some(part)) = (&mut html, seen.rendered.html) {
                draft.add(&seen.iterations, &part)?;
            }
            if let (Some(draft), Some(part)) = (&mut junit, seen.rendered.junit) {
                draft.add(&part)?;
            }
            Ok(())
        },
    )?;
    figures.finish(run);
    let path = |format: Format| dir.join(format.file_name());
    if let Some(draft) = json {
        replace(&path(Format::Json), |out| draft.finish(data, &figures, out))?;
    }
    if let Some(draft) = junit {
        replace(&path(Format::Junit), |out| draft.finish(data, &figures, out))?;
    }
    if wants(Format::Markdown) {
        replace(&path(Format::Markdown), |out| {
            Ok(out.write_all(markdown::summary(data, &figures).as_bytes())?)
        })?;
    }
    if let Some(draft) = html {
        replace(&path(Format::Html), |out| draft.finish(data, &figures, out))?;
    }
    Ok(())
}

/// What a worker makes of a chunk, for the files that are wanted.
struct Rendered {
    json: Option<Vec<u8>>,
    html: Option<html::Part>,
    junit: Option<Vec<junit::Part>>,
}

/// What worker threads are given.
pub(super) type Looked = [(Iteration, Findings)];

fn failed(path: &Path) -> impl Fn(std::io::Error) -> ReportError {
    let path = path.to_owned();
    move |source| ReportError::Write {
        path: path.clone(),
        source,
    }
}

/// Writes a file under a temporary name beside its place and renames it.
fn replace(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let failed = failed(path);
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".report-")
        .suffix(".tmp")
        .permissions_of_a_plain_file()
        .tempfile_in(folder)
        .map_err(&failed)?;
    let mut out = BufWriter::with_capacity(256 * 1024, file.as_file_mut());
    content(&mut out)?;
    out.flush().map_err(&failed)?;
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
