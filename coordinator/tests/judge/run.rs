//! A whole run with a judge.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::support::{Bed, Question, Verdict};
use crate::{bed, counts, counts_of, judged};

/// Both the agents' model and the judge's: questions of the judge are told by the form that they ask for.
const BOTH: &str = "
scenarios:
  - when: [this JSON object, Vienna]
    steps:
      - answer: '```json\n{\"verdict\": \"Passed\", \"reasoning\": \"It names what the tool returned.\"}\n```'
  - when: [this JSON object, Graz]
    steps:
      - answer: '{\"verdict\": \"pass\", \"reasoning\": \"It </script><img src=x onerror=alert(1)> is right.\"}'
  - when: [this JSON object, Linz]
    steps:
      - answer: 'I cannot say. {\"verdict\": \"inconclusive\", \"reasoning\": \"Too little is shown.\"}'
  - when: [this JSON object, Salzburg]
    steps:
      - answer: It is sunny in Salzburg.
      - answer: It is sunny in Salzburg, as I said.
  - when: Graz
    steps:
      - answer: It is sunny in Graz.
  - when: weather
    words: {city: [Vienna, Linz, Salzburg]}
    steps:
      - call: {tool: get_current_weather, arguments: {city: '{city}'}}
      - answer: '{city}: {result}'
";

#[test]
fn verdicts_that_agree_disagree_are_unclear_or_missing_stand_beside_what_was_measured() {
    let mut bed = Bed::new(BOTH);
    for city in ["Vienna", "Graz", "Linz", "Salzburg"] {
        bed.case(city, &format!("The weather in {city}?"), &["get_current_weather"]);
    }
    bed.config["judge"] = json!({ "baseUrl": format!("{}/v1", bed.model_url()), "model": "scripted-1" });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0), "a judge changes no exit code");
    let results = bed.results();
    assert_eq!(results.total("passed"), 3);
    assert_eq!(results.total("failed"), 1);
    assert_eq!(counts(&results), counts_of(3, 1, 1, 1, 1, 0));
    for (case, verdict, agreement) in [
        ("Vienna", "pass", "agrees"),
        ("Graz", "pass", "disagrees"),
        ("Linz", "uncertain", "not_compared"),
        ("Salzburg", "error", "not_compared"),
    ] {
        let judged = judged(&results, case);
        assert_eq!(
            (&judged["verdict"], &judged["agreement"]),
            (&json!(verdict), &json!(agreement)),
            "{case}"
        );
    }
    let reasoning = |case: &str| judged(&results, case)["reasoning"].as_str().unwrap().to_owned();
    assert_eq!(reasoning("Vienna"), "It names what the tool returned.");
    assert!(reasoning("Salzburg").contains("as I said"), "{}", reasoning("Salzburg"));
    assert!(results["totals"]["judge"]["usage"]["inputTokens"].as_u64().unwrap() > 1_000);
    assert_eq!(results["run"]["judge"]["model"], "scripted-1");

    let said: String = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("Judge scripted-1: 3 judged · 1 agree · 1 disagree · 1 not compared · 1 error"),
        "{}",
        ran.stdout
    );
    assert!(said.contains("⚖ judge disagrees, pass: Graz #1:"), "{}", ran.stdout);
    assert!(said.contains("⚖ judge failed on Salzburg #1:"), "{}", ran.stdout);
    assert!(said.contains("⚖ judge disagrees ×1"), "{}", ran.stdout);

    let page = fs::read_to_string(bed.reports().join("latest/report.html")).unwrap();
    assert!(page.contains("judge disagrees"), "there is a tile");
    assert!(!page.contains("<img"), "what a judge says is text");
}

#[test]
fn what_the_judge_is_shown_is_the_attempt_and_the_rubric() {
    let mut bed = bed();
    let judge = bed.judge(|_| Verdict::of("pass", "ok"));
    bed.full_case(
        "looked-up",
        &json!({
            "name": "looked-up", "prompt": "The weather in Vienna?", "expectedTools": ["get_current_weather"],
            "expectedOutcome": "Names the temperature.", "tone": "No exclamation marks.",
        }),
    );
    let ran = bed.run(&["--filter", "looked-up"]);
    assert_eq!(ran.code, Some(0));
    let asked = judge.asked();
    let about = |word: &str| {
        asked
            .iter()
            .find(|question| question.message(1).contains(word))
            .unwrap()
    };
    let opinion = about("Names the temperature.").message(1);
    for part in [
        "The weather in Vienna?",
        "get_current_weather",
        "{\"city\":\"Vienna\"}",
        "agent, turn 1: Vienna:",
    ] {
        assert!(opinion.contains(part), "{part}: {opinion}");
    }
    assert!(
        about("No exclamation marks.")
            .message(0)
            .contains("Judge the tone alone")
    );
    assert_eq!(asked.len(), 2);
    let results = bed.results();
    let judged = judged(&results, "looked-up");
    assert_eq!(judged["tone"]["verdict"], "pass");
    assert_eq!(judged["usage"]["inputTokens"], 2_000, "of both questions");
    assert_eq!(results.verdict(), "passed");
    assert_eq!(
        results.only()["expectations"].as_array().unwrap().len(),
        1,
        "a tone that does not gate is advisory"
    );
}

#[test]
fn a_judge_that_cannot_be_reached_breaks_nothing() {
    let mut bed = bed();
    let address = crate::support::unused_address();
    bed.config["judge"] = json!({ "baseUrl": format!("http://{address}/v1"), "model": "any" });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    assert_eq!(results.total("passed") + results.total("failed"), 2);
    assert_eq!(counts(&results), counts_of(0, 0, 0, 0, 2, 0));
    assert!(
        judged(&results, "guessed")["reasoning"]
            .as_str()
            .unwrap()
            .contains("cannot be reached")
    );
}

#[test]
fn iterations_that_say_nothing_about_the_agent_are_not_judged() {
    let mut bed = Bed::new("scenarios:\n  - when: weather\n    steps:\n      - {status: 503}\n");
    bed.case("weather", "The weather in Vienna?", &["get_current_weather"]);
    bed.config["run"]["maxAttempts"] = json!(1);
    let judge = bed.judge(|_| Verdict::of("pass", "ok"));
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(bed.results().verdict(), "invalid/model");
    assert_eq!(counts(&bed.results()), counts_of(0, 0, 0, 0, 0, 0));
    assert!(judge.asked().is_empty());
    assert!(bed.results().only()["judge"].is_null());
}

#[test]
fn a_graded_run_says_what_the_judge_had_said_of_its_recordings() {
    let mut bed = bed();
    let judge = bed.judge(|_| Verdict::of("pass", "ok"));
    assert_eq!(bed.run(&[]).code, Some(0));
    let asked = judge.asked().len();
    let ran = bed.start_program(&["grade", "latest", "-c", "eval.yaml"]).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said: String = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("2 judged · 1 agree · 1 disagree") && !said.contains("not judged"),
        "{}",
        ran.stdout
    );
    assert_eq!(judge.asked().len(), asked, "nobody is asked again");
}

#[test]
fn a_tone_on_which_the_judge_failed_is_asked_about_again_and_the_opinion_is_kept() {
    let mut bed = bed();
    bed.full_case(
        "looked-up",
        &json!({
            "name": "looked-up", "prompt": "The weather in Vienna?", "expectedTools": ["get_current_weather"],
            "tone": "No exclamation marks.",
        }),
    );
    let is_tone = |question: &Question| question.message(0).contains("Judge the tone alone");
    let well = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&well);
    let judge = bed.judge(
        move |question| match is_tone(question) && !seen.load(Ordering::SeqCst) {
            true => Verdict::Status(400, Vec::new(), "{}".to_owned()),
            false => Verdict::of("pass", "ok"),
        },
    );
    assert_eq!(bed.run(&[]).code, Some(0));
    let before = bed.results();
    assert_eq!(judged(&before, "looked-up")["verdict"], "pass");
    assert_eq!(judged(&before, "looked-up")["tone"]["verdict"], "error");

    let asked_before = judge.asked().len();
    well.store(true, Ordering::SeqCst);
    assert_eq!(bed.run(&["--resume"]).code, Some(0));
    let asked = judge.asked().split_off(asked_before);
    assert!(asked.len() == 1 && is_tone(&asked[0]), "{}", asked.len());
    let after = bed.results();
    assert_eq!(judged(&after, "looked-up")["tone"]["verdict"], "pass");
    assert_eq!(
        judged(&after, "looked-up")["usage"]["inputTokens"],
        2_000,
        "of each answer once"
    );
    assert_eq!(bed.run(&["--resume"]).code, Some(2), "nothing is left");
}
