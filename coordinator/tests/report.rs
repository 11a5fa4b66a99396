//! What reports promise to programs and readers, checked on the files that `write_all` leaves.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/code_spans.rs"]
mod code_spans;
#[path = "report/command.rs"]
mod command;
#[path = "report/figures.rs"]
mod figures;
#[path = "report/junit.rs"]
mod junit;
#[path = "report/markdown.rs"]
mod markdown;
#[path = "../examples/report_sample/sample/mod.rs"]
mod sample;
#[path = "report/schema.rs"]
mod schema;

use sample::write_all;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use mcproctor::outcome::{FailureClass, InvalidCause, Outcome};
use mcproctor::record::{AttemptRecord, RunRecord, RunState};
use mcproctor::report::{Format, MemoryRun, ReportError, RunData, SummaryBuilder, write};
use serde_json::Value;

fn results(run: &dyn RunData) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(run, folder.path()).unwrap();
    serde_json::from_slice(&std::fs::read(written.json).unwrap()).unwrap()
}

fn page(run: &dyn RunData) -> String {
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(run, folder.path()).unwrap();
    std::fs::read_to_string(written.html).unwrap()
}

/// What a reader without scripts sees, without the markup.
fn visible_text(page: &str) -> String {
    let body = page.split_once("<body").unwrap().1.split_once("id=\"plan\"").unwrap().0;
    // Where a line may break, nothing ends.
    let body = body.replace("<wbr>", "");
    let mut text = String::new();
    for part in body.split('<').skip(1) {
        let words = part.split_once('>').map_or("", |(_, words)| words).trim();
        if !words.is_empty() {
            text.push_str(words);
            text.push('\n');
        }
    }
    text
}

/// A run whose attempts are made when they are asked for, and which may fail at the end of a later pass.
struct Stream<'a> {
    base: &'a MemoryRun,
    attempt: Box<dyn Fn(u32) -> AttemptRecord + Sync + 'a>,
    iterations: u32,
    good_passes: AtomicU32,
}

impl<'a> Stream<'a> {
    fn of(base: &'a MemoryRun, iterations: u32, attempt: impl Fn(u32) -> AttemptRecord + Sync + 'a) -> Self {
        Self {
            base,
            attempt: Box::new(attempt),
            iterations,
            good_passes: AtomicU32::new(u32::MAX),
        }
    }
}

impl RunData for Stream<'_> {
    fn run(&self) -> &RunRecord {
        &self.base.run
    }

    fn state(&self) -> RunState {
        self.base.state
    }

    fn for_each_attempt(
        &self,
        visit: &mut dyn FnMut(AttemptRecord) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        (1..=self.iterations).try_for_each(|iteration| visit((self.attempt)(iteration)))?;
        let left = self.good_passes.load(Ordering::Relaxed);
        self.good_passes.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0 {
            Err(ReportError::read("the attempts", "disk gone"))
        } else {
            Ok(())
        }
    }

    fn evidence(&self, _: &str) -> Result<Option<Vec<u8>>, ReportError> {
        Ok(None)
    }

    fn now_unix_ms(&self) -> i64 {
        self.base.now_unix_ms
    }
}

#[test]
fn results_follow_the_documented_schema_and_the_schema_documents_every_field() {
    let mut running = sample::mixed(12);
    sample::still_running(&mut running);
    for run in [sample::mixed(12), sample::one_agent(1), running] {
        schema::check(&results(&run));
    }
}

#[test]
fn totals_are_the_sum_of_cells_and_of_iterations() {
    let results = results(&sample::mixed(12));
    for outcome in ["passed", "failed", "invalid", "aborted"] {
        let cells: u64 = results["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell[outcome].as_u64().unwrap())
            .sum();
        let iterations = results["iterations"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["outcome"] == outcome)
            .count();
        assert_eq!(results["totals"][outcome].as_u64().unwrap(), cells, "{outcome}");
        assert_eq!(cells, iterations as u64, "{outcome}");
    }
}

#[test]
fn the_terminal_summary_and_results_tell_the_same() {
    let run = sample::mixed(12);
    let mut builder = SummaryBuilder::new(&run.run);
    for attempt in run.attempts.iter().filter(|attempt| attempt.last) {
        builder.add(attempt.cell, attempt.outcome);
    }
    let (summary, results) = (builder.summary(), results(&run));
    let totals = &results["totals"];
    assert_eq!(totals["passed"], summary.passed);
    assert_eq!(totals["failed"], summary.failed);
    assert_eq!(totals["invalid"], summary.invalid);
    assert_eq!(totals["passRate"]["rate"].as_f64(), summary.pass_rate);
    assert_eq!(
        totals["passRate"]["range"]["low"].as_f64(),
        summary.range.map(|range| range.low)
    );
    let agents: u64 = summary.agents.iter().map(|agent| agent.tally.passed).sum();
    assert_eq!(agents, summary.passed);
}

#[test]
fn one_pass_among_nine_faults_is_no_perfect_rate() {
    let mut run = sample::one_agent(10);
    run.run.test_cases.truncate(1);
    run.attempts.retain(|attempt| attempt.cell == 0 && attempt.last);
    for (index, attempt) in run.attempts.iter_mut().enumerate() {
        attempt.outcome = if index == 0 {
            Outcome::Passed
        } else {
            Outcome::Invalid(InvalidCause::Machinery)
        };
    }
    let results = results(&run);
    assert_eq!(results["totals"]["passRate"]["n"], 1);
    assert_eq!(results["totals"]["passRate"]["rate"], Value::Null);
    assert_eq!(results["totals"]["invalidByCause"]["machinery"], 9);
    let text = visible_text(&page(&run));
    assert!(
        !text.contains("\n100%\n") && text.contains("9 invalid: machinery 9"),
        "{text}"
    );
}

#[test]
fn a_run_in_which_everything_is_invalid_has_null_and_never_nan() {
    let mut run = sample::mixed(6);
    for attempt in &mut run.attempts {
        attempt.outcome = Outcome::Invalid(InvalidCause::Server);
    }
    let results = results(&run);
    schema::check(&results);
    assert_eq!(results["totals"]["passRate"]["rate"], Value::Null);
    assert_eq!(results["totals"]["passRate"]["range"], Value::Null);
    assert_eq!(results["totals"]["durationMs"]["median"], Value::Null);
    assert_eq!(results["totals"]["serverFaults"]["rate"], 1.0);
    let text = visible_text(&page(&run));
    assert!(!text.contains("NaN") && text.contains("no rate"), "{text}");
}

#[test]
fn a_run_without_any_attempt_can_be_read() {
    let mut run = sample::mixed(3);
    run.attempts.clear();
    run.state = RunState::Running;
    let results = results(&run);
    schema::check(&results);
    assert_eq!(results["totals"]["notRun"], 30);
    assert!(visible_text(&page(&run)).contains("No iteration has passed or failed yet."));
}

#[test]
fn an_iteration_that_waits_for_a_new_attempt_has_no_outcome_and_is_in_no_rate() {
    let mut run = sample::one_agent(1);
    run.attempts.truncate(1);
    run.attempts[0].last = false;
    run.attempts[0].outcome = Outcome::Invalid(InvalidCause::Server);
    let results = results(&run);
    assert_eq!(results["iterations"][0]["outcome"], Value::Null);
    assert_eq!(results["iterations"][0]["earlierAttempts"][0]["cause"], "server");
    assert_eq!(results["totals"]["waiting"], 1);
    assert_eq!(results["totals"]["passRate"]["n"], 0);
    assert_eq!(results["totals"]["serverFaults"]["count"], 1);
}

#[test]
fn only_the_newest_attempt_of_a_resumed_iteration_is_its_result() {
    let mut run = sample::one_agent(1);
    let mut aborted = run.attempts[0].clone();
    aborted.outcome = Outcome::Aborted;
    run.attempts[0].attempt = 2;
    run.attempts[0].outcome = Outcome::Failed(FailureClass::AgentError);
    run.attempts.push(aborted);
    let results = results(&run);
    assert_eq!(results["iterations"][0]["outcome"], "failed");
    assert_eq!(results["iterations"][0]["class"], "agent_error");
    assert_eq!(results["iterations"][0]["attempts"], 2);
    assert_eq!(results["totals"]["aborted"], 0);
}

#[test]
fn results_of_a_megabyte_are_left_out_with_their_size_and_hash() {
    let base = sample::one_agent(1);
    let huge = serde_json::json!({"content": [{"type": "text", "text": "QUJD".repeat(375_000)}]});
    let mut model = base.attempts[0].clone();
    model.calls = vec![sample::call(
        model.started_at_unix_ms,
        "export",
        &serde_json::json!({}),
        &huge,
        900,
    )];
    let run = Stream::of(&base, 20, |iteration| AttemptRecord {
        iteration,
        ..model.clone()
    });
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(&run, folder.path()).unwrap();
    for file in [&written.json, &written.html] {
        assert!(std::fs::metadata(file).unwrap().len() < 1_000_000, "{}", file.display());
    }
    let results: Value = serde_json::from_slice(&std::fs::read(written.json).unwrap()).unwrap();
    let call = &results["iterations"][0]["calls"][0];
    assert_eq!(
        (&call["result"], &call["truncated"]),
        (&Value::Null, &Value::Bool(true))
    );
    assert!(call["bytes"].as_u64().unwrap() > 1_500_000);
    assert_eq!(call["sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn strict_readers_take_whatever_a_tool_said() {
    let mut run = sample::one_agent(1);
    let deep = |levels: usize| format!("{}\"\\ud83d\"{}", "[".repeat(levels), "]".repeat(levels));
    let raw = |json: String| serde_json::value::RawValue::from_string(json).unwrap();
    let call = &mut run.attempts[0].calls[0];
    call.arguments = Some(raw("{\"text\":\"cut \\ud83d off\"}".to_owned()));
    call.result = Some(raw(deep(3_000)));
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(&run, folder.path()).unwrap();
    let results: Value = serde_json::from_slice(&std::fs::read(&written.json).unwrap()).unwrap();
    let call = &results["iterations"][0]["calls"][0];
    assert_eq!(call["arguments"]["text"], "cut \u{fffd} off");
    assert_eq!(call["result"], deep(3_000));
    assert_eq!(call["truncated"], true);
    schema::check(&results);
    let jq = std::process::Command::new("jq")
        .args(["--raw-output", ".iterations[0].calls[0].arguments.text"])
        .arg(&written.json)
        .output()
        .expect("start jq, which scripts/set-up installs");
    assert!(jq.status.success(), "{}", String::from_utf8_lossy(&jq.stderr));
    assert_eq!(String::from_utf8_lossy(&jq.stdout), "cut \u{fffd} off\n");
}

#[test]
fn numbers_reach_results_as_they_were_sent() {
    let results = results(&sample::mixed(3));
    let text = results.to_string();
    assert!(text.contains("9007199254740993"), "2^53 + 1 was rounded");
    assert_eq!(results["run"]["seed"], "17446744073709551557");
}

#[test]
fn a_report_that_cannot_be_finished_leaves_the_old_one_and_nothing_else() {
    let base = sample::one_agent(1);
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(&base, folder.path()).unwrap();
    let before = (
        std::fs::read(&written.json).unwrap(),
        std::fs::read(&written.html).unwrap(),
    );
    let failing = Stream::of(&base, 1, |_| base.attempts[0].clone());
    failing.good_passes.store(0, Ordering::Relaxed);
    let error = write_all(&failing, folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "read the attempts: disk gone");
    assert_eq!(
        (
            std::fs::read(&written.json).unwrap(),
            std::fs::read(&written.html).unwrap()
        ),
        before
    );
    assert_eq!(
        names(folder.path()),
        ["junit.xml", "report.html", "results.json", "summary.md"]
    );
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn records_out_of_order_or_of_an_unknown_cell_are_refused() {
    let base = sample::one_agent(1);
    let folder = tempfile::tempdir().unwrap();
    let repeated = Stream::of(&base, 2, |_| base.attempts[0].clone());
    assert!(matches!(
        write_all(&repeated, folder.path()),
        Err(ReportError::OutOfOrder { .. })
    ));
    let strange = Stream::of(&base, 1, |_| AttemptRecord {
        cell: 99,
        ..base.attempts[0].clone()
    });
    assert!(matches!(
        write_all(&strange, folder.path()),
        Err(ReportError::UnknownCell { cell: 99, .. })
    ));
}

#[test]
fn nothing_that_was_said_becomes_markup() {
    let nasty = "</script><img src=x onerror=alert(1)><!--";
    let run = sample::hostile(nasty);
    let page = page(&run);
    assert!(
        !page.contains("<img") && !page.contains("</script><"),
        "markup from the recording is in the page"
    );
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    assert_eq!(page.matches("<!--").count(), 0);
    assert_eq!(results(&run)["iterations"][0]["turns"][0]["prompt"], nasty);
}

#[test]
fn what_an_author_of_a_server_sees_first() {
    let text = visible_text(&page(&sample::mixed(12)));
    let first = text.split("\nTest cases and agents\n").next().unwrap();
    insta::assert_snapshot!("first_screen", first);
}

#[test]
fn only_the_forms_that_are_asked_for_are_written() {
    let run = sample::one_agent(1);
    for format in Format::ALL {
        let folder = tempfile::tempdir().unwrap();
        write(&run, folder.path(), &[format]).unwrap();
        assert_eq!(names(folder.path()), [format.file_name()]);
    }
}

#[test]
fn what_a_reader_without_scripts_sees() {
    insta::assert_snapshot!("page_of_one_iteration", visible_text(&page(&sample::one_agent(1))));
}

#[test]
fn a_threshold_that_is_not_met_names_its_test_case_without_marks() {
    let mut run = sample::mixed(12);
    run.run.thresholds.test_case = Some(1.0.try_into().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(write_all(&run, folder.path()).unwrap().html).unwrap();
    let (_, gate) = page.split_once("aria-label=\"Thresholds\"").unwrap();
    let (gate, _) = gate.split_once("</section>").unwrap();
    assert!(gate.contains(", test case <code>") && !gate.contains('`'), "{gate}");
}
