//! What is like a pattern and what is not.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::expectation::random_json;

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text)
}

fn differences(pattern: &Pattern, value: Option<&Json>) -> Vec<Difference> {
    compared(pattern, value).differences
}

/// What is different, as `at: found, not expected`.
fn told(wanted: &str, value: &str) -> Vec<String> {
    let value = Json::parse(value).unwrap();
    differences(&pattern(wanted), Some(&value))
        .into_iter()
        .map(|it| format!("{}: {}, not {}", it.at, it.found, it.expected))
        .collect()
}

fn is(wanted: &str, value: &str) -> bool {
    told(wanted, value).is_empty()
}

#[test]
fn every_matcher_holds_of_what_it_says_and_of_nothing_else() {
    for (matcher, fits, others) in [
        (
            r#"{"$regex":"^V"}"#,
            vec![r#""Vienna""#],
            vec![r#""Graz""#, "3", "null", r#"["V"]"#],
        ),
        (
            r#"{"$contains":"ien"}"#,
            vec![r#""Vienna""#, r#"["ien"]"#],
            vec![r#""VIENNA""#, "3", r#"["Vienna"]"#],
        ),
        (
            r#"{"$contains":{"a":1}}"#,
            vec![r#"[0,{"a":1,"b":2}]"#],
            vec![r#"{"a":1}"#, "[]", r#""a""#],
        ),
        (
            r#"{"$oneOf":["a",3,null]}"#,
            vec![r#""a""#, "3.0", "null"],
            vec![r#""3""#, r#""b""#, "false"],
        ),
        (
            r#"{"$gte":3,"$lt":10}"#,
            vec!["3", "9.99", "3.0"],
            vec!["2", "10", r#""5""#, "null"],
        ),
        (r#"{"$gt":3}"#, vec!["3.1", "1e9"], vec!["3", "-4"]),
        (r#"{"$lte":3}"#, vec!["3", "-4"], vec!["3.0001"]),
        (r#"{"$type":"integer"}"#, vec!["3", "3.0"], vec!["3.5", r#""3""#]),
        (
            r#"{"$type":["string","null"]}"#,
            vec![r#""""#, "null"],
            vec!["3", "[]", "{}", "true"],
        ),
        (r#"{"$any":true}"#, vec!["null", "[]", "0"], vec![]),
        (r#"{"$schema":{"minimum":3}}"#, vec!["3"], vec!["2"]),
        (
            r#"{"$literal":{"$gt":3}}"#,
            vec![r#"{"$gt":3,"x":1}"#],
            vec!["4", r#"{"$gt":4}"#],
        ),
        (
            r#"{"$exact":{"a":{"b":1}}}"#,
            vec![r#"{"a":{"b":1}}"#],
            vec![r#"{"a":{"b":1,"c":2}}"#],
        ),
        (
            r#"{"$exact":{"a":{"$any":true}}}"#,
            vec![r#"{"a":{"b":1}}"#],
            vec![r#"{"a":1,"b":2}"#, "{}"],
        ),
    ] {
        for value in fits {
            assert!(is(matcher, value), "{matcher} {value}");
        }
        for value in others {
            assert!(!is(matcher, value), "{matcher} {value}");
        }
    }
}

#[test]
fn what_is_absent_is_told_from_what_is_null() {
    assert!(is(r#"{"a":{"$absent":true}}"#, "{}"));
    assert_eq!(
        told(r#"{"a":{"$absent":true}}"#, r#"{"a":null}"#),
        ["/a: null, not nothing"]
    );
    assert_eq!(told(r#"{"a":null}"#, "{}"), ["/a: nothing, not null"]);
    assert_eq!(told(r#"{"a":{"$any":true}}"#, "{}"), ["/a: nothing, not any value"]);
    let optional = r#"{"a":{"$oneOf":[{"$absent":true},3]}}"#;
    assert!(is(optional, "{}") && is(optional, r#"{"a":3}"#) && !is(optional, r#"{"a":4}"#));
}

#[test]
fn a_list_is_met_by_one_of_the_same_length_in_the_same_order() {
    let wanted = r#"{"stops":[{"city":"Vienna"},{"$any":true}]}"#;
    assert!(is(wanted, r#"{"stops":[{"city":"Vienna","at":8},null]}"#));
    assert_eq!(
        told(wanted, r#"{"stops":[{"city":"Graz"}]}"#),
        [
            "/stops/0/city: \"Graz\" (string), not \"Vienna\" (string)",
            "/stops/1: nothing, not any value"
        ]
    );
    assert_eq!(told("[1]", "[1,2]"), ["/1: 2 (number), not nothing"]);
}

#[test]
fn places_are_json_pointers() {
    assert_eq!(
        told(r#"{"a/b":{"c~d":1}}"#, r#"{"a/b":{"c~d":2}}"#),
        ["/a~1b/c~0d: 2 (number), not 1 (number)"]
    );
}

#[test]
fn a_schema_says_where_and_what() {
    let found = told(
        r#"{"x":{"$schema":{"properties":{"n":{"maximum":3}}}}}"#,
        r#"{"x":{"n":5}}"#,
    );
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("/x/n: 5 (number), not valid by the schema: "),
        "{}",
        found[0]
    );
}

#[test]
fn differences_without_end_are_cut() {
    let value = format!("[{}]", vec!["1"; 500].join(","));
    assert_eq!(told("[]", &value).len(), 20);
    let long = format!("\"{}\"", "x".repeat(100_000));
    assert!(told("3", &long)[0].len() < 300);
}

/// Any value is like itself, and unlike any other value as soon as no further keys are allowed.
#[test]
fn a_value_without_matchers_is_like_itself_alone() {
    let mut random = StdRng::seed_from_u64(5);
    for _ in 0..3_000 {
        let (a, b) = (random_json(&mut random, 3), random_json(&mut random, 3));
        let exact = Pattern::Exact(Box::new(Pattern::of_value(&a)));
        assert_eq!(differences(&exact, Some(&a)), []);
        assert_eq!(differences(&Pattern::of_value(&a), Some(&a)), []);
        assert_eq!(differences(&exact, Some(&b)).is_empty(), a == b, "{a} {b}");
        // Keys that nobody asked for change nothing.
        if let Json::Object(entries) = &a {
            let mut more = entries.clone();
            more.insert(format!("further-{}", random.random::<u8>()), b);
            assert_eq!(differences(&Pattern::of_value(&a), Some(&Json::Object(more))), []);
        }
    }
}
