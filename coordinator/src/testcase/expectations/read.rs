//! Reads expectations key by key.

use std::collections::BTreeMap;

use super::located::arguments;
use super::value::number;
use crate::expectation::{Expectations, Expression, MaxCalls, Order};
use crate::yaml::{Fields, Item, Node, Number, Problems, Value};

/// The largest count of calls that can be asked for.
const MOST_CALLS: i128 = 1_000_000;

/// What was read. Keys whose values are wrong are as if they were not there; what is wrong with them is reported.
pub(in crate::testcase) struct ReadExpectations<'n> {
    /// The expectations.
    pub(in crate::testcase) expectations: Expectations,
    /// The nodes of the keys that are there, for the places of what contradicts each other.
    nodes: Vec<(&'static str, &'n Node)>,
}

/// Reads every key of the family.
pub(in crate::testcase) fn read<'n>(fields: &mut Fields<'n>, problems: &mut Problems) -> ReadExpectations<'n> {
    let mut reader = Reader {
        fields,
        problems,
        nodes: Vec::new(),
    };
    let expectations = Expectations {
        expect_no_tools: reader.key("expectNoTools", boolean),
        expected_arguments: reader.key("expectedArguments", arguments),
        order: reader.key("order", |item, problems| {
            let words = [Order::Any, Order::Subsequence, Order::Exact].map(|order| (order.name(), order));
            item.word(&words, &[], problems)
        }),
        forbidden_tools: reader.key("forbiddenTools", |item, problems| item.filled_texts(problems)),
        max_calls: reader.key("maxCalls", max_calls),
        no_duplicate_calls: reader.key("noDuplicateCalls", boolean),
        expected_resources: reader.key("expectedResources", |item, problems| item.filled_texts(problems)),
        expected_prompts: reader.key("expectedPrompts", |item, problems| item.filled_texts(problems)),
        response_contains: reader.key("responseContains", text_or_texts),
        response_omits: reader.key("responseOmits", text_or_texts),
        response_matches: reader.key("responseMatches", expressions),
        max_duration_seconds: reader.key("maxDurationSeconds", |item, problems| {
            positive(item, problems).map(Some)
        }),
        max_tokens: reader.key("maxTokens", |item, problems| {
            let count = within(&item.number(problems)?, 1, i128::from(u64::MAX), problems)?;
            u64::try_from(count).ok().map(Some)
        }),
        max_cost_usd: reader.key("maxCostUsd", |item, problems| positive(item, problems).map(Some)),
    };
    ReadExpectations {
        expectations,
        nodes: reader.nodes,
    }
}

struct Reader<'r, 'n> {
    fields: &'r mut Fields<'n>,
    problems: &'r mut Problems,
    nodes: Vec<(&'static str, &'n Node)>,
}

impl<'n> Reader<'_, 'n> {
    /// The value of a key; its default when the key is not there, or wrong.
    fn key<T: Default>(&mut self, key: &'static str, read: impl FnOnce(&Item<'n>, &mut Problems) -> Option<T>) -> T {
        let Some(item) = self.fields.get(key) else {
            return T::default();
        };
        self.nodes.push((key, item.node));
        read(&item, self.problems).unwrap_or_default()
    }
}

fn boolean(item: &Item<'_>, problems: &mut Problems) -> Option<bool> {
    item.word(&[("true", true), ("false", false)], &[], problems)
}

/// One text, or a list of them.
fn text_or_texts(item: &Item<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    match &item.node.value {
        Value::Sequence(_) => item.filled_texts(problems),
        Value::Mapping(_) => {
            problems.add(item.unexpected("a text, or a list of texts", problems));
            None
        }
        Value::Scalar(_) => item.filled_text(problems).map(|text| vec![text.value]),
    }
}

fn expressions(item: &Item<'_>, problems: &mut Problems) -> Option<Vec<Expression>> {
    let items = match &item.node.value {
        Value::Sequence(_) => item.list(problems)?,
        Value::Scalar(_) | Value::Mapping(_) => vec![Item {
            node: item.node,
            path: item.path.clone(),
        }],
    };
    let expressions: Vec<Expression> = items.iter().filter_map(|item| expression(item, problems)).collect();
    (expressions.len() == items.len()).then_some(expressions)
}

fn expression(item: &Item<'_>, problems: &mut Problems) -> Option<Expression> {
    let text = item.filled_text(problems)?;
    match Expression::new(&text.value) {
        Ok(expression) => Some(expression),
        Err(why) => {
            let problem = text.problem(problems, format!("not a regular expression: {why}"));
            problems.add(
                problem.accepted("the syntax of Rust's regex crate, which has no look-around and no back-references"),
            );
            None
        }
    }
}

/// A number for the total, or a mapping with the total and with limits of single tools.
fn max_calls(item: &Item<'_>, problems: &mut Problems) -> Option<MaxCalls> {
    let Value::Mapping(_) = &item.node.value else {
        return Some(MaxCalls {
            total: Some(count(item, problems)?),
            ..MaxCalls::default()
        });
    };
    let mut fields = item.fields(problems)?;
    let total = fields.get("total").map(|item| count(&item, problems));
    let tools = fields.get("tools").map(|item| limits_of_tools(&item, problems));
    fields.finish(problems);
    if total.is_none() && tools.is_none() {
        let problem = item.problem(problems, "there is no limit in it");
        problems.add(problem.accepted("a number, or a mapping with `total`, `tools` or both"));
        return None;
    }
    Some(MaxCalls {
        total: match total {
            Some(total) => Some(total?),
            None => None,
        },
        tools: match tools {
            Some(tools) => tools?,
            None => BTreeMap::new(),
        },
    })
}

fn limits_of_tools(item: &Item<'_>, problems: &mut Problems) -> Option<BTreeMap<String, u32>> {
    let Value::Mapping(entries) = &item.node.value else {
        problems.add(item.unexpected("a mapping of tools to numbers", problems));
        return None;
    };
    let mut limits = BTreeMap::new();
    for entry in entries {
        let inside = Item {
            node: &entry.value,
            path: item.path.key(&entry.key),
        };
        if let Some(most) = count(&inside, problems) {
            limits.insert(entry.key.clone(), most);
        }
    }
    (limits.len() == entries.len()).then_some(limits)
}

fn count(item: &Item<'_>, problems: &mut Problems) -> Option<u32> {
    let count = within(&item.number(problems)?, 0, MOST_CALLS, problems)?;
    u32::try_from(count).ok()
}

fn within(number: &Number, least: i128, most: i128, problems: &mut Problems) -> Option<i128> {
    if (least..=most).contains(&number.value) {
        return Some(number.value);
    }
    let problem = problems
        .new_problem(format!("`{}` is out of range", number.value))
        .at(number.place)
        .key(&number.path);
    problems.add(problem.accepted(format!("a whole number from {least} to {most}")));
    None
}

/// A number greater than zero.
fn positive(item: &Item<'_>, problems: &mut Problems) -> Option<f64> {
    let number = number(item, problems)?;
    match number.as_f64().filter(|value| *value > 0.0) {
        Some(value) => Some(value),
        None => {
            let problem = item.problem(problems, format!("`{}` is out of range", number.text()));
            problems.add(problem.accepted("a number greater than 0"));
            None
        }
    }
}

impl<'n> ReadExpectations<'n> {
    /// The node of a key that is there.
    pub(super) fn node(&self, key: &str) -> Option<&'n Node> {
        self.nodes.iter().find(|(name, _)| *name == key).map(|(_, node)| *node)
    }
}
