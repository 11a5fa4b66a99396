//! Keys, defaults and command line.

use crate::threshold::Measure;
use std::path::Path;
use std::time::Duration;

use mcproctor_proto::agent::{AgentKind, AnswerFormat, BuiltinTools, Credential, ModelApi, PromptInput, ToolLoading};
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::server::Transport;
use secrecy::ExposeSecret;

use super::super::{OverrideError, Overrides, ReportFormat, Source};
use super::{Folder, SMALLEST, environment, header_values, http};

#[test]
fn what_is_left_out_has_the_documented_default() {
    let folder = Folder::with(SMALLEST);
    let config = folder.load(&environment([]));
    assert_eq!(config.file, folder.path("eval.yaml"));
    assert_eq!(config.servers[0].name, "mcp-under-test");
    assert_eq!(http(&config).url, "http://127.0.0.1:3210/mcp");
    assert!(http(&config).headers.is_empty() && http(&config).ca_pem.is_none());
    assert_eq!(
        config.source,
        Source::Filesystem {
            path: folder.path("cases")
        }
    );
    assert_eq!(config.run.iterations, 3);
    assert_eq!(config.run.agents.len(), 1);
    assert_eq!(config.run.agents[0].name, "claude");
    assert_eq!(config.run.agents[0].builtin_tools, BuiltinTools::None);
    assert_eq!(config.run.turn_timeout, Duration::from_secs(300));
    assert_eq!(
        (config.run.concurrency, config.run.max_attempts, config.run.seed),
        (None, 3, None)
    );
    assert_eq!(config.run.sandbox, SandboxLevel::Process);
    assert_eq!(config.report.out_dir, folder.path("reports"));
    assert_eq!(config.report.formats, ReportFormat::ALL);
    assert!(config.notices.is_empty());
}

#[test]
fn limits_and_prices_are_read_and_what_is_left_out_of_a_price_costs_what_stands_beside_it() {
    let folder = Folder::with(&format!(
        "{SMALLEST}run: {{limits: {{maxCostUsd: .5, maxTokens: 1000000, requestsPerMinute: 60}}}}\n\
         prices: {{a: {{inputPerMillion: 2, outputPerMillion: 10}}, \
         gpt-5: {{inputPerMillion: 1, cachedInputPerMillion: 0.1, cacheWritePerMillion: 3, outputPerMillion: 0}}}}\n"
    ));
    let config = folder.load(&environment([]));
    let limits = config.run.limits;
    assert_eq!(
        (limits.max_cost_usd, limits.max_tokens, limits.requests_per_minute),
        (Some(0.5), Some(1_000_000), Some(60))
    );
    let parts = |model: &str| {
        let price = config.prices.of(model).unwrap();
        [
            price.input_per_million,
            price.cached_input_per_million,
            price.cache_write_per_million,
            price.cache_write_1h_per_million,
            price.output_per_million,
        ]
    };
    assert_eq!(parts("a"), [2.0, 2.0, 2.0, 2.0, 10.0]);
    assert_eq!(parts("gpt-5"), [1.0, 0.1, 3.0, 3.0, 0.0]);
    std::fs::write(folder.path("eval.yaml"), SMALLEST).unwrap();
    let unlimited = folder.load(&environment([]));
    assert!(!unlimited.run.limits.any());
    assert_eq!(
        unlimited.fingerprint(),
        config.fingerprint(),
        "a run goes on under other limits"
    );
}

#[test]
fn a_config_of_bitmcp_eval_is_taken_as_it_is() {
    let folder = Folder::with(
        "envFile: ./.env # optional\n\nmcp:\n  url: http://127.0.0.1:3210/mcp # local or remote\n  headers:\n    \
         - name: x-api-key\n      value: ${MY_API_KEY} # from the environment\n\ntestcases:\n  source: filesystem\n  \
         path: ./testcases\n\nrun:\n  iterations: 5\n  agents: [claude, codex, claude]\n  timeoutSeconds: 60\n\nreport:\n  \
         outDir: ~/reports\n\njudge:\n  baseUrl: http://127.0.0.1:11434/v1\n  model: qwen2.5:7b\n  timeoutSeconds: 60\n",
    )
    .and(".env", "MY_API_KEY=key-1\n");
    let config = folder.load(&environment([]));
    assert_eq!(header_values(&config), ["key-1"]);
    assert_eq!(config.run.iterations, 5);
    let names: Vec<&str> = config.run.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["claude", "codex"]);
    assert_eq!(config.run.turn_timeout, Duration::from_secs(60));
    assert_eq!(config.report.out_dir, Path::new("/home/user/reports"));
    let judge = config.judge.unwrap();
    assert_eq!(judge.base_url.as_str(), "http://127.0.0.1:11434/v1");
    assert_eq!(
        (judge.model.as_str(), judge.timeout),
        ("qwen2.5:7b", Duration::from_secs(60))
    );
    assert!(judge.api_key.is_none() && config.notices.is_empty());
}

#[test]
fn a_judge_on_this_machine_needs_no_key_and_any_other_takes_it_from_a_variable() {
    let judge = |rest: &str, variable: &str| {
        let folder = Folder::with(&format!(
            "{SMALLEST}judge: {{baseUrl: 'https://models.example/v1', model: m{rest}}}\n"
        ));
        folder.load(&environment([("KEY", variable)])).judge.unwrap()
    };
    let plain = judge("", "");
    assert_eq!(plain.timeout, Duration::from_secs(60));
    assert!(plain.api_key.is_none());
    let with_key = judge(
        ", apiKey: '${KEY}', timeoutSeconds: 5, provider: openai-compatible",
        "k-1\n",
    );
    assert_eq!(with_key.api_key.unwrap().expose_secret(), "k-1");
    assert_eq!(with_key.timeout, Duration::from_secs(5));
    assert!(
        judge(", apiKey: '${KEY}'", "").api_key.is_none(),
        "an empty variable is no key"
    );
}

#[test]
fn the_judge_is_part_of_what_a_resumed_run_agrees_with_and_its_key_is_not() {
    let folder = Folder::with(SMALLEST);
    let print = |judge: &str| {
        std::fs::write(folder.path("eval.yaml"), format!("{SMALLEST}{judge}")).unwrap();
        folder.load(&environment([])).fingerprint()
    };
    let one = |rest: &str| print(&format!("judge: {{baseUrl: 'http://h/v1', model: m{rest}}}\n"));
    assert_ne!(print(""), one(""));
    assert_eq!(one(""), one(", apiKey: k, timeoutSeconds: 7"));
    assert_ne!(one(""), print("judge: {baseUrl: 'http://h/v1', model: n}\n"));
}

#[test]
fn the_short_form_names_a_single_agent() {
    let config = Folder::with(&format!("{SMALLEST}run: {{agent: codex}}\n")).load(&environment([]));
    assert_eq!(config.run.agents.len(), 1);
    assert_eq!(config.run.agents[0].kind, AgentKind::Codex);
}

#[test]
fn every_key_of_an_agent_is_read() {
    let folder = Folder::with(&format!(
        "{SMALLEST}run:
  concurrency: 8
  maxAttempts: 5
  seed: 18446744073709551615
  sandbox: process
  agents:
    - {{kind: claude, name: opus, model: claude-opus-4, builtinTools: default, toolLoading: deferred, args: [--x, '1']}}
    - {{kind: codex, baseUrl: 'http://127.0.0.1:4000/v1', env: {{A: b}}}}
    - name: mine
      kind: command
      command: ./agent.sh
      args: [--mcp, '{{mcp_config}}', '{{prompt}}']
      resumeArgs: [--resume, '{{session}}', '{{prompt}}']
      prompt: argument
      answer: {{jsonLines: /result/text}}
      modelApi: chatCompletions
      apiKey: sk-1
"
    ));
    let config = folder.load(&environment([]));
    assert_eq!(
        (config.run.concurrency, config.run.max_attempts, config.run.seed),
        (Some(8), 5, Some(u64::MAX))
    );
    let [opus, codex, mine] = &config.run.agents[..] else {
        panic!("three agents were written")
    };
    assert_eq!(
        (opus.name.as_str(), opus.model.as_deref()),
        ("opus", Some("claude-opus-4"))
    );
    assert_eq!(
        (opus.builtin_tools, opus.tool_loading),
        (BuiltinTools::Default, Some(ToolLoading::Deferred))
    );
    assert_eq!(opus.args, ["--x", "1"]);
    assert_eq!(
        (codex.name.as_str(), codex.base_url.as_deref()),
        ("codex", Some("http://127.0.0.1:4000/v1"))
    );
    assert_eq!(codex.env["A"].expose_secret(), "b");
    let command = mine.command.as_ref().unwrap();
    assert_eq!(command.program, folder.path("./agent.sh").to_str().unwrap());
    assert_eq!(
        (command.prompt, command.model_api),
        (PromptInput::Argument, Some(ModelApi::ChatCompletions))
    );
    assert_eq!(command.answer, AnswerFormat::JsonLines("/result/text".to_owned()));
    assert_eq!(command.resume_args.as_ref().unwrap()[1], "{session}");
    assert!(matches!(&mine.credential, Credential::ApiKey(key) if key.expose_secret() == "sk-1"));
}

#[test]
fn a_server_can_be_a_child_process() {
    let folder = Folder::with(
        "mcp: {name: my__server, command: npx, args: [-y, server, '${A}'], env: {KEY: '${K}'}, cwd: sub}\n\
         testcases: {path: /cases}\n",
    );
    let config = folder.load(&environment([("A", "1"), ("K", "k")]));
    let Transport::Stdio(stdio) = &config.servers[0].transport else {
        panic!("a command was written")
    };
    assert_eq!(
        (config.servers[0].name.as_str(), stdio.command.as_str()),
        ("my__server", "npx")
    );
    assert_eq!(stdio.args, ["-y", "server", "1"]);
    assert_eq!(stdio.env["KEY"].expose_secret(), "k");
    assert_eq!(stdio.cwd, Some(folder.path("sub")));
    assert_eq!(config.server_records()[0].address, "npx (3 arguments)");
    assert_eq!(config.source, Source::Filesystem { path: "/cases".into() });
}

#[test]
fn an_extra_certificate_authority_is_read_from_its_file() {
    let pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    let folder =
        Folder::with("mcp: {url: 'https://h/mcp/?a=b', caFile: ./ca.pem}\ntestcases: {path: ~}\n").and("ca.pem", pem);
    let config = folder.load(&environment([]));
    assert_eq!(http(&config).ca_pem.as_deref(), Some(pem));
    assert_eq!(http(&config).url, "https://h/mcp/?a=b");
    assert_eq!(config.server_records()[0].address, "https://h/mcp/");
    assert_eq!(
        config.source,
        Source::Filesystem {
            path: "/home/user".into()
        }
    );
}

#[test]
fn texts_are_what_stands_in_the_file() {
    let values = [
        "0123",
        "1e3",
        "12:30:00",
        "no",
        "null",
        "2025-10-03",
        "${PIN}",
        "0x10",
        "''",
        "'a # b'",
    ];
    let headers: String = values
        .iter()
        .map(|value| format!("    - name: x-h\n      value: {value}\n"))
        .collect();
    let config = Folder::with(&format!(
        "mcp:\n  url: http://h/mcp\n  headers:\n{headers}testcases: {{path: c}}\n"
    ))
    .load(&environment([("PIN", "0123")]));
    let expected = [
        "0123",
        "1e3",
        "12:30:00",
        "no",
        "null",
        "2025-10-03",
        "0123",
        "0x10",
        "",
        "a # b",
    ];
    assert_eq!(header_values(&config), expected);
}

#[test]
fn names_that_start_with_x_are_free() {
    let text = format!("x-note: {{a: ['${{NOT_SET}}']}}\n{SMALLEST}run: {{x-why: slow, iterations: 2}}\n");
    assert_eq!(Folder::with(&text).load(&environment([])).run.iterations, 2);
}

#[test]
fn thresholds_are_shares_in_either_form() {
    let run = "run: {thresholds: {suite: 90%, testCase: 0.75, on: lowerEnd}}\n";
    let thresholds = Folder::with(&format!("{SMALLEST}{run}"))
        .load(&environment([]))
        .run
        .thresholds;
    let share = |text: &str| Some(text.parse().unwrap());
    assert_eq!((thresholds.suite, thresholds.test_case), (share("0.9"), share("75%")));
    assert_eq!(thresholds.on, Measure::LowerEnd);
    assert!(Folder::with(SMALLEST).load(&environment([])).run.thresholds.is_empty());
}

#[test]
fn the_command_line_wins() {
    let load = || Folder::with(&format!("{SMALLEST}run: {{agents: [claude, codex]}}\n")).load(&environment([]));
    let overrides = Overrides {
        iterations: Some(100_000),
        agents: vec!["codex".to_owned()],
        concurrency: Some(2),
        min_pass_rate: Some("95%".parse().unwrap()),
        threshold_on: None,
        no_thresholds: false,
    };
    let config = load().with_overrides(&overrides).unwrap();
    assert_eq!((config.run.iterations, config.run.concurrency), (100_000, Some(2)));
    assert_eq!(config.run.thresholds.suite, overrides.min_pass_rate);
    assert_eq!(config.run.agents.len(), 1);
    assert_eq!(config.run.agents[0].name, "codex");
    let refused = |overrides: Overrides| load().with_overrides(&overrides).err().unwrap();
    let iterations = |n| Overrides {
        iterations: Some(n),
        ..Overrides::default()
    };
    assert_eq!(refused(iterations(0)), OverrideError::Iterations(0));
    assert_eq!(
        refused(iterations(100_001)).to_string(),
        "iterations: 100001 is out of range; accepted: a whole number from 1 to 100000"
    );
    let unknown = Overrides {
        agents: vec!["opus".to_owned()],
        ..Overrides::default()
    };
    assert_eq!(
        refused(unknown).to_string(),
        "agent: the config has no agent named `opus`; it has claude, codex"
    );
}

#[test]
fn the_example_can_be_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/eval.yaml");
    let config = super::load(Path::new(path), &environment([])).unwrap();
    assert_eq!(http(&config).url, "http://127.0.0.1:3210/mcp");
}

#[test]
fn the_fingerprint_is_of_what_decides_an_iteration() {
    let fingerprint = |run: &str, environment| {
        let text = format!(
            "mcp: {{url: 'http://h/mcp?key=${{KEY:-none}}', headers: [{{name: a, value: '${{KEY:-none}}'}}]}}\n\
             testcases: {{path: /c}}\nrun: {{{run}}}\n"
        );
        Folder::with(&text).load(&environment).fingerprint()
    };
    let base = fingerprint("", environment([]));
    assert_eq!(base.len(), 64);
    assert_eq!(base, fingerprint("concurrency: 7", environment([("KEY", "k-2")])));
    for other in [
        "iterations: 4",
        "agent: codex",
        "maxAttempts: 1",
        "timeoutSeconds: 1",
        "seed: 1",
        "agent: {kind: claude, model: m}",
    ] {
        assert_ne!(base, fingerprint(other, environment([])), "{other}");
    }
}

#[test]
fn the_documented_config_can_be_read_and_every_key_is_documented() {
    let text = include_str!("../../../../docs/config.md");
    let example = text.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = Folder::with(example).and(".env", "");
    assert_eq!(folder.load(&environment([])).run.agents[1].name, "codex-mini");
    // What a config offers is listed when a key is not known, so the list cannot fall behind the reader.
    let probe = "zzz: 1\nmcp: {url: 'http://h', zzz: 1}\ntestcases: {path: c, zzz: 1}\nreport: {zzz: 1}\n\
                 prices: {m: {zzz: 1}}\nrun: {zzz: 1, thresholds: {zzz: 1}, limits: {zzz: 1}, agents: [{kind: command, command: x, zzz: 1}]}\n";
    let report = Folder::with(probe).report(&environment([]));
    let keys: Vec<&str> = report
        .lines()
        .filter_map(|line| line.strip_prefix("    accepted: "))
        .flat_map(|line| line.split(", "))
        .collect();
    assert!(keys.len() > 43, "{report}");
    for key in keys {
        let documented = [format!("`{key}`"), format!(".{key}`"), format!("\n{key}:")];
        assert!(
            documented.iter().any(|text_of_key| text.contains(text_of_key)),
            "{key} is not in docs/config.md"
        );
    }
}
