//! `expectedTools`: which tools have to be called, and how often.

use mcproctor_proto::call::ToolCall;

use super::checked::{Checked, Hope};
use super::repeated::with_counts;
use crate::record::Family;
use crate::words::counted;

/// Checks that every expected tool was called successfully, a name N times meaning at least N times.
///
/// Failed calls do not count and are named in the reason; calls of other tools change nothing.
pub(super) fn check(expected: &[String], calls: &[ToolCall]) -> Vec<Checked> {
    let check = |(tool, least): (&str, usize)| {
        let of_tool = calls.iter().filter(|call| call.tool == tool);
        let (succeeded, failed): (Vec<_>, Vec<_>) = of_tool.partition(|call| call.succeeded());
        let what = match least {
            1 => format!("{tool} called successfully"),
            _ => format!("{tool} called successfully at least {least} times"),
        };
        let why = (succeeded.len() < least).then(|| shortfall(least, succeeded.len(), failed.len()));
        Checked::of(Family::Tools, what, why, Hope::Later).about(tool)
    };
    with_counts(expected).into_iter().map(check).collect()
}

pub(super) fn shortfall(least: usize, succeeded: usize, failed: usize) -> String {
    match (succeeded, failed) {
        (0, 0) => "it was never called".to_owned(),
        (0, failed) => format!("{} failed and none succeeded", counted(failed, "call")),
        (succeeded, 0) => format!("{} succeeded, {least} are needed", counted(succeeded, "call")),
        (succeeded, failed) => {
            format!(
                "{} succeeded and {failed} failed, {least} successful ones are needed",
                counted(succeeded, "call")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::*;
    use crate::record::ExpectationResult;
    use crate::record::fixtures::call;

    fn expected_tools(expected: &[String], calls: &[ToolCall]) -> Vec<ExpectationResult> {
        check(expected, calls).into_iter().map(|it| it.result).collect()
    }

    fn names(tools: &[&str]) -> Vec<String> {
        tools.iter().map(|&tool| tool.to_owned()).collect()
    }

    #[test]
    fn one_successful_call_of_each_is_enough_and_extra_calls_are_fine() {
        let calls = [
            call("b", CallState::Ok),
            call("a", CallState::Ok),
            call("a", CallState::Ok),
            call("c", CallState::Ok),
        ];
        let results = expected_tools(&names(&["a", "b"]), &calls);
        assert!(results.iter().all(|result| result.met));
    }

    #[test]
    fn a_name_twice_needs_two_successful_calls() {
        let one = [call("a", CallState::Ok)];
        let results = expected_tools(&names(&["a", "a"]), &one);
        assert_eq!(results.len(), 1);
        assert!(!results[0].met);
        assert_eq!(results[0].why, "1 call succeeded, 2 are needed");
        let two = [call("a", CallState::Ok), call("a", CallState::Ok)];
        assert!(expected_tools(&names(&["a", "a"]), &two)[0].met);
    }

    #[test]
    fn calls_that_failed_in_any_way_do_not_count() {
        for state in [
            CallState::ToolError,
            CallState::ProtocolError,
            CallState::HttpError,
            CallState::Cancelled,
            CallState::TransportLost,
            CallState::Suspended,
            CallState::NeverFinished,
        ] {
            let results = expected_tools(&names(&["a"]), &[call("a", state)]);
            assert!(!results[0].met, "{state:?}");
            assert_eq!(results[0].why, "1 call failed and none succeeded");
        }
    }

    #[test]
    fn names_are_those_of_the_wire_to_the_letter() {
        let results = expected_tools(&names(&["get__x"]), &[call("mcp__s__get__x", CallState::Ok)]);
        assert_eq!(results[0].why, "it was never called");
        assert!(expected_tools(&names(&["get__x"]), &[call("get__x", CallState::Ok)])[0].met);
    }

    #[test]
    fn nothing_expected_is_met_by_anything() {
        assert!(expected_tools(&[], &[call("a", CallState::ToolError)]).is_empty());
    }
}
