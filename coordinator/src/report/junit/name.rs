//! What a test case is called, so that no reader takes two for one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::RunRecord;

/// Readers tell test cases apart by the pair of class name and name: here agent and file, test case and iteration.
#[derive(Debug)]
pub(in crate::report) struct Names {
    cells: Vec<Name>,
}

#[derive(Clone, Debug)]
pub(super) struct Name {
    /// Agent and file.
    pub(super) class: String,
    /// The file alone.
    pub(super) file: String,
    /// The test case; the iteration comes after it.
    test_case: String,
}

impl Names {
    pub(super) fn of(run: &RunRecord) -> Arc<Self> {
        let mut cells: Vec<Name> = (0..run.cells())
            .map(|cell| {
                let agent = run.agent_of(cell).map_or("", |agent| agent.name.as_str());
                let (file, name) = run
                    .test_case_of(cell)
                    .map_or(("", ""), |case| (case.file.as_str(), case.name.as_str()));
                Name {
                    class: format!("{agent} :: {file}"),
                    file: file.to_owned(),
                    test_case: name.to_owned(),
                }
            })
            .collect();
        let mut uses: BTreeMap<(String, String), u32> = BTreeMap::new();
        for name in &cells {
            *uses.entry((name.class.clone(), name.test_case.clone())).or_default() += 1;
        }
        for (cell, name) in cells.iter_mut().enumerate() {
            if uses
                .get(&(name.class.clone(), name.test_case.clone()))
                .is_some_and(|uses| *uses > 1)
            {
                name.test_case += &format!(" (cell {cell})");
            }
        }
        Arc::new(Self { cells })
    }

    pub(super) fn cell(&self, cell: usize) -> Option<&Name> {
        self.cells.get(cell)
    }
}

impl Name {
    /// Of one iteration.
    pub(super) fn of_iteration(&self, iteration: u32) -> String {
        format!("{} [iteration {iteration}]", self.test_case)
    }

    /// Of all of them.
    pub(super) fn of_suite(&self) -> String {
        format!("{} :: {}", self.class, self.test_case)
    }
}
