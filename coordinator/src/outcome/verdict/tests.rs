#![allow(clippy::unwrap_used, clippy::panic)]
use mcproctor_proto::call::CallState;
use mcproctor_proto::exposure::ServerFault;
use mcproctor_proto::traffic::{ModelRefusal, ModelTraffic};

use super::*;
use crate::record::TestCaseRecord;
use crate::record::fixtures::{call, exposed, test_case, turn};
use crate::source::MemorySource;
use crate::testcase;
use crate::validation::{Observed, check};

/// An attempt whose agent was shown the tools, called what was expected and completed its turn.
struct Attempt {
    machinery_fault: Option<String>,
    interrupted: bool,
    conversation: Conversation,
    expected: Vec<String>,
}

impl Attempt {
    fn good() -> Self {
        let mut conversation = Conversation::default();
        conversation.turns = vec![turn(0, TurnEnding::Completed)];
        conversation.calls = vec![call("a", CallState::Ok)];
        conversation.exposures = vec![exposed()];
        conversation.traffic = ModelTraffic {
            observed: true,
            requests: 2,
            succeeded: 2,
            ..ModelTraffic::default()
        };
        Self {
            machinery_fault: None,
            interrupted: false,
            conversation,
            expected: vec!["a".to_owned()],
        }
    }

    fn but(change: impl FnOnce(&mut Self)) -> Self {
        let mut attempt = Self::good();
        change(&mut attempt);
        attempt
    }

    fn verdict(&self) -> Verdict {
        decide(&Facts {
            interrupted: self.interrupted,
            machinery_fault: self.machinery_fault.as_deref(),
            conversation: &self.conversation,
            expectations: &checked(&self.expected, &self.conversation, &self.conversation.calls),
        })
    }
}

/// A test case that expects these tools, after these calls.
fn checked(tools: &[String], conversation: &Conversation, calls: &[ToolCall]) -> Vec<ExpectationResult> {
    let names: Vec<&str> = tools.iter().map(String::as_str).collect();
    let case = test_case(&names, &[]);
    let observed = Observed {
        calls,
        turns: &conversation.turns,
        traffic: &conversation.traffic,
        cost_usd: None,
        requests: &conversation.requests,
    };
    check(&case, &observed)
}

fn refusal(status: u16, code: &str, message: &str) -> Option<ModelRefusal> {
    Some(ModelRefusal {
        status,
        code: Some(code.to_owned()),
        message: message.to_owned(),
        retry_after_ms: None,
    })
}

fn refused(status: u16, code: &str, message: &str) -> Attempt {
    Attempt::but(|attempt| {
        attempt.conversation.calls.clear();
        attempt.conversation.turns = vec![turn(0, TurnEnding::AgentError)];
        attempt.conversation.traffic.refusal = refusal(status, code, message);
        attempt.conversation.traffic.succeeded = 0;
    })
}

const INVALID_MODEL: Outcome = Outcome::Invalid(InvalidCause::Model);
const INVALID_SERVER: Outcome = Outcome::Invalid(InvalidCause::Server);
const INVALID_EXPOSURE: Outcome = Outcome::Invalid(InvalidCause::Exposure);
const INVALID_MACHINERY: Outcome = Outcome::Invalid(InvalidCause::Machinery);
const AGAIN: Next = Next::Again { slower: None };

#[test]
fn every_expectation_met_passes_and_stands() {
    let verdict = Attempt::good().verdict();
    assert_eq!((verdict.outcome, verdict.next), (Outcome::Passed, Next::Stands));
}

#[test]
fn an_expectation_unmet_fails_and_stands() {
    let verdict = Attempt::but(|attempt| attempt.conversation.calls.clear()).verdict();
    assert_eq!(
        (verdict.outcome, verdict.next),
        (Outcome::Failed(FailureClass::NeverCalled), Next::Stands)
    );
    assert_eq!(verdict.reason, "unmet: a called successfully – it was never called");
}

#[test]
fn an_agent_that_crashed_fails_even_with_every_call_made() {
    let verdict = Attempt::but(|attempt| attempt.conversation.turns = vec![turn(0, TurnEnding::AgentError)]).verdict();
    assert_eq!(
        (verdict.outcome, verdict.next),
        (Outcome::Failed(FailureClass::AgentError), Next::Stands)
    );
}

#[test]
fn time_up_is_the_agents_own_fault_when_most_of_it_was_its_own() {
    let timed_out = |waiting_ms| {
        Attempt::but(|attempt| {
            attempt.conversation.turns = vec![turn(0, TurnEnding::TimedOut)];
            attempt.conversation.traffic.waiting_ms = waiting_ms;
        })
        .verdict()
    };
    assert_eq!(timed_out(500).outcome, Outcome::Failed(FailureClass::RanOutOfTime));
    assert_eq!(timed_out(501).outcome, INVALID_MODEL);
    assert!(matches!(timed_out(501).next, Next::Again { slower: Some(_) }));
}

#[test]
fn time_up_while_the_server_owed_an_answer_is_the_servers_fault() {
    let timed_out = |state, turn_of_call, duration_ms| {
        let verdict = Attempt::but(|attempt| {
            attempt.conversation.turns = vec![turn(0, TurnEnding::Completed), turn(1, TurnEnding::TimedOut)];
            attempt.conversation.calls = vec![ToolCall {
                turn: turn_of_call,
                duration_ms,
                ..call("a", state)
            }];
        })
        .verdict();
        verdict.outcome
    };
    let (server, own) = (
        Outcome::Invalid(InvalidCause::Server),
        Outcome::Failed(FailureClass::RanOutOfTime),
    );
    assert_eq!(timed_out(CallState::NeverFinished, 1, 501), server);
    assert_eq!(timed_out(CallState::NeverFinished, 1, 500), own);
    assert_eq!(timed_out(CallState::NeverFinished, 0, 900), own);
    assert_eq!(timed_out(CallState::Ok, 1, 900), own);
}

#[test]
fn waiting_in_earlier_turns_does_not_excuse_the_last_one() {
    let verdict = Attempt::but(|attempt| {
        attempt.conversation.turns = vec![turn(0, TurnEnding::Completed), turn(1, TurnEnding::TimedOut)];
        attempt.conversation.traffic.waiting_ms = 900;
        attempt.conversation.waiting_ms_before_last_turn = 800;
    })
    .verdict();
    assert_eq!(verdict.outcome, Outcome::Failed(FailureClass::RanOutOfTime));
}

#[test]
fn a_model_that_is_overloaded_is_tried_again_more_slowly() {
    for (status, code) in [
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
        // An API's own word makes nothing of it a gateway's.
        (503, "gateway_unreachable"),
        (0, ""),
    ] {
        let verdict = refused(status, code, "busy").verdict();
        assert_eq!(verdict.outcome, INVALID_MODEL, "{status}");
        assert!(
            matches!(verdict.next, Next::Again { slower: Some(_) }),
            "{status}: {:?}",
            verdict.next
        );
    }
}

#[test]
fn a_model_that_refuses_for_good_stops_dispatch() {
    for (status, code, message) in [
        (401, "authentication_error", "invalid x-api-key"),
        (403, "permission_error", "not allowed"),
        (404, "model_not_found", "The model `x` does not exist"),
        (429, "insufficient_quota", "You exceeded your current quota"),
    ] {
        let verdict = refused(status, code, message).verdict();
        assert_eq!(verdict.outcome, INVALID_MODEL, "{status} {code}");
        assert!(
            matches!(verdict.next, Next::StopDispatch(_)),
            "{status} {code}: {:?}",
            verdict.next
        );
    }
}

#[test]
fn a_refusal_that_an_agent_brought_about_or_that_came_after_an_answer_stops_no_run() {
    for (status, code, message) in [
        (401, "authentication_error", "this key may not use x"),
        (403, "permission_error", "not allowed"),
        (404, "model_not_found", "The model `x` does not exist"),
        (429, "insufficient_quota", "You exceeded your current quota"),
    ] {
        let mut elsewhere = refused(status, code, message);
        elsewhere.conversation.traffic.refusal_elsewhere = true;
        let mut later = refused(status, code, message);
        later.conversation.traffic.succeeded = 1;
        for attempt in [&elsewhere, &later] {
            let verdict = attempt.verdict();
            assert_eq!(
                (verdict.outcome, verdict.next),
                (INVALID_MODEL, AGAIN),
                "{status} {code}"
            );
        }
        // An agent that went on well without is judged by what it did.
        let well = Attempt::but(|attempt| attempt.conversation.traffic.refusal = refusal(status, code, message));
        assert_eq!(well.verdict().outcome, Outcome::Passed, "{status} {code}");
    }
}

#[test]
fn an_address_that_the_api_does_not_know_is_told_from_a_model_that_it_does_not() {
    let stop = |code: &str, message: &str| match refused(404, code, message).verdict().next {
        Next::StopDispatch(message) => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        stop("", "Not Found"),
        "the model API refused with 404: Not Found; check the agent's `baseUrl` and its model: codex adds `/responses` to the \
         `baseUrl`, which therefore ends with `/v1` at most APIs, and claude adds `/v1/messages`"
    );
    assert_eq!(
        stop("not_found_error", "model: claude-x"),
        "the model API refused with 404: model: claude-x; check the agent's model"
    );
}

#[test]
fn a_gateways_own_limit_is_nobodys_fault_and_what_keeps_attempts_from_it_is_no_matter_of_model_and_key() {
    let limit = refused(
        400,
        "gateway_limit_reached",
        "the gateway asks no model any more: limits.maxTokens is reached: 50 of 50 tokens are used; raise it",
    )
    .verdict();
    assert_eq!(limit.outcome, Outcome::Invalid(InvalidCause::Limit));
    assert_eq!(
        limit.next,
        Next::StopDispatch(
            "the gateway asks no model any more: limits.maxTokens is reached: 50 of 50 tokens are used; raise it, and go on with \
             --resume"
                .to_owned()
        )
    );
    for (status, code, message, expected) in [
        (
            401,
            "lease_token_refused",
            "the lease token has expired",
            "the gateway lets no attempt through: the lease token has expired; give run.gateway.tokenKey and the gateway's tokenKey the \
             same value, and see that both clocks are right",
        ),
        (
            400,
            "gateway_entry_refused",
            "the gateway has no model entry `x`",
            "the gateway lets no attempt through: the gateway has no model entry `x`; name one that is there and speaks the agent's \
             API in its `gatewayModel`, or add it to `models` of the gateway's config",
        ),
    ] {
        let verdict = refused(status, code, message).verdict();
        assert_eq!(verdict.outcome, INVALID_MACHINERY, "{code}");
        assert_eq!(verdict.reason, expected);
        assert_eq!(verdict.next, Next::StopDispatch(expected.to_owned()));
    }
    let gone = refused(
        0,
        "gateway_unreachable",
        "the gateway could not be reached: connection refused",
    )
    .verdict();
    assert_eq!(gone.outcome, INVALID_MACHINERY);
    assert_eq!(
        gone.reason,
        "the gateway could not be reached: connection refused; start it (`mcproctor gateway`), or correct run.gateway.url"
    );
    assert_eq!(gone.next, Next::Again { slower: Some(0) });
}

#[test]
fn a_refused_tool_schema_is_the_servers_and_stands() {
    let verdict = refused(
        400,
        "invalid_request_error",
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
    )
    .verdict();
    assert_eq!((verdict.outcome, verdict.next), (INVALID_SERVER, Next::Stands));
}

#[test]
fn a_refusal_that_the_agents_own_retry_got_over_changes_nothing() {
    let verdict = Attempt::but(|attempt| attempt.conversation.traffic.requests = 9).verdict();
    assert_eq!(verdict.outcome, Outcome::Passed);
}

#[test]
fn without_a_relay_the_agents_own_word_for_a_refusal_counts() {
    let verdict = Attempt::but(|attempt| {
        attempt.conversation.traffic = ModelTraffic::default();
        let mut last = turn(0, TurnEnding::AgentError);
        last.model_refusal = refusal(429, "rate_limit_error", "slow down");
        attempt.conversation.turns = vec![last];
    })
    .verdict();
    assert_eq!(verdict.outcome, INVALID_MODEL);
}

#[test]
fn an_agent_that_was_never_shown_the_tools_is_not_judged() {
    let never_connected = Attempt::but(|attempt| attempt.conversation.exposures[0].initialized = false).verdict();
    assert_eq!(
        (never_connected.outcome, never_connected.next),
        (INVALID_EXPOSURE, AGAIN)
    );
    let never_listed = Attempt::but(|attempt| attempt.conversation.exposures[0].tools_listed = false).verdict();
    assert_eq!(never_listed.outcome, INVALID_EXPOSURE);
    assert_eq!(
        never_listed.reason,
        "the agent never listed the tools of mcp-under-test"
    );
}

#[test]
fn nothing_expected_passes_only_with_proof_of_exposure() {
    let nothing = |exposures: Vec<Exposure>| {
        Attempt::but(|attempt| {
            attempt.expected.clear();
            attempt.conversation.calls.clear();
            attempt.conversation.exposures = exposures;
        })
        .verdict()
        .outcome
    };
    assert_eq!(nothing(vec![exposed()]), Outcome::Passed);
    assert_eq!(nothing(vec![Exposure::default()]), INVALID_EXPOSURE);
    assert_eq!(nothing(vec![]), INVALID_EXPOSURE);
}

#[test]
fn a_server_that_did_not_answer_the_agent_is_the_servers_fault() {
    let verdict = Attempt::but(|attempt| {
        let exposure = &mut attempt.conversation.exposures[0];
        exposure.initialized = false;
        exposure.tools_listed = false;
        exposure.faults = vec![ServerFault {
            what: "connection refused".to_owned(),
            at_unix_ms: 0,
        }];
    })
    .verdict();
    assert_eq!((verdict.outcome, verdict.next), (INVALID_SERVER, AGAIN));
}

#[test]
fn a_server_counts_only_where_a_tool_that_mattered_never_succeeded() {
    let with_calls = |calls: Vec<ToolCall>| {
        Attempt::but(|attempt| {
            attempt.expected = vec!["a".to_owned(), "b".to_owned()];
            attempt.conversation.calls = calls;
        })
        .verdict()
        .outcome
    };
    let broken = |tool: &str| ToolCall {
        http_status: Some(502),
        ..call(tool, CallState::HttpError)
    };
    let unmet = Outcome::Failed(FailureClass::WrongTool);
    assert_eq!(with_calls(vec![call("a", CallState::Ok), broken("b")]), INVALID_SERVER);
    assert_eq!(
        with_calls(vec![call("a", CallState::Ok), call("b", CallState::NeverFinished)]),
        INVALID_SERVER
    );
    assert_eq!(
        with_calls(vec![call("a", CallState::Ok), broken("c")]),
        unmet,
        "c did not matter"
    );
    assert_eq!(
        with_calls(vec![broken("b"), call("a", CallState::Ok), call("b", CallState::Ok)]),
        Outcome::Passed
    );
    let failed = Outcome::Failed(FailureClass::ToolError);
    for handled in [CallState::ToolError, CallState::ProtocolError, CallState::Cancelled] {
        assert_eq!(
            with_calls(vec![call("a", CallState::Ok), call("b", handled)]),
            failed,
            "{handled:?}"
        );
    }
    let refused = ToolCall {
        http_status: Some(400),
        ..call("b", CallState::HttpError)
    };
    assert_eq!(
        with_calls(vec![call("a", CallState::Ok), refused]),
        failed,
        "a 4xx is the agent's to handle"
    );
}

#[test]
fn our_own_faults_come_first() {
    let lost = Attempt::but(|attempt| attempt.machinery_fault = Some("the worker is gone".to_owned())).verdict();
    assert_eq!((lost.outcome, lost.next), (INVALID_MACHINERY, AGAIN));
    let cut = Attempt::but(|attempt| attempt.conversation.turns = vec![turn(0, TurnEnding::Unreadable)]).verdict();
    assert_eq!(cut.outcome, INVALID_MACHINERY);
    let unrecorded = Attempt::but(|attempt| {
        attempt.conversation.exposures[0].recording_fault = Some("disk full".to_owned());
    })
    .verdict();
    assert_eq!(unrecorded.outcome, INVALID_MACHINERY);
    let never_started = Attempt::but(|attempt| attempt.conversation.turns.clear()).verdict();
    assert_eq!(never_started.outcome, INVALID_MACHINERY);
}

#[test]
fn calls_that_the_agent_reports_but_nobody_saw_are_not_held_against_it() {
    let verdict = Attempt::but(|attempt| {
        attempt.conversation.calls.clear();
        attempt.conversation.turns[0].reported_calls = Some(1);
    })
    .verdict();
    assert_eq!(verdict.outcome, INVALID_MACHINERY);
}

#[test]
fn a_server_that_wants_a_login_stops_dispatch() {
    let verdict = Attempt::but(|attempt| attempt.conversation.exposures[0].login_required = true).verdict();
    assert!(matches!(verdict.next, Next::StopDispatch(_)));
}

#[test]
fn a_stopped_run_leaves_no_verdict_about_the_agent() {
    let killed = Attempt::but(|attempt| attempt.conversation.turns = vec![turn(0, TurnEnding::Cancelled)]).verdict();
    assert_eq!((killed.outcome, killed.next), (Outcome::Aborted, Next::Stands));
    let between_turns = Attempt::but(|attempt| {
        attempt.interrupted = true;
        attempt.conversation.calls.clear();
    })
    .verdict();
    assert_eq!(between_turns.outcome, Outcome::Aborted);
}

#[test]
fn a_fault_is_got_over_only_by_a_later_success() {
    let outcome = |states: &[CallState]| {
        Attempt::but(|attempt| {
            attempt.expected = vec!["a".to_owned(); 2];
            attempt.conversation.calls = states
                .iter()
                .map(|state| ToolCall {
                    http_status: Some(502),
                    ..call("a", *state)
                })
                .collect();
        })
        .verdict()
        .outcome
    };
    assert_eq!(outcome(&[CallState::Ok, CallState::HttpError]), INVALID_SERVER);
    assert_eq!(
        outcome(&[CallState::HttpError, CallState::Ok]),
        Outcome::Failed(FailureClass::NeverCalled),
        "the agent could have called once more"
    );
}

#[test]
fn a_server_that_goes_down_between_turns_is_not_held_against_the_agent() {
    let lost = |ending| {
        Attempt::but(|attempt| {
            attempt.expected = vec!["a".to_owned(), "b".to_owned()];
            let mut second = turn(1, ending);
            second.started_at_unix_ms = 5_000;
            attempt.conversation.turns.push(second);
            attempt.conversation.exposures[0].faults = vec![ServerFault {
                what: "initialize: HTTP 503".to_owned(),
                at_unix_ms: 5_100,
            }];
        })
    };
    assert_eq!(lost(TurnEnding::Completed).verdict().outcome, INVALID_SERVER);
    let old = Attempt::but(|attempt| {
        attempt.expected = vec!["a".to_owned(), "b".to_owned()];
        let mut second = turn(1, TurnEnding::Completed);
        second.started_at_unix_ms = 5_000;
        attempt.conversation.turns.push(second);
        attempt.conversation.exposures[0].faults = vec![ServerFault {
            what: "initialize: HTTP 503".to_owned(),
            at_unix_ms: 100,
        }];
    });
    assert_eq!(old.verdict().outcome, Outcome::Failed(FailureClass::WrongTool));
}

#[test]
fn an_agent_that_was_offered_no_tool_at_all_is_not_judged() {
    let verdict = Attempt::but(|attempt| {
        attempt.conversation.calls.clear();
        attempt.conversation.exposures[0].tool_count = 0;
    })
    .verdict();
    assert_eq!(verdict.outcome, INVALID_SERVER);
    assert_eq!(
        verdict.reason,
        "no tool was offered to the agent, though the test case is about tools"
    );
}

#[test]
fn leaving_tools_alone_that_were_never_offered_is_no_pass() {
    let outcome = |tool_count: u32| {
        let mut attempt = Attempt::good();
        attempt.conversation.calls.clear();
        attempt.conversation.exposures[0].tool_count = tool_count;
        decide(&Facts {
            interrupted: false,
            machinery_fault: None,
            conversation: &attempt.conversation,
            expectations: &[ExpectationResult {
                family: Family::NoTools,
                met: true,
                ..ExpectationResult::default()
            }],
        })
        .outcome
    };
    assert_eq!(outcome(0), INVALID_SERVER);
    assert_eq!(outcome(1), Outcome::Passed);
}

#[test]
fn what_could_not_be_checked_is_nobodys_fault_and_hides_no_failure() {
    let unchecked = ExpectationResult {
        family: Family::Cost,
        what: "at most 1 US dollars".to_owned(),
        why: "the agent does not say what turn 1 cost".to_owned(),
        unchecked: true,
        ..ExpectationResult::default()
    };
    let verdict = |calls: &[&str]| {
        let attempt = Attempt::good();
        let calls: Vec<_> = calls.iter().map(|tool| call(tool, CallState::Ok)).collect();
        let mut expectations = checked(&attempt.expected, &attempt.conversation, &calls);
        expectations.push(unchecked.clone());
        decide(&Facts {
            interrupted: false,
            machinery_fault: None,
            conversation: &attempt.conversation,
            expectations: &expectations,
        })
    };
    let met = verdict(&["a"]);
    assert_eq!(met.outcome, Outcome::Invalid(InvalidCause::Machinery));
    assert_eq!(
        met.reason,
        "not checked: at most 1 US dollars – the agent does not say what turn 1 cost"
    );
    let unmet = verdict(&["b"]);
    assert!(matches!(unmet.outcome, Outcome::Failed(_)), "{unmet:?}");
    assert!(!unmet.reason.contains("dollars"), "{}", unmet.reason);
}

#[test]
fn only_calls_that_were_asked_for_can_be_kept_from_the_agent_by_the_server() {
    let mut faulty = call("pay", CallState::HttpError);
    faulty.http_status = Some(503);
    let mut attempt = Attempt::good();
    attempt.conversation.calls.push(faulty);
    let mut expectations = checked(&attempt.expected, &attempt.conversation, &attempt.conversation.calls);
    expectations.push(ExpectationResult {
        family: Family::Forbidden,
        tool: Some("pay".to_owned()),
        ..ExpectationResult::default()
    });
    let verdict = decide(&Facts {
        interrupted: false,
        machinery_fault: None,
        conversation: &attempt.conversation,
        expectations: &expectations,
    });
    assert!(matches!(verdict.outcome, Outcome::Failed(_)), "{verdict:?}");
}

/// A test case with these expected arguments, after calls with these arguments of which the last got no answer.
fn lost_after(expected: &str, calls: &[&str]) -> Verdict {
    let text = format!("prompt: x\nexpectedTools: []\nexpectedArguments: {expected}\n");
    let cases = testcase::load(&MemorySource::new([("case.yaml", text.as_str())]))
        .map_err(|errors| errors.to_string())
        .unwrap();
    let mut attempt = Attempt::good();
    attempt.conversation.calls = calls
        .iter()
        .enumerate()
        .map(|(index, arguments)| {
            let lost = index + 1 == calls.len();
            let mut made = call("t", if lost { CallState::HttpError } else { CallState::Ok });
            made.id = format!("c{index}");
            made.http_status = Some(if lost { 502 } else { 200 });
            made.arguments = Some(serde_json::from_str(arguments).unwrap());
            made
        })
        .collect();
    let observed = Observed {
        calls: &attempt.conversation.calls,
        turns: &attempt.conversation.turns,
        traffic: &attempt.conversation.traffic,
        cost_usd: None,
        requests: &attempt.conversation.requests,
    };
    let expectations = check(&TestCaseRecord::from(&cases[0]), &observed);
    decide(&Facts {
        interrupted: false,
        machinery_fault: None,
        conversation: &attempt.conversation,
        expectations: &expectations,
    })
}

#[test]
fn what_the_agent_broke_for_good_is_not_excused_by_a_call_that_was_lost_later() {
    for (expected, calls) in [
        (
            "{t: {$calls: {exactly: 0}, danger: true}}",
            &[r#"{"danger":true}"#, "{}"][..],
        ),
        (
            "{t: {$calls: all, city: Vienna}}",
            &[r#"{"city":"Graz"}"#, r#"{"city":"Vienna"}"#],
        ),
        ("{t: {$calls: {exactly: 1}}}", &["{}", "{}", "{}"]),
        ("{t: {city: Vienna}}", &[r#"{"city":"Graz"}"#, r#"{"city":"Linz"}"#]),
    ] {
        let verdict = lost_after(expected, calls);
        assert!(matches!(verdict.outcome, Outcome::Failed(_)), "{expected}: {verdict:?}");
    }
}

#[test]
fn what_a_good_answer_could_still_have_met_is_the_servers() {
    for (expected, calls) in [
        ("{t: {city: Vienna}}", &[r#"{"city":"Vienna"}"#][..]),
        ("{t: {city: Vienna}}", &[r#"{"city":"Graz"}"#]),
        ("{t: {city: Vienna}}", &[r#"{"city":"Graz"}"#, r#"{"city":"Vienna"}"#]),
        ("{t: {$calls: {exactly: 2}}}", &["{}", "{}"]),
        ("{t: {$calls: all, city: Vienna}}", &[r#"{"city":"Vienna"}"#]),
    ] {
        let verdict = lost_after(expected, calls);
        assert_eq!(verdict.outcome, INVALID_SERVER, "{expected}: {verdict:?}");
    }
    let met = lost_after("{t: {$calls: {exactly: 0}, danger: true}}", &["{}"]);
    assert_eq!(met.outcome, Outcome::Passed);
}

#[test]
fn what_a_limit_cut_short_is_invalid_whatever_it_looks_like_and_stands_when_all_was_done_by_then() {
    let limited = |change: fn(&mut Attempt)| {
        Attempt::but(|attempt| {
            attempt.conversation.traffic.limited_requests = 1;
            change(attempt);
        })
        .verdict()
    };
    let cut: [fn(&mut Attempt); 5] = [
        // It ended its turn well, and had not called what was expected.
        |attempt| attempt.conversation.calls.clear(),
        |attempt| attempt.conversation.turns[0].ending = TurnEnding::AgentError,
        |attempt| attempt.conversation.turns[0].ending = TurnEnding::TimedOut,
        // Its first request was refused, and it ended before it had listed the tools.
        |attempt| {
            attempt.conversation.exposures[0].tools_listed = false;
            attempt.conversation.calls.clear();
        },
        // It says of the relay's refusal what it says of the API's.
        |attempt| {
            attempt.conversation.traffic.observed = false;
            attempt.conversation.turns[0].ending = TurnEnding::AgentError;
            attempt.conversation.turns[0].model_refusal = refusal(400, "invalid_request_error", "used up");
        },
    ];
    for (case, change) in cut.into_iter().enumerate() {
        let verdict = limited(change);
        assert_eq!(verdict.outcome, Outcome::Invalid(InvalidCause::Limit), "case {case}");
        assert_eq!(verdict.next, Next::WithMore, "case {case}");
    }
    assert_eq!(limited(|_| {}).outcome, Outcome::Passed);
    let fault = limited(|attempt| attempt.machinery_fault = Some("disk full".to_owned()));
    assert_eq!(fault.outcome, Outcome::Invalid(InvalidCause::Machinery));
}
