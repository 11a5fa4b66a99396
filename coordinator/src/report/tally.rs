//! Counting outcomes.

use crate::outcome::{FailureClass, InvalidCause, Outcome};
use crate::stats::Rate;

/// Whether an outcome says something about the agent, and so is in rates: passed or failed.
pub(super) fn counts(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Passed | Outcome::Failed(_))
}

/// How many came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Passed.
    pub passed: u64,
    /// Aborted.
    pub aborted: u64,
    failed: [u64; FailureClass::ALL.len()],
    invalid: [u64; InvalidCause::ALL.len()],
}

impl Tally {
    /// Counts one.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Aborted => self.aborted += 1,
            Outcome::Failed(class) => {
                for (slot, known) in self.failed.iter_mut().zip(FailureClass::ALL) {
                    *slot += u64::from(known == class);
                }
            }
            Outcome::Invalid(cause) => {
                for (slot, known) in self.invalid.iter_mut().zip(InvalidCause::ALL) {
                    *slot += u64::from(known == cause);
                }
            }
        }
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.passed += other.passed;
        self.aborted += other.aborted;
        for (slot, more) in self.failed.iter_mut().zip(other.failed) {
            *slot += more;
        }
        for (slot, more) in self.invalid.iter_mut().zip(other.invalid) {
            *slot += more;
        }
    }

    /// Failed, whatever the class.
    pub fn failed(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Invalid, whatever the cause.
    pub fn invalid(&self) -> u64 {
        self.invalid.iter().sum()
    }

    /// Everything counted.
    pub fn total(&self) -> u64 {
        self.passed + self.failed() + self.invalid() + self.aborted
    }

    /// Every failure class with its count, in the order of reports.
    pub fn by_class(&self) -> impl Iterator<Item = (FailureClass, u64)> {
        FailureClass::ALL.into_iter().zip(self.failed)
    }

    /// Every invalid cause with its count, in the order of reports.
    pub fn by_cause(&self) -> impl Iterator<Item = (InvalidCause, u64)> {
        InvalidCause::ALL.into_iter().zip(self.invalid)
    }

    /// How many are invalid because of `cause`.
    pub fn invalid_because_of(&self, cause: InvalidCause) -> u64 {
        self.by_cause()
            .find(|(known, _)| *known == cause)
            .map_or(0, |(_, count)| count)
    }

    /// The pass rate: passed out of passed and failed. Invalid and aborted ones say nothing about the agent.
    pub fn pass_rate(&self) -> Rate {
        Rate::of(self.passed, self.passed + self.failed())
    }

    /// The rate of server faults: invalid because of the server, out of those and of all that passed or failed.
    pub fn server_fault_rate(&self) -> Rate {
        let faults = self.invalid_because_of(InvalidCause::Server);
        Rate::of(faults, faults + self.passed + self.failed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_and_aborted_ones_are_in_no_pass_rate() {
        let mut tally = Tally::default();
        tally.add(Outcome::Passed);
        for _ in 0..9 {
            tally.add(Outcome::Invalid(InvalidCause::Machinery));
        }
        tally.add(Outcome::Aborted);
        assert_eq!(
            (tally.pass_rate().count, tally.pass_rate().n, tally.pass_rate().rate),
            (1, 1, None)
        );
        assert_eq!((tally.invalid(), tally.total()), (9, 11));
    }

    #[test]
    fn all_invalid_has_neither_rate_nor_range() {
        let mut tally = Tally::default();
        for _ in 0..10 {
            tally.add(Outcome::Invalid(InvalidCause::Model));
        }
        assert_eq!((tally.pass_rate().rate, tally.pass_rate().range), (None, None));
    }

    #[test]
    fn server_faults_are_counted_against_what_reached_the_server() {
        let mut tally = Tally::default();
        for _ in 0..3 {
            tally.add(Outcome::Passed);
            tally.add(Outcome::Failed(FailureClass::WrongTool));
            tally.add(Outcome::Invalid(InvalidCause::Model));
        }
        tally.add(Outcome::Invalid(InvalidCause::Server));
        assert_eq!((tally.server_fault_rate().count, tally.server_fault_rate().n), (1, 7));
    }

    #[test]
    fn merging_equals_counting_together() {
        let outcomes = [
            Outcome::Passed,
            Outcome::Failed(FailureClass::RanOutOfTime),
            Outcome::Invalid(InvalidCause::Exposure),
            Outcome::Aborted,
        ];
        let (mut together, mut left, mut right) = (Tally::default(), Tally::default(), Tally::default());
        for (index, outcome) in outcomes.into_iter().enumerate() {
            together.add(outcome);
            if index % 2 == 0 {
                left.add(outcome)
            } else {
                right.add(outcome)
            }
        }
        left.merge(&right);
        assert_eq!(left, together);
    }
}
