//! Which tools an iteration was expected to call.

use std::collections::BTreeSet;

use crate::record::{AttemptRecord, Family, TestCaseRecord};

/// The tools that the test case expects, by name alone or with arguments.
pub(super) fn expected_tools<'a>(case: &'a TestCaseRecord, result: &'a AttemptRecord) -> BTreeSet<&'a str> {
    let asks = |family| matches!(family, Family::Tools | Family::Arguments);
    let with_arguments = result.expectations.iter().filter(|it| asks(it.family));
    let named = with_arguments.filter_map(|it| it.tool.as_deref());
    case.expected_tools.iter().map(String::as_str).chain(named).collect()
}
