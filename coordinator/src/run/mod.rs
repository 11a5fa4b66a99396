//! One evaluation, from a config and its test cases to a report.
//!
//! [`evaluate`] reads like the flow: plan and store it, open the services, start workers, let the schedule run, write the
//! reports. `workers` are child processes of this one, `reporting` writes reports while the run goes on, `stored` is a run
//! as reports read it.

mod evaluate;
mod plan;
mod reporting;
mod stored;
mod workers;

pub use evaluate::{Ending, RunError, Setup, evaluate};
pub use plan::{PlannedRun, plan};
pub use reporting::write_reports;
pub use workers::WorkerCommand;
