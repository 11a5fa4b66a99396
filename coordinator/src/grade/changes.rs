//! What came out differently.

use std::collections::BTreeMap;

use crate::outcome::Outcome;

/// Changes that are told one by one; further ones are counted.
const MOST: usize = 100;

/// A result that is another one now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The agent.
    pub agent: String,
    /// The test case.
    pub test_case: String,
    /// The iteration, from 1.
    pub iteration: u32,
    /// What it came to then.
    pub before: Outcome,
    /// What it comes to now.
    pub after: Outcome,
    /// Why, in words.
    pub why: String,
    /// Whether it cannot be judged now.
    pub not_comparable: bool,
}

/// All changes of a run, the first ones in full.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    results: u64,
    by_kind: BTreeMap<(&'static str, &'static str), u64>,
    not_comparable: u64,
    first: Vec<Change>,
}

impl Changes {
    /// Counts a result, with its change if it is another one now.
    pub fn add(&mut self, change: Option<Change>) {
        self.results += 1;
        let Some(change) = change else { return };
        if change.not_comparable {
            self.not_comparable += 1;
        } else {
            let kind = (change.before.name(), change.after.name());
            *self.by_kind.entry(kind).or_default() += 1;
        }
        if self.first.len() < MOST {
            self.first.push(change);
        }
    }

    /// Results that were judged.
    pub fn results(&self) -> u64 {
        self.results
    }

    /// Results that changed, those that are not comparable included.
    pub fn changed(&self) -> u64 {
        self.not_comparable + self.by_kind.values().sum::<u64>()
    }

    /// The changes, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.first.iter().map(line).collect();
        let told = self.first.len() as u64;
        if self.changed() > told {
            lines.push(format!("and {} more; the report has them all", self.changed() - told));
        }
        lines
    }

    /// How many there are, in a line.
    pub fn summary(&self) -> String {
        let mut parts: Vec<String> = self
            .by_kind
            .iter()
            .map(|((before, after), count)| match before == after {
                // The class or the cause is another one.
                true => format!("{count} {before} for another reason"),
                false => format!("{count} {before} → {after}"),
            })
            .collect();
        if self.not_comparable > 0 {
            parts.push(format!("{} not comparable", self.not_comparable));
        }
        let of = match self.results {
            1 => "1 result".to_owned(),
            many => format!("{many} results"),
        };
        match parts.is_empty() {
            true => format!("{of}, none of them changed"),
            false => format!("{of}, {} changed: {}", self.changed(), parts.join(", ")),
        }
    }
}

fn line(change: &Change) -> String {
    format!(
        "{} · {} · iteration {}: {} → {}: {}",
        change.agent,
        change.test_case,
        change.iteration,
        change.before,
        if change.not_comparable {
            "not comparable".to_owned()
        } else {
            change.after.to_string()
        },
        change.why.strip_prefix("not comparable: ").unwrap_or(&change.why)
    )
}
