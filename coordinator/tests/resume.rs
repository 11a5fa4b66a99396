//! No acknowledged result is lost, whatever is killed and whenever; a stopped run is gone on with.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail by panicking"
)]

mod support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mcproctor::store::{AttemptFilter, Reader};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use support::Bed;

/// Times that the coordinator is killed.
const KILLS: u32 = 10;

/// Iterations of each of the two test cases.
const ITERATIONS: u32 = 150;

/// Cell, iteration, attempt.
type Key = (u64, u64, u64);

/// Two test cases, of which one fails every other time; no turn is over in an instant.
fn bed() -> Bed {
    let mut bed = Bed::new(
        "
scenarios:
  - when: Always
    steps:
      - {call: {tool: get_current_weather, arguments: {city: Vienna}}, delayMs: 60}
      - answer: Sunny.
  - when: Sometimes
    plays:
      pass: [{call: {tool: get_current_weather, arguments: {city: Graz}}, delayMs: 30}, {answer: Sunny.}]
      fail: [{answer: Probably sunny., delayMs: 60}]
    every: [pass, fail]
",
    );
    bed.case("always", "Always.", &["get_current_weather"]);
    bed.case("sometimes", "Sometimes.", &["get_current_weather"]);
    bed.config["run"]["concurrency"] = json!(3);
    bed.config["run"]["iterations"] = json!(ITERATIONS);
    bed
}

/// The results that the lines of `--output json` tell of; a last line that was cut is none.
fn acknowledged(stdout: &str) -> BTreeMap<Key, Value> {
    let events = stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events
        .filter(|event| event["event"] == "attempt_finished")
        .map(|event| {
            let part = |name: &str| event["key"][name].as_u64().unwrap();
            (
                (part("cell"), part("iteration"), part("attempt")),
                event["outcome"].clone(),
            )
        })
        .collect()
}

fn finished(stdout: &str) -> usize {
    let begun = stdout.find("\"run_started\"").unwrap_or(stdout.len());
    stdout[begun..].matches("\"attempt_finished\"").count()
}

/// Every attempt in the store: its outcome, and whether it is the iteration's result.
fn stored(bed: &Bed) -> BTreeMap<Key, (Value, bool)> {
    let reader = Reader::open(&bed.reports()).unwrap();
    let runs = reader.runs().unwrap();
    assert_eq!(runs.len(), 1, "a resumed run is the same run");
    let mut attempts = BTreeMap::new();
    reader
        .for_each_attempt(&runs[0].id, AttemptFilter::ALL, &mut |attempt| {
            let key = (attempt.cell.into(), attempt.iteration.into(), attempt.attempt.into());
            attempts.insert(key, (serde_json::to_value(attempt.outcome).unwrap(), attempt.last));
            ControlFlow::Continue(())
        })
        .unwrap();
    attempts
}

#[test]
fn ten_kills_of_the_coordinator_lose_no_acknowledged_result() {
    let seed = std::env::var("MCPROCTOR_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(rand::random::<u64>);
    eprintln!("MCPROCTOR_SEED={seed} repeats these moments");
    let mut moments = StdRng::seed_from_u64(seed);

    let bed = bed();
    let mut known: BTreeMap<Key, Value> = BTreeMap::new();
    for kill in 0..KILLS {
        let mut extra = vec!["--output", "json"];
        if kill > 0 {
            extra.push("--resume");
        }
        let mut running = bed.start(&extra);
        let results = moments.random_range(0..6);
        running.wait_for("result", |out| {
            out.contains("\"run_started\"") && finished(out) >= results
        });
        std::thread::sleep(Duration::from_millis(moments.random_range(0..300)));
        running.signal(Signal::KILL);
        let stdout = running.wait().stdout;
        known.extend(acknowledged(&stdout));
        // Nobody is left who could go on without its coordinator.
        bed.wait_until_nothing_runs();
        let stored = stored(&bed);
        for (key, outcome) in &known {
            assert_eq!(
                stored.get(key).map(|(outcome, _)| outcome),
                Some(outcome),
                "{key:?} after kill {kill}"
            );
        }
    }
    assert!(known.len() >= 10, "the run went on between the kills: {}", known.len());

    let ran = bed.run(&["--resume", "--output", "json"]);
    assert_eq!(ran.code, Some(0));
    known.extend(acknowledged(&ran.stdout));
    let stored = stored(&bed);
    for (key, outcome) in &known {
        assert_eq!(
            stored.get(key).map(|(outcome, _)| outcome),
            Some(outcome),
            "{key:?} at the end"
        );
    }
    let mut results: BTreeMap<(u64, u64), u32> = BTreeMap::new();
    for ((cell, iteration, _), (_, last)) in &stored {
        *results.entry((*cell, *iteration)).or_default() += u32::from(*last);
    }
    assert_eq!(results.len(), 2 * ITERATIONS as usize);
    assert!(results.values().all(|&results| results == 1), "{results:?}");

    let report = bed.results();
    assert_eq!(report["run"]["state"], "completed");
    assert_eq!(report.iterations().len(), 2 * ITERATIONS as usize);
    assert_eq!(
        report.total("passed") + report.total("failed"),
        u64::from(2 * ITERATIONS)
    );
    assert_eq!(
        report["cells"][0]["passed"],
        json!(ITERATIONS),
        "{:#}",
        report["cells"][0]
    );
    bed.wait_until_nothing_runs();
}

#[test]
fn interrupted_once_it_stops_cleanly_and_a_resume_completes_it() {
    let bed = bed();
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("third result", |out| finished(out) >= 3);
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130));
    let events = ran.events();
    assert!(
        events
            .iter()
            .any(|event| event["event"] == "stopping" && event["reason"] == "interrupted")
    );
    let last = events.last().unwrap();
    assert_eq!(
        (&last["event"], &last["state"]),
        (&json!("run_finished"), &json!("aborted"))
    );
    bed.wait_until_nothing_runs();

    let report = bed.results();
    assert_eq!(report["run"]["state"], "aborted");
    let judged = report.total("passed") + report.total("failed");
    assert!(judged >= 3, "what was finished is reported");
    let first = stored(&bed);
    assert!(
        first.values().all(|(outcome, last)| *last != (outcome == "aborted")),
        "{first:?}"
    );

    assert_eq!(bed.run(&["--resume"]).code, Some(0));
    let report = bed.results();
    assert_eq!(report["run"]["state"], "completed");
    assert_eq!(
        report.total("passed") + report.total("failed"),
        u64::from(2 * ITERATIONS)
    );
    assert_eq!(report.total("aborted"), 0);
    let second = stored(&bed);
    assert!(first.iter().all(|(key, attempt)| second.get(key) == Some(attempt)));
    bed.wait_until_nothing_runs();
}

#[test]
fn interrupted_twice_it_ends_at_once_and_nothing_is_left_running() {
    let bed = bed();
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("result", |out| finished(out) >= 1);
    // A worker that does nothing any more would hold up a clean stop.
    let worker = Pid::from_raw(running.workers()[0].id).unwrap();
    kill_process(worker, Signal::STOP).unwrap();
    running.signal(Signal::INT);
    running.wait_for("stop", |out| out.contains("\"stopping\""));
    let second = Instant::now();
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130));
    assert!(second.elapsed() < Duration::from_secs(5), "{:?}", second.elapsed());
    kill_process(worker, Signal::CONT).unwrap();
    bed.wait_until_nothing_runs();
    assert_eq!(bed.run(&["--resume"]).code, Some(0));
    assert_eq!(bed.results()["run"]["state"], "completed");
}

#[test]
fn a_termination_signal_is_a_clean_stop_too() {
    let bed = bed();
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("result", |out| finished(out) >= 1);
    running.signal(Signal::TERM);
    assert_eq!(running.wait().code, Some(130));
    assert_eq!(bed.results()["run"]["state"], "aborted");
    bed.wait_until_nothing_runs();
}

#[test]
fn a_changed_config_or_test_case_is_not_gone_on_with() {
    let mut bed = bed();
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("result", |out| finished(out) >= 1);
    running.signal(Signal::INT);
    running.wait();

    bed.config["run"]["timeoutSeconds"] = json!(29);
    let ran = bed.run(&["--resume"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("the config or the test cases have changed"),
        "{}",
        ran.stderr
    );
    bed.config["run"]["timeoutSeconds"] = json!(30);
    bed.case("always", "Always!", &["get_current_weather"]);
    assert_eq!(bed.run(&["--resume"]).code, Some(2));
    bed.case("always", "Always.", &["get_current_weather"]);
    assert_eq!(bed.run(&["--resume", "no-such-run"]).code, Some(2));
    assert_eq!(bed.run(&["--resume"]).code, Some(0));
    let ran = bed.run(&["--resume"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("is complete"), "{}", ran.stderr);
}

#[test]
fn two_coordinators_do_not_share_a_run() {
    let bed = bed();
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("result", |out| finished(out) >= 1);
    let second = bed.run(&["--resume"]);
    assert_eq!(second.code, Some(3));
    let holder = format!("process {}", running.id());
    assert!(
        second.stderr.contains("take over the run") && second.stderr.contains(&holder),
        "{}",
        second.stderr
    );
    assert_eq!(running.wait().code, Some(0));
    let report = bed.results();
    assert_eq!(report["run"]["state"], "completed");
    assert_eq!(report.iterations().len(), 2 * ITERATIONS as usize);
}

#[test]
fn iterations_that_stayed_invalid_before_a_resume_still_count_for_the_exit_code() {
    let mut bed = Bed::new(
        "
scenarios:
  - {when: Good, steps: [{call: {tool: get_current_weather, arguments: {city: Vienna}}, delayMs: 200}, {answer: Sunny.}]}
  - {when: Bad, steps: [{status: 500, retryAfter: 0}]}
",
    );
    bed.case("bad", "Bad.", &["get_current_weather"]);
    bed.case("good", "Good.", &["get_current_weather"]);
    bed.config["run"]["maxAttempts"] = json!(1);
    let mut running = bed.start(&["--output", "json", "-i", "20"]);
    running.wait_for("invalid result", |out| out.contains("{\"invalid\":\"model\"}"));
    running.signal(Signal::KILL);
    running.wait();
    bed.wait_until_nothing_runs();
    // The test cases that are left are good ones, unless a bad one was cut off.
    let ran = bed.run(&["--resume", "-i", "20"]);
    assert_eq!(ran.code, Some(3));
    let invalid = bed.results().total("invalid");
    assert!(
        ran.stderr.contains(&format!("{invalid} iterations stayed invalid")),
        "{invalid}: {}",
        ran.stderr
    );
}

#[test]
fn the_command_that_is_shown_for_going_on_does_go_on() {
    let bed = bed();
    let mut running = bed.start(&["-i", "12", "--filter", "it's not there", "--filter", "always"]);
    running.wait_for("start", |out| out.contains("12 conversations"));
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130));
    let shown = ran.stdout.split_once("Go on with: mcproctor ").unwrap().1;
    let command = shown.lines().next().unwrap().split('│').next().unwrap().trim();
    let script = format!("exec \"$0\" {command}");
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(bed.path("mcproctor"))
        .current_dir(bed.path(""))
        .env("XDG_CACHE_HOME", bed.path("cache"))
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report = bed.results();
    assert_eq!(report["run"]["state"], "completed");
    assert_eq!(report.iterations().len(), 12);
}

#[test]
fn a_resume_repeats_what_the_command_line_had_changed_and_the_database_is_whole_at_the_end() {
    let bed = bed();
    let mut running = bed.start(&["-i", "3", "--output", "json"]);
    running.wait_for("first result", |out| finished(out) >= 1);
    running.signal(Signal::INT);
    assert_eq!(running.wait().code, Some(130));
    let ran = bed.run(&["--resume"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(" more conversation"), "{}", ran.stdout);
    assert_eq!(bed.results()["run"]["iterations"], 3);

    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(bed.reports().join("mcproctor.db"), copy.path().join("mcproctor.db")).unwrap();
    let reader = mcproctor::store::Reader::open(copy.path()).unwrap();
    let head = reader.runs().unwrap().remove(0);
    assert_eq!(head.state, mcproctor::record::RunState::Completed);
    assert_eq!(head.passed + head.failed, head.total_iterations());
}
