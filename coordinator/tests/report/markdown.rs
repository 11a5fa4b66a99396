//! What `summary.md` promises where it is shown.

use mcproctor::report::RunData;

use crate::code_spans::{SMUGGLERS, assert_only_code_spans_hold};
use crate::sample::{self, write_all};

fn summary(run: &dyn RunData) -> String {
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(run, folder.path()).unwrap();
    std::fs::read_to_string(written.markdown).unwrap()
}

#[test]
fn nothing_that_was_said_becomes_markup_a_mention_or_a_link() {
    for around in SMUGGLERS {
        assert_only_code_spans_hold("smuggled", &summary(&sample::hostile(around)));
    }
}

#[test]
fn it_fits_a_comment_however_large_the_run_is() {
    let long = "🦀 ".repeat(2_000);
    let mut run = sample::mixed(2);
    let case = run.run.test_cases[0].clone();
    for number in 0..400 {
        run.run.test_cases.push(mcproctor::record::TestCaseRecord {
            name: format!("{number} {long}"),
            file: format!("{number}.yaml"),
            ..case.clone()
        });
    }
    for attempt in &mut run.attempts {
        attempt.reason = long.clone();
        for (index, call) in attempt.calls.iter_mut().enumerate() {
            call.tool = format!("{} {index} {long}", attempt.cell * 100 + attempt.iteration);
        }
    }
    run.run.notices = vec![long.clone(); 50];
    // The cells of the second agent begin later now; only those of the first are kept.
    run.attempts.retain(|attempt| attempt.cell < 5);
    let text = summary(&run);
    assert!(text.chars().count() < 65_000, "{}", text.chars().count());
    assert!(text.contains("more in the full report."));
}

#[test]
fn where_rates_are_of_single_cells_each_stands_there_once() {
    let mut run = sample::mixed(12);
    for (number, case) in run.run.test_cases.iter_mut().enumerate() {
        case.file = format!("{number}.yaml");
    }
    let text = summary(&run);
    for case in &run.run.test_cases {
        let of_cell = |line: &&str| line.starts_with("| ") && line.contains(&format!("`{}` |", case.name));
        let rows: Vec<&str> = text.lines().filter(of_cell).collect();
        assert_eq!(rows.len(), run.run.agents.len(), "{rows:#?}");
        assert!(
            rows.iter().all(|row| row.starts_with(&format!("| `{}` |", case.name))),
            "{rows:#?}"
        );
    }
}

#[test]
fn what_a_reviewer_sees() {
    insta::assert_snapshot!("summary", summary(&sample::mixed(12)));
}
