//! Arguments that are too large to be in a record.

use std::collections::HashMap;

use mcproctor_proto::call::ToolCall;
use serde_json::value::RawValue;

use crate::record::TestCaseRecord;

/// Whether the arguments of one of `calls` are looked at by an expectation of `case`, and are not there because of their
/// size. The evidence of the calls then has them.
pub fn compares_arguments(case: &TestCaseRecord, calls: &[ToolCall]) -> bool {
    let expectations = &case.expectations;
    calls
        .iter()
        .filter(|call| call.truncated && call.arguments.is_none())
        .any(|call| {
            expectations.no_duplicate_calls
                || expectations
                    .expected_arguments
                    .iter()
                    .any(|entry| entry.tool == call.tool)
        })
}

/// The calls with the arguments that the evidence of kind `calls` has in full: one call as JSON a line. A call that it tells
/// nothing of stays as it is.
pub fn with_whole_arguments(calls: &[ToolCall], evidence: &[u8]) -> Vec<ToolCall> {
    let missing = |call: &ToolCall| call.truncated && call.arguments.is_none();
    let mut known: HashMap<String, Option<Box<RawValue>>> = HashMap::new();
    for line in evidence.split(|byte| *byte == b'\n') {
        // The newest line of a call is its last state; a line that was cut tells nothing.
        if let Ok(whole) = serde_json::from_slice::<ToolCall>(line) {
            known.insert(whole.id, whole.arguments);
        }
    }
    calls
        .iter()
        .map(|call| {
            let mut call = call.clone();
            if missing(&call)
                && let Some(arguments) = known.remove(&call.id)
            {
                call.arguments = arguments;
                // What may still be missing is the result, which no expectation looks at.
                call.truncated = false;
            }
            call
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::super::fixtures::Recorded;
    use super::*;

    #[test]
    fn what_the_record_leaves_out_is_taken_from_the_evidence() {
        let mut recorded = Recorded::under("expectedArguments: {t: {a: 1}}").called_at_length("t");
        assert!(compares_arguments(&recorded.case, &recorded.calls));
        let whole = Recorded::under("").called("t", r#"{"a":1,"long":"x"}"#).calls.remove(0);
        let evidence = format!("{}\n{{\"cut", serde_json::to_string(&whole).unwrap());
        recorded.calls = with_whole_arguments(&recorded.calls, evidence.as_bytes());
        assert!(recorded.all_met());
    }

    #[test]
    fn a_call_whose_result_alone_is_too_large_had_no_arguments() {
        let mut recorded = Recorded::under("expectedArguments: {t: {$exact: {}}}").called_at_length("t");
        let whole = Recorded::under("").called("t", "").calls.remove(0);
        recorded.calls = with_whole_arguments(&recorded.calls, serde_json::to_string(&whole).unwrap().as_bytes());
        assert!(recorded.all_met());
    }

    #[test]
    fn evidence_is_read_only_where_an_expectation_needs_it() {
        for (expected, needed) in [
            ("expectedArguments: {t: {}}", true),
            ("expectedArguments: {u: {}}", false),
            ("noDuplicateCalls: true", true),
            ("expectedTools: [t]", false),
        ] {
            let recorded = Recorded::under(expected).called_at_length("t");
            assert_eq!(
                compares_arguments(&recorded.case, &recorded.calls),
                needed,
                "{expected}"
            );
        }
    }
}
