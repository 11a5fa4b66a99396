//! Mistakes in expectations, before anything runs.

use crate::support::Bed;
use crate::table::SCENARIOS;

#[test]
fn a_mistake_has_its_file_line_and_key_and_nothing_runs() {
    let bed = Bed::new(SCENARIOS);
    let text =
        "prompt: x\nexpectedTools: [book]\nforbiddenTools: [book]\nexpectedArguments:\n  book:\n    city: {$regx: x}\n";
    std::fs::write(bed.path("testcases/case.yaml"), text).unwrap();
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .contains("case.yaml:3:18: forbiddenTools[0]: `book` is forbidden"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("case.yaml:6:19: expectedArguments.book.city[\"$regx\"]: there is no such matcher"),
        "{}",
        ran.stderr
    );
    assert!(!bed.reports().exists(), "nothing was run");
}

#[test]
fn tools_and_arguments_that_are_not_there_are_named_whatever_is_said_of_them() {
    let bed = Bed::new(SCENARIOS);
    let text = "prompt: x\nexpectedTools: []\nforbiddenTools: [get_forcast]\nmaxCalls: {tools: {list_citys: 1}}\n\
                expectedArguments: {get_weather_now: {}, get_forecast: {citty: Vienna, days: 3, note: {$absent: true}}}\n";
    std::fs::write(bed.path("testcases/case.yaml"), text).unwrap();
    let ran = bed.start_program(&["check", "-c", "eval.yaml"]).wait();
    assert_eq!(ran.code, Some(2));
    for words in [
        "forbids `get_forcast`, which the server does not offer; did you mean `get_forecast`?",
        "limits `list_citys`, which the server does not offer",
        "expects arguments of `get_weather_now`, which the server does not offer",
        "expects the argument `citty` of `get_forecast`, which the tool does not name; did you mean `city`?",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert_eq!(ran.stdout.matches("mismatch: ").count(), 4, "{}", ran.stdout);
}

#[test]
fn listeners_are_told_what_is_expected_with_every_digit() {
    let bed = Bed::new(SCENARIOS);
    let text = "prompt: 'Do it. [forecast]'\nexpectedTools: []\nexpectedArguments: {get_forecast: {days: {$lt: 12345678901234567890123}}}\n";
    std::fs::write(bed.path("testcases/case.yaml"), text).unwrap();
    let ran = bed.run(&["--output", "json"]);
    assert_eq!(ran.code, Some(0));
    let started = ran.stdout.lines().find(|line| line.contains("run_started")).unwrap();
    let expected = r#""expectations":{"expectedArguments":{"get_forecast":{"days":{"$lt":12345678901234567890123}}}}"#;
    assert!(started.contains(expected), "{started}");
    assert_eq!(bed.results().verdict(), "passed");
}
