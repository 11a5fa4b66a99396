//! Counts, marks and figures in step with events.

use super::*;
use crate::ui::sample::{START, Sample};

fn finished(cell: u32, iteration: u32, attempt: u32, outcome: Outcome, last: bool) -> Envelope {
    let key = AttemptKey {
        cell,
        iteration,
        attempt,
    };
    let event = Event::AttemptFinished {
        key,
        outcome,
        reason: String::new(),
        last,
        duration_ms: 1,
    };
    Envelope { at: START, event }
}

fn started(sample: &Sample) -> View {
    let mut view = View::default();
    let event = Event::RunStarted {
        run: Box::new(sample.run()),
        already: 0,
    };
    view.apply(&Envelope { at: START, event });
    view
}

#[test]
fn counts_agree_with_marks_at_every_moment() {
    let sample = Sample {
        failing: 200,
        invalid: 200,
        ..Sample::new(4, 25, 6)
    };
    let mut view = View::default();
    for envelope in sample.events() {
        view.apply(&envelope);
        let marks = || view.cells().iter().flat_map(Cell::marks);
        let passed = marks().filter(|mark| **mark == Mark::Passed).count() as u64;
        let invalid = marks().filter(|mark| matches!(mark, Mark::Invalid(_))).count() as u64;
        let running = marks().filter(|mark| **mark == Mark::Running).count();
        assert_eq!((view.totals().passed, view.totals().invalid), (passed, invalid));
        assert_eq!(view.running().len(), running);
        assert_eq!(
            view.invalid_by_cause().iter().map(|(_, count)| count).sum::<u64>(),
            invalid
        );
    }
    assert_eq!(view.totals().finished(), 100);
    assert_eq!(view.pending(), 0);
    assert_eq!(view.state(), Some(RunState::Completed));
}

#[test]
fn an_attempt_that_is_repeated_decides_nothing() {
    let mut view = started(&Sample::new(1, 2, 1));
    view.apply(&finished(0, 1, 1, Outcome::Invalid(InvalidCause::Model), false));
    assert_eq!(view.totals().finished(), 0);
    assert_eq!(view.repeated_by_cause(), [(InvalidCause::Model, 1)]);
    view.apply(&finished(0, 1, 2, Outcome::Passed, true));
    assert_eq!((view.totals().passed, view.totals().invalid), (1, 0));
}

#[test]
fn a_resumed_run_replaces_what_stayed_invalid() {
    let mut view = View::default();
    view.apply(&finished(0, 1, 3, Outcome::Invalid(InvalidCause::Server), true));
    view.apply(&finished(1, 1, 1, Outcome::Passed, true));
    let run = Box::new(Sample::new(2, 2, 1).run());
    view.apply(&Envelope {
        at: START,
        event: Event::RunStarted { run, already: 1 },
    });
    assert_eq!((view.totals().passed, view.totals().invalid), (1, 1));
    view.apply(&finished(0, 1, 4, Outcome::Failed(FailureClass::AgentError), true));
    assert_eq!((view.totals().failed, view.totals().invalid), (1, 0));
    assert_eq!(view.invalid_by_cause(), []);
    assert_eq!(view.failed_by_class(), [(FailureClass::AgentError, 1)]);
}

#[test]
fn what_is_outside_the_plan_is_not_taken_in() {
    let mut view = started(&Sample::new(2, 2, 1));
    view.apply(&finished(9, 1, 1, Outcome::Passed, true));
    view.apply(&finished(0, 3, 1, Outcome::Passed, true));
    assert_eq!(view.totals().finished(), 0);
    assert_eq!(view.cells().len(), 2);
}

#[test]
fn the_last_call_is_the_one_shown() {
    let mut view = started(&Sample::new(1, 1, 1));
    let key = AttemptKey {
        cell: 0,
        iteration: 1,
        attempt: 1,
    };
    let call = |id: &str, tool: &str| Event::CallStarted {
        key,
        call: id.to_owned(),
        tool: tool.to_owned(),
    };
    let ended = |id: &str| Event::CallEnded {
        key,
        call: id.to_owned(),
        tool: String::new(),
        state: CallState::Ok,
        duration_ms: 1,
    };
    let events = [
        Event::AttemptStarted {
            key,
            worker: "w".to_owned(),
        },
        call("a", "first"),
        call("b", "sec\x1bond"),
        ended("a"),
    ];
    for event in events {
        view.apply(&Envelope { at: START, event });
    }
    let last = view.running().get(&key).and_then(|running| running.last_call.clone());
    assert!(last.is_some_and(|call| call.tool == "sec␛ond" && call.state.is_none()));
}

#[test]
fn no_estimate_before_enough_has_finished() {
    let sample = Sample::new(10, 10, 8);
    let mut view = View::default();
    let mut first = None;
    for envelope in sample.events() {
        view.apply(&envelope);
        if view.remaining_ms(envelope.at).is_some() {
            first.get_or_insert(view.totals().finished());
            assert!(view.pending() > 0);
        }
    }
    assert_eq!(first, Some(16));
}

#[test]
fn a_hundred_thousand_iterations_take_two_bytes_each() {
    let mut view = started(&Sample::new(10, 10_000, 1));
    for iteration in 1..=10_000 {
        for cell in 0..10 {
            view.apply(&finished(cell, iteration, 1, Outcome::Passed, true));
        }
    }
    let bytes: usize = view.cells().iter().map(|cell| size_of_val(cell.marks())).sum();
    assert_eq!(bytes, 200_000);
    assert!(view.running().is_empty());
}
