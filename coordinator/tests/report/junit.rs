//! What readers of test results promise themselves from `junit.xml`.

use std::collections::BTreeSet;
use std::process::Command;

use mcproctor::outcome::{InvalidCause, Outcome};
use mcproctor::record::RunState;
use mcproctor::report::{MemoryRun, RunData};

use crate::sample::{self, write_all};

fn junit(run: &dyn RunData) -> String {
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(run, folder.path()).unwrap();
    accepted(&written.junit);
    std::fs::read_to_string(written.junit).unwrap()
}

/// Asks xmllint.
fn accepted(path: &std::path::Path) {
    let output = Command::new("xmllint").arg("--noout").arg(path).output();
    let output = output.expect("this test needs xmllint: apt-get install libxml2-utils");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

/// The attributes of every element of that name, unescaped as far as these tests need it.
fn attributes(xml: &str, element: &str, names: &[&str]) -> Vec<Vec<String>> {
    xml.split(&format!("<{element} "))
        .skip(1)
        .map(|rest| {
            let tag = format!(" {}", rest.split('>').next().unwrap());
            names
                .iter()
                .map(|name| {
                    let value = tag.split(&format!(" {name}=\"")).nth(1).unwrap();
                    value.split('"').next().unwrap().to_owned()
                })
                .collect()
        })
        .collect()
}

#[test]
fn xmllint_accepts_it_whatever_was_said() {
    for words in [
        "]]><![CDATA[ </failure></testcase><!-- -- --> &amp; &undefined; <?xml?> \" '",
        "\0\u{1}\u{8}\u{b}\u{c}\u{1b}[31mred\u{1b}[0m\u{7f}\u{80}\u{9f}",
        "\u{fffe}\u{ffff}\u{fdd0}\u{1fffe}\u{10ffff}",
        "line\r\nline\rline\n\ttab \u{2028}\u{2029}\u{85}",
        "é 😀 \u{202e}עברית \u{feff}",
        "",
    ] {
        let run = sample::hostile(words);
        let planned = usize::try_from(run.run.total_iterations()).unwrap();
        assert_eq!(junit(&run).matches("<testcase ").count(), planned, "{words}");
    }
}

#[test]
fn half_a_surrogate_in_a_result_is_no_trouble() {
    let mut run = sample::one_agent(1);
    for attempt in &mut run.attempts {
        attempt.outcome = Outcome::Failed(mcproctor::outcome::FailureClass::ToolError);
        let mut call = sample::failed_call(
            0,
            "cut",
            &serde_json::json!({}),
            mcproctor_proto::call::CallState::ToolError,
            "told so",
        );
        let raw = r#"{"content": [{"type": "text", "text": "half \ud83d"}], "isError": true}"#;
        call.result = Some(serde_json::value::RawValue::from_string(raw.to_owned()).unwrap());
        attempt.calls = vec![call];
    }
    assert!(junit(&run).contains("failed call: cut – tool error told so"));
}

/// Two agents, two test cases of one name in two folders, and one of another name.
fn namesakes() -> MemoryRun {
    let mut run = sample::mixed(3);
    run.run.test_cases[1].name = run.run.test_cases[0].name.clone();
    run.run.test_cases[2].name = run.run.test_cases[0].name.clone();
    run.run.test_cases[2].file = run.run.test_cases[1].file.clone();
    run
}

#[test]
fn no_two_iterations_are_one_test_case_to_a_reader() {
    let run = namesakes();
    let cases = attributes(&junit(&run), "testcase", &["classname", "name"]);
    assert_eq!(cases.len(), 30);
    assert_eq!(cases.iter().collect::<BTreeSet<_>>().len(), 30);
}

#[test]
fn the_counts_of_suites_are_those_of_their_test_cases() {
    let mut run = sample::mixed(12);
    sample::still_running(&mut run);
    for attempt in run
        .attempts
        .iter_mut()
        .filter(|attempt| attempt.cell == 3 && attempt.last)
    {
        attempt.outcome = Outcome::Aborted;
    }
    let xml = junit(&run);
    let counted = |text: &str| {
        ["<testcase ", "<failure ", "<error ", "<skipped "].map(|tag| text.matches(tag).count().to_string())
    };
    let names = ["tests", "failures", "errors", "skipped"];
    assert_eq!(attributes(&xml, "testsuites", &names)[0], counted(&xml));
    let suites: Vec<&str> = xml.split("<testsuite ").skip(1).collect();
    assert_eq!(suites.len(), 10);
    for suite in suites {
        let said = &attributes(&format!("<testsuite {suite}"), "testsuite", &names)[0];
        assert_eq!(*said, counted(suite), "{suite}");
    }
}

#[test]
fn outcomes_become_what_readers_know() {
    let mut run = sample::one_agent(4);
    run.run.test_cases.truncate(1);
    run.attempts.retain(|attempt| attempt.cell == 0 && attempt.last);
    for attempt in &mut run.attempts {
        attempt.attempt = 1;
    }
    run.attempts[1].outcome = Outcome::Failed(mcproctor::outcome::FailureClass::WrongArguments);
    run.attempts[1].reason = "get_current_weather: another city was asked for".to_owned();
    run.attempts[1].expectations[0].met = false;
    run.attempts[1].expectations[0].why = "no call has these arguments".to_owned();
    run.attempts[1].expectations[0].differences = vec![mcproctor::record::Difference {
        at: "/city".to_owned(),
        expected: "\"Vienna\" (string)".to_owned(),
        found: "\"Graz\" (string)".to_owned(),
    }];
    run.attempts[2].outcome = Outcome::Invalid(InvalidCause::Model);
    run.attempts[2].reason = "the model answered 529 overloaded".to_owned();
    run.attempts.truncate(3);
    run.state = RunState::Aborted;
    insta::assert_snapshot!("junit", junit(&run));
}
