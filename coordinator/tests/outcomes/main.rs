//! Verdicts through the real program: real agents' processes, a real server, a model that plays scenarios.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

mod agent;
mod machinery;
mod model;
mod server;
mod setup;

use support::Bed;

/// A model that calls the tool and answers.
const CALLS: &str = "
scenarios:
  - when: weather
    steps:
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: 'Vienna: {result}'
";

/// A bed in which everything goes well.
fn bed() -> Bed {
    let bed = Bed::new(CALLS);
    bed.case("weather", "The weather in Vienna?", &["get_current_weather"]);
    bed
}

/// A bed with a model that plays these steps.
fn bed_with(steps: &str) -> Bed {
    let bed = Bed::new(&format!("scenarios:\n  - when: weather\n    steps:\n{steps}"));
    bed.case("weather", "The weather in Vienna?", &["get_current_weather"]);
    bed
}
