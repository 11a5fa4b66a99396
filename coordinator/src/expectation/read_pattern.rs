//! Patterns from the values that test cases hold.

use std::collections::BTreeMap;

use super::expression::Expression;
use super::fault::{Faults, Step};
use super::json::{Json, JsonType};
use super::pattern::{Bound, Limit, Matcher, Pattern};
use super::schema::Schema;

/// Every key that is a matcher.
pub(super) const MATCHERS: [&str; 13] = [
    "$regex",
    "$contains",
    "$oneOf",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$type",
    "$schema",
    "$any",
    "$absent",
    "$exact",
    "$literal",
];

/// Those that no other matcher stands beside.
const ALONE: [&str; 4] = ["$any", "$absent", "$exact", "$literal"];

/// Whether a value may be asked not to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// It is the value of a key.
    Allowed,
    /// It is an item of a list, or all arguments together.
    Senseless,
}

/// Reads a pattern. `None` means that there is something in `faults`.
pub(super) fn pattern(value: &Json, absence: Absence, faults: &mut Faults) -> Option<Pattern> {
    match value {
        Json::List(items) => list(items, Absence::Senseless, faults).map(Pattern::List),
        Json::Object(entries) if entries.keys().any(|key| key.starts_with('$')) => matchers(entries, absence, faults),
        Json::Object(entries) => {
            let read: BTreeMap<String, Pattern> = entries
                .iter()
                .filter_map(|(key, value)| {
                    let read = faults.at_key(key, |faults| pattern(value, Absence::Allowed, faults));
                    Some((key.clone(), read?))
                })
                .collect();
            (read.len() == entries.len()).then_some(Pattern::Object(read))
        }
        scalar => Some(Pattern::Scalar(scalar.clone())),
    }
}

fn list(items: &[Json], absence: Absence, faults: &mut Faults) -> Option<Vec<Pattern>> {
    let read: Vec<Pattern> = items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| faults.inside(Step::Item(index), |faults| pattern(item, absence, faults)))
        .collect();
    (read.len() == items.len()).then_some(read)
}

fn matchers(entries: &BTreeMap<String, Json>, absence: Absence, faults: &mut Faults) -> Option<Pattern> {
    let mut sound = true;
    for key in entries.keys() {
        if !MATCHERS.contains(&key.as_str()) {
            sound = false;
            faults.at_key(key, |faults| not_a_matcher(key, faults));
        } else if ALONE.contains(&key.as_str()) && entries.len() > 1 {
            sound = false;
            faults.at_key(key, |faults| {
                let fault = faults.add("nothing else can stand beside it");
                fault.remedy("keep one of them");
            });
        }
    }
    if !sound {
        return None;
    }
    if let Some((key, value)) = entries.first_key_value()
        && ALONE.contains(&key.as_str())
    {
        return faults.at_key(key, |faults| alone(key, value, absence, faults));
    }
    let read: Vec<Matcher> = entries
        .iter()
        .filter_map(|(key, value)| faults.at_key(key, |faults| matcher(key, value, absence, faults)))
        .collect();
    (read.len() == entries.len() && consistent(&read, faults)).then_some(Pattern::Matchers(read))
}

fn not_a_matcher(key: &str, faults: &mut Faults) {
    if key == "$calls" {
        let fault = faults.add("`$calls` stands beside the arguments of a tool and not inside of them");
        fault.remedy("move it up");
    } else if key.starts_with('$') {
        let fault = faults.add("there is no such matcher");
        fault
            .accepted(MATCHERS.join(", "))
            .remedy("for an argument of this name, put the whole mapping under `$literal`");
    } else {
        let fault = faults.add("keys and matchers cannot be mixed in one mapping");
        fault.remedy("to match a key's value, put the matcher under that key");
    }
}

fn alone(key: &str, value: &Json, absence: Absence, faults: &mut Faults) -> Option<Pattern> {
    match key {
        "$literal" => Some(Pattern::of_value(value)),
        "$exact" => pattern(value, Absence::Senseless, faults).map(|inner| Pattern::Exact(Box::new(inner))),
        _ if *value != Json::Bool(true) => {
            let fault = faults.add(format!("`{value}` says nothing here"));
            fault.accepted("true");
            None
        }
        "$any" => Some(Pattern::Any),
        _ if absence == Absence::Senseless => {
            let fault = faults.add("only the value of a key can be absent");
            fault.remedy("put it under the key that should not be there");
            None
        }
        _ => Some(Pattern::Absent),
    }
}

fn matcher(key: &str, value: &Json, absence: Absence, faults: &mut Faults) -> Option<Matcher> {
    let refuse = |faults: &mut Faults, accepted: &str| {
        let fault = faults.add(format!("this is {}", with_article(value)));
        fault.accepted(accepted);
        None
    };
    match (key, value) {
        ("$regex", Json::Text(text)) => match Expression::new(text) {
            Ok(expression) => Some(Matcher::Regex(expression)),
            Err(why) => {
                let fault = faults.add(format!("not a regular expression: {why}"));
                fault.accepted("the syntax of Rust's regex crate, which has no look-around and no back-references");
                None
            }
        },
        ("$regex", _) => refuse(faults, "a regular expression as a text"),
        ("$contains", value) => {
            pattern(value, Absence::Senseless, faults).map(|inner| Matcher::Contains(Box::new(inner)))
        }
        ("$oneOf", Json::List(items)) if !items.is_empty() => list(items, absence, faults).map(Matcher::OneOf),
        ("$oneOf", _) => refuse(faults, "a list of values with at least one in it"),
        ("$type", _) => types(value, faults).map(Matcher::Type),
        ("$schema", _) => match Schema::new(value.clone()) {
            Ok(schema) => Some(Matcher::Schema(schema)),
            Err(why) => {
                let fault = faults.add(format!("not a JSON Schema: {why}"));
                fault.accepted("a JSON Schema that refers to nothing outside itself");
                None
            }
        },
        (_, Json::Number(than)) => {
            let limit = Limit::ALL.into_iter().find(|limit| limit.key() == key)?;
            Some(Matcher::Bound(Bound {
                limit,
                than: than.clone(),
            }))
        }
        _ => refuse(faults, "a number"),
    }
}

/// `a text`, `an empty list`: what a value is, for people.
fn with_article(value: &Json) -> String {
    match value {
        Json::Null => "no value".to_owned(),
        Json::Bool(_) => "a boolean".to_owned(),
        Json::Number(_) => "a number".to_owned(),
        Json::Text(_) => "a text".to_owned(),
        Json::List(items) if items.is_empty() => "an empty list".to_owned(),
        Json::List(_) => "a list".to_owned(),
        Json::Object(_) => "a mapping".to_owned(),
        Json::Unread(unread) => format!("a value of type {}", unread.kind.name()),
    }
}

fn types(value: &Json, faults: &mut Faults) -> Option<Vec<JsonType>> {
    let names = match value {
        Json::List(items) => items.iter().collect(),
        one => vec![one],
    };
    let find = |name: &Json| JsonType::ALL.into_iter().find(|kind| Json::text(kind.name()) == *name);
    let types: Vec<JsonType> = names.iter().filter_map(|name| find(name)).collect();
    if types.len() == names.len() && !types.is_empty() {
        return Some(types);
    }
    let known: Vec<&str> = JsonType::ALL.iter().map(|kind| kind.name()).collect();
    let unknown = names.iter().find(|name| find(name).is_none());
    // `$type: null` without quotes is no text.
    let fault = match unknown {
        Some(Json::Null) => faults.add("there is no value"),
        Some(unknown) => faults.add(format!("there is no type {unknown}")),
        None => faults.add("this is an empty list"),
    };
    fault.accepted(format!("{}, or a list of them; `null` in quotes", known.join(", ")));
    None
}

/// Matchers that no value can meet together are a slip of the pen.
fn consistent(matchers: &[Matcher], faults: &mut Faults) -> bool {
    let bounds = || {
        matchers.iter().filter_map(|matcher| match matcher {
            Matcher::Bound(bound) => Some(bound),
            _ => None,
        })
    };
    for lower in bounds().filter(|bound| bound.limit.is_lower()) {
        for upper in bounds().filter(|bound| !bound.limit.is_lower()) {
            let touching = lower.limit.includes_itself() && upper.limit.includes_itself();
            if lower.than > upper.than || (lower.than == upper.than && !touching) {
                let (lower_key, upper_key) = (lower.limit.key(), upper.limit.key());
                faults.at_key(lower_key, |faults| {
                    faults.add(format!(
                        "no number is within `{lower_key}: {}` and `{upper_key}: {}`",
                        lower.than.text(),
                        upper.than.text()
                    ));
                });
                return false;
            }
        }
    }
    let numbers_only = bounds().next().map(|bound| bound.limit.key());
    let allows_numbers = matchers.iter().all(|matcher| match matcher {
        Matcher::Type(types) => types
            .iter()
            .any(|kind| matches!(kind, JsonType::Number | JsonType::Integer)),
        Matcher::Regex(_) => false,
        _ => true,
    });
    if let Some(key) = numbers_only.filter(|_| !allows_numbers) {
        faults.at_key(key, |faults| {
            let fault = faults.add("only a number has bounds, and what stands beside asks for something else");
            fault.remedy("keep one of them");
        });
        return false;
    }
    true
}
