//! Expectations end to end: the built-in agent, a model that plays scenarios, and a server that records nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

mod budgets;
mod graded;
mod large;
mod load;
mod table;

use serde_json::json;

use support::Bed;
use table::{ROWS, Row, SCENARIOS, compare, iteration};

#[test]
fn every_kind_of_expectation_is_met_and_unmet_as_written() {
    let mut bed = Bed::new(SCENARIOS);
    bed.config["run"]["maxAttempts"] = json!(1);
    let rows: Vec<&Row> = ROWS.iter().collect();
    rows.iter().for_each(|row| row.write(&bed));
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    compare(&results, &rows);

    // The nearest call, and where it differs.
    let unmet = &iteration(&results, "types unmet")["expectations"][0];
    assert_eq!(
        unmet["differences"],
        json!([{ "at": "/days", "expected": "\"3\" (string)", "found": "3 (number)" }])
    );
    assert_eq!(unmet["call"], iteration(&results, "types unmet")["calls"][0]["id"]);

    // What is needed is said, and nothing else.
    let turns = |name: &str| iteration(&results, name)["turns"].as_array().unwrap().len();
    assert_eq!((turns("answered"), turns("not answered")), (2, 1));

    // A reader sees what was expected, with the keys of the test case.
    let cases = results["run"]["testCases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["name"] == json!("bounds met")).unwrap();
    assert_eq!(
        case["expectations"],
        json!({ "expectedArguments": { "get_forecast": { "days": { "$gte": 3, "$lt": 4 } } } })
    );
}
