//! `maxCalls`: how often tools may be called.

use super::checked::{Checked, Hope};
use super::observed::Observed;
use crate::expectation::Expectations;
use crate::record::Family;
use crate::words::counted;

/// Failed calls are calls too. The call that is shown is the first one too many.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Vec<Checked> {
    let limits = &expectations.max_calls;
    let total = limits.total.map(|most| (None, most));
    let tools = limits.tools.iter().map(|(tool, most)| (Some(tool.as_str()), *most));
    total
        .into_iter()
        .chain(tools)
        .map(|(tool, most)| {
            let of_tool = |name: &str| tool.is_none_or(|tool| tool == name);
            let calls: Vec<_> = observed.calls.iter().filter(|call| of_tool(&call.tool)).collect();
            let most_calls = counted(most as usize, "call");
            let what = match tool {
                None => format!("at most {most_calls}"),
                Some(tool) => format!("at most {most_calls} of {tool}"),
            };
            let checked = match calls.get(most as usize) {
                None => Checked::met(Family::Calls, what),
                Some(surplus) => {
                    let why = format!("there were {}", calls.len());
                    Checked::unmet(Family::Calls, what, why, Hope::Never).shown_by(&surplus.id)
                }
            };
            match tool {
                None => checked,
                Some(tool) => checked.about(tool),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::super::fixtures::Recorded;

    #[test]
    fn the_first_call_too_many_is_shown() {
        let recorded = || {
            Recorded::under("maxCalls: 2")
                .called("a", "")
                .called_in("b", "", CallState::ToolError)
        };
        assert!(recorded().all_met());
        let surplus = recorded().called("a", "").called("a", "");
        assert_eq!(surplus.unmet(), "at most 2 calls: there were 4");
        assert_eq!(surplus.only_unmet().call.as_deref(), Some("call-3"));
        assert!(!surplus.worth_talking_on());
    }

    #[test]
    fn each_tool_may_have_its_own_limit() {
        let recorded = || Recorded::under("maxCalls: {total: 3, tools: {a: 1, b: 0}}").called("a", "");
        assert!(recorded().called("c", "").all_met());
        let result = recorded().called("a", "").only_unmet();
        assert_eq!(
            (result.what.as_str(), result.tool.as_deref()),
            ("at most 1 call of a", Some("a"))
        );
        assert_eq!(recorded().called("b", "").only_unmet().tool.as_deref(), Some("b"));
    }
}
