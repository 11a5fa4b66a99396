//! What an attempt opens its model with.

use std::time::Duration;

use mcproctor_proto::agent::{Agent, Credential};
use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::id::Lease;
use mcproctor_proto::lease_token::Claims;

use super::Task;

/// What an attempt takes beside its turns at the most: to be set up, to upload, and for clocks that differ.
const SLACK: Duration = Duration::from_mins(10);

/// How long a rate may hold the requests of one attempt back. It extends turns without a bound; no evaluation waits longer.
const HELD: Duration = Duration::from_hours(24);

impl Task {
    /// The agent as its worker is told of it: one that goes through a gateway has a token for this lease in place of a key.
    pub(super) fn lent(&self, agent: &Agent, lease: &Lease, max_turns: u32, allowance: &Allowance) -> Agent {
        let mut agent = agent.clone();
        let Some(gateway) = &self.work.gateway else {
            return agent;
        };
        let Some(model) = gateway.models.get(&agent.name) else {
            return agent;
        };
        let rated = self.work.limits.requests_per_minute.is_some();
        let lasts = longest(self.work.turn_timeout, max_turns, rated).as_secs();
        let token = gateway.token_key.sign(&Claims {
            run: self.work.run.id.clone(),
            lease: lease.clone(),
            model: model.clone(),
            tokens: allowance.tokens,
            cost: allowance.cost,
            expires_at_unix_s: self.clock.now_unix_s().saturating_add(lasts),
        });
        agent.credential = Credential::ApiKey(token);
        agent
    }

    /// Further authorities for the address of the agent's model.
    pub(super) fn model_ca_pem(&self, agent: &Agent) -> Option<String> {
        let gateway = self.work.gateway.as_ref()?;
        gateway.models.get(&agent.name)?;
        gateway.ca_pem.clone()
    }
}

/// The longest that an attempt takes, so that no token of a lease that still runs has expired.
fn longest(turn_timeout: Duration, max_turns: u32, rated: bool) -> Duration {
    let turns = turn_timeout.saturating_mul(max_turns.max(1).saturating_mul(2));
    let held = if rated { HELD } else { Duration::ZERO };
    turns.saturating_add(SLACK).saturating_add(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_outlives_every_turn_that_its_attempt_may_have() {
        let minutes = Duration::from_mins;
        assert_eq!(longest(minutes(5), 1, false), minutes(20));
        assert_eq!(longest(minutes(5), 3, false), minutes(40));
        assert_eq!(longest(minutes(5), 0, false), minutes(20));
        assert_eq!(longest(minutes(5), 1, true), minutes(20) + HELD);
        assert!(longest(Duration::MAX, u32::MAX, true) >= Duration::MAX);
    }
}
