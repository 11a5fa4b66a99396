#![allow(clippy::unwrap_used)]

use mcproctor_proto::assignment::SandboxLevel;

use super::*;

fn seen(kind: AgentKind, sent: &[&str], deferred: &[&str]) -> Loading {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    in_effect(
        kind,
        &ModelTraffic {
            observed: true,
            tools_sent: owned(sent),
            tools_deferred: owned(deferred),
            ..ModelTraffic::default()
        },
    )
}

/// Lists as the relay has them of claude 2.1 and codex 0.171.
#[test]
fn the_real_agents_lists_say_how_tools_were_loaded() {
    use AgentKind::{Claude, Codex, Command};
    use Loading::{Deferred, Unknown, Upfront};
    let found = "mcp__s__a";
    for (kind, sent, deferred, expected) in [
        (Claude, &["Bash", "mcp__s__a"][..], &[][..], Upfront),
        (Claude, &["ToolSearch"], &[], Deferred),
        (Claude, &["Bash", "ToolSearch", found], &[found], Deferred),
        (Claude, &["ToolSearch", found], &[found, "mcp__s__b"], Deferred),
        (Claude, &["ToolSearch", "mcp__s__b"], &[found], Upfront),
        (Claude, &["Bash"], &[], Unknown),
        (Claude, &[], &[], Unknown),
        (Codex, &["view_image", "mcp__s.a"], &[], Upfront),
        (Codex, &["request_user_input", "tool_search"], &[], Deferred),
        (Codex, &["mcp__s.a", "tool_search"], &["mcp__s.a"], Deferred),
        (Codex, &["functions.exec", "functions.wait"], &[], Unknown),
        (Command, &["a"], &[], Upfront),
        (Command, &["tool_search"], &["a"], Deferred),
        (Command, &[], &[], Unknown),
    ] {
        assert_eq!(seen(kind, sent, deferred), expected, "{kind} {sent:?} {deferred:?}");
    }
}

#[test]
fn without_a_relay_nobody_can_tell() {
    assert_eq!(in_effect(AgentKind::Claude, &ModelTraffic::default()), Loading::Unknown);
}

#[test]
fn only_what_was_asked_for_and_is_otherwise_surprises() {
    let agent = |asked: Option<ToolLoading>| AgentRecord {
        name: "mine".to_owned(),
        kind: "claude".to_owned(),
        model: None,
        version: None,
        sandbox: SandboxLevel::Process,
        image: None,
        builtin_tools: "none".to_owned(),
        tool_loading: asked,
        own_login: false,
    };
    let deferred = agent(Some(ToolLoading::Deferred));
    assert_eq!(
        surprise(&deferred, Loading::Upfront).unwrap_or_default(),
        "agent mine: `toolLoading: deferred` was asked for, but tool definitions were seen to be sent up front"
    );
    for (agent, seen) in [
        (&deferred, Loading::Deferred),
        (&deferred, Loading::Unknown),
        (&agent(None), Loading::Upfront),
    ] {
        assert_eq!(surprise(agent, seen), None);
    }
}

/// A record of an earlier version says nothing of it.
#[test]
fn a_record_without_it_is_read() {
    let record = serde_json::json!({
        "name": "a", "kind": "claude", "model": null, "version": null, "sandbox": "process", "builtinTools": "none",
        "ownLogin": false,
    });
    let record: AgentRecord = serde_json::from_value(record).unwrap();
    assert_eq!(record.tool_loading, None);
}
