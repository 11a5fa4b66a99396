//! What a user reads when something is wrong.

use std::path::Path;

use super::super::load;
use super::{Folder, SMALLEST, environment};

fn report(config: &str) -> String {
    Folder::with(config).report(&environment([]))
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let report = report(
        "mcp:
  url: 127.0.0.1:3210/mcp
  header: []
  headers:
    - name: 'x api key'
      value: \"a\\nb\"
    - name: Host
      value: h
    - value: x
testcases:
  source: filesytem
run:
  iterations: 0
  iteration: 3
  agents: [claud, gpt, {name: x}, {kind: codex, toolLoading: upfront}]
  timeout_seconds: 300
  timeoutSeconds: 1.5
  concurrency: 'many'
  thresholds: {suite: 90, testcase: 1, testCase: '110%', on: lower}
report:
  outDir: null
  formats: [html, pdf]
judge:
  model: m
colour: blue
",
    );
    insta::assert_snapshot!(report);
}

#[test]
fn what_later_versions_do_is_refused_by_name() {
    let report = report(
        "mcp:
  url: http://h/mcp
  oauth: {clientId: a}
  servers: []
  isolation: shared
  reset: {}
  maxConcurrency: 3
testcases:
  source: s3
  bucket: b
  path: c
run:
  agents:
    - {kind: opencode}
    - pi
  until: {}
report:
  s3: {}
judge: {baseUrl: 'http://h/v1', model: m, provider: x}
telemetry: {}
variants: []
",
    );
    insta::assert_snapshot!(report);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let report = report(
        "mcp: {url: 'http://h/mcp', args: [a]}
testcases: {path: c}
run:
  agents:
    - claude
    - {kind: claude}
    - {kind: command, command: x, args: ['{prompt}'], answer: {json: result}, builtinTools: none}
    - {kind: command, name: y, command: x, prompt: argument, apiKey: k}
    - {kind: codex, command: x, answer: text}
    - {kind: command, name: z, answer: {json: /a, jsonLines: /b}}
",
    );
    insta::assert_snapshot!(report);
    let both = super::Folder::with(
        "mcp: {url: 'http://h', command: x}\ntestcases: {path: c}\nrun: {agent: claude, agents: [codex]}\n",
    );
    insta::assert_snapshot!(both.report(&environment([])));
}

#[test]
fn an_empty_list_is_no_way_of_asking_for_nothing() {
    assert!(report(&format!("{SMALLEST}report: {{formats: []}}\n")).contains("the list is empty"));
    assert!(report(&format!("{SMALLEST}run: {{agents: []}}\n")).contains("the list is empty"));
}

#[test]
fn sections_that_are_needed_are_asked_for() {
    insta::assert_snapshot!(report("run: {iterations: 1}\nmcp: {}\n"));
    insta::assert_snapshot!(report("# nothing\n"), @"
    eval.yaml:1:1: the file is empty
        remedy: it needs `mcp` and `testcases`
    ");
}

#[test]
fn numbers_have_their_documented_ranges() {
    for (key, low, high) in [
        ("iterations", 1_u64, 100_000_u64),
        ("timeoutSeconds", 1, 86_400),
        ("concurrency", 1, 10_000),
        ("maxAttempts", 1, 100),
    ] {
        let config = |value: u64| format!("{SMALLEST}run: {{{key}: {value}}}\n");
        Folder::with(&config(low)).load(&environment([]));
        Folder::with(&config(high)).load(&environment([]));
        let accepted = format!("a whole number from {low} to {high}");
        assert!(report(&config(low - 1)).contains(&accepted));
        assert!(report(&config(high + 1)).contains(&accepted));
    }
    assert!(report(&format!("{SMALLEST}run: {{seed: -1}}\n")).contains("-1 is out of range"));
    assert!(report(&format!("{SMALLEST}run: {{iterations: '3'}}\n")).contains("`3` is not a whole number"));
}

#[test]
fn limits_and_prices_have_their_documented_ranges() {
    let report = report(&format!(
        "{SMALLEST}run: {{limits: {{maxCostUsd: 0, maxTokens: 0, requestsPerMinute: 1000001, maxCost: 1}}}}\n\
         prices: {{m: {{inputPerMillion: -1, outputPerMillion: inf}}, n: {{cachedInputPerMillion: free}}, o: 3}}\n"
    ));
    insta::assert_snapshot!(report);
}

#[test]
fn amounts_are_decimal_numbers_in_quotes_or_not() {
    let priced =
        |amount: &str| format!("{SMALLEST}prices: {{m: {{inputPerMillion: {amount}, outputPerMillion: 0}}}}\n");
    for (written, value) in [
        ("2.5", 2.5),
        ("'1'", 1.0),
        ("1e3", 1_000.0),
        ("\"1e-3\"", 0.001),
        (".5", 0.5),
        ("0", 0.0),
    ] {
        let config = Folder::with(&priced(written)).load(&environment([]));
        let price = config.prices.of("m").unwrap();
        assert!((price.input_per_million - value).abs() < 1e-12, "{written}");
    }
    for refused in [
        "''", "~", "-1", "inf", "nan", "1e999", "$1", "'1,5'", "1_000", "0x10", "[1]",
    ] {
        let report = report(&priced(refused));
        assert!(report.contains("prices.m.inputPerMillion: "), "{refused}: {report}");
    }
}

#[test]
fn the_ranges_of_sandbox_and_limits_are_those_of_the_documentation() {
    let documented = include_str!("../../../../docs/config.md");
    for (section, key, low, high) in [
        ("sandbox", "memoryMb", 64_u64, 16_000_000_u64),
        ("sandbox", "processes", 128, 1_000_000),
        ("sandbox", "cpus", 1, 4_096),
        ("sandbox", "diskMb", 1, 1_000_000_000),
        ("limits", "requestsPerMinute", 1, 1_000_000),
    ] {
        let config = |value: u64| format!("{SMALLEST}run: {{{section}: {{{key}: {value}}}}}\n");
        Folder::with(&config(low)).load(&environment([]));
        Folder::with(&config(high)).load(&environment([]));
        let accepted = format!("a whole number from {low} to {high}");
        for outside in [low - 1, high + 1] {
            let report = report(&config(outside));
            assert!(report.contains(&accepted), "{key}: {report}");
        }
        let row = format!("| `run.{section}.{key}` | {low} to {high} |");
        assert!(documented.contains(&row), "{row}");
    }
}

#[test]
fn a_config_that_breaks_off_anywhere_is_read_or_refused() {
    let whole = "envFile: .env\nmcp: &m\n  url: \"http://h/${A:-é}\"\n  headers: [{name: a, value: '${B}'}]\ntestcases: {path: ~/c}\n\
                 run: {agents: [claude, {kind: command, command: x, answer: {json: /a}}]}\nx-y: *m\n";
    let folder = Folder::with("").and(".env", "B=1\nA='x'\n");
    for (end, _) in whole.char_indices() {
        std::fs::write(folder.path("eval.yaml"), &whole[..end]).unwrap();
        let loaded = load(&folder.path("eval.yaml"), &environment([]));
        assert!(
            loaded.is_ok() || !loaded.unwrap_err().problems().is_empty(),
            "{}",
            &whole[..end]
        );
    }
}

#[test]
fn a_config_that_is_not_there_says_how_to_name_one() {
    let errors = load(Path::new("missing/eval.yaml"), &environment([])).unwrap_err();
    insta::assert_snapshot!(errors, @"
    missing/eval.yaml: cannot be read: No such file or directory (os error 2)
        remedy: correct what `-c` names; without it `./eval.yaml` is read
    ");
    let errors = load(Path::new("./eval.yaml"), &environment([])).unwrap_err();
    insta::assert_snapshot!(errors, @"
    ./eval.yaml: cannot be read: No such file or directory (os error 2)
        remedy: name the config with `-c`; without it `./eval.yaml` is read
    ");
}

#[test]
fn files_that_the_config_names_are_checked() {
    let folder =
        Folder::with("mcp: {url: 'https://h/mcp', caFile: a.pem}\ntestcases: {path: ~other/x}\n").and("a.pem", "x");
    insta::assert_snapshot!(folder.report(&environment([])));
    let missing = Folder::with("mcp: {url: 'https://h/mcp', caFile: b.pem}\ntestcases: {path: ~/x}\n");
    let report = missing.report(&std::iter::empty::<(String, String)>().collect());
    assert!(
        report.contains("b.pem cannot be read") && report.contains("HOME is not set"),
        "{report}"
    );
}
