//! Thresholds, through the real program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use serde_json::json;
use support::{Answer, Bed, well_at_first};

const SCENARIOS: &str = "scenarios:
  - when: weather
    steps:
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: Sunny.
  - when: hello
    steps:
      - answer: Hello.
";

fn bed() -> Bed {
    let mut bed = Bed::new(SCENARIOS);
    bed.case("called", "What is the weather?", &["get_current_weather"]);
    bed.config["run"]["iterations"] = json!(5);
    bed
}

#[test]
fn a_run_below_a_threshold_exits_with_1_and_says_why_last() {
    let mut bed = bed();
    bed.config["run"]["thresholds"] = json!({ "suite": "100%", "testCase": 0.9 });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    bed.case("not called", "Say hello.", &["get_forecast"]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let expected = "threshold not met: agent builtin, suite: 5 of 10 passed, a rate of 50.0%; the threshold is 100%\n\
                    mcproctor: threshold not met: agent builtin, test case `not called`: 0 of 5 passed, a rate of 0.0%; the threshold is 90%\n";
    assert!(ran.stderr.ends_with(expected), "{}", ran.stderr);
    let said = &bed.results()["run"]["thresholds"];
    assert_eq!(
        (&said["met"], &said["suite"], &said["on"]),
        (&json!(false), &json!(1.0), &json!("rate"))
    );
    assert_eq!(said["missed"].as_array().unwrap().len(), 2);
    for file in ["summary.md", "report.html"] {
        let text = std::fs::read_to_string(bed.reports().join("latest").join(file)).unwrap();
        assert!(
            text.contains("Thresholds not met") && text.contains("0 of 5 passed"),
            "{file}"
        );
    }

    let ran = bed.run(&["-i", "3", "--no-thresholds"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("threshold"), "{}", ran.stderr);
    assert_eq!(bed.results()["run"]["thresholds"], json!(null));

    let ran = bed.run(&["--min-pass-rate", "0.5"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        !ran.stderr.contains("suite") && ran.stderr.contains("test case"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_lower_end_tells_a_lucky_run_from_a_reliable_one() {
    let bed = bed();
    let ran = bed.run(&["--min-pass-rate", "50%", "--threshold-on", "lower-end"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = bed.run(&["--min-pass-rate", "60%", "--threshold-on", "lower-end"]);
    assert_eq!(
        ran.code,
        Some(2),
        "nothing is run for what cannot be reached: {}",
        ran.stderr
    );
    assert!(ran.stderr.contains("56.6%"), "{}", ran.stderr);
    let ran = bed.run(&["-i", "3", "--min-pass-rate", "50%"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("under 5 iterations have no rate"), "{}", ran.stderr);
}

#[test]
fn iterations_that_stayed_invalid_outweigh_a_threshold() {
    let mut bed = bed();
    bed.serve(well_at_first(|| Answer::Status(503)));
    let ran = bed.run(&["--min-pass-rate", "50%"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("stayed invalid"), "{}", ran.stderr);
}

#[test]
fn a_graded_run_is_held_against_the_thresholds_of_the_given_config() {
    let mut bed = bed();
    bed.config["run"]["thresholds"] = json!({ "testCase": "80%" });
    assert_eq!(bed.run(&[]).code, Some(0));

    let grade = |bed: &Bed| bed.start_program(&["grade", "latest", "-c", "eval.yaml"]).wait();
    bed.case("called", "What is the weather?", &["get_forecast"]);
    bed.config["run"]["thresholds"] = json!({ "suite": "90%" });
    let ran = grade(&bed);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with(
            "threshold not met: agent builtin, suite: 0 of 5 passed, a rate of 0.0%; the threshold is 90%\n"
        ),
        "{}",
        ran.stderr
    );
    let said = &bed.results()["run"]["thresholds"];
    assert_eq!((&said["met"], &said["suite"]), (&json!(false), &json!(0.9)));

    bed.config["run"].as_object_mut().unwrap().remove("thresholds");
    let ran = grade(&bed);
    assert_eq!(ran.code, Some(0), "nothing is asked any more: {}", ran.stderr);
    assert!(bed.results()["run"]["thresholds"].is_null());
}
