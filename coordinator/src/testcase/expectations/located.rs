//! Where in a file something inside of a value is wrong.

use super::value::{best_guess, path_of};
use crate::expectation::{ExpectedArguments, Fault, Step};
use crate::yaml::{Item, Node, Place, Problems, Value};

/// Reads `expectedArguments`. `None` means that there is something in `problems`.
pub(super) fn arguments(item: &Item<'_>, problems: &mut Problems) -> Option<ExpectedArguments> {
    let (value, sound) = best_guess(item, problems);
    match ExpectedArguments::read(&value) {
        Ok(arguments) => sound.then_some(arguments),
        Err(faults) => {
            for fault in faults {
                add(item, &fault, problems);
            }
            None
        }
    }
}

fn add(item: &Item<'_>, fault: &Fault, problems: &mut Problems) {
    let mut problem = problems
        .new_problem(&fault.what)
        .at(place_of(item.node, &fault.at))
        .key(&path_of(&item.path, &fault.at));
    if !fault.accepted.is_empty() {
        problem = problem.accepted(&fault.accepted);
    }
    if !fault.remedy.is_empty() {
        problem = problem.remedy(&fault.remedy);
    }
    problems.add(problem);
}

/// The place of the value that `steps` lead to, or of the last one on the way.
pub(super) fn place_of(node: &Node, steps: &[Step]) -> Place {
    let mut here = node;
    for step in steps {
        let next = match (&here.value, step) {
            (Value::Mapping(_), Step::Key(key)) => here.get(key),
            (Value::Sequence(items), Step::Item(index)) => items.get(*index),
            _ => None,
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    here.place
}
