//! The judge, against endpoints that answer as models really do, and through the real program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

mod decides;
mod endpoint;
mod run;
mod secrets;
mod slow;

use serde_json::{Value, json};
use support::Bed;

/// A model that looks the weather up when it is asked about Vienna, and guesses about any other place.
const AGENT: &str = "
scenarios:
  - when: Vienna
    steps:
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: 'Vienna: {result}'
  - when: weather
    steps:
      - answer: It is sunny.
";

/// A bed with one test case that passes and one that fails.
fn bed() -> Bed {
    let bed = Bed::new(AGENT);
    bed.case("looked-up", "The weather in Vienna?", &["get_current_weather"]);
    bed.case("guessed", "The weather in Graz?", &["get_current_weather"]);
    bed
}

/// What the judge said of the only iteration of a test case.
fn judged<'a>(results: &'a support::Results, case: &str) -> &'a Value {
    let found = results.iterations().iter().find(|it| it["testCase"] == case);
    &found.unwrap_or_else(|| panic!("no iteration of {case}"))["judge"]
}

/// Counts of the judge, without what it cost.
fn counts(results: &support::Results) -> Value {
    let mut counts = results["totals"]["judge"].clone();
    counts.as_object_mut().unwrap().remove("usage");
    counts
}

fn counts_of(judged: u64, agrees: u64, disagrees: u64, not_compared: u64, errors: u64, not_judged: u64) -> Value {
    json!({
        "judged": judged, "agrees": agrees, "disagrees": disagrees, "notCompared": not_compared, "errors": errors,
        "notJudged": not_judged,
    })
}
