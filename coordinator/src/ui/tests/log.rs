use super::*;

/// All lines of a run, with the clock looked at every second.
fn log(events: &[Envelope]) -> Vec<String> {
    let mut log = PlainLog::default();
    let mut lines = Vec::new();
    let mut now = events.first().map_or(START, |envelope| envelope.at);
    for envelope in events {
        while now + 1000 <= envelope.at {
            now += 1000;
            lines.extend(log.tick(now));
        }
        lines.extend(log.on(envelope));
    }
    lines.extend(log.closing(100, Some("mcproctor run --resume")));
    lines
}

#[test]
fn a_small_run() {
    let sample = Sample {
        failing: 250,
        invalid: 150,
        ..Sample::new(3, 4, 2)
    };
    insta::assert_snapshot!(log(&sample.events()).join("\n"));
}

#[test]
fn in_a_large_run_passed_iterations_get_no_line_of_their_own() {
    let sample = Sample {
        failing: 1,
        invalid: 1,
        ..Sample::new(10, 500, 64)
    };
    let lines = log(&sample.events());
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn several_agents_are_named() {
    let mut sample = Sample::new(1, 2, 2);
    sample.agents = ["claude-sonnet", "codex"].map(str::to_owned).to_vec();
    let lines = log(&sample.events());
    assert!(
        lines
            .iter()
            .any(|line| line.contains("passed codex: compare two forecasts #1")),
        "{lines:#?}"
    );
}

#[test]
fn silence_is_broken_once_a_minute() {
    let sample = Sample::new(3, 2, 2);
    let mut log = PlainLog::default();
    for envelope in sample.events().iter().take(6) {
        log.on(envelope);
    }
    let said: Vec<i64> = (1..=200)
        .filter(|second| log.tick(START + second * 1000).is_some())
        .collect();
    assert_eq!(said.len(), 3, "{said:?}");
}

#[test]
fn what_a_resumed_run_brings_along_is_counted_and_not_listed() {
    let sample = Sample::new(3, 2, 2);
    let key = AttemptKey {
        cell: 1,
        iteration: 1,
        attempt: 1,
    };
    let reason = String::new();
    let before = Event::AttemptFinished {
        key,
        outcome: Outcome::Passed,
        reason,
        last: true,
        duration_ms: 5000,
    };
    let start = Event::RunStarted {
        run: Box::new(sample.run()),
        already: 1,
    };
    let mut log = PlainLog::default();
    assert!(
        log.on(&Envelope {
            at: START,
            event: before
        })
        .is_empty()
    );
    let lines = log.on(&Envelope {
        at: START,
        event: start,
    });
    assert!(
        lines.contains(&"resumed: 1 of 6 had a result already".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn no_line_holds_a_control_code() {
    let mut sample = Sample::new(1, 1, 1);
    sample.cases = vec!["\x1b]0;title\x07\x1b[2J\r\n\u{9b}m".to_owned()];
    let mut events = sample.events();
    let key = AttemptKey {
        cell: 0,
        iteration: 1,
        attempt: 1,
    };
    let reason = "server said \x1b[31mno\x1b[0m\nand more".to_owned();
    let outcome = Outcome::Invalid(InvalidCause::Server);
    let event = Event::AttemptFinished {
        key,
        outcome,
        reason,
        last: false,
        duration_ms: 5,
    };
    events.push(Envelope {
        at: START + 90_000,
        event,
    });
    events.push(Envelope {
        at: START + 90_000,
        event: Event::Notice {
            text: "a\x1b[1mb".to_owned(),
        },
    });
    for line in log(&events) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}
