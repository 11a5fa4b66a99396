//! Every kind of expectation, met and not met, by what a model does.

use serde_json::{Value, json};

use crate::support::{Bed, Results};

pub(crate) const SCENARIOS: &str = include_str!("scenarios.yaml");

/// A test case, and what has to become of it.
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: &'static str,
    /// The word that picks what the model does.
    pub(crate) scenario: &'static str,
    /// The keys beside name and prompt, as YAML.
    pub(crate) keys: &'static str,
    /// `None` when it passes; otherwise the family that is not met, and words of its reason.
    pub(crate) unmet: Option<(&'static str, &'static str)>,
}

const fn met(name: &'static str, scenario: &'static str, keys: &'static str) -> Row {
    Row {
        name,
        scenario,
        keys,
        unmet: None,
    }
}

const fn unmet(
    name: &'static str,
    scenario: &'static str,
    keys: &'static str,
    family: &'static str,
    why: &'static str,
) -> Row {
    Row {
        name,
        scenario,
        keys,
        unmet: Some((family, why)),
    }
}

/// What holds of every agent.
pub(crate) const ROWS: &[Row] = &[
    met("tools met", "forecast", "expectedTools: [get_forecast]"),
    unmet(
        "tools unmet",
        "forecast",
        "expectedTools: [list_cities]",
        "tools",
        "it was never called",
    ),
    unmet(
        "tools failed",
        "unknown-city",
        "expectedTools: [get_current_weather]",
        "tools",
        "1 call failed",
    ),
    met("no tools met", "quiet", "expectNoTools: true"),
    unmet(
        "no tools unmet",
        "forecast",
        "expectNoTools: true",
        "no_tools",
        "get_forecast was called",
    ),
    met(
        "subset met",
        "forecast",
        "expectedArguments: {get_forecast: {city: Vienna}}",
    ),
    unmet(
        "subset unmet",
        "forecast",
        "expectedArguments: {get_forecast: {city: Graz}}",
        "arguments",
        "\"Vienna\" (string) at /city in place of \"Graz\" (string)",
    ),
    unmet(
        "types unmet",
        "forecast",
        "expectedArguments: {get_forecast: {days: '3'}}",
        "arguments",
        "3 (number) at /days in place of \"3\" (string)",
    ),
    met(
        "number met",
        "forecast",
        "expectedArguments: {get_forecast: {days: 3.0}}",
    ),
    met(
        "exact met",
        "forecast",
        "expectedArguments: {get_forecast: {$exact: {city: Vienna, days: 3}}}",
    ),
    unmet(
        "exact unmet",
        "forecast",
        "expectedArguments: {get_forecast: {$exact: {city: Vienna}}}",
        "arguments",
        "3 (number) at /days in place of nothing",
    ),
    met(
        "regex met",
        "forecast",
        "expectedArguments: {get_forecast: {city: {$regex: '^V.*a$'}}}",
    ),
    unmet(
        "regex unmet",
        "forecast",
        "expectedArguments: {get_forecast: {city: {$regex: '^G'}}}",
        "arguments",
        "/^G/",
    ),
    met(
        "contains met",
        "forecast",
        "expectedArguments: {get_forecast: {city: {$contains: ienn}}}",
    ),
    unmet(
        "contains unmet",
        "forecast",
        "expectedArguments: {get_forecast: {city: {$contains: raz}}}",
        "arguments",
        "contains \"raz\"",
    ),
    met(
        "one of met",
        "forecast",
        "expectedArguments: {get_forecast: {city: {$oneOf: [Graz, Vienna]}}}",
    ),
    unmet(
        "one of unmet",
        "forecast",
        "expectedArguments: {get_forecast: {city: {$oneOf: [Graz, Linz]}}}",
        "arguments",
        "one of [\"Graz\",\"Linz\"]",
    ),
    met(
        "bounds met",
        "forecast",
        "expectedArguments: {get_forecast: {days: {$gte: 3, $lt: 4}}}",
    ),
    unmet(
        "bounds unmet",
        "forecast",
        "expectedArguments: {get_forecast: {days: {$gt: 3}}}",
        "arguments",
        "a number > 3",
    ),
    met(
        "type met",
        "forecast",
        "expectedArguments: {get_forecast: {days: {$type: integer}}}",
    ),
    unmet(
        "type unmet",
        "forecast",
        "expectedArguments: {get_forecast: {days: {$type: string}}}",
        "arguments",
        "a value of type string",
    ),
    met(
        "any met",
        "forecast",
        "expectedArguments: {get_forecast: {days: {$any: true}}}",
    ),
    unmet(
        "any unmet",
        "retried",
        "expectedArguments: {get_current_weather: {days: {$any: true}}}",
        "arguments",
        "nothing at /days in place of any value",
    ),
    met(
        "absent met",
        "retried",
        "expectedArguments: {get_current_weather: {days: {$absent: true}}}",
    ),
    unmet(
        "absent unmet",
        "forecast",
        "expectedArguments: {get_forecast: {days: {$absent: true}}}",
        "arguments",
        "3 (number) at /days in place of nothing",
    ),
    met(
        "schema met",
        "forecast",
        "expectedArguments: {get_forecast: {$schema: {required: [city], properties: {days: {maximum: 3}}}}}",
    ),
    unmet(
        "schema unmet",
        "forecast",
        "expectedArguments: {get_forecast: {days: {$schema: {maximum: 2}}}}",
        "arguments",
        "valid by the schema",
    ),
    met(
        "literal met",
        "forecast",
        "expectedArguments: {get_forecast: {$literal: {city: Vienna}}}",
    ),
    met(
        "each met",
        "two-cities",
        "expectedArguments: {get_forecast: [{city: Vienna}, {city: Graz}]}",
    ),
    unmet(
        "each unmet",
        "two-cities",
        "expectedArguments: {get_forecast: [{city: Vienna}, {city: Linz}]}",
        "arguments",
        "no successful call had them",
    ),
    met(
        "all met",
        "two-cities",
        "expectedArguments: {get_forecast: {$calls: all, days: 3}}",
    ),
    unmet(
        "all unmet",
        "two-cities",
        "expectedArguments: {get_forecast: {$calls: all, city: Vienna}}",
        "arguments",
        "one call had others",
    ),
    met(
        "at least met",
        "two-cities",
        "expectedArguments: {get_forecast: {$calls: {atLeast: 2}, days: 3}}",
    ),
    unmet(
        "at least unmet",
        "two-cities",
        "expectedArguments: {get_forecast: {$calls: {atLeast: 2}, city: Graz}}",
        "arguments",
        "1 successful call had them, 2 are needed",
    ),
    met(
        "exactly met",
        "two-cities",
        "expectedArguments: {get_forecast: {$calls: {exactly: 1}, city: Graz}}",
    ),
    unmet(
        "exactly unmet",
        "two-cities",
        "expectedArguments: {get_forecast: {$calls: {exactly: 1}, days: 3}}",
        "arguments",
        "2 successful calls had them",
    ),
    unmet(
        "failed call unmet",
        "unknown-city",
        "expectedArguments: {get_current_weather: {city: Atlantis}}",
        "arguments",
        "a call with them failed",
    ),
    met(
        "subsequence met",
        "current-then-forecast",
        "expectedTools: [get_current_weather, get_forecast]\norder: subsequence",
    ),
    unmet(
        "subsequence unmet",
        "current-then-forecast",
        "expectedTools: [get_forecast, get_current_weather]\norder: subsequence",
        "order",
        "get_current_weather was not called after get_forecast",
    ),
    met(
        "exact order met",
        "current-then-forecast",
        "expectedTools: [get_current_weather, get_forecast]\norder: exact",
    ),
    unmet(
        "exact order unmet",
        "two-cities",
        "expectedTools: [get_forecast]\norder: exact",
        "order",
        "nothing more was expected",
    ),
    met("forbidden met", "forecast", "forbiddenTools: [list_cities]"),
    unmet(
        "forbidden unmet",
        "forecast",
        "forbiddenTools: [get_forecast]",
        "forbidden",
        "it is forbidden",
    ),
    met(
        "calls met",
        "two-cities",
        "maxCalls: {total: 2, tools: {get_forecast: 2}}",
    ),
    unmet("calls unmet", "two-cities", "maxCalls: 1", "calls", "there were 2"),
    unmet(
        "calls of a tool unmet",
        "two-cities",
        "maxCalls: {tools: {get_forecast: 1}}",
        "calls",
        "there were 2",
    ),
    met("duplicates met", "retried", "noDuplicateCalls: true"),
    unmet(
        "duplicates unmet",
        "twice",
        "noDuplicateCalls: true",
        "duplicates",
        "called again with {\"city\":\"Vienna\"}",
    ),
    met(
        "contains in reply met",
        "forecast",
        "responseContains: [VIENNA, '24 °C']",
    ),
    unmet(
        "contains in reply unmet",
        "forecast",
        "responseContains: Graz",
        "response",
        "the reply begins with",
    ),
    met("omits met", "forecast", "responseOmits: rain"),
    unmet(
        "omits unmet",
        "forecast",
        "responseOmits: SUNNY",
        "response",
        "the reply omits \"SUNNY\"",
    ),
    met("matches met", "forecast", "responseMatches: '\\d+ °C'"),
    unmet(
        "matches unmet",
        "forecast",
        "responseMatches: '^Graz'",
        "response",
        "the reply matches /^Graz/",
    ),
    met("duration met", "forecast", "maxDurationSeconds: 600"),
    unmet(
        "duration unmet",
        "forecast",
        "maxDurationSeconds: 0.001",
        "duration",
        "they took",
    ),
    met(
        "answered",
        "ask",
        "expectedArguments: {get_current_weather: {city: Graz}}\nanswers: [In Graz., Never needed.]",
    ),
    unmet(
        "not answered",
        "ask",
        "expectedArguments: {get_current_weather: {city: Graz}}\nmaxDurationSeconds: 0.001\nanswers: [In Graz.]",
        "duration",
        "they took",
    ),
];

/// What needs an agent that reports its tokens.
pub(crate) const TOKENS: &[Row] = &[
    met("tokens met", "forecast", "maxTokens: 100000000"),
    unmet("tokens unmet", "forecast", "maxTokens: 1", "tokens", "it used"),
];

/// What needs an agent that reports what it costs.
pub(crate) const COST: &[Row] = &[
    met("cost met", "forecast", "maxCostUsd: 1000"),
    unmet("cost unmet", "forecast", "maxCostUsd: 0.0000000001", "cost", "it cost"),
];

impl Row {
    /// Writes its test case.
    pub(crate) fn write(&self, bed: &Bed) {
        let mut text = format!(
            "name: {}\nprompt: 'Do it. [{}]'\n{}\n",
            self.name, self.scenario, self.keys
        );
        if !self.keys.contains("expectedTools:") && !self.keys.contains("expectNoTools:") {
            text += "expectedTools: []\n";
        }
        let file = bed.path(&format!("testcases/{}.yaml", self.name.replace(' ', "-")));
        std::fs::write(file, text).unwrap();
    }
}

/// Compares every iteration with its row.
pub(crate) fn compare(results: &Results, rows: &[&Row]) {
    assert_eq!(results.iterations().len(), rows.len());
    let mut wrong = Vec::new();
    for iteration in results.iterations() {
        let name = iteration["testCase"].as_str().unwrap();
        let row = rows.iter().find(|row| row.name == name).unwrap();
        let outcome = &iteration["outcome"];
        let unmet: Vec<&Value> = iteration["expectations"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|result| result["met"] == json!(false))
            .collect();
        let as_written = match row.unmet {
            None => *outcome == json!("passed") && unmet.is_empty(),
            Some((family, words)) => {
                let said = |result: &&Value| {
                    let text = format!(
                        "{}: {}",
                        result["what"].as_str().unwrap(),
                        result["why"].as_str().unwrap()
                    );
                    result["family"] == json!(family) && text.contains(words)
                };
                *outcome == json!("failed") && unmet.iter().any(said)
            }
        };
        if !as_written {
            wrong.push(format!("{name}: {outcome} ({}): {unmet:#?}", iteration["reason"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The iteration of a test case.
pub(crate) fn iteration<'r>(results: &'r Results, name: &str) -> &'r Value {
    let found = results.iterations().iter().find(|it| it["testCase"] == json!(name));
    found.unwrap_or_else(|| panic!("no iteration of {name}"))
}
