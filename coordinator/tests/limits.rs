//! What a run may use, through the real program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Json;
use axum::routing::post;
use serde_json::{Value, json};
use support::{Bed, Results};

const SCENARIOS: &str = "scenarios:
  - when: weather
    steps:
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: Sunny.
";

/// What a million tokens of the scripted model cost: dear, so that few of them cost something.
const PRICE: f64 = 1_000.0;

fn bed(iterations: u32) -> Bed {
    let mut bed = Bed::new(SCENARIOS);
    bed.case("called", "What is the weather?", &["get_current_weather"]);
    bed.config["run"]["iterations"] = json!(iterations);
    bed.config["prices"] = json!({ "scripted-1": { "inputPerMillion": PRICE, "outputPerMillion": PRICE } });
    bed
}

/// Tokens of all attempts of a run.
fn used(results: &Results) -> u64 {
    let usage = &results["totals"]["usage"];
    usage["inputTokens"].as_u64().unwrap() + usage["outputTokens"].as_u64().unwrap()
}

/// Tokens that one attempt takes.
fn usual() -> u64 {
    let bed = bed(1);
    assert_eq!(bed.run(&[]).code, Some(0));
    used(&bed.results())
}

fn each<'a>(results: &'a Results, pointer: &str) -> Vec<&'a Value> {
    let iterations = results.iterations().iter();
    iterations.filter_map(|iteration| iteration.pointer(pointer)).collect()
}

#[test]
fn a_run_stops_at_its_tokens_with_exit_code_4_and_goes_on_with_more() {
    let one = usual();
    let mut bed = bed(6);
    let limit = one * 3 + one / 2;
    bed.config["run"]["limits"] = json!({ "maxTokens": limit });
    let ran = bed.run(&["--concurrency", "1"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(
        ran.stdout.contains(&format!("at most {limit} tokens")),
        "{}",
        ran.stdout
    );
    let told = format!(
        "mcproctor: stopped: run.limits.maxTokens is reached: {} tokens of {limit} tokens were used, and what is left is less than \
         one attempt usually takes; raise it and go on with --resume\n",
        one * 3
    );
    assert_eq!(ran.stderr.matches(&told).count(), 1, "{}", ran.stderr);
    let results = bed.results();
    let why = told.trim_start_matches("mcproctor: stopped: ").trim_end();
    assert_eq!(results["run"]["stopped"], why);
    assert!(
        bed.latest("summary.md")
            .contains(&format!("**Stopped before its end:** `{why}`"))
    );
    // The page escapes no character of this sentence.
    assert!(
        bed.latest("report.html")
            .contains(&format!("The run was stopped before its end: {why}"))
    );
    assert_eq!(used(&results), one * 3, "the limit holds three of them and a half");
    let passed = results.total("passed");
    assert_eq!(passed, 3);
    assert_eq!(results.total("failed") + results.total("invalid"), 0);
    assert_eq!(results.total("notRun"), 3);
    assert_eq!(results["run"]["state"], "aborted");
    assert_eq!(results["run"]["agents"][0]["price"]["inputPerMillion"], json!(PRICE));

    let ran = bed.run(&["--resume"]);
    assert_eq!(ran.code, Some(4), "what was spent before counts: {}", ran.stderr);
    assert_eq!(bed.results().total("passed"), passed);

    bed.config["run"]["limits"]["maxTokens"] = json!(one * 20);
    let ran = bed.run(&["--resume"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("those before cost $"), "{}", ran.stdout);
    assert_eq!(bed.results().total("passed"), 6);
    assert_eq!(bed.results()["run"]["stopped"], Value::Null);
    assert!(!bed.latest("summary.md").contains("Stopped before"));

    // A new run of the same agents knows what it may cost.
    let ran = bed.run(&["-i", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("those of the run 2"), "{}", ran.stdout);
}

#[test]
fn a_run_stops_at_its_money_and_its_cost_is_tokens_times_price() {
    #[expect(clippy::cast_precision_loss, reason = "few tokens")]
    let dollars = |tokens: u64| tokens as f64 * PRICE / 1e6;
    let one = usual();
    let mut bed = bed(6);
    bed.config["run"]["limits"] = json!({ "maxCostUsd": dollars(one * 3) });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("run.limits.maxCostUsd is reached"),
        "{}",
        ran.stderr
    );
    let results = bed.results();
    let cost = results["totals"]["usage"]["costUsd"].as_f64().unwrap();
    assert!((cost - dollars(used(&results))).abs() < 1e-9, "{cost}");
    assert!(cost <= dollars(one * 3), "{cost}");
    assert!((1..6).contains(&results.total("passed")));
}

#[test]
fn an_attempt_that_uses_up_what_it_may_is_invalid_and_never_the_agents_failure() {
    let one = usual();
    let mut bed = bed(1);
    // Enough for its first request, not for its second.
    bed.config["run"]["limits"] = json!({ "maxTokens": one / 4 });
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let results = bed.results();
    assert_eq!(
        each(&results, "/earlierAttempts/0/cause"),
        [&json!("limit")],
        "{:#}",
        results["iterations"]
    );
    let reason = each(&results, "/earlierAttempts/0/reason")[0].as_str().unwrap();
    assert!(
        reason.contains("used up what was set aside for it of run.limits"),
        "{reason}"
    );
    assert_eq!(results.total("failed"), 0);
    assert_eq!(bed.asked().iter().filter(|asked| asked.turn.is_some()).count(), 1);

    // With more it is tried again under its next number, although two attempts are the most.
    bed.config["run"]["limits"]["maxTokens"] = json!(one * 10);
    let ran = bed.run(&["--resume"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let results = bed.results();
    assert_eq!(
        (results.verdict().as_str(), &results.only()["attempts"]),
        ("passed", &json!(2))
    );
}

#[test]
fn a_rate_delays_requests_and_the_delay_is_nobodys_time() {
    let mut bed = bed(3);
    // Two requests each, one every half second; alone they would take no time.
    bed.config["run"]["limits"] = json!({ "requestsPerMinute": 120 });
    bed.config["run"]["timeoutSeconds"] = json!(1);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.took >= Duration::from_millis(2_500), "{:?}", ran.took);
    let results = bed.results();
    assert_eq!(results.verdicts(), ["passed"; 3]);
    assert_eq!(each(&results, "/attempts"), [&json!(1); 3]);
    let held: u64 = each(&results, "/traffic/heldMs")
        .iter()
        .map(|held| held.as_u64().unwrap())
        .sum();
    assert!(held > 1_000, "{held}");
}

#[test]
fn limits_that_cannot_be_kept_to_are_refused_before_anything_runs() {
    let refused = |change: &dyn Fn(&mut Bed), words: &[&str]| {
        let mut bed = bed(1);
        change(&mut bed);
        for command in ["run", "check"] {
            let ran = match command {
                "run" => bed.run(&[]),
                _ => bed.start_program(&["check", "-c", "eval.yaml"]).wait(),
            };
            assert_eq!(ran.code, Some(2), "{command}: {}{}", ran.stdout, ran.stderr);
            for word in words {
                let said = format!("{}{}", ran.stdout, ran.stderr);
                assert!(said.contains(word), "{command}: {word} in {said}");
            }
        }
        assert!(bed.asked().is_empty());
    };
    refused(
        &|bed| {
            bed.config["run"]["limits"] = json!({ "maxCostUsd": 1 });
            bed.config["prices"] = json!({});
        },
        &[
            ": run.limits.maxCostUsd: the price of scripted-1",
            "`prices: {scripted-1: {inputPerMillion: …",
            "eval.yaml:",
        ],
    );
    refused(
        &|bed| {
            bed.config["run"]["limits"] = json!({ "requestsPerMinute": 1 });
            let unseen = bed.command("unseen", "cat", &[]);
            bed.agents(&[unseen]);
        },
        &[
            ": run.limits.requestsPerMinute: what the agent unseen uses is not seen",
            "modelApi",
            "eval.yaml:",
        ],
    );
}

/// A model that answers every request with this, at an address of its own.
fn model(answer: Value) -> (tokio::runtime::Runtime, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/v1/chat/completions", post(move || async move { Json(answer) }));
    runtime.spawn(async move { axum::serve(listener, router).await });
    (runtime, url)
}

#[test]
fn a_run_whose_limits_turn_out_not_to_be_kept_to_stops_at_the_first_attempt() {
    let answer =
        json!({ "model": "scripted-1", "choices": [{ "message": { "role": "assistant", "content": "Hello." } }] });
    let mut unpriced = answer.clone();
    unpriced["model"] = json!("another");
    unpriced["usage"] = json!({ "prompt_tokens": 5, "completion_tokens": 1 });
    for (answer, said) in [
        (answer, "does not tell how many tokens"),
        (unpriced, "another answered, and its price is not known"),
    ] {
        let (_model, url) = model(answer);
        let mut bed = bed(20);
        bed.config["run"]["agents"][0]["baseUrl"] = json!(url);
        bed.config["run"]["limits"] = json!({ "maxCostUsd": 1 });
        let ran = bed.run(&["--concurrency", "1"]);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        let results = bed.results();
        assert_eq!(
            (results.total("failed"), results.total("notRun")),
            (1, 19),
            "it went on"
        );
    }
}

/// An agent that asks its model with these lines of Python, and a model that answers as `answers` says.
fn stray(bed: &mut Bed, script: &str, answers: axum::routing::MethodRouter) -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/v1/chat/completions", answers);
    runtime.spawn(async move { axum::serve(listener, router).await });
    let mut agent = bed.command("stray", "python3", &["-c", script, "{model_url}"]);
    agent["modelApi"] = json!("chatCompletions");
    agent["baseUrl"] = json!(url);
    agent["apiKey"] = json!("k");
    bed.agents(&[agent]);
    runtime
}

#[test]
fn an_agent_that_gives_up_what_it_asks_gets_no_further_than_what_is_set_aside_for_it() {
    const SCRIPT: &str = "
import socket, sys, time, urllib.parse
at = urllib.parse.urlsplit(sys.argv[1])
body = '{\"model\":\"scripted-1\",\"messages\":[]}'
request = 'POST %s/chat/completions HTTP/1.1\\r\\nhost: %s\\r\\ncontent-length: %d\\r\\n\\r\\n%s' % (at.path, at.netloc, len(body), body)
for _ in range(12):
    asking = socket.create_connection((at.hostname, at.port))
    asking.sendall(request.encode())
    asking.settimeout(0.3)
    try: print(asking.recv(100))
    except TimeoutError: pass
    asking.close()
";
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let never = post(move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<()>().await;
    });
    let mut bed = bed(3);
    let _model = stray(&mut bed, SCRIPT, never);
    bed.config["run"]["limits"] = json!({ "maxTokens": 300_000 });
    let ran = bed.run(&["--concurrency", "1"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    // 200,000 tokens are set aside, and each request may have used 128,000.
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let results = bed.results();
    let reason = each(&results, "/earlierAttempts/0/reason")[0].as_str().unwrap();
    assert!(
        reason.contains("2 requests may have used that did not tell"),
        "{reason}"
    );
    assert_eq!(results.total("failed"), 0);
}

#[test]
fn an_agent_that_asks_for_a_model_of_its_own_choice_stops_no_run() {
    const SCRIPT: &str = "
import sys, urllib.request
request = urllib.request.Request(sys.argv[1] + '/chat/completions', b'{\"model\":\"nonesuch\",\"messages\":[]}')
try: urllib.request.urlopen(request)
except urllib.error.HTTPError as error: print(error.code)
";
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    // It reads what it is asked before it refuses: a refusal that comes sooner is not the model's.
    let none = post(move |body: String| async move {
        assert!(body.contains("nonesuch"));
        counted.fetch_add(1, Ordering::SeqCst);
        let no = json!({ "error": { "message": "The model `nonesuch` does not exist", "code": "model_not_found" } });
        (axum::http::StatusCode::NOT_FOUND, Json(no))
    });
    let mut bed = bed(3);
    let _model = stray(&mut bed, SCRIPT, none);
    bed.config["run"]["maxAttempts"] = json!(1);
    let ran = bed.run(&[]);
    assert!(!ran.stderr.contains("stopped"), "{}", ran.stderr);
    assert_eq!(asked.load(Ordering::SeqCst), 3, "every iteration was held");
    assert_eq!(bed.results().total("notRun"), 0);
}
