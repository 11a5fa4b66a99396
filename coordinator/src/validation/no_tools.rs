//! `expectNoTools`: nothing is to be called.

use super::checked::{Checked, Hope};
use super::observed::Observed;
use crate::expectation::Expectations;
use crate::record::Family;
use crate::words::counted;

/// Failed calls are calls too.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Option<Checked> {
    if !expectations.expect_no_tools {
        return None;
    }
    let what = "no tool called";
    Some(match observed.calls.first() {
        None => Checked::met(Family::NoTools, what),
        Some(first) => {
            let calls = counted(observed.calls.len(), "call");
            let why = format!("there was {calls}, of {} first", first.tool);
            let why = if observed.calls.len() == 1 {
                format!("{} was called", first.tool)
            } else {
                why.replacen("was", "were", 1)
            };
            Checked::unmet(Family::NoTools, what, why, Hope::Never).shown_by(&first.id)
        }
    })
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
