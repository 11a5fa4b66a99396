//! `expectNoTools`: nothing is to be called.

use super::checked::{Checked, Hope};
use super::observed::Observed;
use crate::expectation::Expectations;
use crate::record::Family;

/// Failed calls are calls too.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Option<Checked> {
    if !expectations.expect_no_tools {
        return None;
    }
    let what = "no tool called";
    let Some(first) = observed.calls.first() else {
        return Some(Checked::met(Family::NoTools, what));
    };
    let why = match observed.calls.len() {
        1 => format!("{} was called", first.tool),
        count => format!("there were {count} calls, of {} first", first.tool),
    };
    Some(Checked::unmet(Family::NoTools, what, why, Hope::Never).shown_by(&first.id))
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::super::fixtures::Recorded;

    #[test]
    fn any_call_breaks_it_for_good() {
        let quiet = || Recorded::under("expectNoTools: true\nanswers: [go on]");
        assert!(quiet().all_met() && !quiet().worth_talking_on());
        let called = quiet().called_in("t", "{}", CallState::ToolError);
        assert_eq!(called.unmet(), "no tool called: t was called");
        assert!(!called.worth_talking_on());
        assert_eq!(
            called.called("u", "").unmet(),
            "no tool called: there were 2 calls, of t first"
        );
    }
}
