//! What real agents use, as the relay counts it, and what they do at its end.

use serde_json::{Value, json};

use super::{bed, each};
use crate::support::Bed;

/// Input and output tokens that the model told in all of its answers.
fn told(bed: &Bed) -> (u64, u64) {
    let answers = bed.asked().into_iter().filter_map(|asked| asked.usage);
    answers.fold((0, 0), |(input, output), used| {
        (input + used.input, output + used.output)
    })
}

#[test]
fn slow_tokens_of_both_agents_are_those_that_the_model_told() {
    for codex in [false, true] {
        let mut bed = bed("[call]", &["get_current_weather"]);
        let agent = if codex { bed.codex() } else { bed.claude() };
        bed.agents(std::slice::from_ref(&agent));
        assert_eq!(bed.run(&["-i", "2"]).code, Some(0));
        let results = bed.results();
        let (input, output) = told(&bed);
        let usage = &results["totals"]["usage"];
        assert!(input > 1_000, "{input}");
        assert_eq!(
            (&usage["inputTokens"], &usage["outputTokens"]),
            (&json!(input), &json!(output)),
            "{agent}"
        );
        assert!(usage["cachedInputTokens"].as_u64().unwrap() > 0);
        // Both models are in the list of prices.
        let cost = usage["costUsd"].as_f64().unwrap();
        assert!(cost > 0.0 && cost < 10.0, "{cost}");
        assert_eq!(each(&results, "/traffic/requestsWithoutUsage"), [0; 2]);
        let models = each(&results, "/traffic/usage/0/model");
        assert_eq!(models, [agent["model"].clone(), agent["model"].clone()]);
    }
}

#[test]
fn slow_neither_agent_asks_again_at_its_limit_and_neither_fails_for_it() {
    for codex in [false, true] {
        let mut bed = bed("[call]", &["get_current_weather"]);
        let agent = if codex { bed.codex() } else { bed.claude() };
        bed.agents(std::slice::from_ref(&agent));
        // Any answer uses up more than that.
        bed.config["run"]["limits"] = json!({ "maxTokens": 1 });
        let ran = bed.run(&[]);
        assert_eq!(ran.code, Some(4), "{}", ran.stderr);
        let results = bed.results();
        let earlier = each(&results, "/earlierAttempts/0");
        assert_eq!(earlier[0]["cause"], "limit", "{agent}: {earlier:?}");
        assert!(earlier[0]["durationMs"].as_u64().unwrap() < 30_000, "{earlier:?}");
        assert_eq!(results["totals"]["failed"], Value::from(0));
        bed.wait_until_nothing_runs();
    }
}
