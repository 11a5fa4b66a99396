//! A judge that takes its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Question, Verdict};
use crate::{bed, counts, counts_of};

/// A judge that answers nobody before it is let.
struct Gate(Arc<AtomicBool>);

impl Gate {
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn mind(&self) -> impl Fn(&Question) -> Verdict + Send + Sync + 'static {
        let open = Arc::clone(&self.0);
        move |_| {
            while !open.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            Verdict::of("pass", "ok")
        }
    }
}

#[test]
fn a_judge_that_answers_only_after_the_last_attempt_holds_none_of_them_up() {
    let gate = Gate::new();
    let mut bed = bed();
    let judge = bed.judge(gate.mind());
    bed.config["run"]["iterations"] = json!(6);
    let mut running = bed.start(&["--output", "json"]);
    let finished = |stdout: &str| stdout.matches("\"event\":\"attempt_finished\"").count();
    running.wait_for("last attempt", |stdout| finished(stdout) == 12);
    running.wait_for("word that the judge is waited for", |stdout| {
        stdout.contains("waiting for the judge")
    });
    assert!(judge.asked().len() <= 4, "a few at once");
    gate.open();
    let ran = running.wait();
    assert_eq!(ran.code, Some(0));
    let kinds: Vec<String> = ran
        .events()
        .iter()
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .filter(|kind| kind == "attempt_finished" || kind == "judged")
        .collect();
    let order: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(order, [["attempt_finished"; 12], ["judged"; 12]].concat());
    assert_eq!(counts(&bed.results()), counts_of(12, 6, 6, 0, 0, 0));
}

#[test]
fn control_c_leaves_the_rest_not_judged_and_a_resumed_run_judges_that_alone() {
    let mut bed = bed();
    let answered = Arc::new(AtomicUsize::new(0));
    let gate = Gate::new();
    let (first, open) = (Arc::clone(&answered), Arc::clone(&gate.0));
    let judge = bed.judge(move |question| {
        // The first question is answered; the others are not before the run is resumed.
        if first.fetch_add(1, Ordering::SeqCst) == 0 || open.load(Ordering::SeqCst) {
            return Verdict::of("pass", "ok");
        }
        let _ = question;
        Verdict::Silence
    });
    bed.config["judge"]["timeoutSeconds"] = json!(120);
    bed.config["run"]["iterations"] = json!(3);
    let mut running = bed.start(&["--output", "json"]);
    running.wait_for("a verdict and the end of the attempts", |stdout| {
        stdout.contains("\"event\":\"judged\"") && stdout.contains("waiting for the judge")
    });
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130));
    assert!(ran.stdout.contains("5 iterations not judged"), "{}", ran.stdout);
    let results = bed.results();
    assert_eq!(results["run"]["state"], "completed", "every iteration has its result");
    assert_eq!(results["totals"]["judge"]["notJudged"], 5);

    gate.open();
    let asked_before = judge.asked().len();
    let ran = bed.run(&["--resume", "--output", "json"]);
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stdout.contains("attempt_started"), "nothing is run again");
    assert_eq!(judge.asked().len() - asked_before, 5);
    assert_eq!(counts(&bed.results()), counts_of(6, 3, 3, 0, 0, 0));

    let ran = bed.run(&["--resume"]);
    assert_eq!(ran.code, Some(2), "nothing is left");
    assert!(ran.stderr.contains("complete"), "{}", ran.stderr);
}
