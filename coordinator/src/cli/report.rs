//! `mcproctor report`: writes the reports of a stored run anew.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::exit::Exit;
use super::named::{self, NotFound};
use super::runtime::complain;
use super::store_folder::StoreFolder;
use crate::clock::{Clock, SystemClock};
use crate::record::{RunRecord, RunState};
use crate::report::{self, Format, ReportError};
use crate::run::StoredRun;
use crate::store::{Reader, RunHead};

/// Writes the reports of a run anew from what is stored of it.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The run: an id, the beginning of one, or `latest`, which it is without. `mcproctor list` names them.
    run: Option<String>,

    #[command(flatten)]
    folder: StoreFolder,

    /// What is written, in place of all forms; may be given more than once
    #[arg(long = "format", value_name = "FORM", value_delimiter = ',')]
    formats: Vec<Form>,

    /// The folder that it is written into; without it the run's own folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// report.html
    Html,
    /// results.json
    Json,
    /// junit.xml
    Junit,
    /// summary.md
    Markdown,
}

impl From<Form> for Format {
    fn from(form: Form) -> Self {
        match form {
            Form::Html => Self::Html,
            Form::Json => Self::Json,
            Form::Junit => Self::Junit,
            Form::Markdown => Self::Markdown,
        }
    }
}

/// Why the reports were not written.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{}", said_of(.why, .folder))]
    NotFound { why: NotFound, folder: PathBuf },
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// The store says itself where it was looked for.
fn said_of(why: &NotFound, folder: &Path) -> String {
    match why {
        NotFound::Store(error) => error.to_string(),
        other => format!("{other} (in {})", folder.display()),
    }
}

/// Writes them and prints where they are.
pub(super) fn report(args: &ReportArgs) -> Exit {
    let folder = match args.folder.find() {
        Ok(folder) => folder,
        Err(exit) => return exit,
    };
    match write(args, &folder) {
        Ok(written) => {
            let mut out = io::stdout().lock();
            for path in written {
                // `mcproctor report | head -1` closes the pipe: nothing is wrong.
                let _ = writeln!(out, "{}", path.display());
            }
            Exit::Success
        }
        Err(problem) => {
            let exit = match &problem {
                Problem::NotFound { why, .. } => why.exit(),
                Problem::Report(_) => Exit::Failure,
            };
            complain(exit, &format!("failed to {problem}"))
        }
    }
}

fn write(args: &ReportArgs, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let asked = args.run.as_deref().unwrap_or("latest");
    let not_found = |why| Problem::NotFound {
        why,
        folder: folder.to_owned(),
    };
    let (reader, head, record, state) = find(folder, asked).map_err(not_found)?;
    // A page about a run that nobody carries on would wait for news for ever.
    let state = match state {
        RunState::Running if !head.active => RunState::Aborted,
        state => state,
    };
    let out = args.out.clone().unwrap_or_else(|| folder.join(record.id.as_str()));
    let formats: Vec<Format> = if args.formats.is_empty() {
        Format::ALL.to_vec()
    } else {
        args.formats.iter().copied().map(Format::from).collect()
    };
    let data = StoredRun::new(reader, record, state, SystemClock.now_unix_ms())?;
    report::write(&data, &out, &formats)?;
    let wanted = Format::ALL.into_iter().filter(|format| formats.contains(format));
    Ok(wanted.map(|format| out.join(format.file_name())).collect())
}

fn find(folder: &Path, asked: &str) -> Result<(Reader, RunHead, RunRecord, RunState), NotFound> {
    let reader = Reader::open(folder)?;
    let head = named::find(&reader, asked)?;
    let stored = reader.run(&head.id)?;
    let (record, state) = stored.ok_or_else(|| NotFound::None(asked.to_owned()))?;
    Ok((reader, head, record, state))
}
