//! `mcproctor report`: writes the reports of a stored run anew.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::exit::Exit;
use super::named::{self, NotFound};
use super::runtime::complain;
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Environment};
use crate::record::RunState;
use crate::report::{self, Format, ReportError};
use crate::run::StoredRun;
use crate::store::{Reader, StoreError};

/// Writes the reports of a run anew from what is stored of it.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The run: an id, the beginning of one, or `latest`, which it is without. `mcproctor list` names them.
    run: Option<String>,

    /// The config file whose report.outDir the run is in
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    config: Option<PathBuf>,

    /// The folder that the run is in; without it and -c that of ./eval.yaml, else ./reports
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

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
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error("find a run in {}: there is none", .0.display())]
    NoRuns(PathBuf),
    #[error("{why} (in {})", .folder.display())]
    NoSuchRun { why: NotFound, folder: PathBuf },
}

/// Writes them and prints where they are.
pub(super) fn report(args: &ReportArgs) -> Exit {
    let usual = PathBuf::from("./eval.yaml");
    let config = args
        .config
        .clone()
        .or_else(|| (args.out_dir.is_none() && usual.is_file()).then_some(usual));
    let folder = match (&args.out_dir, config) {
        (Some(folder), _) => folder.clone(),
        (None, None) => PathBuf::from("./reports"),
        (None, Some(file)) => match config::load(&file, &Environment::of_process()) {
            Ok(config) => config.report.out_dir,
            Err(errors) => return complain(Exit::Usage, &errors.to_string()),
        },
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
        Err(problem @ (Problem::NoRuns(_) | Problem::NoSuchRun { .. })) => {
            complain(Exit::Usage, &format!("failed to {problem}"))
        }
        Err(problem) => complain(Exit::Failure, &format!("failed to {problem}")),
    }
}

fn write(args: &ReportArgs, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let reader = match Reader::open(folder) {
        Err(StoreError::Missing { .. }) => return Err(Problem::NoRuns(folder.to_owned())),
        opened => opened?,
    };
    let asked = args.run.as_deref().unwrap_or("latest");
    let id = named::find(&reader, asked).map_err(|error| match error {
        NotFound::Store(error) => Problem::Store(error),
        NotFound::NoRuns => Problem::NoRuns(folder.to_owned()),
        why => Problem::NoSuchRun {
            why,
            folder: folder.to_owned(),
        },
    })?;
    let head = reader.runs()?.into_iter().find(|head| head.id == id);
    let ((record, state), head) = reader
        .run(&id)?
        .zip(head)
        .ok_or_else(|| Problem::NoRuns(folder.to_owned()))?;
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
    let written = report::write(&data, &out, &formats)?;
    let wanted = Format::ALL.into_iter().filter(|format| formats.contains(format));
    Ok(wanted.map(|format| written.path(format).to_owned()).collect())
}
