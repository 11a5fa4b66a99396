//! What resources and prompts have in common: names that have to be asked for, and how often.

use mcproctor_proto::request::McpRequest;

use super::checked::{Checked, Hope};
use super::observed::Observed;
use super::repeated::with_counts;
use crate::record::Family;
use crate::words::counted;

/// Checks that each of `names` was asked for with `method` and given, a name N times meaning at least N times.
/// `done` is what is done with it, `read` for example.
pub(super) fn check(
    family: Family,
    names: &[String],
    method: &str,
    done: &str,
    observed: &Observed<'_>,
) -> Vec<Checked> {
    let check = |(name, least): (&str, usize)| {
        let of_name = |asked: &&McpRequest| asked.method == method && asked.name == name;
        let (given, refused): (Vec<_>, Vec<_>) = observed.requests.iter().filter(of_name).partition(|it| it.ok);
        let what = match least {
            1 => format!("{name} {done}"),
            _ => format!("{name} {done} at least {least} times"),
        };
        let why = (given.len() < least).then(|| match (given.len(), refused.len()) {
            (0, 0) => format!("it was never {done}"),
            (0, refused) => format!("{} failed and none succeeded", counted(refused, "request")),
            (given, _) => format!("{} succeeded, {least} are needed", counted(given, "request")),
        });
        let mut checked = Checked::of(family, what, why, Hope::Later);
        checked.result.name = Some(name.to_owned());
        checked
    };
    with_counts(names).into_iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::request::McpRequest;

    use super::super::fixtures::Recorded;

    fn asked(mut recorded: Recorded, method: &str, name: &str, ok: bool) -> Recorded {
        recorded.requests.push(McpRequest {
            server: "mcp-under-test".to_owned(),
            method: method.to_owned(),
            name: name.to_owned(),
            ok,
            turn: 0,
            started_at_unix_ms: 0,
        });
        recorded
    }

    #[test]
    fn resources_have_to_be_read_as_often_as_they_are_named() {
        let recorded = || Recorded::under("expectedResources: ['w://a', 'w://a']");
        assert_eq!(recorded().unmet(), "w://a read at least 2 times: it was never read");
        let refused = asked(recorded(), "resources/read", "w://a", false);
        assert!(refused.unmet().ends_with("1 request failed and none succeeded"));
        let once = asked(refused, "resources/read", "w://a", true);
        assert!(once.unmet().ends_with("1 request succeeded, 2 are needed") && once.worth_talking_on());
        assert!(asked(once, "resources/read", "w://a", true).all_met());
    }

    #[test]
    fn a_prompt_is_no_resource() {
        let recorded = || Recorded::under("expectedPrompts: [brief]");
        assert!(!asked(recorded(), "resources/read", "brief", true).all_met());
        assert!(asked(recorded(), "prompts/get", "brief", true).all_met());
    }
}
