use super::*;

fn names(body: &str) -> Vec<String> {
    let mut told = Vec::new();
    for piece in [1, 3, body.len().max(1)] {
        let mut offer = Offer::default();
        body.as_bytes().chunks(piece).for_each(|piece| offer.feed(piece));
        assert!(offer.complete());
        told.push(offer.names().into_iter().collect::<Vec<_>>());
    }
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
    told.remove(0)
}

fn deferred(body: &str) -> Vec<String> {
    let mut offer = Offer::default();
    offer.feed(body.as_bytes());
    offer.deferred().into_iter().collect()
}

#[test]
fn messages_and_chat_completions_name_tools_each_in_their_way() {
    let schema = r#"{"type":"object","properties":{"name":{"type":"string"},"tools":{"type":"array"}}}"#;
    let messages = format!(
        r#"{{"model":"m","tools":[{{"name":"mcp__s__a","input_schema":{schema}}},{{"input_schema":{schema},"name":"b"}},
        {{"type":"web_search_20250305","name":"web_search"}}],"messages":[{{"role":"user","content":"hi"}}]}}"#
    );
    assert_eq!(names(&messages), ["b", "mcp__s__a", "web_search"]);
    let chat = format!(
        r#"{{"messages":[{{"role":"user","content":"hi"}}],"tools":[{{"type":"function","function":{{"name":"a","parameters":{schema}}}}}]}}"#
    );
    assert_eq!(names(&chat), ["a"]);
}

#[test]
fn a_deferred_tool_counts_once_it_is_referred_to() {
    let request = |reference: &str| {
        format!(
            r#"{{"tools":[{{"name":"ToolSearch"}},{{"name":"mcp__s__a","defer_loading":true}},{{"defer_loading":true,"name":"mcp__s__b"}},
            {{"name":"mcp__s__c","defer_loading":false}}],
            "messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"1","content":[{reference}]}}]}}]}}"#
        )
    };
    assert_eq!(names(&request("")), ["ToolSearch", "mcp__s__c"]);
    assert_eq!(deferred(&request("")), ["mcp__s__a", "mcp__s__b"]);
    assert_eq!(
        names(&request(r#"{"type":"tool_reference","tool_name":"mcp__s__b"}"#)),
        ["ToolSearch", "mcp__s__b", "mcp__s__c"]
    );
}

#[test]
fn the_arguments_of_a_call_may_look_like_anything() {
    let request = r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","name":"x",
        "input":{"tools":[{"name":"no"}],"type":"tool_reference","tool_name":"no"}}]}],"tools":[{"name":"a"}]}"#;
    assert_eq!(names(request), ["a"]);
}

#[test]
fn responses_name_tools_in_namespaces_and_in_items() {
    let request = r#"{"tools":[{"type":"function","name":"view_image"},{"type":"web_search"},
        {"tools":[{"type":"function","name":"a"},{"type":"function","name":"b","defer_loading":true}],"type":"namespace","name":"mcp__s"}],
        "input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
        {"type":"additional_tools","tools":[{"type":"namespace","name":"functions","tools":[{"type":"function","name":"wait"}]}]},
        {"type":"tool_search_output","tools":[{"type":"namespace","name":"mcp__s","tools":[{"type":"function","name":"b"}]}]}]}"#;
    assert_eq!(
        names(request),
        ["functions.wait", "mcp__s.a", "mcp__s.b", "view_image", "web_search"]
    );
    assert_eq!(deferred(request), ["mcp__s.b"]);
}

/// As codex sends what a model found through its search: still marked.
#[test]
fn a_tool_that_codex_found_is_shown_and_still_one_that_had_to_be_found() {
    let tools = r#""tools":[{"type":"namespace","name":"mcp__s","tools":[{"type":"function","name":"a","defer_loading":true}]}]"#;
    let request = |item: &str| format!(r#"{{"tools":[{{"type":"tool_search"}}],"input":[{{{item}}}]}}"#);
    for item in [
        format!(r#""type":"tool_search_output",{tools}"#),
        format!(r#"{tools},"type":"tool_search_output""#),
    ] {
        assert_eq!(names(&request(&item)), ["mcp__s.a", "tool_search"]);
        assert_eq!(deferred(&request(&item)), ["mcp__s.a"]);
    }
    let other = request(&format!(r#""type":"additional_tools",{tools}"#));
    assert_eq!(names(&other), ["tool_search"]);
    assert_eq!(deferred(&other), ["mcp__s.a"]);
}

#[test]
fn a_script_tool_brings_those_that_it_declares() {
    let description = r"Such as `await tools.mcp__ologs__get_profile(...)`.\n\ndeclare const tools: {\n  mcp__s__a(args: { city: string }): Promise<any>;\nmcp__s__b(args: {}): Promise<any>; }";
    let request = |kind: &str| {
        format!(r#"{{"tools":[{{"type":"{kind}","description":"{description}","name":"exec"}}],"input":"hi"}}"#)
    };
    assert_eq!(names(&request("custom")), ["exec", "mcp__s__a", "mcp__s__b"]);
    assert_eq!(names(&request("function")), ["exec"]);
}

#[test]
fn what_is_kept_is_bounded() {
    let tools: Vec<String> = (0..2 * NAME_CAP)
        .map(|n| format!(r#"{{"type":"function","name":"tool_{n}"}}"#))
        .collect();
    let tools = tools.join(",");
    let namespace = format!(r#"{{"tools":[{{"type":"namespace","name":"n","tools":[{tools}]}}]}}"#);
    for request in [format!(r#"{{"tools":[{tools}]}}"#), namespace] {
        let mut offer = Offer::default();
        offer.feed(request.as_bytes());
        assert_eq!(offer.names().len(), NAME_CAP);
    }
    let long = format!(
        r#"{{"tools":[{{"name":"{}"}},{{"name":"a"}}]}}"#,
        "x".repeat(LENGTH_CAP + 1)
    );
    assert_eq!(names(&long), ["a"]);
}
