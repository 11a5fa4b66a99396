//! The outcome table, row by row.
//!
//! The first row that matches wins, in the order of [`decide`]. So nothing that was our fault, the model's or the server's is
//! ever blamed on the agent, and nothing that the agent got over is held against anybody.

use std::time::Duration;

use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::turn::{Turn, TurnEnding};

use super::failure::class_of;
use super::kind::{FailureClass, InvalidCause, Outcome};
use crate::conversation::Conversation;
use crate::record::{ExpectationResult, Family};
use crate::words::counted;

mod refused;

/// Everything that a verdict rests on.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Whether the run was stopped before the conversation came to its end.
    pub interrupted: bool,
    /// Why the worker could not carry the attempt through, if so.
    pub machinery_fault: Option<&'a str>,
    /// What was said and recorded.
    pub conversation: &'a Conversation,
    /// What was expected, and whether it was met.
    pub expectations: &'a [ExpectationResult],
}

/// What an attempt came to and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What it came to.
    pub outcome: Outcome,
    /// Why, in words for people.
    pub reason: String,
    /// Whether to try again.
    pub next: Next,
}

/// What follows from an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It stands.
    Stands,
    /// A new attempt, as long as there are any left.
    Again {
        /// The model asked for less: run fewer at once, and wait this long at least, in milliseconds.
        slower: Option<u64>,
    },
    /// A new attempt that may use more, whatever number there have been: each takes its part of a limit that ends.
    WithMore,
    /// No further attempt of anything can succeed: stop giving out work, with this one message.
    StopDispatch(String),
}

impl Verdict {
    fn stands(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            reason: reason.into(),
            next: Next::Stands,
        }
    }

    fn again(cause: InvalidCause, reason: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Invalid(cause),
            reason: reason.into(),
            next: Next::Again { slower: None },
        }
    }
}

/// Reads the outcome of an attempt off its facts.
pub fn decide(facts: &Facts<'_>) -> Verdict {
    let conversation = facts.conversation;
    let last_turn = conversation.turns.last();

    let rows = [
        stopped(facts.interrupted, last_turn),
        machinery(facts.machinery_fault, conversation),
        login(&conversation.exposures),
        limited(conversation, facts.expectations),
        refused::for_good(conversation),
        exposure(&conversation.exposures, last_turn),
        nothing_offered(&conversation.exposures, facts.expectations),
        refused::model(conversation, last_turn),
        time(conversation, last_turn),
        agent_error(last_turn),
        unchecked(facts.expectations),
        passed(facts.expectations),
        server_lost(conversation, last_turn),
        server(facts.expectations, &conversation.calls),
    ];
    rows.into_iter()
        .flatten()
        .next()
        .unwrap_or_else(|| failed(facts.expectations, conversation))
}

fn machinery(fault: Option<&str>, conversation: &Conversation) -> Option<Verdict> {
    if let Some(fault) = fault {
        return Some(Verdict::again(InvalidCause::Machinery, fault));
    }
    if let Some((server, fault)) = conversation
        .exposures
        .iter()
        .find_map(|exposure| Some((&exposure.server, exposure.recording_fault.as_ref()?)))
    {
        return Some(Verdict::again(
            InvalidCause::Machinery,
            format!("the calls of {server} could not be recorded faithfully: {fault}"),
        ));
    }
    let Some(last) = conversation.turns.last() else {
        return Some(Verdict::again(InvalidCause::Machinery, "the agent was never started"));
    };
    if matches!(last.ending, TurnEnding::Unreadable | TurnEnding::Machinery) {
        return Some(Verdict::again(
            InvalidCause::Machinery,
            detail(last, "the turn could not be carried through"),
        ));
    }
    // An agent that says it called the server, with nothing on the wire, was kept from it by its own harness.
    let reported: u32 = conversation
        .turns
        .iter()
        .filter_map(|turn| turn.reported_calls)
        .fold(0, u32::saturating_add);
    if reported > 0 && conversation.calls.is_empty() {
        return Some(Verdict::again(
            InvalidCause::Machinery,
            format!("the agent reports {reported} calls of the server, but none of them reached the recording proxy"),
        ));
    }
    None
}

fn login(exposures: &[Exposure]) -> Option<Verdict> {
    let exposure = exposures.iter().find(|exposure| exposure.login_required)?;
    let message = format!(
        "the server {} answered 401: it needs a login, which is not supported in this version; \
         set an Authorization header under mcp.headers",
        exposure.server
    );
    Some(Verdict {
        outcome: Outcome::Invalid(InvalidCause::Server),
        reason: message.clone(),
        next: Next::StopDispatch(message),
    })
}

fn stopped(interrupted: bool, last: Option<&Turn>) -> Option<Verdict> {
    (interrupted || last.is_some_and(|turn| turn.ending == TurnEnding::Cancelled))
        .then(|| Verdict::stands(Outcome::Aborted, "the run was stopped while the agent was at work"))
}

/// The relay refused requests because the attempt had used up what was set aside for it. That is nobody's fault, unless the
/// agent had done everything by then. It comes before everything that such a refusal looks like from outside.
fn limited(conversation: &Conversation, expectations: &[ExpectationResult]) -> Option<Verdict> {
    let traffic = &conversation.traffic;
    if traffic.limited_requests == 0 {
        return None;
    }
    let ended_well = conversation
        .turns
        .last()
        .is_some_and(|turn| turn.ending == TurnEnding::Completed);
    if ended_well && expectations.iter().all(|expectation| expectation.met) {
        return None;
    }
    let told = counted(traffic.tokens().total(), "token");
    let untold = match traffic.requests_without_usage {
        0 => String::new(),
        untold => format!(
            " and what {} may have used that did not tell",
            counted(untold, "request")
        ),
    };
    let reason = format!("it used up what was set aside for it of run.limits, at {told}{untold}");
    Some(Verdict {
        outcome: Outcome::Invalid(InvalidCause::Limit),
        reason,
        next: Next::WithMore,
    })
}

fn exposure(exposures: &[Exposure], last: Option<&Turn>) -> Option<Verdict> {
    if exposures.is_empty() {
        return Some(Verdict::again(
            InvalidCause::Exposure,
            "no server was put in front of the agent",
        ));
    }
    let missing = exposures
        .iter()
        .find(|exposure| !(exposure.initialized && exposure.tools_listed))?;
    let server = &missing.server;
    // The agent did come, and the server did not answer: that is the server's fault, and its author wants to know.
    if let Some(fault) = missing.faults.last() {
        return Some(Verdict::again(
            InvalidCause::Server,
            format!("{server} did not answer: {}", fault.what),
        ));
    }
    let what = if missing.initialized {
        "never listed the tools of"
    } else {
        "never connected to"
    };
    // An agent that crashed before it came that far says why.
    let why = last
        .and_then(|turn| turn.detail.as_ref())
        .map(|detail| format!(": {detail}"))
        .unwrap_or_default();
    Some(Verdict::again(
        InvalidCause::Exposure,
        format!("the agent {what} {server}{why}"),
    ))
}

fn time(conversation: &Conversation, last: Option<&Turn>) -> Option<Verdict> {
    let seconds = |ms| Duration::from_millis(ms).as_secs_f64();
    let last = last?;
    if last.ending != TurnEnding::TimedOut {
        return None;
    }
    let waiting = conversation
        .traffic
        .waiting_ms
        .saturating_sub(conversation.waiting_ms_before_last_turn);
    if conversation.traffic.observed && waiting.saturating_mul(2) > last.duration_ms {
        return Some(Verdict {
            outcome: Outcome::Invalid(InvalidCause::Model),
            reason: format!(
                "time was up after {:.1} s, {:.1} s of them waiting for the model",
                seconds(last.duration_ms),
                seconds(waiting)
            ),
            next: Next::Again { slower: Some(0) },
        });
    }
    if let Some(call) = awaited_call(conversation, last) {
        return Some(Verdict::again(
            InvalidCause::Server,
            format!(
                "time was up after {:.1} s, {:.1} s of them waiting for {} to answer {}",
                seconds(last.duration_ms),
                seconds(call.duration_ms),
                call.server,
                call.tool
            ),
        ));
    }
    let reason = detail(last, &format!("time was up after {:.1} s", seconds(last.duration_ms)));
    Some(Verdict::stands(Outcome::Failed(FailureClass::RanOutOfTime), reason))
}

/// The call of the turn that the server never answered, if most of the turn went by waiting for it: such time is not the
/// agent's own.
fn awaited_call<'a>(conversation: &'a Conversation, turn: &Turn) -> Option<&'a ToolCall> {
    let unanswered = |call: &&ToolCall| matches!(call.state, CallState::NeverFinished | CallState::Suspended);
    let of_turn = conversation.calls.iter().filter(|call| call.turn == turn.index);
    of_turn
        .filter(unanswered)
        .max_by_key(|call| call.duration_ms)
        .filter(|call| call.duration_ms.saturating_mul(2) > turn.duration_ms)
}

fn agent_error(last: Option<&Turn>) -> Option<Verdict> {
    let last = last?;
    (last.ending == TurnEnding::AgentError).then(|| {
        Verdict::stands(
            Outcome::Failed(FailureClass::AgentError),
            detail(last, "the agent reported an error"),
        )
    })
}

/// Everything that could be checked was met, and something could not be checked.
fn unchecked(expectations: &[ExpectationResult]) -> Option<Verdict> {
    let first = expectations.iter().find(|expectation| expectation.unchecked)?;
    let rest_is_met = expectations.iter().all(|it| it.met || it.unchecked);
    rest_is_met.then(|| {
        let reason = format!("not checked: {} – {}", first.what, first.why);
        Verdict::again(InvalidCause::Machinery, reason)
    })
}

fn passed(expectations: &[ExpectationResult]) -> Option<Verdict> {
    expectations
        .iter()
        .all(|expectation| expectation.met)
        .then(|| Verdict::stands(Outcome::Passed, "every expectation was met"))
}

fn server(expectations: &[ExpectationResult], calls: &[ToolCall]) -> Option<Verdict> {
    let unmet = expectations
        .iter()
        .filter(|expectation| expectation.wants_a_call())
        .filter_map(|it| Some((it.tool.as_deref()?, it)));
    for (tool, expectation) in unmet {
        let of_tool: Vec<&ToolCall> = calls.iter().filter(|call| call.tool == tool).collect();
        // A server that did answer calls of the tool kept the agent only from a call that would have counted.
        let answered = of_tool.iter().any(|call| call.succeeded());
        if answered && !expectation.differences.is_empty() {
            continue;
        }
        let Some(at) = of_tool.iter().rposition(|call| call.server_fault()) else {
            continue;
        };
        // Only a later success shows that the fault was got over.
        if of_tool[at..].iter().any(|call| call.succeeded()) {
            continue;
        }
        let faulty = of_tool[at];
        let why = faulty
            .error
            .clone()
            .unwrap_or_else(|| faulty.state.name().replace('_', " "));
        return Some(Verdict::again(
            InvalidCause::Server,
            format!("{} did not answer {tool}: {why}", faulty.server),
        ));
    }
    None
}

/// A server that answered nobody in the last turn: it went down, or lost its sessions, after the agent had seen its tools.
fn server_lost(conversation: &Conversation, last: Option<&Turn>) -> Option<Verdict> {
    let last = last?;
    let answered = conversation
        .calls
        .iter()
        .any(|call| call.turn == last.index && call.state != CallState::HttpError);
    if answered {
        return None;
    }
    conversation.exposures.iter().find_map(|exposure| {
        // A fault of another exchange, an event stream's for example, keeps no agent from calling.
        let opening = |what: &str| {
            ["initialize", "server/discover", "tools/list"]
                .iter()
                .any(|it| what.starts_with(it))
        };
        let fault = exposure
            .faults
            .iter()
            .rfind(|fault| fault.at_unix_ms >= last.started_at_unix_ms && opening(&fault.what))?;
        let reason = format!("{} did not answer: {}", exposure.server, fault.what);
        Some(Verdict::again(InvalidCause::Server, reason))
    })
}

/// Servers without a single tool leave an agent nothing to be judged by where a test case is about tools: those that are to
/// be called, and those that are to be left alone.
fn nothing_offered(exposures: &[Exposure], expectations: &[ExpectationResult]) -> Option<Verdict> {
    let about_tools = expectations
        .iter()
        .any(|it| it.wants_a_call() || it.family == Family::NoTools);
    let nothing = exposures.iter().all(|exposure| exposure.tool_count == 0);
    (about_tools && nothing).then(|| {
        Verdict::again(
            InvalidCause::Server,
            "no tool was offered to the agent, though the test case is about tools",
        )
    })
}

fn failed(expectations: &[ExpectationResult], conversation: &Conversation) -> Verdict {
    let unmet: Vec<String> = expectations
        .iter()
        .filter(|expectation| !expectation.met && !expectation.unchecked)
        .map(ExpectationResult::unmet_in_words)
        .collect();
    let class = class_of(expectations, conversation);
    Verdict::stands(Outcome::Failed(class), unmet.join("; "))
}

fn detail(turn: &Turn, otherwise: &str) -> String {
    turn.detail.clone().unwrap_or_else(|| otherwise.to_owned())
}

#[cfg(test)]
mod tests;
