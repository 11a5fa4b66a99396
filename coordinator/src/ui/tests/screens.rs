use super::*;

#[test]
fn five_iterations_in_the_middle() {
    insta::assert_snapshot!(screen(&Sample::new(5, 1, 2), 9, 80, 24));
}

#[test]
fn a_small_run_in_the_middle() {
    insta::assert_snapshot!(screen(&Sample::new(5, 6, 4), 45, 80, 24));
}

#[test]
fn ten_cells_of_five_hundred_iterations() {
    insta::assert_snapshot!(screen(&Sample::new(10, 500, 8), 1800, 80, 24));
}

#[test]
fn five_hundred_cells_of_ten_iterations() {
    insta::assert_snapshot!(screen(&Sample::new(500, 10, 32), 400, 80, 24));
}

#[test]
fn five_hundred_cells_at_their_end() {
    let view = view_at_end(&Sample::new(500, 10, 32));
    insta::assert_snapshot!(screen_with(&view, 100_000, 80, 24, &mut Viewer::default()));
}

#[test]
fn forty_columns() {
    insta::assert_snapshot!(screen(&Sample::new(5, 6, 4), 45, 40, 24));
}

#[test]
fn forty_columns_of_five_thousand_iterations() {
    insta::assert_snapshot!(screen(&Sample::new(10, 500, 8), 1800, 40, 24));
}

#[test]
fn many_agents() {
    let mut sample = Sample::new(3, 4, 6);
    sample.agents = ["claude-sonnet", "claude-opus", "codex", "local"]
        .map(str::to_owned)
        .to_vec();
    insta::assert_snapshot!(screen(&sample, 50, 80, 30));
}

#[test]
fn wide_and_hostile_names() {
    let mut sample = Sample::new(0, 3, 2);
    sample.cases = [
        "東京と大阪の週末の天気予報を比較して傘が必要かどうかを答える",
        "emoji 👨‍👩‍👧‍👦 family trip",
        "\x1b[31mred\x1b[0m\x07 and\nnew line",
        "right \u{202e}tfel",
        "",
    ]
    .map(str::to_owned)
    .to_vec();
    let shown = screen(&sample, 20, 60, 16);
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
    insta::assert_snapshot!(shown);
}

#[test]
fn the_filter_shows_what_fails() {
    let view = view_after(&Sample::new(500, 10, 32), 400);
    let mut viewer = Viewer::failing();
    insta::assert_snapshot!(screen_with(&view, 400, 80, 14, &mut viewer));
}

#[test]
fn stopping_and_notices_are_said() {
    let mut view = view_after(&Sample::new(5, 6, 4), 20);
    let at = START + 20_000;
    view.apply(&Envelope {
        at,
        event: Event::Notice {
            text: "judge is not run in this version".to_owned(),
        },
    });
    view.apply(&Envelope {
        at,
        event: Event::Stopping {
            reason: "the model refused the key (401)".to_owned(),
        },
    });
    insta::assert_snapshot!(screen_with(&view, 21, 80, 20, &mut Viewer::default()));
}

#[test]
fn no_size_breaks_a_frame() {
    let samples = [Sample::new(3, 2, 2), Sample::new(30, 500, 8), Sample::new(0, 0, 1)];
    for sample in &samples {
        let view = view_after(sample, 30);
        for (columns, rows) in [(1, 1), (2, 3), (7, 5), (20, 4), (40, 6), (200, 2), (300, 90), (80, 10)] {
            let mut viewer = Viewer::default();
            screen_with(&view, 30, columns, rows, &mut viewer);
            // The same viewer after a resize.
            screen_with(&view, 30, rows.max(3), columns, &mut viewer);
        }
    }
}

#[test]
fn before_the_plan_it_says_so() {
    let shown = screen_with(&View::default(), 0, 60, 2, &mut Viewer::default());
    assert!(shown.contains("the run is being prepared"), "{shown}");
}
