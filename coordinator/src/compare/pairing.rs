//! Which test cases of two sides can be compared.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use crate::record::TestCaseRecord;
use crate::stats::compare::Pair;

use super::results::Cell;
use super::side::Side;
use super::value::{FieldChange, differences};

/// A test case that is in no figure, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why: `the prompt changed`.
    pub why: String,
    /// Where its forms on both sides differ.
    pub differences: Vec<FieldChange>,
}

/// A test case that is the same on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common<'a> {
    pub(super) case: &'a TestCaseRecord,
    pub(super) a: &'a Cell,
    pub(super) b: &'a Cell,
}

impl Common<'_> {
    pub(super) fn pair(&self) -> Pair {
        Pair {
            a: self.a.count(),
            b: self.b.count(),
        }
    }
}

/// The test cases of both sides.
pub(super) struct Paired<'a> {
    /// Those that both did in the same form, with valid iterations on both: the ones that are compared.
    pub(super) common: Vec<Common<'a>>,
    /// Those that both did in the same form, and of which a side has no valid iteration: they count only where invalid
    /// iterations are counted.
    pub(super) never_valid: Vec<Common<'a>>,
    /// Those left out, with the reason.
    pub(super) left_out: Vec<LeftOut>,
}

/// Finds the test cases of both sides.
///
/// A test case is known by its file, and by its name where only one has it: a file may have been moved.
pub(super) fn pair_cases<'a>(a: &Side<'a>, b: &Side<'a>) -> Paired<'a> {
    let (mut common, mut never_valid, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let others: Vec<_> = b.cases().collect();
    let key = |case: &TestCaseRecord| (case.file.clone(), case.name.clone());
    let exact: HashMap<_, _> = others.iter().enumerate().map(|(i, (case, _))| (key(case), i)).collect();
    let by_file = unique(others.iter().map(|(case, _)| case.file.as_str()));
    let by_name = unique(others.iter().map(|(case, _)| case.name.as_str()));
    let mut taken = HashSet::new();
    for (case, cell) in a.cases() {
        let found = exact
            .get(&key(case))
            .or_else(|| by_file.get(case.file.as_str()))
            .or_else(|| by_name.get(case.name.as_str()))
            .copied()
            .filter(|index| !taken.contains(index));
        let Some((index, (other, other_cell))) = found.and_then(|index| Some((index, *others.get(index)?))) else {
            left_out.push(without(case, "only on side A"));
            continue;
        };
        taken.insert(index);
        let both = Common {
            case,
            a: cell,
            b: other_cell,
        };
        let changed = changed(case, other);
        if !changed.is_empty() {
            left_out.push(LeftOut {
                name: case.name.clone(),
                why: format!("{} changed", parts(&changed).join(" and ")),
                differences: changed,
            });
        } else if cell.count().total() == 0 || other_cell.count().total() == 0 {
            let side = if cell.count().total() > 0 { "B" } else { "A" };
            left_out.push(without(case, &format!("no valid iteration on side {side}")));
            never_valid.push(both);
        } else {
            common.push(both);
        }
    }
    for (index, (case, _)) in others.iter().enumerate() {
        if !taken.contains(&index) {
            left_out.push(without(case, "only on side B"));
        }
    }
    Paired {
        common,
        never_valid,
        left_out,
    }
}

/// Where each text stands, of those that stand there once.
fn unique<'a>(texts: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut places: HashMap<&str, Option<usize>> = HashMap::new();
    for (index, text) in texts.enumerate() {
        places
            .entry(text)
            .and_modify(|place| *place = None)
            .or_insert(Some(index));
    }
    places
        .into_iter()
        .filter_map(|(text, place)| Some((text, place?)))
        .collect()
}

fn without(case: &TestCaseRecord, why: &str) -> LeftOut {
    LeftOut {
        name: case.name.clone(),
        why: why.to_owned(),
        differences: Vec::new(),
    }
}

/// Where two forms of a test case differ. Compared as they are stored, so that a key which a later version adds is not missed.
fn changed(one: &TestCaseRecord, other: &TestCaseRecord) -> Vec<FieldChange> {
    let fields = |case: &TestCaseRecord| match serde_json::to_value(case) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    differences(&fields(one), &fields(other), &["name", "file"])
}

/// What of a test case that is, in words.
fn parts(changed: &[FieldChange]) -> Vec<&'static str> {
    let part = |change: &FieldChange| match change.at.split('/').nth(1) {
        Some("prompt") => "the prompt",
        Some("answers" | "answerChoice") => "the scripted answers",
        _ => "what is expected",
    };
    let mut parts: Vec<&str> = changed.iter().map(part).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}
