//! Arguments that are too large to be in a record.

use serde_json::json;

use crate::support::Bed;

/// A model that calls with a hundred thousand letters in an argument.
fn bed(keys: &str) -> Bed {
    let long = "x".repeat(100_000);
    let scenarios = format!(
        "scenarios:\n  - name: large\n    when: '[large]'\n    steps:\n      - call: {{tool: get_current_weather, arguments: \
         {{city: Vienna, note: '{long}'}}}}\n      - answer: Done.\n"
    );
    let mut bed = Bed::new(&scenarios);
    bed.config["run"]["maxAttempts"] = json!(1);
    let text = format!("prompt: 'Do it. [large]'\nexpectedTools: []\n{keys}\n");
    std::fs::write(bed.path("testcases/case.yaml"), text).unwrap();
    bed
}

#[test]
fn large_arguments_are_compared_as_small_ones_are() {
    let met = bed("expectedArguments: {get_current_weather: {city: Vienna, note: {$regex: '^x{10}'}}}");
    assert_eq!(met.run(&[]).code, Some(0));
    let results = met.results();
    assert_eq!(results.verdict(), "passed", "{}", results.reason());
    let call = &results.only()["calls"][0];
    assert_eq!((&call["truncated"], &call["arguments"]), (&json!(true), &json!(null)));

    let unmet = bed("expectedArguments: {get_current_weather: {city: Graz}}");
    assert_eq!(unmet.run(&[]).code, Some(0));
    let results = unmet.results();
    assert!(
        results
            .reason()
            .contains("\"Vienna\" (string) at /city in place of \"Graz\" (string)"),
        "{}",
        results.reason()
    );
}
