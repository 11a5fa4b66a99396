//! What the reader makes of a text, and what it refuses.

#![allow(clippy::unwrap_used)]

use super::node::{Entry, Node, Value};
use super::parse::parse;
use super::problem::{Place, Problem, Problems};

fn parse_text(text: &str) -> (Option<Node>, Vec<Problem>) {
    let mut problems = Problems::of(std::path::Path::new("test.yaml"));
    let node = parse(text.as_bytes(), &mut problems);
    (node, problems.into_sorted())
}

fn problems(text: &str) -> Vec<String> {
    parse_text(text).1.iter().map(ToString::to_string).collect()
}

fn texts(node: &Node, into: &mut Vec<String>) {
    match &node.value {
        Value::Scalar(scalar) => into.push(scalar.text.clone()),
        Value::Sequence(items) => items.iter().for_each(|item| texts(item, into)),
        Value::Mapping(entries) => entries.iter().for_each(|entry| texts(&entry.value, into)),
    }
}

fn all_texts(text: &str) -> Vec<String> {
    let (node, problems) = parse_text(text);
    assert_eq!(problems, []);
    let mut all = Vec::new();
    texts(&node.unwrap(), &mut all);
    all
}

#[test]
fn scalars_keep_the_text_that_stands_in_the_file() {
    let text = "[0123, 1e3, 12:30:00, no, null, 2025-10-03, 1_000, 0x1F, 3.0, ~, yes, .5, 'a', \"b\\n\"]";
    let expected = [
        "0123",
        "1e3",
        "12:30:00",
        "no",
        "null",
        "2025-10-03",
        "1_000",
        "0x1F",
        "3.0",
        "~",
        "yes",
        ".5",
        "a",
        "b\n",
    ];
    assert_eq!(all_texts(text), expected);
}

#[test]
fn texts_are_those_that_another_parser_reads() {
    for document in [
        "a: 0123\nb: 1e3\nc: 12:30:00\nd: no\ne: 2025-10-03\nf: 0x1F\ng: .5\nh: yes # c\n",
        "a: |\n  one\n    two\n\n  three\nb: >-\n  one\n  two\n\n  three\nc: |+\n  x\n\nd: >2\n    y\n",
        "a: 'it''s'\nb: \"tab\\t \\u00e9 \\\"q\\\" \\x41\"\nc: plain over\n  two lines\nd: \"a\n  b\"\n",
        "{a: x y, b: 'c, d', \"e f\": g}\n",
        "a: x#y\nb: a:b\nc: -1\nd: '- x'\ne: http://h:1/p?q#f\n",
        "? a\n: b\n",
    ] {
        let theirs: std::collections::BTreeMap<String, String> = serde_yaml::from_str(document).unwrap();
        let (root, problems) = parse_text(document);
        assert_eq!(problems, []);
        let Value::Mapping(entries) = root.unwrap().value else {
            unreachable!("a mapping was written");
        };
        for Entry { key, value, .. } in &entries {
            let Value::Scalar(scalar) = &value.value else {
                unreachable!("only texts were written");
            };
            assert_eq!(theirs.get(key), Some(&scalar.text), "{key} in {document}");
        }
        assert_eq!(entries.len(), theirs.len());
    }
}

#[test]
fn places_count_from_one_in_characters() {
    let (root, _) = parse_text("a:\n  - ü: 1\n    é: 2\n");
    let root = root.unwrap();
    let Value::Sequence(items) = &root.get("a").unwrap().value else {
        unreachable!("a list was written");
    };
    let Value::Mapping(entries) = &items[0].value else {
        unreachable!("a mapping was written");
    };
    assert_eq!(entries[1].place, Place { line: 3, column: 5 });
    assert_eq!(entries[1].value.place, Place { line: 3, column: 8 });
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    assert_eq!(all_texts("\u{feff}a: x\r\nb: |\r\n  y\r\n  z\r\n"), ["x", "y\nz\n"]);
}

#[test]
fn aliases_are_copies() {
    assert_eq!(all_texts("a: &x {k: [1, 2]}\nb: *x\n"), ["1", "2", "1", "2"]);
}

#[test]
fn a_few_lines_of_aliases_cannot_fill_the_memory() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let before = format!("*a{}", level - 1);
        text += &format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(", "));
    }
    assert_eq!(
        problems(&text),
        ["test.yaml:6:10: a5[0]: too large once aliases are expanded"]
    );
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), ["*a"; 100_000].join(", "));
    assert!(problems(&text)[0].contains("too large once aliases are expanded"));
}

#[test]
fn nesting_cannot_exhaust_the_stack() {
    let text = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert!(problems(&text)[0].contains("nested more than 64 levels deep"));
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
        let text = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(problems(&text).len(), 1);
    }
}

#[test]
fn a_key_that_is_given_twice_is_a_problem_with_both_lines() {
    assert_eq!(
        problems("run:\n  a: 1\n  b: 2\n  a: 3\n"),
        ["test.yaml:4:3: run.a: the key is given twice; the first one is in line 2\n    remedy: keep one of them"]
    );
}

#[test]
fn what_is_no_yaml_has_a_line() {
    for (text, place) in [
        ("a: [1\nb: 2\n", "test.yaml:2"),
        ("a: 'x\n", "test.yaml:"),
        ("a: b: c\n", "test.yaml:1"),
    ] {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].starts_with(place), "{found:?}");
    }
    assert!(problems("a: [${B}]\n")[0].contains("has to be quoted"));
    assert_eq!(problems("*nothing\n").len(), 1);
    assert_eq!(
        problems("a: &x [*x]\n"),
        ["test.yaml:1:8: a[0]: an alias of something that is not complete yet"]
    );
}

#[test]
fn a_second_document_is_refused() {
    assert_eq!(problems("---\na: 1\n...\n"), [""; 0]);
    let found = problems("a: 1\n---\nb: 2\n");
    assert!(
        found[0].starts_with("test.yaml:3:1: a second document starts here"),
        "{found:?}"
    );
}

#[test]
fn only_tags_that_mean_something_are_accepted() {
    assert_eq!(all_texts("a: !!str 12\n"), ["12"]);
    assert!(problems("a: !secret x\n")[0].contains("the tag `!secret` means nothing here"));
    assert!(problems("a: !!binary x\n")[0].contains("means nothing here"));
}

#[test]
fn bytes_that_are_no_text_are_a_problem_with_a_line() {
    let mut problems = Problems::of(std::path::Path::new("test.yaml"));
    assert!(parse(b"a: 1\nb: \xff\n", &mut problems).is_none());
    assert_eq!(problems.into_sorted()[0].place, Some(Place { line: 2, column: 1 }));
}
