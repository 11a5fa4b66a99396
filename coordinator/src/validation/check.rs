//! Every family in turn.

use super::checked::{Checked, Hope};
use super::observed::Observed;
use super::{
    arguments, cost, duplicates, duration, forbidden, max_calls, no_tools, order, prompts, resources, response, tokens,
    tools,
};
use crate::record::{ExpectationResult, TestCaseRecord};

/// What became of every expectation of a test case, in the order of the families.
pub fn check(case: &TestCaseRecord, observed: &Observed<'_>) -> Vec<ExpectationResult> {
    let checked = all(case, observed).into_iter();
    checked
        .map(|checked| ExpectationResult {
            broken: !checked.result.met && checked.hope == Hope::Never,
            ..checked.result
        })
        .collect()
}

/// Whether a further message to the agent may meet an expectation that is not met. It is not worth while once any
/// expectation is broken for good.
pub fn worth_talking_on(case: &TestCaseRecord, observed: &Observed<'_>) -> bool {
    let mut hope = false;
    for checked in all(case, observed) {
        match checked.hope {
            _ if checked.result.met => {}
            Hope::Later => hope = true,
            Hope::Never => return false,
            Hope::Neither => {}
        }
    }
    hope
}

fn all(case: &TestCaseRecord, observed: &Observed<'_>) -> Vec<Checked> {
    let expectations = &case.expectations;
    let mut all = tools::check(&case.expected_tools, observed.calls);
    all.extend(no_tools::check(expectations, observed));
    all.extend(arguments::check(expectations, observed));
    all.extend(order::check(expectations.order, &case.expected_tools, observed));
    all.extend(forbidden::check(expectations, observed));
    all.extend(max_calls::check(expectations, observed));
    all.extend(duplicates::check(expectations, observed));
    all.extend(resources::check(expectations, observed));
    all.extend(prompts::check(expectations, observed));
    all.extend(response::check(expectations, observed));
    all.extend(duration::check(expectations, observed));
    all.extend(tokens::check(expectations, observed));
    all.extend(cost::check(expectations, observed));
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use mcproctor_proto::call::CallState;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::super::fixtures::Recorded;

    const EXPECTED: [&str; 12] = [
        "expectedTools: [a, b]\norder: subsequence",
        "expectedTools: [a, b, a]\norder: exact",
        "expectNoTools: true",
        "expectedTools: [a]\nforbiddenTools: [b]",
        "expectedTools: [a]\nmaxCalls: {total: 3, tools: {a: 2}}",
        "expectedTools: [a]\nnoDuplicateCalls: true",
        "expectedArguments: {a: {$calls: all, x: 1}}",
        "expectedArguments: {a: {$calls: {exactly: 2}, x: 1}}",
        "expectedArguments: {a: [{x: 1}, {$calls: {atLeast: 2}, x: 2}]}",
        "expectedArguments: {a: {$calls: {exactly: 0}, x: 3}}",
        "expectedArguments: {a: {x: {$oneOf: [{$absent: true}, 1]}}}",
        "expectedTools: [c]\nexpectedArguments: {a: {$exact: {x: 1}}}\nnoDuplicateCalls: true",
    ];

    fn call_something(recorded: Recorded, random: &mut StdRng) -> Recorded {
        let tool = ["a", "a", "b", "c"][random.random_range(0..4)];
        let arguments = ["", "{}", r#"{"x":1}"#, r#"{"x":2.0}"#, r#"{"x":3}"#, r#"{"x":1,"y":0}"#];
        let state = [CallState::Ok, CallState::Ok, CallState::ToolError][random.random_range(0..3)];
        recorded.called_in(tool, arguments[random.random_range(0..arguments.len())], state)
    }

    /// What is said to be broken for good is not met by any further call, and what may still be met is not met yet.
    #[test]
    fn nothing_that_is_broken_for_good_is_ever_met_again() {
        let mut random = StdRng::seed_from_u64(3);
        let (mut broken, mut open) = (0, 0);
        for round in 0..1_200 {
            let mut recorded = Recorded::under(EXPECTED[round % EXPECTED.len()]);
            let mut lost = false;
            for _ in 0..random.random_range(0..7) {
                recorded = call_something(recorded, &mut random);
                let met = recorded.all_met();
                assert!(!(lost && met), "{:?} {:#?}", recorded.case.expectations, recorded.calls);
                if met {
                    continue;
                }
                if recorded.worth_talking_on() {
                    assert!(!lost, "hope came back: {:#?}", recorded.calls);
                    open += 1;
                } else {
                    lost = true;
                    broken += 1;
                }
            }
        }
        assert!(broken > 100 && open > 100, "{broken} {open}");
    }

    #[test]
    fn results_stand_in_the_order_of_the_families() {
        let recorded = Recorded::under(
            "expectedTools: [a]\norder: exact\nforbiddenTools: [b]\nmaxCalls: 3\nnoDuplicateCalls: true\nexpectedResources: [r]\n\
             expectedPrompts: [p]\nresponseContains: x\nmaxDurationSeconds: 1\nmaxTokens: 1\nmaxCostUsd: 1\n\
             expectedArguments: {a: {}}",
        );
        let families: Vec<_> = recorded.results().iter().map(|result| result.family).collect();
        assert_eq!(families.len(), 12);
        assert!(families.is_sorted(), "{families:?}");
    }
}
