use super::*;

fn perfect(cases: usize, iterations: u32) -> Sample {
    Sample {
        failing: 0,
        invalid: 0,
        ..Sample::new(cases, iterations, 2)
    }
}

#[test]
fn a_small_run_that_passes() {
    insta::assert_snapshot!(summary_text(&view_at_end(&perfect(3, 2)), 80));
}

#[test]
fn what_the_judge_said_is_summed_up_and_marked_where_it_disagrees() {
    let sample = Sample {
        failing: 250,
        judge: true,
        ..Sample::new(5, 8, 4)
    };
    insta::assert_snapshot!(summary_text(&view_at_end(&sample), 80));
}

#[test]
fn no_percentage_below_five_iterations() {
    let text = summary_text(&view_at_end(&perfect(1, 2)), 80);
    assert!(text.contains("2 passed · 0 failed · [34–100%, N=2]"), "{text}");
    assert!(!text.contains("100% pass"), "{text}");
}

#[test]
fn failed_and_invalid_iterations() {
    let sample = Sample {
        failing: 250,
        invalid: 150,
        ..Sample::new(5, 8, 4)
    };
    insta::assert_snapshot!(summary_text(&view_at_end(&sample), 80));
}

#[test]
fn forty_columns() {
    let sample = Sample {
        failing: 250,
        invalid: 150,
        ..Sample::new(5, 8, 4)
    };
    insta::assert_snapshot!(summary_text(&view_at_end(&sample), 40));
}

#[test]
fn several_agents() {
    let mut sample = Sample::new(3, 4, 6);
    sample.agents = ["claude-sonnet", "codex"].map(str::to_owned).to_vec();
    insta::assert_snapshot!(summary_text(&view_at_end(&sample), 80));
}

#[test]
fn ten_cells_of_five_hundred_iterations() {
    insta::assert_snapshot!(summary_text(&view_at_end(&Sample::new(10, 500, 8)), 80));
}

#[test]
fn of_five_hundred_cells_those_that_passed_are_only_counted() {
    let sample = Sample {
        failing: 1,
        invalid: 1,
        ..Sample::new(500, 10, 32)
    };
    insta::assert_snapshot!(summary_text(&view_at_end(&sample), 80));
}

#[test]
fn an_aborted_run_says_how_to_go_on() {
    let mut view = view_after(&Sample::new(3, 4, 2), 25);
    let at = START + 25_000;
    view.apply(&Envelope {
        at,
        event: Event::Stopping {
            reason: "interrupted".to_owned(),
        },
    });
    let running: Vec<AttemptKey> = view.running().keys().copied().collect();
    for key in running {
        let reason = "the run was stopped".to_owned();
        let event = Event::AttemptFinished {
            key,
            outcome: Outcome::Aborted,
            reason,
            last: true,
            duration_ms: 9,
        };
        view.apply(&Envelope { at, event });
    }
    let run = Sample::new(3, 4, 2).run().id;
    view.apply(&Envelope {
        at,
        event: Event::RunFinished {
            run,
            state: RunState::Aborted,
        },
    });
    insta::assert_snapshot!(summary_text(&view, 100));
}

#[test]
fn nothing_but_invalid_iterations_has_no_rate() {
    let sample = Sample {
        failing: 0,
        invalid: 1000,
        ..Sample::new(1, 6, 2)
    };
    let text = summary_text(&view_at_end(&sample), 80);
    assert!(text.contains("0 passed · 0 failed · 6 invalid │"), "{text}");
    assert!(!text.contains('%') && !text.contains("NaN"), "{text}");
}

#[test]
fn only_the_report_and_the_command_may_be_longer_than_the_terminal() {
    let sample = Sample {
        failing: 250,
        invalid: 150,
        ..Sample::new(5, 60, 4)
    };
    let view = view_at_end(&sample);
    for columns in [20, 33, 40, 80, 100, 200] {
        for line in summary_text(&view, columns).lines() {
            let fits = width(line) <= columns || line.starts_with("Report: ") || line.starts_with("Go on with: ");
            assert!(fits, "{columns} columns: {line}");
        }
    }
}

#[test]
fn colours_are_left_out_when_they_are_not_wanted() {
    let view = view_at_end(&perfect(2, 2));
    let coloured: String = summary(&view, 80, None, Theme { colour: true })
        .iter()
        .map(with_sgr)
        .collect();
    assert!(coloured.contains("\x1b[32m✓"), "{coloured:?}");
    let bare: String = summary(&view, 80, None, NO_COLOUR).iter().map(without_style).collect();
    assert!(!bare.contains('\x1b'));
}
