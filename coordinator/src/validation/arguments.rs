//! `expectedArguments`: with which arguments tools are called.

mod distance;

use std::collections::{BTreeMap, HashSet};

use mcproctor_proto::call::ToolCall;

use self::distance::Distance;
use super::checked::{Checked, Hope};
use super::compare::compared;
use super::observed::Observed;
use super::shown::shortened;
use crate::expectation::{Expectations, HowMany, Json, NotComparable, Pattern, ToolArguments};
use crate::record::{Difference, Family};
use crate::words::counted;

/// Only successful calls count. A call that failed may still be the one that came nearest.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Vec<Checked> {
    let expected = expectations.expected_arguments.iter();
    let mut looked: Vec<Looked<'_>> = expected.map(|entry| Looked::at(entry, observed.calls)).collect();
    take_what_others_need(&mut looked);
    looked.iter().map(|it| it.judge().about(&it.entry.tool)).collect()
}

/// Marks the calls that have what an entry asks for. Entries about every call, or about calls that are not to be, ask for
/// none.
fn take_what_others_need(looked: &mut [Looked<'_>]) {
    let asking = looked
        .iter()
        .filter(|it| !matches!(it.entry.calls, HowMany::All | HowMany::Exactly(0)));
    let needed: HashSet<*const ToolCall> = asking
        .flat_map(|it| it.fitting().map(|fitting| std::ptr::from_ref(fitting.call)))
        .collect();
    for candidate in looked.iter_mut().flat_map(|it| &mut it.candidates) {
        candidate.taken = needed.contains(&std::ptr::from_ref(candidate.call));
    }
}

/// The arguments of a call as a value; absent ones are `{}`. Why not, if nothing of them can be compared.
pub(super) fn arguments_of(call: &ToolCall) -> Result<Json, String> {
    match &call.arguments {
        Some(raw) => Json::read(raw.get()).map_err(|why: NotComparable| why.to_string()),
        None if call.truncated => Err("they are too large to be in the record".to_owned()),
        None => Ok(Json::Object(BTreeMap::new())),
    }
}

/// A call of the tool, and where its arguments are not those that are expected.
struct Candidate<'a> {
    call: &'a ToolCall,
    differences: Vec<Difference>,
    /// Whether it is what an entry asks for.
    taken: bool,
}

/// What the calls of the tool come to.
struct Looked<'a> {
    entry: &'a ToolArguments,
    /// Calls whose arguments could be compared.
    candidates: Vec<Candidate<'a>>,
    /// Successful calls whose arguments could not, and why.
    unknown: Vec<(&'a ToolCall, String)>,
}

impl<'a> Looked<'a> {
    fn at(entry: &'a ToolArguments, calls: &'a [ToolCall]) -> Self {
        let mut looked = Self {
            entry,
            candidates: Vec::new(),
            unknown: Vec::new(),
        };
        for call in calls.iter().filter(|call| call.tool == entry.tool) {
            let candidate = |differences| Candidate {
                call,
                differences,
                taken: false,
            };
            // Any arguments will do, those that cannot be read too.
            if entry.arguments.is_anything() {
                looked.candidates.push(candidate(Vec::new()));
                continue;
            }
            let told = arguments_of(call).and_then(|arguments| {
                let compared = compared(&entry.arguments, Some(&arguments));
                compared.unknown.map_or(Ok(compared.differences), Err)
            });
            match told {
                Ok(differences) => looked.candidates.push(candidate(differences)),
                Err(why) if call.succeeded() => looked.unknown.push((call, why)),
                Err(_) => {}
            }
        }
        looked
    }

    fn judge(&self) -> Checked {
        let matched = self.fitting().count();
        let possible = matched + self.unknown.len();
        let what = self.what();
        match self.entry.calls {
            HowMany::AtLeast(least) => {
                let least = least as usize;
                if matched >= least {
                    Checked::met(Family::Arguments, what)
                } else if possible >= least {
                    self.undecided(what)
                } else {
                    self.too_few(what, matched, least)
                }
            }
            HowMany::Exactly(count) => {
                let count = count as usize;
                if matched > count {
                    self.too_many(what, matched, count)
                } else if possible > count || (possible == count && matched < count) {
                    self.undecided(what)
                } else if matched == count {
                    Checked::met(Family::Arguments, what)
                } else {
                    self.too_few(what, matched, count)
                }
            }
            HowMany::All => {
                if let Some(other) = self.succeeded().find(|it| !it.differences.is_empty()) {
                    let why = format!("one call had others: {}", in_words(&other.differences));
                    with_call(Checked::unmet(Family::Arguments, what, why, Hope::Never), other)
                } else if !self.unknown.is_empty() {
                    self.undecided(what)
                } else if matched > 0 {
                    Checked::met(Family::Arguments, what)
                } else {
                    self.too_few(what, 0, 1)
                }
            }
        }
    }

    fn succeeded(&self) -> impl Iterator<Item = &Candidate<'a>> {
        self.candidates.iter().filter(|candidate| candidate.call.succeeded())
    }

    /// Successful calls with the arguments.
    fn fitting(&self) -> impl Iterator<Item = &Candidate<'a>> {
        self.succeeded().filter(|it| it.differences.is_empty())
    }

    fn what(&self) -> String {
        let tool = &self.entry.tool;
        let with = match &self.entry.arguments {
            Pattern::Object(keys) if keys.is_empty() => "any arguments".to_owned(),
            other => shortened(&other.to_json().to_string()),
        };
        match self.entry.calls {
            HowMany::AtLeast(1) => format!("{tool} called with {with}"),
            HowMany::AtLeast(count) => format!("{tool} called with {with} at least {count} times"),
            HowMany::Exactly(0) => format!("{tool} never called with {with}"),
            HowMany::Exactly(1) => format!("{tool} called with {with} exactly once"),
            HowMany::Exactly(count) => format!("{tool} called with {with} exactly {count} times"),
            HowMany::All => format!("every call of {tool} with {with}"),
        }
    }

    fn undecided(&self, what: String) -> Checked {
        let why = match self.unknown.first() {
            Some((_, why)) => format!("the arguments of {} cannot be compared: {why}", self.entry.tool),
            None => String::new(),
        };
        let mut checked = Checked::unchecked(Family::Arguments, what, why);
        checked.hope = Hope::Later;
        match self.unknown.first() {
            Some((call, _)) => checked.shown_by(&call.id),
            None => checked,
        }
    }

    fn too_many(&self, what: String, matched: usize, most: usize) -> Checked {
        let why = match most {
            0 => format!("{} had them", counted(matched, "call")),
            _ => format!("{} had them", counted(matched, "successful call")),
        };
        let checked = Checked::unmet(Family::Arguments, what, why, Hope::Never);
        match self.fitting().nth(most) {
            Some(surplus) => checked.shown_by(&surplus.call.id),
            None => checked,
        }
    }

    fn too_few(&self, what: String, matched: usize, least: usize) -> Checked {
        let Some(nearest) = self.nearest() else {
            let why = if self.candidates.is_empty() {
                "it was never called".to_owned()
            } else {
                format!("{} had them, {least} are needed", counted(matched, "successful call"))
            };
            return Checked::unmet(Family::Arguments, what, why, Hope::Later);
        };
        let had = match matched {
            0 => "no successful call had them".to_owned(),
            _ => format!("{} had them, {least} are needed", counted(matched, "successful call")),
        };
        let why = if nearest.differences.is_empty() {
            let error = nearest.call.error.as_deref().unwrap_or("no reason given");
            format!("{had}; a call with them failed: {}", shortened(error))
        } else {
            format!("{had}; nearest was a call with {}", in_words(&nearest.differences))
        };
        with_call(Checked::unmet(Family::Arguments, what, why, Hope::Later), nearest)
    }

    /// The call that comes nearest without being one that counts: one that no other entry asks for, then as
    /// [`Distance`] has it, then a successful one, then the earliest.
    fn nearest(&self) -> Option<&Candidate<'a>> {
        self.candidates
            .iter()
            .filter(|it| !(it.call.succeeded() && it.differences.is_empty()))
            .min_by_key(|it| (it.taken, Distance::of(&it.differences), !it.call.succeeded()))
    }
}

fn with_call(checked: Checked, candidate: &Candidate<'_>) -> Checked {
    let mut checked = checked.shown_by(&candidate.call.id);
    checked.result.differences.clone_from(&candidate.differences);
    checked
}

/// The first difference, and how many more there are.
fn in_words(differences: &[Difference]) -> String {
    let Some(first) = differences.first() else {
        return String::new();
    };
    let at = match first.at.as_str() {
        "" => String::new(),
        at => format!(" at {at}"),
    };
    let more = match differences.len() {
        1 => String::new(),
        2 => ", and 1 more difference".to_owned(),
        many => format!(", and {} more differences", many - 1),
    };
    format!("{}{at} in place of {}{more}", first.found, first.expected)
}

#[cfg(test)]
mod tests;
