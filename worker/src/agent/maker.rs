//! Whether an agent's requests end at the API of the agent's own maker.

use mcproctor_proto::agent::Agent;
use url::Url;

/// Whether the API behind the relay is the one at `host`, which is also where it is when the config names none.
pub(super) fn is_at(agent: &Agent, host: &str) -> bool {
    let Some(url) = &agent.base_url else { return true };
    Url::parse(url).is_ok_and(|url| url.host_str() == Some(host))
}
