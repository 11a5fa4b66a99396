//! What a running program has to say, and how it ended.

use std::time::Duration;

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
    /// Why the sandbox could not be set up, if it could not (the program was not started then), or which of its limits ended
    /// the program.
    pub sandbox_fault: Option<String>,
    /// Whether the kernel killed something for want of memory while it ran, and it ended by a kill.
    pub out_of_memory: bool,
    /// Descendants that outlived it and were killed.
    pub leftovers: usize,
    /// The last few kilobytes of its standard error.
    pub stderr_tail: String,
    /// How long it ran.
    pub duration: Duration,
}
