//! What the judge said, in `results.json` and on the page in a real browser (`apt-get install chromium`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code, reason = "this program uses a part of it")]
#[path = "report_browser/browser.rs"]
mod browser;
#[path = "../examples/report_sample/sample/mod.rs"]
mod sample;
#[path = "report/schema.rs"]
mod schema;

use sample::write_all;
use std::path::PathBuf;

use browser::Browser;
use mcproctor::judge::{JudgeVerdict, Judgement, Opinion, ReplyChoice};
use mcproctor::record::{AttemptRecord, JudgeRecord, RunRecord, RunState};
use mcproctor::report::{MemoryRun, ReportError, RunData};
use mcproctor_proto::turn::Usage;
use serde_json::Value;

const NASTY: &str = "</script><img src=x onerror=\"window.smuggled=1\"><script>window.smuggled=1</script>";

/// A run whose first three iterations of each cell were judged: pass, fail, and an error.
struct Judged(MemoryRun);

fn opinion(verdict: JudgeVerdict) -> Opinion {
    Opinion {
        verdict,
        reasoning: format!("It says {NASTY}."),
        model: format!("judge {NASTY}"),
        usage: Usage {
            input_tokens: Some(100),
            output_tokens: Some(10),
            ..Usage::default()
        },
        duration_ms: 900,
        at_unix_ms: 0,
    }
}

impl RunData for Judged {
    fn run(&self) -> &RunRecord {
        self.0.run()
    }

    fn state(&self) -> RunState {
        self.0.state()
    }

    fn for_each_attempt(
        &self,
        visit: &mut dyn FnMut(AttemptRecord) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        self.0.for_each_attempt(visit)
    }

    fn judgement(&self, _cell: u32, iteration: u32, _attempt: u32) -> Result<Option<Judgement>, ReportError> {
        let verdict = match iteration {
            1 => JudgeVerdict::Pass,
            2 => JudgeVerdict::Fail,
            3 => JudgeVerdict::Error,
            _ => return Ok(None),
        };
        Ok(Some(Judgement {
            opinion: Some(opinion(verdict)),
            tone: Some(opinion(JudgeVerdict::Uncertain)),
            choices: vec![ReplyChoice {
                after_turn: 0,
                reply: Some(1),
                reasoning: NASTY.to_owned(),
                model: "m".to_owned(),
                usage: Usage::default(),
                duration_ms: 5,
            }],
            ..Judgement::default()
        }))
    }

    fn evidence(&self, sha256: &str) -> Result<Option<Vec<u8>>, ReportError> {
        self.0.evidence(sha256)
    }

    fn now_unix_ms(&self) -> i64 {
        self.0.now_unix_ms()
    }
}

fn judged() -> Judged {
    let mut run = sample::mixed(12);
    run.run.judge = Some(JudgeRecord {
        base_url: "http://127.0.0.1:11434/v1".to_owned(),
        model: "qwen2.5:7b".to_owned(),
    });
    Judged(run)
}

fn written(run: &dyn RunData) -> (tempfile::TempDir, PathBuf, Value) {
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(run, folder.path()).unwrap();
    let results = serde_json::from_slice(&std::fs::read(written.json).unwrap()).unwrap();
    (folder, written.html, results)
}

fn disagreeing(results: &Value) -> usize {
    let iterations = results["iterations"].as_array().unwrap();
    let disagrees = |it: &&Value| it["judge"]["agreement"] == "disagrees";
    iterations.iter().filter(disagrees).count()
}

#[test]
fn results_hold_what_the_judge_said_as_the_schema_documents_it() {
    let (_folder, _, results) = written(&judged());
    schema::check(&results);
    let counts = &results["totals"]["judge"];
    let count = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!(count("disagrees"), disagreeing(&results) as u64);
    assert!(count("disagrees") > 0 && count("agrees") > 0 && count("errors") > 0 && count("notJudged") > 0);
    let decided = results["totals"]["passed"].as_u64().unwrap() + results["totals"]["failed"].as_u64().unwrap();
    assert_eq!(count("judged") + count("errors") + count("notJudged"), decided);
    let (_folder, _, without) = written(&sample::mixed(12));
    schema::check(&without);
    assert!(without["totals"]["judge"].is_null() && without["run"]["judge"].is_null());
}

#[test]
fn a_run_without_a_judge_does_not_speak_of_one() {
    let (_folder, page, _) = written(&sample::mixed(12));
    let page = std::fs::read_to_string(page).unwrap();
    let (head, _) = page.split_once("id=\"plan\"").unwrap();
    assert!(!head.contains("judge disagrees") && !head.contains("id=\"judge\""));
}

#[test]
fn a_pull_request_shows_where_the_judge_disagrees() {
    let folder = tempfile::tempdir().unwrap();
    let files = write_all(&judged(), folder.path()).unwrap();
    let results: Value = serde_json::from_slice(&std::fs::read(files.json).unwrap()).unwrap();
    let disagreeing = disagreeing(&results);
    let summary = std::fs::read_to_string(files.markdown).unwrap();
    let counts = &results["totals"]["judge"];
    let line = format!(
        "Judge `qwen2.5:7b`: {} judged, {} agree, {disagreeing} disagree, {} errors, {} not judged.",
        counts["judged"], counts["agrees"], counts["errors"], counts["notJudged"]
    );
    assert!(summary.contains(&line), "{line}\n{summary}");
    let listed = summary
        .lines()
        .filter(|line| line.contains(", the judge says "))
        .count();
    assert_eq!(listed, disagreeing.min(10));
    let junit = std::fs::read_to_string(files.junit).unwrap();
    assert_eq!(junit.matches("<system-out>the judge disagrees, ").count(), disagreeing);
    assert!(!junit.contains("<img"), "what it said is text");
}

#[test]
fn a_reader_finds_where_the_judge_disagrees_and_nothing_that_it_said_runs() {
    let run = judged();
    let (_folder, page, results) = written(&run);
    let disagreeing = disagreeing(&results);
    let mut browser = Browser::start();
    browser.open(&page, "", 1280);
    assert!(browser.text("#judge").contains("disagree"));
    browser.eval(
        "{ const only = document.getElementById('by-trait'); only.value = 'judgeDisagrees'; only.dispatchEvent(new Event('change')) }",
    );
    browser.wait_for(&format!(
        "document.getElementById('matches').textContent.startsWith('{disagreeing} of ')"
    ));
    browser.eval("for (const e of document.querySelectorAll('.group-head')) if (e.getAttribute('aria-expanded') === 'false') e.click()");
    browser.wait_for(&format!(
        "document.querySelectorAll('.row .note.judge').length === {disagreeing}"
    ));
    browser.eval("document.querySelector('.row-head').click()");
    browser.wait_for("document.querySelector('.callout.judge')");
    let said = browser.text(".callout.judge");
    for part in [
        "disagrees with the measured result",
        NASTY,
        "Tone: uncertain",
        "picked reply 2",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(browser.eval("document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.eval("typeof window.smuggled"), "undefined");
    assert_eq!(browser.complaints, Vec::<String>::new());
}
