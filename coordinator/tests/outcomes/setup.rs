//! What is said before anything runs.

use serde_json::json;

use crate::bed;

#[test]
fn a_program_that_is_not_there_is_named_before_anything_runs() {
    let mut bed = bed();
    let missing = bed.command("missing", "no-such-agent-anywhere", &[]);
    bed.agents(&[missing]);
    let ran = bed.run(&["-i", "20"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("no-such-agent-anywhere"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(!bed.reports().join("latest").exists());
}

#[test]
fn an_agents_command_line_that_is_not_installed_is_named() {
    let mut bed = bed();
    bed.agents(&[json!({ "kind": "codex", "baseUrl": bed.model_url(), "apiKey": "any" })]);
    bed.env
        .push(("MCPROCTOR_CODEX".to_owned(), "/no/such/codex".to_owned()));
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.contains("MCPROCTOR_CODEX") && ran.stderr.contains("/no/such/codex"),
        "{}",
        ran.stderr
    );
}

#[test]
fn mistakes_in_the_config_are_usage_errors_with_their_place() {
    let mut bed = bed();
    bed.config["run"]["iterations"] = json!(0);
    bed.config["run"]["agnets"] = json!(["claude"]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("run.iterations") && ran.stderr.contains("run.agnets"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("did you mean `agents`?"), "{}", ran.stderr);
    assert!(!bed.reports().exists());
}

#[test]
fn mistakes_in_test_cases_are_usage_errors() {
    let bed = bed();
    std::fs::write(bed.path("testcases/broken.yaml"), "prompt: ''\nexpectedTols: []\n").unwrap();
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("broken.yaml") && ran.stderr.contains("expectedTools"),
        "{}",
        ran.stderr
    );
}
