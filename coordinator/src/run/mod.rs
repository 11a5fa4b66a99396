//! One evaluation, from a config and its test cases to a report.
//!
//! [`evaluate`] reads like the flow: store the plan or take up an earlier one (`begin`), open the services, start workers,
//! let the schedule run, write the reports. `workers` are child processes of this one, `reporting` writes reports while the
//! run goes on, `stored` is a run as reports read it.
//! [`grade`] judges a stored run again.

mod begin;
mod budget;
mod error;
mod evaluate;
mod grade;
mod plan;
mod reporting;
mod stored;
mod thresholds;
mod workers;

pub use error::RunError;
pub use evaluate::{Ending, Setup, evaluate};
pub use grade::{GradeSetup, Regraded, grade};
pub use plan::{PlannedRun, plan};
pub use stored::StoredRun;
pub use workers::WorkerCommand;
