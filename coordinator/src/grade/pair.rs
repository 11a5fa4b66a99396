//! Which test cases of a run can be judged by which test cases of now.

use crate::record::{RunRecord, TestCaseRecord};

/// The test cases of a run beside those of now.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// Test cases that can be judged, in the order of the run: where each stood in the run, and what it is now.
    pub graded: Vec<(usize, TestCaseRecord)>,
    /// One sentence for each test case of the run that cannot be judged.
    pub not_graded: Vec<String>,
    /// One sentence for each test case of now of which the run has no recording.
    pub not_recorded: Vec<String>,
}

/// Pairs test cases by their names, which results are told apart by. Recordings that answer another prompt are not judged.
pub fn pair(run: &RunRecord, now: &[TestCaseRecord]) -> Pairing {
    let mut pairing = Pairing {
        graded: Vec::new(),
        not_graded: Vec::new(),
        not_recorded: Vec::new(),
    };
    for (index, then) in run.test_cases.iter().enumerate() {
        match now.iter().find(|case| case.name == then.name) {
            None => pairing
                .not_graded
                .push(format!("`{}` is not among the test cases any more", then.name)),
            Some(case) if case.prompt != then.prompt => pairing.not_graded.push(format!(
                "`{}` has another prompt now; its recordings answer the old one",
                then.name
            )),
            Some(case) => pairing.graded.push((index, case.clone())),
        }
    }
    for case in now {
        if !run.test_cases.iter().any(|then| then.name == case.name) {
            pairing
                .not_recorded
                .push(format!("`{}` was not part of the run", case.name));
        }
    }
    pairing
}

impl Pairing {
    /// The cell of the graded run that a cell of the old one becomes; `None` when its test case is not judged.
    pub fn cell(&self, run: &RunRecord, cell: u32) -> Option<(u32, &TestCaseRecord)> {
        let cases = run.test_cases.len();
        let (agent, case) = ((cell as usize).checked_div(cases)?, (cell as usize).checked_rem(cases)?);
        let place = self.graded.iter().position(|(then, _)| *then == case)?;
        let cell = u32::try_from(agent * self.graded.len() + place).ok()?;
        Some((cell, &self.graded.get(place)?.1))
    }
}
