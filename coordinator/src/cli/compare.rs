//! `mcproctor compare`: two runs, or two agents of a run.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::exit::Exit;
use super::named::{self, exit_of};
use super::runtime::{chain, complain};
use super::store_folder::StoreFolder;
use crate::compare::{self, Results, ToolLists, choose};
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

    #[command(flatten)]
    folder: StoreFolder,

    /// Differences up to this many points count as none
    #[arg(long, value_name = "POINTS", default_value_t = DEFAULT_MARGIN * 100.0, value_parser = points)]
    margin: f64,

    /// How it is written; by default as the name of the file ends, else as text
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// The file that it is written to, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
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

/// Says why there is no comparison, and gives the exit.
fn refused(exit: Exit, error: &dyn std::error::Error) -> Exit {
    complain(exit, &format!("failed to {}", chain(error)))
}

fn unreadable(error: &StoreError) -> Exit {
    refused(exit_of(error), error)
}

/// Compares, and writes what came out.
pub(super) fn compare(args: &CompareArgs) -> Exit {
    match compared(args).and_then(|text| write(args.out.as_deref(), &text)) {
        Ok(()) => Exit::Success,
        Err(exit) => exit,
    }
}

fn compared(args: &CompareArgs) -> Result<String, Exit> {
    let reader = Reader::open(&args.folder.find()?).map_err(|error| unreadable(&error))?;
    let a = read(&reader, &args.a)?;
    let b = args.b.as_ref().map(|b| read(&reader, b)).transpose()?;
    let usage = |error| refused(Exit::Usage, &error);
    let (sides, notices) = choose(&a, b.as_ref(), &args.agent).map_err(usage)?;
    let mut lists = ToolLists::default();
    for sha256 in ToolLists::wanted(&sides) {
        // A list that is gone or damaged takes nothing from the figures: it is told as not known.
        if let Ok(Some(json)) = reader.evidence(&sha256) {
            lists.insert(&sha256, &json);
        }
    }
    let margin = args.margin / 100.0;
    let comparisons = compare::compare(&sides, &lists, margin).map_err(usage)?;
    let unwritable =
        |error: &dyn std::error::Error| complain(Exit::Failure, &format!("failed to write the comparison: {error}"));
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
            .out
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

fn read(reader: &Reader, asked: &str) -> Result<Results, Exit> {
    let id = named::find(reader, asked)
        .map_err(|error| refused(error.exit(), &error))?
        .id;
    let stored = reader.run(&id).map_err(|error| unreadable(&error))?;
    let (run, state) = stored.ok_or_else(|| complain(Exit::Usage, &format!("there is no run {id}")))?;
    let mut results = Results::new(run, state);
    reader
        .for_each_attempt(&id, AttemptFilter::RESULTS, &mut |attempt| {
            results.add(&attempt);
            ControlFlow::Continue(())
        })
        .map_err(|error| unreadable(&error))?;
    Ok(results)
}

fn write(out: Option<&Path>, text: &str) -> Result<(), Exit> {
    let written = match out {
        Some(file) => std::fs::write(file, text).map_err(|error| (file.display().to_string(), error)),
        None => match io::stdout().lock().write_all(text.as_bytes()) {
            // `mcproctor compare | head` closes the pipe: nothing is wrong.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(("the comparison".to_owned(), error)),
            _ => Ok(()),
        },
    };
    written.map_err(|(what, error)| complain(Exit::Failure, &format!("failed to write {what}: {error}")))
}
