//! The format of bitmcp-eval: one test case a file.

use std::path::Path;

use super::expectations::{self, report_conflicts};
use super::judged::{read_answers, read_tone};
use super::model::TestCase;
use crate::record::AnswerChoice;
use crate::yaml::{Fields, Item, KeyPath, Node, Place, Problems};

/// Keys that later versions know.
const LATER: [&str; 3] = ["workspace", "skillTriggered", "servers"];

/// A test case, and where its name stands.
pub(super) struct Read {
    pub(super) case: TestCase,
    pub(super) name_at: Place,
}

/// Reads one file. `None` means that there is something in `problems`.
pub(super) fn read(file: &str, root: &Node, problems: &mut Problems) -> Option<Read> {
    let item = Item {
        node: root,
        path: KeyPath::root(),
    };
    let mut fields = item.fields(problems)?;
    fields.later(&LATER);
    let name = match fields.get("name") {
        Some(item) => read_name(&item, problems),
        None => Some((stem(file), Place::START)),
    };
    let prompt = fields
        .require("prompt", problems)
        .and_then(|item| item.filled_text(problems));
    let read = expectations::read(&mut fields, problems);
    let none_expected = read.expectations.expect_no_tools;
    let expected_tools = read_expected_tools(&mut fields, none_expected, problems);
    if let Some(expected_tools) = &expected_tools {
        report_conflicts(expected_tools, &read, problems);
    }
    let answers = match fields.get("answers") {
        Some(item) => read_answers(&item, problems),
        None => Some((AnswerChoice::InOrder, Vec::new())),
    };
    let tone = fields.get("tone").map(|item| read_tone(&item, problems));
    let expected_outcome = fields.get("expectedOutcome").map(|item| item.filled_text(problems));
    fields.finish(problems);
    let (name, name_at) = name?;
    let (answer_choice, answers) = answers?;
    Some(Read {
        case: TestCase {
            name,
            file: file.to_owned(),
            prompt: prompt?.value,
            expected_tools: expected_tools?,
            expectations: read.expectations,
            answers,
            expected_outcome: match expected_outcome {
                Some(text) => Some(text?.value),
                None => None,
            },
            answer_choice,
            tone: match tone {
                Some(tone) => Some(tone?),
                None => None,
            },
        },
        name_at,
    })
}

fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn read_name(item: &Item<'_>, problems: &mut Problems) -> Option<(String, Place)> {
    let text = item.filled_text(problems)?;
    let name = text.value.trim();
    if name.contains(char::is_control) || name.chars().count() > 200 {
        let problem = text.problem(problems, "this cannot name a test case");
        problems.add(problem.accepted("one line of up to 200 characters"));
        return None;
    }
    Some((name.to_owned(), text.place))
}

/// They may be left out where no tool is to be called.
fn read_expected_tools(fields: &mut Fields<'_>, none_expected: bool, problems: &mut Problems) -> Option<Vec<String>> {
    let Some(item) = fields.get("expectedTools") else {
        if none_expected {
            return Some(Vec::new());
        }
        let problem = problems.new_problem("the key is missing").at(fields.place());
        let problem = problem.key(&fields.path().key("expectedTools"));
        problems.add(problem.remedy("list the tools that must be called; `expectedTools: []` when there are none"));
        return None;
    };
    item.filled_texts(problems)
}
