//! Figures of some iterations: a cell, an agent, a test case, all of them.

use mcproctor_proto::turn::Usage;

use crate::outcome::Outcome;
use crate::report::tally::counts;
use crate::report::{Iteration, Tally};
use crate::stats::{RepeatsAlike, Spread, spread};

use super::repeats::Repeats;

/// One cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Its figures.
    pub group: Group,
    /// A letter per iteration from the first: `p`assed, `f`ailed, `i`nvalid, `a`borted, `w`aiting for a new attempt, `-` none.
    pub marks: String,
    repeats: Repeats,
}

impl Cell {
    /// Counts an iteration of this cell; `planned` is the number of iterations of each.
    pub(super) fn add(&mut self, planned: u32, iteration: &Iteration) {
        self.group.add(iteration);
        if let Some(result) = iteration.result.as_ref().filter(|result| counts(result.outcome)) {
            self.repeats.add(&result.calls);
        }
        // Records of an iteration beyond the plan would otherwise ask for a mark far away.
        let place = (iteration.number.min(planned) as usize).saturating_sub(1);
        while self.marks.len() < place {
            self.marks.push('-');
        }
        self.marks
            .push(mark(iteration.result.as_ref().map(|result| result.outcome)));
    }
}

impl Cell {
    /// Pairs of iterations that passed or failed, and how many of them made the same calls.
    pub fn repeats(&self) -> RepeatsAlike {
        self.repeats.pairs()
    }
}

/// Figures of some iterations.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Outcomes of iterations.
    pub tally: Tally,
    /// Outcomes of attempts, the ones that another followed included.
    pub attempts: Tally,
    /// Iterations without a result for which a new attempt is due.
    pub waiting: u64,
    /// Tokens and money of all attempts.
    pub usage: Usage,
    /// Iterations in which the agent left the MCP binding.
    pub with_escapes: u64,
    durations_ms: Vec<f64>,
    tokens: Vec<f64>,
    costs_usd: Vec<f64>,
}

impl Group {
    /// Durations of the attempts that passed or failed, in milliseconds.
    pub fn duration_ms(&self) -> Spread {
        spread(self.durations_ms.iter().copied())
    }

    /// Input and output tokens together of the attempts that passed or failed, where they are known.
    pub fn tokens(&self) -> Spread {
        spread(self.tokens.iter().copied())
    }

    /// Cost of the attempts that passed or failed in US dollars, where it is known.
    pub fn cost_usd(&self) -> Spread {
        spread(self.costs_usd.iter().copied())
    }

    fn add(&mut self, iteration: &Iteration) {
        for earlier in &iteration.earlier {
            self.attempts.add(earlier.outcome);
            self.usage.add(&earlier.usage);
        }
        let Some(result) = &iteration.result else {
            self.waiting += 1;
            return;
        };
        let usage = result.usage();
        self.attempts.add(result.outcome);
        self.tally.add(result.outcome);
        self.usage.add(&usage);
        self.with_escapes += u64::from(result.turns.iter().any(|turn| !turn.escapes.is_empty()));
        if counts(result.outcome) {
            self.durations_ms.push(as_f64(result.duration_ms));
            if let (Some(input), Some(output)) = (usage.input_tokens, usage.output_tokens) {
                self.tokens.push(as_f64(input.saturating_add(output)));
            }
            self.costs_usd.extend(usage.cost_usd);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.attempts.merge(&other.attempts);
        self.waiting += other.waiting;
        self.usage.add(&other.usage);
        self.with_escapes += other.with_escapes;
        self.durations_ms.extend_from_slice(&other.durations_ms);
        self.tokens.extend_from_slice(&other.tokens);
        self.costs_usd.extend_from_slice(&other.costs_usd);
    }
}

fn mark(outcome: Option<Outcome>) -> char {
    match outcome {
        Some(Outcome::Passed) => 'p',
        Some(Outcome::Failed(_)) => 'f',
        Some(Outcome::Invalid(_)) => 'i',
        Some(Outcome::Aborted) => 'a',
        None => 'w',
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds and tokens are far below 2^52")]
fn as_f64(value: u64) -> f64 {
    value as f64
}
