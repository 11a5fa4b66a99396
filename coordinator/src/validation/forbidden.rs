//! `forbiddenTools`: what is not to be called.

use super::checked::{Checked, Hope};
use super::observed::Observed;
use super::repeated::with_counts;
use crate::expectation::Expectations;
use crate::record::Family;

/// Failed calls are calls too: what counts is that the agent tried.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Vec<Checked> {
    let check = |(tool, _): (&str, usize)| {
        let what = format!("{tool} not called");
        let calls: Vec<_> = observed.calls.iter().filter(|call| call.tool == tool).collect();
        let Some(first) = calls.first() else {
            return Checked::met(Family::Forbidden, what).about(tool);
        };
        let why = match calls.len() {
            1 => "it is forbidden, and was called once".to_owned(),
            count => format!("it is forbidden, and was called {count} times"),
        };
        Checked::unmet(Family::Forbidden, what, why, Hope::Never)
            .about(tool)
            .shown_by(&first.id)
    };
    with_counts(&expectations.forbidden_tools)
        .into_iter()
        .map(check)
        .collect()
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::super::fixtures::Recorded;

    #[test]
    fn a_forbidden_call_counts_even_if_it_failed_and_ends_the_talk() {
        let recorded = || Recorded::under("expectedTools: [a]\nforbiddenTools: [pay, drop, pay]");
        assert!(recorded().called("a", "").all_met());
        let tried = recorded().called("a", "").called_in("pay", "", CallState::ToolError);
        assert_eq!(tried.unmet(), "pay not called: it is forbidden, and was called once");
        assert_eq!(tried.only_unmet().call.as_deref(), Some("call-2"));
        assert!(recorded().worth_talking_on(), "a is still to be called");
        assert!(
            !recorded().called("pay", "").worth_talking_on(),
            "no call of a can put that right"
        );
        assert!(tried.called("pay", "").unmet().ends_with("called 2 times"));
    }
}
