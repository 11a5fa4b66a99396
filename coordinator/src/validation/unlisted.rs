//! Tools that nobody asked for.

use mcproctor_proto::call::ToolCall;

/// Tools that were called without being expected, each once, in the order of their first call.
pub fn unlisted_tools<'a>(expected: &[String], calls: &'a [ToolCall]) -> Vec<&'a str> {
    let mut unlisted: Vec<&str> = Vec::new();
    for call in calls {
        if !expected.contains(&call.tool) && !unlisted.contains(&call.tool.as_str()) {
            unlisted.push(&call.tool);
        }
    }
    unlisted
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::call::CallState;

    use super::*;
    use crate::record::fixtures::call;

    #[test]
    fn each_tool_is_named_once() {
        let calls = [
            call("b", CallState::Ok),
            call("c", CallState::ToolError),
            call("c", CallState::Ok),
        ];
        assert_eq!(unlisted_tools(&["a".to_owned(), "b".to_owned()], &calls), ["c"]);
    }
}
