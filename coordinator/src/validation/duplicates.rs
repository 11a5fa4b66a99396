//! `noDuplicateCalls`: no call is made twice.

use std::collections::HashSet;

use super::arguments::arguments_of;
use super::checked::{Checked, Hope};
use super::observed::Observed;
use super::shown::shortened;
use crate::expectation::{Expectations, Json};
use crate::record::Family;

/// A call is a duplicate when an earlier one of the same tool of the same server, with the same arguments by value,
/// succeeded. Trying again what failed is none.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Option<Checked> {
    if !expectations.no_duplicate_calls {
        return None;
    }
    let what = "no call made twice";
    let mut unknown = Vec::new();
    let mut succeeded: HashSet<(&str, &str, Json)> = HashSet::new();
    for call in observed.calls {
        let told = arguments_of(call).and_then(|arguments| match arguments.unread() {
            Some(why) => Err(why.to_string()),
            None => Ok(arguments),
        });
        let arguments = match told {
            Ok(arguments) => arguments,
            Err(why) => {
                unknown.push((call, why));
                continue;
            }
        };
        let key = (call.server.as_str(), call.tool.as_str(), arguments);
        if succeeded.contains(&key) {
            let why = format!("{} was called again with {}", call.tool, shortened(&key.2.to_string()));
            return Some(Checked::unmet(Family::Duplicates, what, why, Hope::Never).shown_by(&call.id));
        }
        if call.succeeded() {
            succeeded.insert(key);
        }
    }
    // One call that cannot be compared may still be unlike every other: of a tool that was called once, it is.
    let uncertain = unknown.into_iter().find(|(call, _)| {
        let of_tool = observed
            .calls
            .iter()
            .filter(|other| other.tool == call.tool && other.server == call.server);
        of_tool.count() > 1
    });
    Some(match uncertain {
        None => Checked::met(Family::Duplicates, what),
        Some((call, why)) => {
            let why = format!("the arguments of {} cannot be compared: {why}", call.tool);
            Checked::unchecked(Family::Duplicates, what, why).shown_by(&call.id)
        }
    })
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::super::fixtures::Recorded;

    fn recorded() -> Recorded {
        Recorded::under("noDuplicateCalls: true").called("t", r#"{"a":1,"b":[2]}"#)
    }

    #[test]
    fn equal_arguments_are_equal_however_they_are_written() {
        let again = recorded().called("t", r#"{"b": [2.0], "a": 1}"#);
        assert_eq!(
            again.unmet(),
            "no call made twice: t was called again with {\"a\":1,\"b\":[2.0]}"
        );
        assert_eq!(again.only_unmet().call.as_deref(), Some("call-2"));
        for (tool, arguments) in [("t", r#"{"a":"1","b":[2]}"#), ("u", r#"{"a":1,"b":[2]}"#), ("t", "")] {
            assert!(recorded().called(tool, arguments).all_met(), "{tool} {arguments}");
        }
        let nothing = Recorded::under("noDuplicateCalls: true")
            .called("t", "")
            .called("t", "{}");
        assert!(!nothing.all_met(), "no arguments are an empty object");
    }

    #[test]
    fn trying_again_what_failed_is_no_duplicate() {
        let failed = Recorded::under("noDuplicateCalls: true").called_in("t", "{}", CallState::ToolError);
        let retried = failed.called("t", "{}");
        assert!(retried.all_met());
        assert!(!retried.called("t", "{}").all_met());
    }

    #[test]
    fn arguments_that_are_too_large_leave_it_open_unless_the_tool_was_called_once() {
        assert!(recorded().called_at_length("u").all_met());
        assert!(recorded().called_at_length("t").only_unmet().unchecked);
    }
}
