//! What a test case leaves to the judge: the choice among replies, and a tone that gates.

use serde_json::{Value, json};

use crate::support::{Bed, Question, Verdict};
use crate::{counts, counts_of};

/// A model that asks twice before it acts.
const ASKS: &str = "
scenarios:
  - when: forecast
    words: {city: [Vienna, Graz]}
    steps:
      - ask: Which city?
      - ask: How many days?
      - call: {tool: get_forecast, arguments: {city: '{city}', days: 1}}
      - answer: 'The forecast for {city}: {result}'
";

fn asks(replies: &[&str]) -> Bed {
    let bed = Bed::new(ASKS);
    bed.full_case(
        "forecast",
        &json!({
            "name": "forecast", "prompt": "A forecast, please.", "expectedTools": ["get_forecast"],
            "answers": { "choose": "judge", "from": replies },
        }),
    );
    bed
}

fn is_choice(question: &Question) -> bool {
    question.message(0).contains("\"reply\"")
}

/// The number under which a reply is shown.
fn number_of(question: &Question, reply: &str) -> Option<u64> {
    let shown = question.message(1);
    let line = shown.lines().find(|line| line.ends_with(reply))?;
    line.split('.').next()?.parse().ok()
}

fn picks(question: &Question, reply: &str) -> Verdict {
    Verdict::Says(json!({ "reply": number_of(question, reply), "reasoning": "it was asked" }).to_string())
}

fn said(results: &Value) -> Vec<String> {
    let turns = results["turns"].as_array().unwrap();
    turns
        .iter()
        .map(|turn| turn["prompt"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_judge_picks_the_reply_that_fits_and_each_is_used_once() {
    let mut bed = asks(&["One day.", "Graz.", "Never mind."]);
    let judge = bed.judge(|question| {
        let last = question.message(1).contains("How many days?");
        match is_choice(question) {
            true if last => picks(question, "One day."),
            true => picks(question, "Graz."),
            false => Verdict::of("pass", "ok"),
        }
    });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "passed");
    assert_eq!(said(results.only()), ["A forecast, please.", "Graz.", "One day."]);
    let choices = &results.only()["judge"]["choices"];
    assert_eq!([&choices[0]["reply"], &choices[1]["reply"]], [1, 0]);
    assert_eq!(choices[0]["afterTurn"], 0);
    let questions: Vec<Question> = judge.asked().into_iter().filter(is_choice).collect();
    assert_eq!(questions.len(), 2);
    assert_eq!(
        number_of(&questions[1], "Graz."),
        None,
        "what was used is not offered again"
    );
    assert_eq!(counts(&results), counts_of(1, 1, 0, 0, 0, 0));
    assert_eq!(results.only()["judge"]["usage"]["inputTokens"], 3_000);
}

#[test]
fn when_no_reply_fits_the_conversation_ends_and_the_agent_is_judged_by_what_it_did() {
    let mut bed = asks(&["One day."]);
    let _judge = bed.judge(|question| match is_choice(question) {
        true => Verdict::Says("{\"reply\": null, \"reasoning\": \"it asked for a city\"}".to_owned()),
        false => Verdict::of("fail", "no forecast"),
    });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    assert_eq!(results.only()["outcome"], "failed");
    assert_eq!(said(results.only()), ["A forecast, please."]);
}

#[test]
fn a_judge_that_cannot_pick_makes_the_attempt_invalid_and_is_never_the_agents_fault() {
    let mut bed = asks(&["One day."]);
    bed.config["run"]["maxAttempts"] = json!(1);
    let _judge =
        bed.judge(|_| Verdict::Status(401, Vec::new(), "{\"error\":{\"message\":\"no such key\"}}".to_owned()));
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/machinery");
    assert_eq!(
        results.reason(),
        "the judge did not pick a reply: the endpoint answered 401: no such key"
    );
}

/// A completion that says nothing of use and claims to have cost this many tokens.
fn babble(tokens: u64) -> Verdict {
    let body = json!({
        "choices": [{ "message": { "content": "Well." } }],
        "usage": { "prompt_tokens": tokens, "completion_tokens": tokens, "cost": 0.5 },
    });
    Verdict::Status(200, Vec::new(), body.to_string())
}

#[test]
fn what_choices_cost_that_were_not_made_is_counted_over_all_attempts() {
    let mut bed = asks(&["One day."]);
    bed.config["run"]["maxAttempts"] = json!(2);
    let judge = bed.judge(|_| babble(100));
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/machinery");
    assert_eq!(judge.asked().len(), 4, "twice in each attempt");
    assert_eq!(results.only()["judge"]["usage"]["inputTokens"], 200);
    let total = &results["totals"]["judge"]["usage"];
    assert_eq!([&total["inputTokens"], &total["outputTokens"]], [400, 400]);
    assert_eq!(total["costUsd"], 2.0);
}

#[test]
fn counts_of_tokens_that_nobody_can_have_used_do_not_hold_the_run_up() {
    let mut bed = asks(&["One day."]);
    bed.config["run"]["maxAttempts"] = json!(1);
    let _judge = bed.judge(|_| babble(u64::MAX));
    assert_eq!(bed.run(&[]).code, Some(3));
    assert_eq!(bed.results().verdict(), "invalid/machinery");
    let (bed, _judge) = gated(|_| babble(u64::MAX));
    assert_eq!(bed.run(&[]).code, Some(3));
    assert_eq!(bed.results().only()["judge"]["usage"]["inputTokens"], u64::MAX);
}

/// A test case that passes but for its tone.
fn gated(mind: impl Fn(&Question) -> Verdict + Send + Sync + 'static) -> (Bed, crate::support::FakeJudge) {
    let mut bed = Bed::new(crate::AGENT);
    bed.full_case(
        "gated",
        &json!({
            "name": "gated", "prompt": "The weather in Vienna?", "expectedTools": ["get_current_weather"],
            "tone": { "rubric": "Kind.", "gate": true },
        }),
    );
    bed.config["run"]["maxAttempts"] = json!(1);
    let judge = bed.judge(mind);
    (bed, judge)
}

fn is_tone(question: &Question) -> bool {
    question.message(0).contains("the tone alone")
}

#[test]
fn a_tone_that_gates_is_an_expectation() {
    let (bed, judge) = gated(|question| match is_tone(question) {
        true => Verdict::of("fail", "It is curt."),
        false => Verdict::of("pass", "ok"),
    });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    let iteration = results.only();
    assert_eq!(iteration["outcome"], "failed");
    let tone = &iteration["expectations"][1];
    assert_eq!(
        (&tone["family"], &tone["met"], &tone["why"]),
        (&json!("tone"), &json!(false), &json!("It is curt."))
    );
    assert!(results.reason().contains("It is curt."), "{}", results.reason());
    assert_eq!(iteration["judge"]["tone"]["verdict"], "fail");
    assert_eq!(judge.asked().into_iter().filter(is_tone).count(), 1, "it is asked once");
    assert_eq!(
        counts(&results),
        counts_of(1, 0, 0, 1, 0, 0),
        "what the judge itself decided is compared with nothing"
    );
}

#[test]
fn a_tone_that_is_kept_to_opens_the_gate() {
    let (bed, _judge) = gated(|_| Verdict::of("pass", "It is kind."));
    assert_eq!(bed.run(&[]).code, Some(0));
    assert_eq!(bed.results().verdict(), "passed");
    assert_eq!(bed.results().only()["expectations"][1]["met"], true);
}

#[test]
fn a_judge_that_fails_on_a_tone_that_gates_makes_the_attempt_invalid() {
    let (bed, _judge) = gated(|_| Verdict::Says("I like it.".to_owned()));
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/machinery");
    assert!(
        results.reason().starts_with("the judge did not judge the tone:"),
        "{}",
        results.reason()
    );
}

#[test]
fn control_c_does_not_wait_for_a_tone_that_gates() {
    let (bed, judge) = gated(|_| Verdict::Silence);
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("the last call", |stdout| stdout.contains("\"event\":\"call_ended\""));
    while judge.asked().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.signal(rustix::process::Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130));
    assert!(ran.stdout.contains("\"outcome\":\"aborted\""), "{}", ran.stdout);
}

#[test]
fn a_worker_that_dies_while_only_the_judge_is_waited_for_costs_no_attempt() {
    let open = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let gate = std::sync::Arc::clone(&open);
    let (bed, judge) = gated(move |_| {
        while !gate.load(std::sync::atomic::Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Verdict::of("pass", "It is kind.")
    });
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("the last call", |stdout| stdout.contains("\"event\":\"call_ended\""));
    while judge.asked().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let workers = running.workers();
    assert_eq!(workers.len(), 1);
    crate::support::end(&workers[0]);
    while running.workers().iter().all(|worker| worker.id == workers[0].id) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    open.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(running.wait().code, Some(0));
    assert_eq!(bed.results().verdict(), "passed");
    assert_eq!(bed.results().only()["attempts"], 1);
}

#[test]
fn what_needs_a_judge_is_refused_without_one() {
    let bed = asks(&["One day."]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("forecast.yaml") && ran.stderr.contains("answers.choose") && ran.stderr.contains("`judge`"),
        "{}",
        ran.stderr
    );
}
