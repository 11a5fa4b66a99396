//! `expectedArguments` from the value that a test case holds.

use std::collections::BTreeMap;

use super::arguments::{HowMany, ToolArguments};
use super::fault::{Faults, Step};
use super::json::{Json, JsonType};
use super::pattern::{Matcher, Pattern};
use super::read_pattern::{Absence, pattern};

const ACCEPTED_CALLS: &str = "`all`, `{atLeast: N}` or `{exactly: N}`";

/// Reads it tool by tool. `None` means that there is something in `faults`.
pub(super) fn tools(value: &Json, faults: &mut Faults) -> Option<Vec<ToolArguments>> {
    let Json::Object(tools) = value else {
        let fault = faults.add("the tools are missing");
        fault.accepted("a mapping of tools to the arguments that they are called with");
        return None;
    };
    let mut read = Vec::new();
    for (tool, value) in tools {
        read.extend(faults.at_key(tool, |faults| entries(tool, value, faults)));
    }
    Some(read)
}

fn entries(tool: &str, value: &Json, faults: &mut Faults) -> Vec<ToolArguments> {
    let Json::List(items) = value else {
        return entry(tool, value, faults).into_iter().collect();
    };
    if items.is_empty() {
        let fault = faults.add("this is an empty list");
        fault.accepted("at least one mapping of arguments; `{}` for any arguments");
    }
    let mut read: Vec<ToolArguments> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        faults.inside(Step::Item(index), |faults| {
            let Some(entry) = entry(tool, item, faults) else { return };
            if read.iter().any(|earlier| earlier.arguments == entry.arguments) {
                let fault = faults.add("the same arguments stand in the list already, and one call would meet both");
                fault.remedy("keep one of them, with `$calls: {atLeast: 2}` when two calls are meant");
            }
            read.push(entry);
        });
    }
    read
}

fn entry(tool: &str, value: &Json, faults: &mut Faults) -> Option<ToolArguments> {
    let Json::Object(entries) = value else {
        let fault = faults.add("arguments are a mapping");
        fault.accepted("a mapping of arguments, or a list of such mappings; `{}` for any arguments");
        return None;
    };
    let mut rest: BTreeMap<String, Json> = entries.clone();
    let calls = match rest.remove("$calls") {
        None => Some(HowMany::AtLeast(1)),
        Some(calls) => faults.at_key("$calls", |faults| how_many(&calls, faults)),
    };
    let arguments = pattern(&Json::Object(rest), Absence::Senseless, faults).filter(|it| can_be_an_object(it, faults));
    Some(ToolArguments {
        tool: tool.to_owned(),
        arguments: arguments?,
        calls: calls?,
    })
}

/// Arguments are always an object, so that some matchers can never hold of them.
fn can_be_an_object(pattern: &Pattern, faults: &mut Faults) -> bool {
    let sound = match pattern {
        Pattern::Object(_) | Pattern::Any => true,
        Pattern::Exact(inner) => return faults.at_key("$exact", |faults| can_be_an_object(inner, faults)),
        Pattern::Matchers(matchers) => matchers.iter().all(|matcher| match matcher {
            Matcher::Type(types) => types.contains(&JsonType::Object),
            Matcher::Schema(_) | Matcher::OneOf(_) => true,
            Matcher::Regex(_) | Matcher::Contains(_) | Matcher::Bound(_) => false,
        }),
        Pattern::Scalar(_) | Pattern::List(_) | Pattern::Absent => false,
    };
    if !sound {
        let fault = faults.add("arguments are a mapping, and this never holds of one");
        fault.remedy("put it under the argument that it is about");
    }
    sound
}

fn how_many(value: &Json, faults: &mut Faults) -> Option<HowMany> {
    let found = match value {
        Json::Text(text) if text == "all" => Some(HowMany::All),
        Json::Object(entries) if entries.len() == 1 => entries.first_key_value().and_then(|(key, count)| {
            let Json::Number(count) = count else { return None };
            match (key.as_str(), count.as_u32()?) {
                ("atLeast", count) if count > 0 => Some(HowMany::AtLeast(count)),
                ("exactly", count) => Some(HowMany::Exactly(count)),
                _ => None,
            }
        }),
        _ => None,
    };
    if found.is_none() {
        let fault = faults.add(format!("`{value}` says not how many calls"));
        fault.accepted(ACCEPTED_CALLS);
    }
    found
}
