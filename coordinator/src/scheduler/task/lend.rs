//! What an attempt opens its model with.

use std::time::Duration;

use mcproctor_proto::agent::{Agent, Credential};
use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::id::Lease;
use mcproctor_proto::lease_token::Claims;

use super::Task;

/// What an attempt takes beside its turns at the most: to be set up, to upload, and for clocks that differ.
const SLACK: Duration = Duration::from_mins(10);

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
        let lasts = longest(self.work.turn_timeout, max_turns).as_secs();
        let now_unix_s = u64::try_from(self.clock.now_unix_ms() / 1_000).unwrap_or(0);
        let token = gateway.token_key.sign(&Claims {
            run: self.work.run.id.clone(),
            lease: lease.clone(),
            model: model.clone(),
            tokens: allowance.tokens,
            cost: allowance.cost,
            expires_at_unix_s: now_unix_s.saturating_add(lasts),
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

/// The longest that an attempt can take, so that no token of a lease that still runs has expired. Each turn counts twice,
/// because the time for which a rate holds its requests back extends it.
fn longest(turn_timeout: Duration, max_turns: u32) -> Duration {
    let turns = max_turns.max(1).saturating_mul(2);
    turn_timeout.saturating_mul(turns).saturating_add(SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_outlives_every_turn_that_its_attempt_may_have() {
        let minutes = Duration::from_mins;
        assert_eq!(longest(minutes(5), 1), minutes(20));
        assert_eq!(longest(minutes(5), 3), minutes(40));
        assert_eq!(longest(minutes(5), 0), minutes(20));
        assert!(longest(Duration::MAX, u32::MAX) >= Duration::MAX);
    }
}
