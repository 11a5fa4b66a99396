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
    all(case, observed).into_iter().map(|checked| checked.result).collect()
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
    let mut all = tools::check(&case.expected_tools, observed);
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
