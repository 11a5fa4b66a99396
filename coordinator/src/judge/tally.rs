//! Counts of what the judge said.

use mcproctor_proto::turn::Usage;

use super::judgement::{Agreement, JudgeVerdict};

/// What the judge said of some iterations, compared with what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JudgeTally {
    /// Verdicts that agree with the measured result.
    pub agrees: u64,
    /// Verdicts that do not.
    pub disagrees: u64,
    /// Verdicts that are not clear, so compared with nothing.
    pub not_compared: u64,
    /// Iterations on which the judge failed.
    pub errors: u64,
    /// Tokens and money of all of it.
    pub usage: Usage,
}

impl JudgeTally {
    /// Iterations with a verdict of the judge, clear or not.
    pub fn judged(&self) -> u64 {
        self.agrees + self.disagrees + self.not_compared
    }

    /// Iterations on which the judge was asked, whatever came of it.
    pub fn answered(&self) -> u64 {
        self.judged() + self.errors
    }

    /// Counts one iteration.
    pub fn add(&mut self, verdict: JudgeVerdict, agreement: Agreement) {
        match (verdict, agreement) {
            (JudgeVerdict::Error, _) => self.errors += 1,
            (_, Agreement::Agrees) => self.agrees += 1,
            (_, Agreement::Disagrees) => self.disagrees += 1,
            (_, Agreement::NotCompared) => self.not_compared += 1,
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Self) {
        self.agrees += other.agrees;
        self.disagrees += other.disagrees;
        self.not_compared += other.not_compared;
        self.errors += other.errors;
        self.usage.add(&other.usage);
    }

    /// `12 judged`, `9 agree`, `2 disagree`, …: what there is none of is left out, but for what is always said.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![
            format!("{} judged", self.judged()),
            format!("{} agree", self.agrees),
            format!("{} disagree", self.disagrees),
        ];
        words.extend(self.further_words());
        words
    }

    /// `1 not compared`, `2 errors`: what is only said where there is any of it.
    pub fn further_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.not_compared > 0 {
            words.push(format!("{} not compared", self.not_compared));
        }
        if self.errors > 0 {
            words.push(match self.errors {
                1 => "1 error".to_owned(),
                more => format!("{more} errors"),
            });
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_no_verdict_and_is_counted_apart() {
        let mut tally = JudgeTally::default();
        tally.add(JudgeVerdict::Pass, Agreement::Agrees);
        tally.add(JudgeVerdict::Fail, Agreement::Disagrees);
        tally.add(JudgeVerdict::Uncertain, Agreement::NotCompared);
        tally.add(JudgeVerdict::Error, Agreement::NotCompared);
        assert_eq!((tally.judged(), tally.answered(), tally.errors), (3, 4, 1));
        assert_eq!(
            tally.words(),
            ["3 judged", "1 agree", "1 disagree", "1 not compared", "1 error"]
        );
    }
}
