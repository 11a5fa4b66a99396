//! What a gateway tells of itself.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use mcproctor_proto::id::{AttemptId, RunId};
use mcproctor_proto::tokens::ModelUsage;
use serde_json::{Value, json};

use super::super::server::now;
use super::answer::Desk;
use super::leases::Held;

impl Desk {
    /// What was used since the start, in all and by every attempt that is still known.
    pub(super) fn status(&self) -> Value {
        // One lock at a time: nobody who asks a model waits for this.
        let known: Vec<_> = {
            let leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
            let copied =
                |(run, attempt, held): (&RunId, &AttemptId, &Held)| (run.clone(), attempt.clone(), held.clone());
            leases.iter().map(copied).collect()
        };
        let attempts: Vec<Value> = known
            .into_iter()
            .map(|(run, attempt, held)| {
                let traffic = held
                    .account
                    .ledger
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .traffic(now());
                json!({
                    "run": run,
                    "attempt": attempt,
                    "epoch": held.epoch,
                    "model": held.model,
                    "expiresAtUnixS": held.expires_at_unix_s,
                    "requests": traffic.requests,
                    "succeeded": traffic.succeeded,
                    "limitedRequests": traffic.limited_requests,
                    "heldMs": traffic.held_ms,
                    "usage": traffic.usage,
                    "requestsWithoutUsage": traffic.requests_without_usage,
                })
            })
            .collect();
        let (usage, without_usage, tokens) = self.purse.with_tally(|tally| {
            let usage: Vec<ModelUsage> = tally.by_model().cloned().collect();
            (usage, tally.without_usage(), tally.tokens().total())
        });
        let untold = self.purse.untold();
        json!({
            "usage": usage,
            "requestsWithoutUsage": without_usage,
            "tokens": tokens,
            "costUsd": self.purse.cost_usd(),
            "untoldAtMost": { "tokens": untold.tokens, "costUsd": untold.usd },
            "limits": {
                "maxTokens": self.limits.max_tokens,
                "maxCostUsd": self.limits.max_cost_usd,
                "requestsPerMinute": self.limits.requests_per_minute,
            },
            "limitReached": self.purse.shut().map(|shut| shut.to_string()),
            "refusedTokens": self.refused.load(Ordering::Relaxed),
            "attempts": attempts,
        })
    }
}
