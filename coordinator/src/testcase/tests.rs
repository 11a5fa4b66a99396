//! What a reader of test cases accepts, and what it says about the rest.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::expectation::Expectations;
use crate::record::{AnswerChoice, TestCaseRecord};
use crate::source::{FilesystemSource, MemorySource};

fn load_one(text: &str) -> TestCase {
    load(&MemorySource::new([("case.yaml", text)]))
        .map_err(|errors| errors.to_string())
        .unwrap()
        .remove(0)
}

fn report<const N: usize>(files: [(&str, &str); N]) -> String {
    load(&MemorySource::new(files)).unwrap_err().to_string()
}

#[test]
fn every_key_of_the_format_is_read() {
    let case = load_one(
        "name: compare two\nprompt: 'Compare A and B.'\nexpectedTools:\n  - get_forecast\n  - get_forecast\n\
         answers: ['Use A.', \"Yes.\"]\nexpectedOutcome: >\n  Names the\n  warmer one.\n",
    );
    let expected = TestCase {
        name: "compare two".to_owned(),
        file: "case.yaml".to_owned(),
        prompt: "Compare A and B.".to_owned(),
        expected_tools: vec!["get_forecast".to_owned(), "get_forecast".to_owned()],
        expectations: Expectations::default(),
        answers: vec!["Use A.".to_owned(), "Yes.".to_owned()],
        expected_outcome: Some("Names the warmer one.\n".to_owned()),
        answer_choice: AnswerChoice::InOrder,
        tone: None,
    };
    assert_eq!(case, expected);
    let record = TestCaseRecord::from(&case);
    assert_eq!((record.name, record.expected_tools.len()), (expected.name, 2));
}

#[test]
fn only_prompt_and_expected_tools_are_needed() {
    let case = load_one("prompt: Hello\nexpectedTools: []\n");
    assert_eq!(case.name, "case");
    assert!(case.expected_tools.is_empty() && case.answers.is_empty());
    assert_eq!(case.expected_outcome, None);
}

#[test]
fn nothing_in_a_test_case_is_filled_in() {
    let prompt = "Write a script with ${HOME}, $${X}, {{ .Values.x }} and {{#each}}.";
    assert_eq!(
        load_one(&format!("prompt: '{prompt}'\nexpectedTools: ['${{TOOL}}']\n")).prompt,
        prompt
    );
    let block = load_one("prompt: |\n  echo ${HOME}\n    # not a comment\nexpectedTools: []\n");
    assert_eq!(block.prompt, "echo ${HOME}\n  # not a comment\n");
}

#[test]
fn texts_are_what_stands_in_the_file() {
    let case = load_one("name: 007\nprompt: 2025-10-03\nexpectedTools: [no, 0123, 1e3]\n");
    assert_eq!((case.name.as_str(), case.prompt.as_str()), ("007", "2025-10-03"));
    assert_eq!(case.expected_tools, ["no", "0123", "1e3"]);
}

#[test]
fn all_problems_of_all_files_are_reported_at_once() {
    let report = report([
        ("a-unknown.yaml", "promt: x\nexpectedTools: [a]\n"),
        (
            "b-later.yaml",
            "prompt: x\nexpectedTools: [a]\nservers: [x]\ntone: kind\nanswers: {choose: judge, from: [a]}\n",
        ),
        ("c-empty.yaml", "prompt: '  '\nexpectedTools:\nexpectedOutcome: null\n"),
        ("d-missing.yml", "name: d\n"),
        (
            "e-shape.yaml",
            "prompt: [x]\nexpectedTools: a\nanswers: ['']\nname: \"two\\nlines\"\n",
        ),
        ("f-nothing.yaml", "# only a comment\n"),
        ("g-list.yaml", "- prompt: x\n"),
        (
            "h-two.yaml",
            "prompt: x\nexpectedTools: []\n---\nprompt: y\nexpectedTools: []\n",
        ),
        (
            "i-lfs.yaml",
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935\nsize 12345\n",
        ),
        ("j-broken.yaml", "prompt: 'x\n"),
    ]);
    insta::assert_snapshot!(report);
}

#[test]
fn two_test_cases_of_one_name_are_refused_with_both_files() {
    let report = report([
        ("a.yaml", "name: b\nprompt: x\nexpectedTools: []\n"),
        ("b.yaml", "prompt: y\nexpectedTools: []\n"),
    ]);
    insta::assert_snapshot!(report);
}

#[test]
fn a_place_without_test_cases_is_a_problem() {
    assert!(report([]).contains("there are no test cases"));
    let folder = tempfile::tempdir().unwrap();
    let missing = load(&FilesystemSource::new(folder.path().join("missing")))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("does not exist"), "{missing}");
}

#[test]
fn a_filter_looks_at_name_and_file() {
    let case = load_one("name: current weather\nprompt: x\nexpectedTools: []\n");
    assert!(case.matches("weather") && case.matches("case.y") && !case.matches("forecast"));
}

#[test]
fn the_fingerprint_changes_with_whatever_matters() {
    let base = "prompt: x\nexpectedTools: [a, b]\nanswers: [c]\n";
    let fingerprint_of = |text: &str| fingerprint(&[load_one(text)]);
    assert_eq!(fingerprint_of(base), fingerprint_of(&format!("{base}# comment\n")));
    for other in [
        "prompt: y\nexpectedTools: [a, b]\nanswers: [c]\n",
        "prompt: x\nexpectedTools: [b, a]\nanswers: [c]\n",
        "prompt: x\nexpectedTools: [a]\nanswers: [b, c]\n",
        "prompt: x\nexpectedTools: [ab]\nanswers: [c]\n",
        "prompt: x\nexpectedTools: [a, b]\nanswers: [c]\nexpectedOutcome: z\n",
        "prompt: x\nexpectedTools: [a, b]\nanswers: [c]\nmaxCalls: 3\n",
        "prompt: x\nexpectedTools: [a, b]\nanswers: [c]\nexpectedArguments: {a: {x: '3'}}\n",
        "prompt: x\nexpectedTools: [a, b]\nanswers: [c]\nexpectedArguments: {a: {x: 3}}\n",
    ] {
        assert_ne!(fingerprint_of(base), fingerprint_of(other), "{other}");
    }
}

#[test]
fn the_examples_can_be_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/testcases");
    let cases = load(&FilesystemSource::new(folder))
        .map_err(|errors| errors.to_string())
        .unwrap();
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "ask for the city first",
            "compare two forecasts",
            "current weather lookup",
            "list supported cities"
        ]
    );
    assert_eq!(cases[1].expected_tools, ["get_forecast", "get_forecast"]);
    assert_eq!(cases[0].answers.len(), 1);
}

#[test]
fn the_documented_test_cases_can_be_read() {
    let text = include_str!("../../../docs/test-cases.md");
    let examples: Vec<&str> = text
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(examples.len() >= 20, "{}", examples.len());
    // An example of a key shows the key alone.
    let whole = |example: &str| match (example.contains("prompt:"), example.contains("expectNoTools: true")) {
        (true, _) => example.to_owned(),
        (false, true) => format!("prompt: x\n{example}"),
        (false, false) if example.contains("expectedTools:") => format!("prompt: x\n{example}"),
        (false, false) => format!("prompt: x\nexpectedTools: []\n{example}"),
    };
    let cases: Vec<TestCase> = examples.iter().map(|example| load_one(&whole(example))).collect();
    assert_eq!(cases[0].expected_tools, ["get_forecast", "get_forecast"]);
    assert!(cases.iter().any(|case| case.prompt.contains("${HOME}")));
}

#[test]
fn every_expectation_is_read() {
    let case = load_one(
        "prompt: x\nexpectedTools: [a, b]\norder: subsequence\nforbiddenTools: [c]\nnoDuplicateCalls: true\n\
         maxCalls: {total: 5, tools: {a: 2}}\nexpectedResources: ['weather://vienna']\nexpectedPrompts: [brief]\n\
         responseContains: Vienna\nresponseOmits: [Graz, Linz]\nresponseMatches: '\\d+ °C'\nmaxDurationSeconds: 2.5\n\
         maxTokens: 10000\nmaxCostUsd: .05\n\
         expectedArguments: {a: {at: 2025-10-03, id: '3', n: 3}, b: [{}, {$calls: all, x: {$gte: 1}}]}\n",
    );
    let stored = serde_json::to_string_pretty(&case.expectations).unwrap();
    insta::assert_snapshot!(stored);
    assert_eq!(
        serde_json::from_str::<Expectations>(&stored).unwrap(),
        case.expectations
    );
}

#[test]
fn a_prompt_that_calls_nothing_needs_no_list_of_tools() {
    let case = load_one("prompt: x\nexpectNoTools: true\n");
    assert!(case.expectations.expect_no_tools && case.expected_tools.is_empty());
    assert!(report([("a.yaml", "prompt: x\nexpectNoTools: false\n")]).contains("expectedTools: the key is missing"));
    assert!(
        load_one("prompt: x\nexpectNoTools: true\nexpectedTools: []\n")
            .expectations
            .expect_no_tools
    );
}

#[test]
fn what_is_wrong_with_expectations_is_told_with_its_place() {
    let file = |text: &str| format!("prompt: x\nexpectedTools: [get_forecast, get_forecast, book]\n{text}");
    let texts = [
        "expectedArguments:\n  book:\n    city: {$regx: Vienna}\n    id: 0123\n    name: {$regex: '('}\n    n:\n      $gt: 3\n      $lt: 2\n",
        "expectedArguments:\n  book:\n    - {city: Vienna}\n    - {city: Vienna}\n  pay: {to: {$schema: {type: text}}}\n",
        "expectedArguments:\n  book: {$calls: 2, filter: {$any: true, from: 3}}\n  pay: [3]\n",
        "expectNoTools: true\norder: sequence\nforbiddenTools: [book]\n",
        "maxCalls: 2\n",
        "maxCalls:\n  total: 9\n  tools: {get_forecast: 1, pay: -1}\n  toolz: {}\n",
        "maxCalls: {}\nmaxTokens: 0\nmaxCostUsd: free\nmaxDurationSeconds: -3\nnoDuplicateCalls: yes\n",
        "responseContains: [Vienna, '']\nresponseMatches: ['a(?=b)']\nexpectedResources: weather://vienna\n",
        "responseContains: It is sunny in Vienna.\nresponseOmits: [rain, vienna]\n",
        "forbiddenTools: [pay]\nmaxCalls: {tools: {pay: 3}}\nexpectedArguments: {pay: {$calls: {exactly: 0}, to: me}}\n",
        "expectedArguments: {book: {a: {$type: [text]}, b: {$gte: three}, c: {$oneOf: 3}, d: {$absent: no}}}\n",
    ];
    let files: Vec<(String, String)> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| (format!("{:02}.yaml", index + 1), file(text)))
        .chain([(
            "12.yaml".to_owned(),
            "prompt: x\nexpectedTools: []\norder: exact\n".to_owned(),
        )])
        .collect();
    let source = MemorySource::new(files.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    insta::assert_snapshot!(load(&source).unwrap_err().to_string());
}

#[test]
fn expectations_that_contradict_each_other_are_refused_where_they_stand() {
    for (expected, told) in [
        (
            "expectedTools: [t]\nexpectedArguments: {t: {$calls: {exactly: 0}}}\n",
            "a.yaml:3:24: expectedArguments.t: exactly 0 such calls of `t` are allowed, but 1 are expected",
        ),
        (
            "expectedTools: [t]\norder: exact\nexpectedArguments: {u: {}}\n",
            "a.yaml:3:8: order: `expectedTools` lists all calls, 0 of `u`, but 1 are expected",
        ),
        (
            "expectedTools: [t]\norder: exact\nexpectedArguments: {t: {$calls: {atLeast: 2}}}\n",
            "a.yaml:3:8: order: `expectedTools` lists all calls, 1 of `t`, but 2 are expected",
        ),
        (
            "expectedTools: []\nexpectedArguments: {t: [{$calls: all, x: 1}, {x: 2}]}\n",
            "a.yaml:3:25: expectedArguments.t[0]: every call of `t` is to have these arguments, but one with {\"x\":2}",
        ),
        (
            "expectedTools: []\nexpectedArguments: {t: [{x: 1, y: 2}, {$calls: {exactly: 0}, x: 1}]}\n",
            "a.yaml:3:39: expectedArguments.t[1]: exactly 0 such calls of `t` are allowed, but 1 are expected",
        ),
        (
            "expectedTools: []\nnoDuplicateCalls: true\nexpectedArguments: {t: {$calls: {atLeast: 2}, $exact: {}}}\n",
            "a.yaml:4:24: expectedArguments.t: 2 calls of `t` with just these arguments are expected, but no call twice",
        ),
    ] {
        let report = report([("a.yaml", &format!("prompt: x\n{expected}") as &str)]);
        assert!(report.contains(told), "{expected}: {report}");
    }
    for fine in [
        "expectedTools: [t]\nexpectedArguments: {t: {$calls: {exactly: 0}, x: 1}}\n",
        "expectedTools: [t]\nexpectedArguments: {t: {$calls: {exactly: 1}}}\n",
        "expectedTools: [t, u]\norder: exact\nexpectedArguments: {u: [{x: 1}, {y: 2}]}\n",
        "expectedTools: []\nexpectedArguments: {t: [{$calls: all, x: 1}, {y: 2}]}\n",
        "expectedTools: []\nnoDuplicateCalls: true\nexpectedArguments: {t: {$calls: {atLeast: 2}, x: 1}}\n",
    ] {
        load_one(&format!("prompt: x\n{fine}"));
    }
}

#[test]
fn every_wrong_limit_of_calls_is_told_at_once() {
    let text = "prompt: x\nexpectedTools: []\nmaxCalls: {total: -1, tools: {a: many, b: 2, c: -3}}\n";
    let report = report([("a.yaml", text)]);
    for key in ["maxCalls.total", "maxCalls.tools.a", "maxCalls.tools.c"] {
        assert!(report.contains(key), "{key}: {report}");
    }
}
