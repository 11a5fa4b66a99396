//! `mcproctor grade`.

use std::fs;

use serde_json::json;

use crate::support::{Bed, Ran};
use crate::table::{SCENARIOS, iteration};

fn bed() -> Bed {
    let mut bed = Bed::new(SCENARIOS);
    bed.config["run"]["maxAttempts"] = json!(1);
    bed
}

fn case(bed: &Bed, name: &str, scenario: &str, keys: &str) {
    let text = format!("prompt: 'Do it. [{scenario}]'\n{keys}\n");
    fs::write(bed.path(&format!("testcases/{name}.yaml")), text).unwrap();
}

fn grade(bed: &Bed) -> Ran {
    bed.start_program(&["grade", "latest", "-c", "eval.yaml"]).wait()
}

#[test]
fn changed_expectations_are_judged_by_the_recordings_of_the_run() {
    let bed = bed();
    case(&bed, "kept", "forecast", "expectedTools: [get_forecast]");
    case(&bed, "stricter", "forecast", "expectedTools: [get_forecast]");
    case(&bed, "corrected", "forecast", "expectedTools: [list_cities]");
    case(&bed, "more", "quiet", "expectedTools: []\nanswers: [Go on.]");
    case(&bed, "gone", "quiet", "expectedTools: []");
    case(&bed, "reworded", "quiet", "expectedTools: []");
    assert_eq!(bed.run(&[]).code, Some(0));
    let before = bed.results();
    let asked = bed.asked().len();

    case(
        &bed,
        "stricter",
        "forecast",
        "expectedTools: []\nexpectedArguments: {get_forecast: {days: 7}}",
    );
    case(&bed, "corrected", "forecast", "expectedTools: [get_forecast]");
    case(&bed, "more", "quiet", "expectedTools: [list_cities]\nanswers: [Go on.]");
    case(&bed, "reworded", "forecast", "expectedTools: []");
    case(&bed, "new", "quiet", "expectedTools: []");
    fs::remove_file(bed.path("testcases/gone.yaml")).unwrap();
    let ran = grade(&bed);
    assert_eq!(ran.code, Some(3), "what is not comparable is invalid");
    for line in [
        "4 results, 3 changed: 1 failed → passed, 1 passed → failed, 1 not comparable",
        "builtin · corrected · iteration 1: failed",
        "builtin · stricter · iteration 1: passed → failed",
        "3 (number) at /days in place of 7 (number)",
        "builtin · more · iteration 1: passed → not comparable: the conversation ended because",
        "not graded: `gone` is not among the test cases any more",
        "not graded: `reworded` has another prompt now",
        "not recorded: `new` was not part of the run",
    ] {
        assert!(ran.stdout.contains(line), "{line}:\n{}", ran.stdout);
    }
    assert_eq!(bed.asked().len(), asked, "no agent ran");

    let after = bed.results();
    assert_eq!(after["run"]["gradedFrom"], before["run"]["id"]);
    assert_ne!(after["run"]["id"], before["run"]["id"]);
    let outcome = |name: &str| iteration(&after, name)["outcome"].as_str().unwrap();
    assert_eq!(
        ["kept", "stricter", "corrected", "more"].map(outcome),
        ["passed", "failed", "passed", "invalid"]
    );
    assert_eq!(
        iteration(&after, "stricter")["calls"],
        iteration(&before, "stricter")["calls"],
        "the recordings are the same"
    );
    // Judged once more, it is still the recordings that are judged, and not what was made of them.
    case(&bed, "more", "quiet", "expectedTools: []\nanswers: [Go on.]");
    let again = grade(&bed);
    assert_eq!(again.code, Some(0));
    assert!(again.stdout.contains("4 results, 2 changed"), "{}", again.stdout);
    assert_eq!(bed.results()["run"]["gradedFrom"], before["run"]["id"]);
    assert_eq!(iteration(&bed.results(), "more")["outcome"], json!("passed"));

    // What was there is still there.
    let id = before["run"]["id"].as_str().unwrap();
    assert!(bed.reports().join(id).join("results.json").exists());
    let listed = bed.start_program(&["list", "--out-dir", "reports"]).wait();
    assert_eq!(listed.stdout.lines().count(), 4, "{}", listed.stdout);
}

#[test]
fn what_was_invalid_stays_so_and_nothing_to_judge_is_a_usage_error() {
    let mut bed = bed();
    // An agent that never connects to the server.
    let agent = bed.command("silent", "sh", &["-c", "cat >/dev/null; echo done"]);
    bed.agents(&[agent]);
    case(&bed, "case", "quiet", "expectedTools: [get_forecast]");
    assert_eq!(bed.run(&[]).code, Some(3));
    let before = bed.results().verdict();
    assert_eq!(before, "invalid/exposure");
    case(&bed, "case", "quiet", "expectedTools: []");
    let ran = grade(&bed);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stdout.contains("1 result, none of them changed"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("resumed"), "{}", ran.stdout);
    assert_eq!(bed.results().verdict(), before);

    fs::rename(bed.path("testcases/case.yaml"), bed.path("testcases/other.yaml")).unwrap();
    let ran = grade(&bed);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("`case` is not among the test cases any more"),
        "{}",
        ran.stderr
    );
    let ran = bed.start_program(&["grade", "no-such-run", "-c", "eval.yaml"]).wait();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("find the run no-such-run"), "{}", ran.stderr);
}
