//! `order`: in which order the expected tools are called.

use mcproctor_proto::call::ToolCall;

use super::checked::{Checked, Hope};
use super::observed::Observed;
use crate::expectation::Order;
use crate::record::Family;

/// Only successful calls count, in the order in which they were sent.
pub(super) fn check(order: Order, expected: &[String], observed: &Observed<'_>) -> Option<Checked> {
    let succeeded: Vec<&ToolCall> = observed.calls.iter().filter(|call| call.succeeded()).collect();
    match order {
        Order::Any => None,
        Order::Subsequence => Some(subsequence(expected, &succeeded)),
        Order::Exact => Some(exact(expected, &succeeded)),
    }
}

fn subsequence(expected: &[String], calls: &[&ToolCall]) -> Checked {
    let what = format!("calls in the order {}", list(expected));
    let mut wanted = expected.iter();
    let mut next = wanted.next();
    let mut before: Option<&String> = None;
    for call in calls {
        if next == Some(&call.tool) {
            before = next;
            next = wanted.next();
        }
    }
    let why = next.map(|missing| match before {
        None => format!("{missing} was never called; called were {}", list_of(calls)),
        Some(before) => format!(
            "{missing} was not called after {before}; called were {}",
            list_of(calls)
        ),
    });
    Checked::of(Family::Order, what, why, Hope::Later)
}

fn exact(expected: &[String], calls: &[&ToolCall]) -> Checked {
    let what = format!("exactly the calls {}", list(expected));
    let wrong = calls
        .iter()
        .enumerate()
        .find(|(index, call)| expected.get(*index) != Some(&call.tool));
    if let Some((index, call)) = wrong {
        let instead = match expected.get(index) {
            Some(tool) => format!("in place of {tool}"),
            None => "and nothing more was expected".to_owned(),
        };
        let why = format!(
            "call {} was {}, {instead}; called were {}",
            index + 1,
            call.tool,
            list_of(calls)
        );
        return Checked::unmet(Family::Order, what, why, Hope::Never).shown_by(&call.id);
    }
    let why = expected
        .get(calls.len())
        .map(|missing| format!("{missing} was not called; called were {}", list_of(calls)));
    Checked::of(Family::Order, what, why, Hope::Later)
}

fn list_of(calls: &[&ToolCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    list(&names)
}

/// `a, b, c`, at most the first 20.
fn list(names: &[impl AsRef<str>]) -> String {
    const MOST: usize = 20;
    let shown: Vec<&str> = names.iter().take(MOST).map(AsRef::as_ref).collect();
    match names.len() {
        0 => "none".to_owned(),
        many if many > MOST => format!("{} and {} more", shown.join(", "), many - MOST),
        _ => shown.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::super::fixtures::Recorded;

    fn calls(order: &str, tools: &[&str]) -> Recorded {
        let recorded = Recorded::under(&format!("expectedTools: [a, b, a]\norder: {order}"));
        tools.iter().fold(recorded, |recorded, tool| recorded.called(tool, ""))
    }

    #[test]
    fn a_subsequence_may_have_other_calls_in_between() {
        assert!(calls("subsequence", &["x", "a", "x", "b", "b", "a"]).all_met());
        let wrong = calls("subsequence", &["b", "a", "a"]);
        assert_eq!(
            wrong.unmet(),
            "calls in the order a, b, a: b was not called after a; called were b, a, a"
        );
        assert!(wrong.worth_talking_on(), "b and a may follow");
        assert!(calls("any", &["b", "a", "a"]).all_met());
    }

    #[test]
    fn an_exact_order_allows_nothing_else() {
        assert!(calls("exact", &["a", "b", "a"]).all_met());
        let surplus = calls("exact", &["a", "b", "a", "a"]);
        assert_eq!(
            surplus.unmet(),
            "exactly the calls a, b, a: call 4 was a, and nothing more was expected; called were a, b, a, a"
        );
        assert!(!surplus.worth_talking_on());
        let other = calls("exact", &["a", "x", "b", "a"]);
        assert!(
            other.unmet().contains("call 2 was x, in place of b"),
            "{}",
            other.unmet()
        );
        assert!(calls("exact", &["a", "b"]).worth_talking_on(), "so far it is right");
    }

    #[test]
    fn calls_that_failed_are_in_no_order() {
        let recorded = Recorded::under("expectedTools: [a, b]\norder: exact")
            .called_in("b", "", CallState::ToolError)
            .called("a", "")
            .called("b", "");
        assert!(recorded.all_met());
    }
}
