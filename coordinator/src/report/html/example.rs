//! A link to a real case of what a figure counts.

use crate::cut::cut;
use crate::record::RunRecord;
use crate::report::Example;

/// Names are cut here.
const MOST_NAME_BYTES: usize = 60;

/// A link to an iteration, opened at a call.
pub(super) struct ExampleLink {
    pub(super) href: String,
    /// The place of the call among those of the iteration.
    pub(super) call: Option<usize>,
    /// `#3 of claude × compare two forecasts`.
    pub(super) words: String,
}

impl ExampleLink {
    pub(super) fn of(run: &RunRecord, example: Example) -> Self {
        let name = |name: Option<&String>| cut(name.map_or("", String::as_str), MOST_NAME_BYTES).into_owned();
        let agent = name(run.agent_of(example.cell).map(|agent| &agent.name));
        let case = name(run.test_case_of(example.cell).map(|case| &case.name));
        Self {
            href: format!("#it={}-{}", example.cell, example.iteration),
            call: example.call,
            words: format!("#{} of {agent} × {case}", example.iteration),
        }
    }
}
