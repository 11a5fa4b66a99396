//! Why an iteration failed: one class, read off what was recorded.
//!
//! An iteration can fail in several ways at once. What it failed at first, on the way from the prompt to the answer, is its
//! class: the arguments of a call, the call's success, calls that were left out, their order, their number, and the answer at
//! last. Calls with wrong arguments, or that failed, come before calls that were left out, because they are often why the
//! others were left out.
//!
//! Where a call was left out, what the agent did and said instead decides: it went outside the servers, asked, gave up,
//! asked nothing else of the servers, or did ask something else.

use mcproctor_proto::call::ToolCall;
use mcproctor_proto::request::McpRequest;
use mcproctor_proto::turn::Turn;

use super::kind::FailureClass;
use super::reply::{Said, said};
use crate::conversation::Conversation;
use crate::record::{ExpectationResult, Family};

/// The class of an iteration that left an expectation unmet.
pub(super) fn class_of(expectations: &[ExpectationResult], conversation: &Conversation) -> FailureClass {
    let unmet: Vec<&ExpectationResult> = expectations
        .iter()
        .filter(|result| !result.met && !result.unchecked)
        .collect();
    let first = unmet.iter().map(|result| stage(result, conversation)).min();
    match first {
        Some(Stage::Arguments) => FailureClass::WrongArguments,
        Some(Stage::Success) => FailureClass::ToolError,
        Some(Stage::Order) => FailureClass::WrongOrder,
        Some(Stage::Measure) => FailureClass::TooMuch,
        Some(Stage::Answer) => FailureClass::WrongAnswer,
        Some(Stage::Calling) | None => instead_of_calling(expectations, &unmet, conversation),
    }
}

/// What an expectation failed at; earlier ones go before later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// The tool was called, with other arguments.
    Arguments,
    /// The tool was called, the call failed, and no later one succeeded.
    Success,
    /// The call was not made, or not often enough.
    Calling,
    /// The calls were made in another order.
    Order,
    /// More was done than was allowed.
    Measure,
    /// The answer is not what was expected.
    Answer,
}

fn stage(unmet: &ExpectationResult, conversation: &Conversation) -> Stage {
    match unmet.family {
        Family::Arguments if !unmet.differences.is_empty() => Stage::Arguments,
        Family::Arguments if shows_a_success(unmet, &conversation.calls) => Stage::Measure,
        Family::Tools | Family::Arguments if has_failed_for_good(unmet, &conversation.calls) => Stage::Success,
        Family::Resources | Family::Prompts if was_refused(unmet, &conversation.requests) => Stage::Success,
        Family::Tools | Family::Arguments | Family::Resources | Family::Prompts => Stage::Calling,
        Family::Order if conversation.calls.is_empty() => Stage::Calling,
        Family::Order => Stage::Order,
        Family::NoTools
        | Family::Forbidden
        | Family::Calls
        | Family::Duplicates
        | Family::Duration
        | Family::Tokens
        | Family::Cost => Stage::Measure,
        Family::Response | Family::Tone => Stage::Answer,
    }
}

/// Whether the call that shows why it is unmet succeeded, with just those arguments: it is one call too many.
fn shows_a_success(unmet: &ExpectationResult, calls: &[ToolCall]) -> bool {
    let shown = calls.iter().find(|call| unmet.call.as_ref() == Some(&call.id));
    shown.is_some_and(ToolCall::succeeded)
}

/// Whether a call of the tool failed, and no later one succeeded.
fn has_failed_for_good(unmet: &ExpectationResult, calls: &[ToolCall]) -> bool {
    let mut of_tool = calls.iter().filter(|call| Some(&call.tool) == unmet.tool.as_ref());
    of_tool.next_back().is_some_and(|call| !call.succeeded())
}

/// Whether the last request for the resource or prompt was refused.
fn was_refused(unmet: &ExpectationResult, requests: &[McpRequest]) -> bool {
    let mut about = requests.iter().filter(|request| is_about(unmet, request));
    about.next_back().is_some_and(|request| !request.ok)
}

/// Whether a request asks for the resource or prompt that an expectation is about.
fn is_about(result: &ExpectationResult, request: &McpRequest) -> bool {
    let method = match result.family {
        Family::Resources => "resources/read",
        Family::Prompts => "prompts/get",
        _ => return false,
    };
    request.method == method && result.name.as_ref() == Some(&request.name)
}

/// What the agent did and said where it should have called.
fn instead_of_calling(
    expectations: &[ExpectationResult],
    unmet: &[&ExpectationResult],
    conversation: &Conversation,
) -> FailureClass {
    let escaped = conversation.turns.iter().any(|turn| !turn.escapes.is_empty());
    let missing = unmet
        .iter()
        .copied()
        .filter(|result| stage(result, conversation) == Stage::Calling);
    if escaped && missing.clone().any(|result| !was_tried(result, conversation)) {
        return FailureClass::Escaped;
    }
    if let Some(last) = conversation.turns.last() {
        let acted = |result: &ExpectationResult| was_tried_in(result, conversation, last);
        match said(&last.reply) {
            Some(Said::Asks) if !expectations.iter().any(acted) => return FailureClass::AskedInstead,
            Some(Said::Declines) if !missing.clone().any(acted) => return FailureClass::GaveUp,
            _ => {}
        }
    }
    // Too few calls of the very tool that is missing are no others.
    let of_missing = |call: &ToolCall| missing.clone().any(|result| result.tool.as_ref() == Some(&call.tool));
    let about_missing = |request: &McpRequest| missing.clone().any(|result| is_about(result, request));
    if conversation.calls.iter().all(of_missing) && conversation.requests.iter().all(about_missing) {
        FailureClass::NeverCalled
    } else {
        FailureClass::WrongTool
    }
}

/// Whether what is expected was asked of a server at all.
fn was_tried(result: &ExpectationResult, conversation: &Conversation) -> bool {
    conversation
        .turns
        .iter()
        .any(|turn| was_tried_in(result, conversation, turn))
}

fn was_tried_in(result: &ExpectationResult, conversation: &Conversation, turn: &Turn) -> bool {
    let called = |call: &ToolCall| call.turn == turn.index && Some(&call.tool) == result.tool.as_ref();
    let requested = |request: &McpRequest| request.turn == turn.index && is_about(result, request);
    let asks_for_one = matches!(result.family, Family::Tools | Family::Arguments);
    (asks_for_one && conversation.calls.iter().any(called)) || conversation.requests.iter().any(requested)
}

#[cfg(test)]
mod tests;
