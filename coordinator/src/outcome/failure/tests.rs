//! The classes as a table: what was expected, what was done and said, and the one class that follows.
#![allow(clippy::unwrap_used)]

use mcproctor_proto::call::CallState::{self, Ok as Good, ProtocolError, ToolError};
use mcproctor_proto::turn::{Escape, EscapeKind, TurnEnding};

use super::*;
use crate::record::Difference;
use crate::record::fixtures::{call, turn};

/// An attempt under construction.
#[derive(Default)]
struct Attempt {
    conversation: Conversation,
    expectations: Vec<ExpectationResult>,
}

fn attempt() -> Attempt {
    Attempt::default().turn("Done.")
}

impl Attempt {
    fn turn(mut self, reply: &str) -> Self {
        let index = u32::try_from(self.conversation.turns.len()).unwrap();
        let mut next = turn(index, TurnEnding::Completed);
        reply.clone_into(&mut next.reply);
        self.conversation.turns.push(next);
        self
    }

    fn replies(mut self, reply: &str) -> Self {
        reply.clone_into(&mut self.conversation.turns.last_mut().unwrap().reply);
        self
    }

    fn calls(mut self, tool: &str, state: CallState) -> Self {
        let mut made = call(tool, state);
        made.id = format!("c{}", self.conversation.calls.len() + 1);
        made.turn = self.conversation.turns.last().unwrap().index;
        self.conversation.calls.push(made);
        self
    }

    fn requests(mut self, method: &str, name: &str, ok: bool) -> Self {
        self.conversation.requests.push(McpRequest {
            server: "s".to_owned(),
            method: method.to_owned(),
            name: name.to_owned(),
            ok,
            turn: self.conversation.turns.last().unwrap().index,
            started_at_unix_ms: 0,
        });
        self
    }

    fn escapes(mut self) -> Self {
        self.conversation.turns.last_mut().unwrap().escapes.push(Escape {
            kind: EscapeKind::Shell,
            what: "curl".to_owned(),
            turn: 0,
        });
        self
    }

    fn result(mut self, family: Family, tool: Option<&str>, met: bool) -> Self {
        self.expectations.push(ExpectationResult {
            family,
            what: format!("{} called", tool.unwrap_or_default()),
            tool: tool.map(str::to_owned),
            met,
            ..ExpectationResult::default()
        });
        self
    }

    fn met(self, family: Family, tool: &str) -> Self {
        self.result(family, Some(tool), true)
    }

    fn unmet(self, family: Family, tool: &str) -> Self {
        self.result(family, Some(tool), false)
    }

    fn not(self, family: Family) -> Self {
        self.result(family, None, false)
    }

    /// The resource or prompt that the last expectation is about.
    fn of(mut self, name: &str) -> Self {
        self.expectations.last_mut().unwrap().name = Some(name.to_owned());
        self
    }

    /// The last expectation is shown by this call.
    fn shown_by(mut self, call: &str) -> Self {
        self.expectations.last_mut().unwrap().call = Some(call.to_owned());
        self
    }

    /// The call that shows the last expectation differs.
    fn differing(mut self) -> Self {
        self.expectations.last_mut().unwrap().differences.push(Difference {
            at: "/city".to_owned(),
            expected: "\"Graz\" (string)".to_owned(),
            found: "nothing".to_owned(),
        });
        self
    }

    fn class(&self) -> FailureClass {
        class_of(&self.expectations, &self.conversation)
    }
}

#[test]
fn where_a_call_was_left_out_what_was_done_instead_decides() {
    use FailureClass::{AskedInstead, Escaped, GaveUp, NeverCalled, WrongTool};
    let missing = || attempt().unmet(Family::Tools, "a");
    for (what, attempt, class) in [
        ("nothing done", missing(), NeverCalled),
        ("an empty reply", missing().replies(""), NeverCalled),
        ("another tool", missing().calls("b", Good), WrongTool),
        ("another tool that failed", missing().calls("b", ToolError), WrongTool),
        (
            "a resource",
            missing().requests("resources/read", "a://b", true),
            WrongTool,
        ),
        ("a question", missing().replies("Which city?"), AskedInstead),
        (
            "a question after another tool",
            missing().calls("b", Good).replies("Which one?"),
            AskedInstead,
        ),
        ("a refusal", missing().replies("I cannot do that."), GaveUp),
        (
            "a refusal after another tool",
            missing().calls("b", Good).replies("I couldn't find it."),
            GaveUp,
        ),
        ("an escape", missing().escapes(), Escaped),
        (
            "an escape and another tool",
            missing().escapes().calls("b", Good),
            Escaped,
        ),
        (
            "an escape and a question",
            missing().escapes().replies("Which city?"),
            Escaped,
        ),
        (
            "an escape in an earlier turn",
            missing().escapes().turn("I can't."),
            Escaped,
        ),
        (
            "a question, then words",
            missing().replies("Which city?").turn("Never mind."),
            NeverCalled,
        ),
        ("words, then a question", missing().turn("Which city?"), AskedInstead),
        (
            "an expected call, then a question",
            missing()
                .met(Family::Tools, "b")
                .calls("b", Good)
                .replies("Would you like more?"),
            WrongTool,
        ),
        (
            "another tool, an answer and an offer",
            missing()
                .calls("b", Good)
                .replies("It is 24 degrees. Would you like me to check the forecast as well?"),
            WrongTool,
        ),
        (
            "an expected call, and in the next turn a question",
            missing().met(Family::Tools, "b").calls("b", Good).turn("Which city?"),
            AskedInstead,
        ),
        (
            "an expected call, then a refusal of the other",
            missing()
                .met(Family::Tools, "b")
                .calls("b", Good)
                .replies("I can't do the rest."),
            GaveUp,
        ),
        ("too few calls", missing().calls("a", Good), NeverCalled),
        (
            "too few calls, and another tool",
            missing().calls("a", Good).calls("b", Good),
            WrongTool,
        ),
        (
            "too few calls and a refusal",
            missing().calls("a", Good).replies("I can't go on."),
            NeverCalled,
        ),
        (
            "too few calls and an escape",
            missing().calls("a", Good).escapes(),
            NeverCalled,
        ),
        (
            "no call with the arguments, for want of a call",
            attempt().unmet(Family::Arguments, "a"),
            NeverCalled,
        ),
        (
            "nothing in order, for want of calls",
            attempt().not(Family::Order),
            NeverCalled,
        ),
    ] {
        assert_eq!(attempt.class(), class, "{what}");
    }
}

#[test]
fn a_failed_call_is_a_tool_error_until_a_later_one_succeeds() {
    use FailureClass::{ToolError as Unrecovered, WrongTool};
    let missing = || attempt().unmet(Family::Tools, "a");
    for (what, attempt, class) in [
        ("failed", missing().calls("a", ToolError), Unrecovered),
        (
            "refused by the server",
            missing().calls("a", ProtocolError),
            Unrecovered,
        ),
        (
            "failed twice",
            missing().calls("a", ToolError).calls("a", ToolError),
            Unrecovered,
        ),
        (
            "failed, and words of giving up",
            missing().calls("a", ToolError).replies("I cannot do it."),
            Unrecovered,
        ),
        (
            "failed, and a question",
            missing().calls("a", ToolError).replies("Which city?"),
            Unrecovered,
        ),
        (
            "failed, and an escape",
            missing().calls("a", ToolError).escapes(),
            Unrecovered,
        ),
        (
            "failed after a success",
            missing().calls("a", Good).calls("a", ToolError),
            Unrecovered,
        ),
        (
            "failed before a success",
            missing().calls("a", ToolError).calls("a", Good),
            FailureClass::NeverCalled,
        ),
        ("another tool failed", missing().calls("b", ToolError), WrongTool),
        (
            "failed, and the next tool was left out",
            missing().calls("a", ToolError).unmet(Family::Tools, "b"),
            Unrecovered,
        ),
        (
            "failed with the right arguments",
            attempt()
                .calls("a", ToolError)
                .unmet(Family::Arguments, "a")
                .shown_by("c1"),
            Unrecovered,
        ),
    ] {
        assert_eq!(attempt.class(), class, "{what}");
    }
}

#[test]
fn resources_and_prompts_are_read_like_calls() {
    use FailureClass::{AskedInstead, NeverCalled, ToolError as Unrecovered, WrongTool};
    let missing = || attempt().not(Family::Resources).of("a://b");
    let prompt = || attempt().not(Family::Prompts).of("greet");
    for (what, attempt, class) in [
        ("never read", missing(), NeverCalled),
        ("a question", missing().replies("Which one?"), AskedInstead),
        (
            "refused",
            missing().requests("resources/read", "a://b", false),
            Unrecovered,
        ),
        (
            "another one read",
            missing().requests("resources/read", "a://bc", true),
            WrongTool,
        ),
        (
            "another one refused",
            missing().requests("resources/read", "a://", false),
            WrongTool,
        ),
        ("a tool called", missing().calls("b", Good), WrongTool),
        (
            "refused, then given once",
            prompt()
                .requests("prompts/get", "greet", false)
                .requests("prompts/get", "greet", true),
            NeverCalled,
        ),
        (
            "refused at last",
            prompt()
                .requests("prompts/get", "greet", true)
                .requests("prompts/get", "greet", false),
            Unrecovered,
        ),
    ] {
        assert_eq!(attempt.class(), class, "{what}");
    }
}

#[test]
fn each_family_has_its_class() {
    use FailureClass::{TooMuch, WrongAnswer, WrongArguments, WrongOrder};
    let good = || attempt().calls("a", Good).met(Family::Tools, "a");
    for (what, attempt, class) in [
        (
            "arguments",
            good().unmet(Family::Arguments, "a").shown_by("c1").differing(),
            WrongArguments,
        ),
        (
            "one call with them too many",
            good().unmet(Family::Arguments, "a").shown_by("c1"),
            TooMuch,
        ),
        ("order", good().not(Family::Order), WrongOrder),
        ("no tools", good().not(Family::NoTools), TooMuch),
        ("forbidden", good().unmet(Family::Forbidden, "a"), TooMuch),
        ("calls", good().not(Family::Calls), TooMuch),
        ("duplicates", good().not(Family::Duplicates), TooMuch),
        ("duration", good().not(Family::Duration), TooMuch),
        ("tokens", good().not(Family::Tokens), TooMuch),
        ("cost", good().not(Family::Cost), TooMuch),
        ("response", good().not(Family::Response), WrongAnswer),
        ("tone", good().not(Family::Tone), WrongAnswer),
        (
            "a wrong answer that asks",
            good().not(Family::Response).replies("Which city?"),
            WrongAnswer,
        ),
        (
            "a call that failed, and a limit",
            good().calls("b", ToolError).not(Family::Calls),
            TooMuch,
        ),
    ] {
        assert_eq!(attempt.class(), class, "{what}");
    }
}

/// Everything goes wrong at once; what comes first on the way from the prompt to the answer is taken away step by step.
#[test]
fn what_failed_first_is_the_class() {
    use FailureClass::{TooMuch, WrongAnswer, WrongArguments, WrongOrder, WrongTool};
    let mut attempt = attempt()
        .calls("args", Good)
        .calls("failed", ToolError)
        .calls("other", Good)
        .unmet(Family::Arguments, "args")
        .differing()
        .unmet(Family::Tools, "failed")
        .unmet(Family::Tools, "missing")
        .not(Family::Order)
        .not(Family::Calls)
        .not(Family::Response);
    // Their place in the list decides nothing.
    attempt.expectations.reverse();
    for class in [
        WrongArguments,
        FailureClass::ToolError,
        WrongTool,
        WrongOrder,
        TooMuch,
        WrongAnswer,
    ] {
        assert_eq!(attempt.class(), class);
        attempt.expectations.pop();
    }
}
