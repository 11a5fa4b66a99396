//! `mcproctor list`: the runs in a folder.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::exit::Exit;
use super::store_folder::StoreFolder;
use crate::record::RunState;
use crate::store::{Reader, RunHead, StoreError};
use crate::unseen::harmless;

/// Lists the runs in a folder, the newest first.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    folder: StoreFolder,

    /// How the list is written
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs: an array with an object a run
    Json,
}

/// Prints the list.
pub(super) fn list(args: &ListArgs) -> Exit {
    let out_dir = match args.folder.find() {
        Ok(folder) => folder,
        Err(exit) => return exit,
    };
    let heads = match Reader::open(&out_dir).and_then(|reader| reader.runs()) {
        Ok(heads) => heads,
        Err(StoreError::Missing { .. }) => Vec::new(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "failed to {error}");
            return Exit::Failure;
        }
    };
    let text = match args.output {
        Format::Json => json(&heads),
        Format::Table if heads.is_empty() => format!("no runs in {}\n", out_dir.display()),
        Format::Table => table(&heads, &TimeZone::system()),
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        // `mcproctor list | head` closes the pipe: nothing is wrong.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "failed to write the list: {error}");
            Exit::Failure
        }
        _ => Exit::Success,
    }
}

fn json(heads: &[RunHead]) -> String {
    // Strings and numbers only, so there is nothing that could not be written.
    serde_json::to_string_pretty(heads)
        .map(|text| text + "\n")
        .unwrap_or_default()
}

fn table(heads: &[RunHead], zone: &TimeZone) -> String {
    let header = [
        "RUN",
        "STARTED",
        "STATE",
        "DONE",
        "PASSED",
        "FAILED",
        "INVALID",
        "GRADED FROM",
        "CONFIG",
    ]
    .map(str::to_owned);
    let rows: Vec<[String; 9]> = std::iter::once(header)
        .chain(heads.iter().map(|head| row(head, zone)))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 9] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            line += &if (3..7).contains(&column) {
                format!("{cell:>width$}  ")
            } else {
                format!("{cell:<width$}  ")
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn row(head: &RunHead, zone: &TimeZone) -> [String; 9] {
    let started = Timestamp::from_millisecond(head.started_at_unix_ms)
        .map(|at| zone.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default();
    [
        head.id.to_string(),
        started,
        state(head).to_owned(),
        format!(
            "{}/{}",
            head.passed + head.failed + head.invalid,
            head.total_iterations()
        ),
        head.passed.to_string(),
        head.failed.to_string(),
        head.invalid.to_string(),
        head.graded_from.as_ref().map(ToString::to_string).unwrap_or_default(),
        // A file's name can hold anything, also what a terminal would obey.
        head.config_file.chars().map(harmless).collect(),
    ]
}

fn state(head: &RunHead) -> &'static str {
    match (head.state, head.active) {
        (RunState::Running, true) => "running",
        (RunState::Running, false) => "interrupted",
        (RunState::Completed, _) => "completed",
        (RunState::Aborted, _) => "aborted",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use mcproctor_proto::id::RunId;

    use super::*;

    fn head(id: &str, state: RunState, active: bool) -> RunHead {
        RunHead {
            id: RunId::new(id),
            state,
            active,
            started_at_unix_ms: 1_796_021_697_000,
            config_file: "./eval.yaml".to_owned(),
            test_cases: 10,
            agents: 2,
            iterations: 100,
            passed: 1_204,
            failed: 7,
            invalid: 0,
            aborted: 2,
            graded_from: None,
        }
    }

    #[test]
    fn the_table_lines_up_and_tells_an_interrupted_run_from_one_that_goes_on() {
        let heads = [
            head("2026-11-30T06-54-57-3fa9", RunState::Running, true),
            head("2026-11-30T06-54-57-3fa8", RunState::Running, false),
            RunHead {
                passed: 2_000,
                failed: 0,
                graded_from: Some(RunId::new("2026-11-29T06-54-57-11aa")),
                ..head("nightly", RunState::Completed, false)
            },
            RunHead {
                config_file: "\u{1b}[2Jeval.yaml".to_owned(),
                ..head("x", RunState::Aborted, false)
            },
        ];
        insta::assert_snapshot!(table(&heads, &TimeZone::UTC), @r"
        RUN                       STARTED           STATE             DONE  PASSED  FAILED  INVALID  GRADED FROM               CONFIG
        2026-11-30T06-54-57-3fa9  2026-11-30 06:54  running      1211/2000    1204       7        0                            ./eval.yaml
        2026-11-30T06-54-57-3fa8  2026-11-30 06:54  interrupted  1211/2000    1204       7        0                            ./eval.yaml
        nightly                   2026-11-30 06:54  completed    2000/2000    2000       0        0  2026-11-29T06-54-57-11aa  ./eval.yaml
        x                         2026-11-30 06:54  aborted      1211/2000    1204       7        0                            �[2Jeval.yaml
        ");
    }

    #[test]
    fn programs_get_every_field() {
        let heads = [head("2026-11-30T06-54-57-3fa9", RunState::Running, false)];
        insta::assert_snapshot!(json(&heads), @r#"
        [
          {
            "id": "2026-11-30T06-54-57-3fa9",
            "state": "running",
            "active": false,
            "startedAtUnixMs": 1796021697000,
            "configFile": "./eval.yaml",
            "testCases": 10,
            "agents": 2,
            "iterations": 100,
            "passed": 1204,
            "failed": 7,
            "invalid": 0,
            "aborted": 2,
            "gradedFrom": null
          }
        ]
        "#);
        assert_eq!(json(&[]), "[]\n");
    }
}
