//! What expectations are checked against.

use mcproctor_proto::call::ToolCall;
use mcproctor_proto::request::McpRequest;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::Turn;

/// What was recorded of one attempt so far.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The tool calls, in the order in which they were sent.
    pub calls: &'a [ToolCall],
    /// The turns, in order.
    pub turns: &'a [Turn],
    /// The model in its last state.
    pub traffic: &'a ModelTraffic,
    /// US dollars that the traffic came to, by the run's prices; `None` when its tokens or a price are not known in full.
    pub cost_usd: Option<f64>,
    /// Resources that were read and prompts that were fetched, in the order in which they were asked for.
    pub requests: &'a [McpRequest],
}
