//! What agents were told when calls failed, and whether they got over it.

use mcproctor_proto::call::ToolCall;

use crate::outcome::Outcome;
use crate::record::AttemptRecord;
use crate::report::pass::Findings;

use super::{Capped, Example};

/// Different messages told apart at most.
const MOST_TEXTS: usize = 500;

/// One message, whatever values it was about.
#[derive(Clone, Debug)]
pub struct ErrorTextFigures {
    /// Calls that it answered.
    pub calls: u64,
    /// Iterations that met it.
    pub iterations: u64,
    /// Those that failed and in which no call of the same tool succeeded that began after this one had ended.
    pub not_recovered: u64,
    /// As one call got it.
    pub sample: String,
    /// That call; one that was not recovered from where there is one.
    pub example: Example,
}

/// Every message by server, tool and normalised text, over the iterations that passed or failed.
#[derive(Clone, Debug)]
pub struct ErrorTexts {
    texts: Capped<(String, String, String), ErrorTextFigures>,
}

impl Default for ErrorTexts {
    fn default() -> Self {
        Self {
            texts: Capped::new(MOST_TEXTS),
        }
    }
}

impl ErrorTexts {
    /// Server, tool, normalised text and figures, those that most iterations did not recover from first.
    pub fn worst_first(&self) -> Vec<(&(String, String, String), &ErrorTextFigures)> {
        let mut all: Vec<_> = self.texts.rows().collect();
        all.sort_by_key(|(_, text)| std::cmp::Reverse((text.not_recovered, text.iterations, text.calls)));
        all
    }

    /// Messages that are in no row, because there were too many different ones.
    pub fn left_out(&self) -> u64 {
        self.texts.left_out()
    }

    /// Counts the result of an iteration that passed or failed.
    pub(super) fn add(&mut self, result: &AttemptRecord, findings: &Findings, example: Example) {
        let failed = matches!(result.outcome, Outcome::Failed(_));
        let mut met: Vec<(&str, &str, &str)> = Vec::new();
        for (index, (call, found)) in result.calls.iter().zip(&findings.calls).enumerate() {
            let Some(text) = &found.error else { continue };
            let key = (call.server.as_str(), call.tool.as_str(), text.normalised.as_str());
            let lost = failed && !recovered(&result.calls[index..], call);
            let example = example.at_call(index);
            let row = self
                .texts
                .row((key.0.to_owned(), key.1.to_owned(), key.2.to_owned()), || {
                    ErrorTextFigures {
                        calls: 0,
                        iterations: 0,
                        not_recovered: 0,
                        sample: text.sample.clone(),
                        example,
                    }
                });
            let Some(row) = row else { continue };
            row.calls += 1;
            if met.contains(&key) {
                continue;
            }
            met.push(key);
            row.iterations += 1;
            if lost {
                if row.not_recovered == 0 {
                    (row.sample, row.example) = (text.sample.clone(), example);
                }
                row.not_recovered += 1;
            }
        }
    }
}

/// Only a call that began after the failed one had ended can be an answer to it: calls that run side by side know nothing
/// of each other.
fn recovered(later: &[ToolCall], failed: &ToolCall) -> bool {
    let ended_at = failed.started_at_unix_ms.saturating_add_unsigned(failed.duration_ms);
    let after = |call: &ToolCall| call.turn > failed.turn || call.started_at_unix_ms > ended_at;
    later
        .iter()
        .any(|call| call.succeeded() && after(call) && call.server == failed.server && call.tool == failed.tool)
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::*;
    use crate::record::fixtures::call;

    #[test]
    fn only_a_call_that_began_after_the_failed_one_ended_gets_over_it() {
        let at = |started_at_unix_ms, state| ToolCall {
            started_at_unix_ms,
            duration_ms: 20,
            ..call("a", state)
        };
        let failed = at(100, CallState::ToolError);
        for (started, expected) in [(100, false), (110, false), (120, false), (121, true)] {
            assert_eq!(recovered(&[at(started, CallState::Ok)], &failed), expected, "{started}");
        }
        assert!(!recovered(&[at(200, CallState::ToolError)], &failed));
        let of_the_next_turn = ToolCall {
            turn: 1,
            ..at(110, CallState::Ok)
        };
        assert!(recovered(&[of_the_next_turn], &failed));
    }
}
