//! Expectations that nothing can meet together.

use std::collections::BTreeMap;

use super::located::place_of;
use super::read::ReadExpectations;
use super::value::path_of;
use crate::expectation::{Expectations, HowMany, Order, Step, ToolArguments, folded};
use crate::yaml::{KeyPath, Problems, Value};

/// Reports every pair of expectations of which one rules out the other.
pub(in crate::testcase) fn report_conflicts(
    expected_tools: &[String],
    read: &ReadExpectations<'_>,
    problems: &mut Problems,
) {
    let mut conflicts = Conflicts { read, problems };
    let expectations = &read.expectations;
    let needed = needed(expected_tools, expectations);
    conflicts.no_tools(&needed);
    conflicts.order(expected_tools, &needed);
    conflicts.forbidden(&needed);
    conflicts.calls(&needed);
    conflicts.arguments(&needed);
    conflicts.response();
}

/// The fewest successful calls of each tool with which everything can be met. Calls may meet several expectations at once.
fn needed(expected_tools: &[String], expectations: &Expectations) -> BTreeMap<String, u32> {
    let mut needed: BTreeMap<String, u32> = BTreeMap::new();
    for tool in expected_tools {
        *needed.entry(tool.clone()).or_default() += 1;
    }
    for entry in &expectations.expected_arguments {
        let least = entry.calls.least();
        if least > 0 {
            let count = needed.entry(entry.tool.clone()).or_default();
            *count = (*count).max(least);
        }
    }
    needed
}

struct Conflicts<'r, 'n> {
    read: &'r ReadExpectations<'n>,
    problems: &'r mut Problems,
}

impl Conflicts<'_, '_> {
    /// A conflict, shown where `key` stands, further in by `steps`.
    fn add(&mut self, key: &str, steps: &[Step], what: String, remedy: &str) {
        let Some(node) = self.read.node(key) else { return };
        let problem = self
            .problems
            .new_problem(what)
            .at(place_of(node, steps))
            .key(&path_of(&KeyPath::root().key(key), steps));
        self.problems.add(problem.remedy(remedy));
    }

    fn no_tools(&mut self, needed: &BTreeMap<String, u32>) {
        if !self.read.expectations.expect_no_tools {
            return;
        }
        if let Some(tool) = needed.keys().next() {
            let what = format!("no tool is to be called, but a call of `{tool}` is expected");
            self.add("expectNoTools", &[], what, "remove one of the two");
        }
    }

    fn order(&mut self, expected_tools: &[String], needed: &BTreeMap<String, u32>) {
        let order = self.read.expectations.order;
        if order == Order::Exact && !expected_tools.is_empty() {
            for (tool, least) in needed {
                let listed = expected_tools.iter().filter(|other| *other == tool).count();
                if (*least as usize) > listed {
                    let what = format!(
                        "`expectedTools` lists all calls, {listed} of `{tool}`, but {least} are expected by \
                         `expectedArguments`"
                    );
                    let remedy = "list them in `expectedTools`, or allow other calls with `order: subsequence`";
                    self.add("order", &[], what, remedy);
                }
            }
        }
        if order != Order::Any && expected_tools.is_empty() {
            let what = "there is nothing to order: `expectedTools` is empty".to_owned();
            self.add("order", &[], what, "name the tools in `expectedTools`, in their order");
        }
    }

    fn forbidden(&mut self, needed: &BTreeMap<String, u32>) {
        let forbidden = &self.read.expectations.forbidden_tools;
        for (index, tool) in forbidden.iter().enumerate() {
            let at = [Step::Item(index)];
            if needed.contains_key(tool) {
                let what = format!("`{tool}` is forbidden, but a call of it is expected");
                self.add("forbiddenTools", &at, what, "remove one of the two");
            }
            if self.read.expectations.max_calls.tools.contains_key(tool) {
                let at = [Step::Key("tools".to_owned()), Step::Key(tool.clone())];
                let what = format!("`{tool}` is forbidden, so that there is nothing to limit");
                self.add("maxCalls", &at, what, "remove one of the two");
            }
        }
        for entry in &self.read.expectations.expected_arguments {
            if entry.calls == HowMany::Exactly(0) && forbidden.contains(&entry.tool) {
                let tool = &entry.tool;
                let what = format!("`{tool}` is forbidden, so that there are no arguments to look at");
                let at = [Step::Key(tool.clone())];
                self.add("expectedArguments", &at, what, "remove one of the two");
            }
        }
    }

    fn calls(&mut self, needed: &BTreeMap<String, u32>) {
        let limits = self.read.expectations.max_calls.clone();
        for (tool, most) in &limits.tools {
            let least = needed.get(tool).copied().unwrap_or(0);
            if least > *most {
                let at = [Step::Key("tools".to_owned()), Step::Key(tool.clone())];
                let what = format!("at most {most} of `{tool}` are allowed, but {least} are expected");
                self.add("maxCalls", &at, what, "raise the limit, or expect fewer calls");
            }
        }
        let least: u64 = needed.values().copied().map(u64::from).sum();
        if let Some(most) = limits.total.filter(|most| least > u64::from(*most)) {
            // The total may stand alone or under its own key; the path leads to whichever it is.
            let what = format!("at most {most} calls are allowed, but {least} are expected");
            let under_key = self
                .read
                .node("maxCalls")
                .is_some_and(|node| node.get("total").is_some());
            let at: &[Step] = if under_key {
                &[Step::Key("total".to_owned())]
            } else {
                &[]
            };
            self.add("maxCalls", at, what, "raise the limit, or expect fewer calls");
        }
    }

    /// Entries for one tool that rule each other out, or calls that are asked for elsewhere.
    fn arguments(&mut self, needed: &BTreeMap<String, u32>) {
        let read = self.read;
        let entries: Vec<&ToolArguments> = read.expectations.expected_arguments.iter().collect();
        let mut place = 0;
        for (index, entry) in entries.iter().enumerate() {
            let tool = entry.tool.as_str();
            let first_of_tool = index == 0 || entries[index - 1].tool != entry.tool;
            place = if first_of_tool { 0 } else { place + 1 };
            let others = || {
                entries
                    .iter()
                    .filter(|other| other.tool == tool && !std::ptr::eq(**other, *entry))
            };
            let what = match entry.calls {
                HowMany::Exactly(most) => {
                    let all = needed.get(tool).copied().filter(|_| entry.arguments.is_anything());
                    let within = others().filter(|other| other.arguments.is_within(&entry.arguments));
                    let least = within.map(|other| other.calls.least()).chain(all).max();
                    least.filter(|least| *least > most).map(|least| {
                        format!("exactly {most} such calls of `{tool}` are allowed, but {least} are expected")
                    })
                }
                HowMany::All => others()
                    .find(|other| other.calls.least() > 0 && other.arguments.rules_out(&entry.arguments))
                    .map(|other| {
                        let arguments = other.arguments.to_json();
                        format!(
                            "every call of `{tool}` is to have these arguments, but one with {arguments} is expected"
                        )
                    }),
                HowMany::AtLeast(_) => None,
            };
            if let Some(what) = what {
                self.add(
                    "expectedArguments",
                    &self.place(tool, place),
                    what,
                    "remove one of the two",
                );
            }
            let least = entry.calls.least();
            if read.expectations.no_duplicate_calls && least > 1 && entry.arguments.is_one_value() {
                let what =
                    format!("{least} calls of `{tool}` with just these arguments are expected, but no call twice");
                let remedy = "remove `noDuplicateCalls`, or expect one call";
                self.add("expectedArguments", &self.place(tool, place), what, remedy);
            }
        }
    }

    /// The way to the entry of a tool, which may stand in a list or alone.
    fn place(&self, tool: &str, index: usize) -> Vec<Step> {
        let node = self.read.node("expectedArguments").and_then(|node| node.get(tool));
        let in_a_list = node.is_some_and(|node| matches!(node.value, Value::Sequence(_)));
        let mut steps = vec![Step::Key(tool.to_owned())];
        steps.extend(in_a_list.then_some(Step::Item(index)));
        steps
    }

    fn response(&mut self) {
        let expectations = &self.read.expectations;
        for (index, omitted) in expectations.response_omits.iter().enumerate() {
            let part = folded(omitted);
            let within = |text: &&String| folded(text).contains(&part);
            if let Some(text) = expectations.response_contains.iter().find(within) {
                let what = format!("`{omitted}` must not be in the reply, but `{text}` has to be");
                let several = self
                    .read
                    .node("responseOmits")
                    .is_some_and(|node| matches!(node.value, Value::Sequence(_)));
                let at: &[Step] = if several { &[Step::Item(index)] } else { &[] };
                self.add("responseOmits", at, what, "remove one of the two");
            }
        }
    }
}
