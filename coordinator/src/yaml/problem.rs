//! What is wrong with a file, where, and what would be right.

use std::fmt;
use std::path::{Path, PathBuf};

use saphyr_parser::Marker;

use super::key_path::KeyPath;

/// A position in a text file; lines and columns (in characters) count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Place {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl From<Marker> for Place {
    fn from(marker: Marker) -> Self {
        Self {
            line: marker.line().max(1),
            column: marker.col() + 1,
        }
    }
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// Where in the file; `None` when it is about the file as a whole.
    pub place: Option<Place>,
    /// The key path, `run.agents[1].model`; empty when it is about no key.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What would be accepted there.
    pub accepted: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl Problem {
    /// A problem with a file as a whole.
    pub(crate) fn of_file(file: &Path, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            place: None,
            key: String::new(),
            what: what.into(),
            accepted: None,
            remedy: None,
        }
    }

    /// Where in the file it is.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Which key it is about.
    pub(crate) fn key(mut self, key: &KeyPath) -> Self {
        self.key = key.to_string();
        self
    }

    /// What would be accepted.
    pub(crate) fn accepted(mut self, accepted: impl Into<String>) -> Self {
        self.accepted = Some(accepted.into());
        self
    }

    /// What to do about it.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(place) = self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.what)?;
        if let Some(accepted) = &self.accepted {
            write!(f, "\n    accepted: {accepted}")?;
        }
        if let Some(remedy) = &self.remedy {
            write!(f, "\n    remedy: {remedy}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with one file, and with the files it names.
#[derive(Debug)]
pub(crate) struct Problems {
    file: PathBuf,
    found: Vec<Problem>,
}

impl Problems {
    /// None yet.
    pub(crate) fn of(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            found: Vec::new(),
        }
    }

    /// A problem with this file, still to be filled in and added.
    pub(crate) fn new_problem(&self, what: impl Into<String>) -> Problem {
        Problem::of_file(&self.file, what)
    }

    /// Adds one.
    pub(crate) fn add(&mut self, problem: Problem) {
        self.found.push(problem);
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of them in the order of the file; those of files that it names come last.
    pub(crate) fn into_sorted(mut self) -> Vec<Problem> {
        self.found
            .sort_by_key(|problem| (problem.file != self.file, problem.place));
        self.found
    }
}

/// Writes a list of problems, and how many there are when there are several.
pub(crate) fn write_report(f: &mut fmt::Formatter<'_>, problems: &[Problem]) -> fmt::Result {
    for (index, problem) in problems.iter().enumerate() {
        if index > 0 {
            f.write_str("\n")?;
        }
        write!(f, "{problem}")?;
    }
    if problems.len() > 1 {
        write!(f, "\n{} problems", problems.len())?;
    }
    Ok(())
}
