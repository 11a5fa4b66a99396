//! `mcproctor compare`: two runs, or two agents of a run.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mcproctor_proto::id::RunId;

use super::exit::Exit;
use super::named::{self, NotFound};
use super::runtime::{chain, complain};
use crate::compare::{self, Results, ToolLists, choose};
use crate::config::{self, Environment};
use crate::stats::compare::DEFAULT_MARGIN;
use crate::store::{AttemptFilter, Reader, StoreError};

/// Compares two runs, or two agents of one run: with ranges, tests, and what else changed.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The run to compare with: an id, the beginning of one, or `latest`
    #[arg(value_name = "RUN")]
    a: String,

    /// The run that is compared with it; without it two agents of the first one are compared
    #[arg(value_name = "RUN")]
    b: Option<String>,

    /// An agent; named twice: the first on side A, the second on side B
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,

    /// The config file whose report.outDir holds the runs
    #[arg(short, long, value_name = "FILE", conflicts_with = "store")]
    config: Option<PathBuf>,

    /// The folder that holds the runs; without it and -c that of ./eval.yaml, else ./reports
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    /// Differences up to this many points count as none
    #[arg(long, value_name = "POINTS", default_value_t = DEFAULT_MARGIN * 100.0, value_parser = points)]
    margin: f64,

    /// How it is written; by default as the name of the file ends, else as text
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// The file that it is written to, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For a pull request or a CI summary
    Markdown,
    /// For programs
    Json,
    /// One page that stands alone
    Html,
}

fn points(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(points) if points > 0.0 && points < 100.0 => Ok(points),
        _ => Err("not a number of points between 0 and 100".to_owned()),
    }
}

/// Why there is no comparison, and how the command ends.
struct Refused(Exit, String);

impl Refused {
    fn usage(error: &dyn std::error::Error) -> Self {
        Self(Exit::Usage, format!("failed to {}", chain(error)))
    }

    fn store(error: &StoreError) -> Self {
        let exit = if matches!(error, StoreError::Missing { .. }) {
            Exit::Usage
        } else {
            Exit::Failure
        };
        Self(exit, format!("failed to {}", chain(error)))
    }
}

/// Compares, and writes what came out.
pub(super) fn compare(args: &CompareArgs) -> Exit {
    match compared(args).and_then(|text| write(args.output.as_deref(), &text)) {
        Ok(()) => Exit::Success,
        Err(Refused(exit, message)) => complain(exit, &message),
    }
}

fn compared(args: &CompareArgs) -> Result<String, Refused> {
    let reader = Reader::open(&folder(args)?).map_err(|error| Refused::store(&error))?;
    let a = read(&reader, &find(&reader, &args.a)?)?;
    let b = match &args.b {
        Some(b) => Some(find(&reader, b)?).filter(|b| *b != a.0),
        None => None,
    };
    let b = b.map(|b| read(&reader, &b)).transpose()?;
    let (sides, notices) =
        choose(&a.1, b.as_ref().map(|(_, results)| results), &args.agent).map_err(|error| Refused::usage(&error))?;
    let mut lists = ToolLists::default();
    for sha256 in ToolLists::wanted(&sides) {
        // A list that is gone or damaged takes nothing from the figures: it is told as not known.
        if let Ok(Some(json)) = reader.evidence(&sha256) {
            lists.insert(&sha256, &json);
        }
    }
    let margin = args.margin / 100.0;
    let comparisons = compare::compare(&sides, &lists, margin).map_err(|error| Refused::usage(&error))?;
    let unwritable =
        |error: &dyn std::error::Error| Refused(Exit::Failure, format!("failed to write the comparison: {error}"));
    match format(args) {
        Format::Text => Ok(compare::text(&comparisons, &notices, margin)),
        Format::Markdown => Ok(compare::markdown(&comparisons, &notices, margin)),
        Format::Json => compare::json(&comparisons, &notices, margin).map_err(|error| unwritable(&error)),
        Format::Html => compare::html(&comparisons, &notices, margin).map_err(|error| unwritable(&error)),
    }
}

fn format(args: &CompareArgs) -> Format {
    args.format.unwrap_or_else(|| {
        let ending = args
            .output
            .as_deref()
            .and_then(Path::extension)
            .and_then(|ending| ending.to_str());
        match ending {
            Some("md" | "markdown") => Format::Markdown,
            Some("json") => Format::Json,
            Some("html" | "htm") => Format::Html,
            _ => Format::Text,
        }
    })
}

fn folder(args: &CompareArgs) -> Result<PathBuf, Refused> {
    if let Some(store) = &args.store {
        return Ok(store.clone());
    }
    let usual = PathBuf::from("./eval.yaml");
    let Some(file) = args.config.clone().or_else(|| usual.is_file().then_some(usual)) else {
        return Ok(PathBuf::from("./reports"));
    };
    config::load(&file, &Environment::of_process())
        .map(|config| config.report.out_dir)
        .map_err(|errors| Refused(Exit::Usage, errors.to_string()))
}

fn find(reader: &Reader, asked: &str) -> Result<RunId, Refused> {
    named::find(reader, asked).map_err(|error| match error {
        NotFound::Store(error) => Refused::store(&error),
        other => Refused::usage(&other),
    })
}

fn read(reader: &Reader, id: &RunId) -> Result<(RunId, Results), Refused> {
    let store = |error: StoreError| Refused::store(&error);
    let (run, state) = reader
        .run(id)
        .map_err(store)?
        .ok_or_else(|| Refused(Exit::Usage, format!("there is no run {id}")))?;
    let mut results = Results::new(run, state);
    reader
        .for_each_attempt(id, AttemptFilter::RESULTS, &mut |attempt| {
            results.add(&attempt);
            ControlFlow::Continue(())
        })
        .map_err(store)?;
    Ok((id.clone(), results))
}

fn write(output: Option<&Path>, text: &str) -> Result<(), Refused> {
    let written = match output {
        Some(file) => std::fs::write(file, text).map_err(|error| (file.display().to_string(), error)),
        None => match io::stdout().lock().write_all(text.as_bytes()) {
            // `mcproctor compare | head` closes the pipe: nothing is wrong.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(("the comparison".to_owned(), error)),
            _ => Ok(()),
        },
    };
    written.map_err(|(what, error)| Refused(Exit::Failure, format!("failed to write {what}: {error}")))
}
