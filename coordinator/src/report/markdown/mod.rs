//! `summary.md`: the run in short, for a CI job's summary and a comment on a pull request.

mod sections;
mod summary;

pub(super) use summary::summary;
