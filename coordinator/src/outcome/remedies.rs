//! What helps where an agent does not reach its model: said before a run and, of what shows only then, in outcomes.

/// Where it takes no token.
pub const GATEWAY_TOKEN: &str =
    "give run.gateway.tokenKey and the gateway's tokenKey the same value, and see that both clocks are right";

/// Where the entry that a token names is not there, or speaks another API than the agent.
pub const GATEWAY_ENTRY: &str = "name one that is there and speaks the agent's API in its `gatewayModel`, or add it to `models` of the gateway's config";

/// Where it cannot be reached for this reason.
pub fn gateway_way(why: &str) -> &'static str {
    if why.contains("certificate") {
        "name its authority in run.gateway.caFile, and see that its certificate is of the host in run.gateway.url"
    } else {
        "start it (`mcproctor gateway`), or correct run.gateway.url"
    }
}

/// Where a model API does not know what it was asked for, and does not say that it is the model.
pub const ADDRESS: &str = "check the agent's `baseUrl` and its model: codex adds `/responses` to the `baseUrl`, which therefore ends with `/v1` \
     at most APIs, and claude adds `/v1/messages`";
