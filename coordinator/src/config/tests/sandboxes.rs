//! Which sandbox an agent gets.

use std::collections::BTreeMap;

use mcproctor_proto::assignment::{Resources, SandboxLevel};

use super::*;
use crate::config::{Able, SandboxChoiceError};

const KEYS: [(&str, &str); 2] = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")];

fn able(levels: &[SandboxLevel]) -> Vec<Able> {
    let known = SandboxLevel::ALL.into_iter();
    known
        .map(|level| {
            let there = level == SandboxLevel::Process || levels.contains(&level);
            (
                level,
                if there {
                    Ok("well".to_owned())
                } else {
                    Err("not there".to_owned())
                },
            )
        })
        .collect()
}

fn config<const N: usize>(run: &str, variables: [(&str, &str); N]) -> Config {
    Folder::with(&format!("{SMALLEST}run: {{{run}}}\n")).load(&environment(variables))
}

fn levels(run: &str, machine: &[SandboxLevel]) -> BTreeMap<String, SandboxLevel> {
    config(run, KEYS).sandboxes(&able(machine)).unwrap()
}

use SandboxLevel::{Bubblewrap, Container, Landlock, Process};

#[test]
fn without_tools_of_its_own_an_agent_is_in_process_and_with_them_in_the_strongest_level() {
    let run = "agents: [claude, {kind: codex, builtinTools: default}]";
    let expect = |codex| BTreeMap::from([("claude".to_owned(), Process), ("codex".to_owned(), codex)]);
    assert_eq!(levels(run, &[Landlock, Bubblewrap]), expect(Bubblewrap));
    assert_eq!(levels(run, &[Landlock]), expect(Landlock));
    assert_eq!(levels(run, &[Landlock, Container, Bubblewrap]), expect(Container));
}

#[test]
fn an_agents_own_word_comes_before_the_runs() {
    let run = "sandbox: landlock, agents: [claude, {kind: codex, builtinTools: default, sandbox: process}]";
    let found = levels(run, &[Landlock, Bubblewrap]);
    assert_eq!((found["claude"], found["codex"]), (Landlock, Process));
}

#[test]
fn nothing_falls_back_to_a_weaker_level() {
    assert_eq!(levels("sandbox: bubblewrap", &[Landlock])["claude"], Bubblewrap);
    let run = "agents: [{kind: codex, builtinTools: default}]";
    let refused = config(run, KEYS).sandboxes(&able(&[])).unwrap_err();
    assert!(matches!(refused, SandboxChoiceError::NothingConfines { .. }));
    let text = refused.to_string();
    assert!(
        text.contains("landlock: not there") && text.contains("`sandbox: process`"),
        "{text}"
    );
    let run = "agents: [{kind: codex, builtinTools: default, sandbox: process}]";
    assert_eq!(levels(run, &[])["codex"], Process);
}

#[test]
fn an_own_login_is_in_process_only() {
    let refused = |run: &str| config(run, []).sandboxes(&able(&[Landlock, Bubblewrap]));
    for run in ["sandbox: landlock", "agents: [{kind: claude, builtinTools: default}]"] {
        assert!(
            matches!(refused(run), Err(SandboxChoiceError::OwnLogin { .. })),
            "{run}"
        );
    }
    assert_eq!(refused("agents: [claude]").unwrap()["claude"], Process);
}

#[test]
fn what_an_attempt_may_use_is_read() {
    let run = "sandbox: {level: landlock, memoryMb: 512, processes: 200, cpus: 2, diskMb: 3}";
    let sandbox = config(run, KEYS).run.sandbox;
    assert_eq!(sandbox.level, Some(Landlock));
    let expected = Resources {
        memory_bytes: Some(512 << 20),
        processes: Some(200),
        cpus: Some(2),
        disk_bytes: Some(3 << 20),
    };
    assert_eq!(sandbox.resources, expected);
}

#[test]
fn levels_that_confine_have_limits_of_their_own_and_process_has_none() {
    let named = config("sandbox: {level: landlock, memoryMb: 512}", KEYS)
        .run
        .sandbox
        .resources;
    assert_eq!(named.at(Process), named);
    let confined = named.at(Landlock);
    assert_eq!(confined.memory_bytes, Some(512 << 20));
    assert_eq!(
        (confined.processes, confined.cpus, confined.disk_bytes),
        (Some(1024), None, Some(4 << 30))
    );
}

#[test]
fn an_engine_is_asked_only_where_an_agent_may_come_to_a_container() {
    let asked = |run: &str| config(run, KEYS).levels_in_question().contains(&Container);
    for run in [
        "sandbox: container",
        "agents: [{kind: codex, sandbox: container}]",
        "agents: [claude, {kind: codex, builtinTools: default}]",
    ] {
        assert!(asked(run), "{run}");
    }
    for run in [
        "agents: [claude]",
        "sandbox: bubblewrap, agents: [{kind: codex, builtinTools: default}]",
        "sandbox: container, agents: [{kind: codex, sandbox: landlock}]",
    ] {
        assert!(!asked(run), "{run}");
    }
}

#[test]
fn the_image_of_containers_is_the_default_one_unless_the_config_names_another() {
    let image = |run: &str| config(run, KEYS).run.sandbox.image().to_owned();
    assert_eq!(image("sandbox: container"), "mcproctor-agents");
    let named = "sandbox: {level: container, image: 'registry.example/agents:1@sha256:ab'}";
    assert_eq!(image(named), "registry.example/agents:1@sha256:ab");
    for refused in ["--privileged", "a b", "''"] {
        let text = format!("{SMALLEST}run: {{sandbox: {{level: container, image: {refused}}}}}\n");
        let error = Folder::with(&text).report(&environment(KEYS));
        assert!(error.contains("cannot name an image"), "{error}");
    }
}

#[test]
fn an_image_that_no_agent_could_come_to_is_refused_where_it_stands() {
    let report = |run: &str| {
        let folder = Folder::with(&format!("{SMALLEST}run:\n  sandbox: {run}\n"));
        match load(&folder.path("eval.yaml"), &environment(KEYS)) {
            Ok(_) => String::new(),
            Err(_) => folder.report(&environment(KEYS)),
        }
    };
    let line = SMALLEST.lines().count() + 2;
    for level in ["level: landlock, ", "level: process, ", ""] {
        let column = format!("  sandbox: {{{level}image: ").len() + 1;
        assert_eq!(
            report(&format!("{{{level}image: mine}}")),
            format!(
                "eval.yaml:{line}:{column}: run.sandbox.image: no agent is held in a container, so the image is used by none\n    \
                 remedy: say `level: container`, here or as an agent's `sandbox`, or remove the key"
            )
        );
    }
    for used in [
        "{level: container, image: mine}",
        "{image: mine}\n  agents: [{kind: codex, builtinTools: default}]",
        "{level: landlock, image: mine}\n  agents: [{kind: codex, sandbox: container}]",
    ] {
        assert_eq!(report(used), "", "{used}");
    }
    assert_eq!(
        report("[landlock]"),
        format!(
            "eval.yaml:{line}:12: run.sandbox: this is a list\n    accepted: process, landlock, bubblewrap or container, or a \
             mapping with `level` and what an attempt may use"
        )
    );
    assert_eq!(
        report("{level: [landlock]}"),
        format!(
            "eval.yaml:{line}:20: run.sandbox.level: this is a list\n    accepted: process, landlock, bubblewrap or container"
        )
    );
}
