//! What a running program has to say, and how it ended.

use std::time::Duration;

use super::shortage::Shortage;

/// What comes next from a running program.
#[derive(Debug)]
pub enum Output {
    /// A line of standard output, without its line feed.
    Line(Vec<u8>),
    /// It is over, and so is everything that it started.
    Ended(ProcessEnd),
}

/// How a program ended.
#[derive(Clone, Debug)]
pub struct ProcessEnd {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether [`RunningProcess::kill_tree`](super::RunningProcess::kill_tree) was called before it ended by itself.
    pub killed: bool,
    /// Why its output is incomplete, if it is.
    pub output_fault: Option<String>,
    /// Why the sandbox could not be set up, if it could not (the program was not started then), or did not last.
    pub sandbox_fault: Option<String>,
    /// What it had too little of, if it did not get over that: a program that exits with 0 has got over everything but a
    /// full disk.
    pub short_of: Option<Shortage>,
    /// Descendants that outlived it and were killed.
    pub leftovers: usize,
    /// The last few kilobytes of its standard error.
    pub stderr_tail: String,
    /// How long it ran.
    pub duration: Duration,
}
