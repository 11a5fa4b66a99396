//! What is read as a pattern, what is refused, and that a pattern is stored as it was written.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

fn read(text: &str) -> Result<ExpectedArguments, Vec<String>> {
    ExpectedArguments::read(&Json::parse(text).unwrap())
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

#[test]
fn what_is_stored_is_what_was_written() {
    for written in [
        r#"{"t":{}}"#,
        r#"{"t":{"$exact":{}}}"#,
        r#"{"t":{"city":"Vienna","days":{"$gte":3,"$lt":10}}}"#,
        r#"{"t":[{"city":"Vienna"},{"$calls":{"atLeast":2},"city":"Graz"}]}"#,
        r#"{"t":{"$calls":"all","$schema":{"required":["city"]}}}"#,
        r#"{"t":{"$calls":{"exactly":0},"$exact":{"force":true}}}"#,
        r#"{"t":{"a":{"$any":true},"b":{"$absent":true},"c":{"$oneOf":[{"$absent":true},1.50]}}}"#,
        r#"{"t":{"filter":{"$literal":{"$gte":3,"x":[{"$in":[]}]}}}}"#,
        r#"{"t":{"$calls":"all","$literal":{"$calls":1}}}"#,
        r#"{"t":{"id":{"$regex":"^a+$","$type":"string"},"n":{"$type":["integer","null"]}}}"#,
        r#"{"a":{"tags":{"$contains":{"k":"v"}}},"b":{"list":[1,{"$any":true},[]]}}"#,
    ] {
        let arguments = read(written).unwrap();
        assert_eq!(arguments.to_json().to_string(), written);
        let stored = serde_json::to_string(&arguments).unwrap();
        assert_eq!(serde_json::from_str::<ExpectedArguments>(&stored).unwrap(), arguments);
    }
}

#[test]
fn a_dollar_key_is_literal_only_where_it_is_said() {
    let arguments = read(r#"{"t":{"$literal":{"$gt":3}}}"#).unwrap();
    let only = arguments.iter().next().unwrap();
    assert!(matches!(&only.arguments, Pattern::Object(entries) if entries.contains_key("$gt")));
}

#[test]
fn what_makes_no_sense_is_refused_where_it_stands() {
    for (written, fault) in [
        (r#"{"t":{"a":{"$regx":"x"}}}"#, "/t/a/$regx: there is no such matcher"),
        (
            r#"{"t":{"a":{"$gt":1,"b":2}}}"#,
            "/t/a/b: keys and matchers cannot be mixed",
        ),
        (r#"{"t":{"a":{"$calls":"all"}}}"#, "/t/a/$calls: `$calls` stands beside"),
        (
            r#"{"t":{"a":{"$any":true,"$gt":1}}}"#,
            "/t/a/$any: nothing else can stand beside",
        ),
        (r#"{"t":{"a":{"$any":false}}}"#, "/t/a/$any: `false` says nothing"),
        (r#"{"t":{"$absent":true}}"#, "/t/$absent: only the value of a key"),
        (
            r#"{"t":{"a":[{"$absent":true}]}}"#,
            "/t/a/0/$absent: only the value of a key",
        ),
        (r#"{"t":{"a":{"$regex":"("}}}"#, "/t/a/$regex: not a regular expression"),
        (r#"{"t":{"a":{"$regex":3}}}"#, "/t/a/$regex: this is a number"),
        (r#"{"t":{"a":{"$oneOf":[]}}}"#, "/t/a/$oneOf: this is an empty list"),
        (
            r#"{"t":{"a":{"$type":"text"}}}"#,
            "/t/a/$type: there is no type \"text\"",
        ),
        (r#"{"t":{"a":{"$type":null}}}"#, "/t/a/$type: there is no value"),
        (r#"{"t":{"a":{"$gte":"3"}}}"#, "/t/a/$gte: this is a text"),
        (r#"{"t":{"a":{"$gte":3,"$lt":3}}}"#, "/t/a/$gte: no number is within"),
        (
            r#"{"t":{"a":{"$gte":3,"$type":"string"}}}"#,
            "/t/a/$gte: only a number has bounds",
        ),
        (
            r#"{"t":{"a":{"$schema":{"type":"txt"}}}}"#,
            "/t/a/$schema: not a JSON Schema",
        ),
        (r#"{"t":{"$regex":"x"}}"#, "/t: arguments are a mapping, and this never"),
        (r#"{"t":3}"#, "/t: arguments are a mapping"),
        (r#"{"t":[]}"#, "/t: this is an empty list"),
        (
            r#"{"t":[{"a":1},{"a":1.0}]}"#,
            "/t/1: the same arguments stand in the list",
        ),
        (r#"{"t":{"$calls":2}}"#, "/t/$calls: `2` says not how many"),
        (
            r#"{"t":{"$calls":{"atLeast":0}}}"#,
            "/t/$calls: `{\"atLeast\":0}` says not",
        ),
        (r#"["t"]"#, ": the tools are missing"),
    ] {
        let faults = read(written).unwrap_err();
        assert_eq!(faults.len(), 1, "{written}: {faults:?}");
        assert!(faults[0].starts_with(fault), "{written}: {}", faults[0]);
    }
    assert!(read(r#"{"t":{"a":{"$gte":3,"$lte":3}}}"#).is_ok(), "three is within");
}

#[test]
fn all_faults_are_told_at_once() {
    assert_eq!(
        read(r#"{"t":{"a":{"$gt":"x"},"b":{"$no":1}},"u":3}"#)
            .unwrap_err()
            .len(),
        3
    );
}

/// A value of random shape; keys may begin with a dollar sign.
pub(crate) fn random_json(random: &mut StdRng, depth: u32) -> Json {
    let keys = ["a", "b", "$gt", "$x", "c/d", "e~f", ""];
    match random.random_range(0..if depth == 0 { 5 } else { 7 }) {
        0 => Json::Null,
        1 => Json::Bool(random.random()),
        2 => Json::Number(Number::from(random.random_range(0_u32..4))),
        3 => Json::Number(Number::parse(&format!("{}.0", random.random_range(0_u32..4))).unwrap()),
        4 => Json::text(["", "3", "Vienna"][random.random_range(0..3)]),
        5 => Json::List(
            (0..random.random_range(0..4))
                .map(|_| random_json(random, depth - 1))
                .collect(),
        ),
        _ => Json::Object(
            (0..random.random_range(0..4))
                .map(|_| {
                    (
                        keys[random.random_range(0..keys.len())].to_owned(),
                        random_json(random, depth - 1),
                    )
                })
                .collect(),
        ),
    }
}

#[test]
fn any_value_is_read_back_as_it_was_written() {
    let mut random = StdRng::seed_from_u64(11);
    for _ in 0..2_000 {
        let value = random_json(&mut random, 3);
        assert_eq!(Json::parse(&value.to_string()).as_ref(), Ok(&value));
        let pattern = Pattern::of_value(&value);
        let stored = pattern.to_json().to_string();
        assert_eq!(Pattern::parse(&stored), pattern, "{stored}");
    }
}

/// Whatever stands in a test case is read or refused, and what is read is stored as it was written.
#[test]
fn nothing_that_can_be_written_breaks_the_reader() {
    let mut keys = vec!["a", "$calls", "$no"];
    keys.extend(read_pattern::MATCHERS);
    fn spoil(value: Json, random: &mut StdRng, keys: &[&str]) -> Json {
        match value {
            Json::Object(entries) => Json::Object(
                entries
                    .into_values()
                    .map(|it| {
                        (
                            keys[random.random_range(0..keys.len())].to_owned(),
                            spoil(it, random, keys),
                        )
                    })
                    .collect(),
            ),
            Json::List(items) => Json::List(items.into_iter().map(|it| spoil(it, random, keys)).collect()),
            Json::Bool(_) => Json::Bool(true),
            other => other,
        }
    }
    let mut random = StdRng::seed_from_u64(13);
    let mut read = 0;
    for _ in 0..5_000 {
        let value = random_json(&mut random, 4);
        let value = Json::entry("t", spoil(value, &mut random, &keys));
        match ExpectedArguments::read(&value) {
            Ok(arguments) => {
                read += 1;
                let again = ExpectedArguments::read(&arguments.to_json());
                assert_eq!(again.as_ref(), Ok(&arguments), "{value}");
            }
            Err(faults) => assert!(!faults.is_empty(), "{value}"),
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn expectations_are_stored_with_the_keys_of_a_test_case() {
    let expectations = Expectations {
        order: Order::Exact,
        forbidden_tools: vec!["x".to_owned()],
        max_calls: MaxCalls {
            total: Some(3),
            tools: [("t".to_owned(), 1)].into(),
        },
        response_matches: vec![Expression::new("^a").unwrap()],
        max_cost_usd: Some(0.5),
        ..Expectations::default()
    };
    let stored = serde_json::to_string(&expectations).unwrap();
    assert_eq!(
        stored,
        r#"{"order":"exact","forbiddenTools":["x"],"maxCalls":{"total":3,"tools":{"t":1}},"responseMatches":["^a"],"maxCostUsd":0.5}"#
    );
    assert_eq!(serde_json::from_str::<Expectations>(&stored).unwrap(), expectations);
    assert_eq!(serde_json::to_string(&Expectations::default()).unwrap(), "{}");
}
