//! A value with its place and key path, read as what its key asks for.

use super::fields::Fields;
use super::key_path::KeyPath;
use super::nearest::{listed, nearest};
use super::node::{Entry, Node, Scalar, Value};
use super::problem::{Place, Problem, Problems};
use super::scalar::{is_null, whole_number};

/// A value that is still to be read.
pub(crate) struct Item<'n> {
    pub(crate) node: &'n Node,
    pub(crate) path: KeyPath,
}

/// A text as it was written. No `Debug`: it may hold a secret.
#[derive(Clone)]
pub(crate) struct Text {
    pub(crate) value: String,
    /// The text before variables were filled in: safe to show.
    pub(crate) shown: String,
    pub(crate) place: Place,
    pub(crate) path: KeyPath,
}

impl Text {
    /// A problem with it.
    pub(crate) fn problem(&self, problems: &Problems, what: impl Into<String>) -> Problem {
        problems.new_problem(what).at(self.place).key(&self.path)
    }
}

/// A whole number as it was written, its range not yet checked.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) value: i128,
    pub(crate) place: Place,
    pub(crate) path: KeyPath,
}

impl<'n> Item<'n> {
    /// A problem with it.
    pub(crate) fn problem(&self, problems: &Problems, what: impl Into<String>) -> Problem {
        problems.new_problem(what).at(self.node.place).key(&self.path)
    }

    /// Any scalar is a text: the one that stands in the file, so that `0123`, `1e3`, `no` and `null` stay what they are.
    /// Only nothing at all is refused.
    pub(crate) fn text(&self, problems: &mut Problems) -> Option<Text> {
        let scalar = self.scalar("a text", problems)?;
        if scalar.plain && scalar.shown().is_empty() {
            problems.add(
                self.problem(problems, "there is no value")
                    .accepted("a text; `\"\"` is the empty one"),
            );
            return None;
        }
        (!scalar.broken).then(|| Text {
            value: scalar.text.clone(),
            shown: scalar.shown().to_owned(),
            place: self.node.place,
            path: self.path.clone(),
        })
    }

    /// A text of a key that may be left out: an unquoted `null` or `~` is refused because it may be meant as "none".
    pub(crate) fn definite_text(&self, problems: &mut Problems) -> Option<Text> {
        if let Value::Scalar(scalar) = &self.node.value
            && scalar.plain
            && is_null(scalar.shown())
        {
            let problem = self.problem(problems, "there is no value").accepted("a text");
            problems.add(problem.remedy("leave the key out; if the text itself is meant, quote it"));
            return None;
        }
        self.text(problems)
    }

    /// A text that is not empty.
    pub(crate) fn filled_text(&self, problems: &mut Problems) -> Option<Text> {
        let text = self.definite_text(problems)?;
        if text.value.trim().is_empty() {
            let mut problem = text.problem(problems, "the text is empty");
            if text.shown != text.value {
                problem = problem.remedy(format!(
                    "the variable in `{}` is set but empty; give it a value",
                    text.shown
                ));
            }
            problems.add(problem);
            return None;
        }
        Some(text)
    }

    /// A whole number. One that comes from a variable may stand in quotes.
    pub(crate) fn number(&self, problems: &mut Problems) -> Option<Number> {
        let scalar = self.scalar("a whole number", problems)?;
        if scalar.broken {
            return None;
        }
        let unquoted = scalar.plain || scalar.written.is_some();
        match whole_number(&scalar.text).filter(|_| unquoted) {
            Some(value) => Some(Number {
                value,
                place: self.node.place,
                path: self.path.clone(),
            }),
            None => {
                let what = format!("`{}` is not a whole number", scalar.shown());
                let problem = self
                    .problem(problems, what)
                    .accepted("decimal digits without quotes and leading zeros");
                problems.add(problem);
                None
            }
        }
    }

    /// One of a few words. Those of `later` are known, but not what this version does.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)], later: &[&str], problems: &mut Problems) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let scalar = self.scalar(&listed(&names), problems)?;
        if scalar.broken {
            return None;
        }
        if let Some((_, value)) = words.iter().find(|(name, _)| *name == scalar.text) {
            return Some(*value);
        }
        let shown = scalar.shown();
        let mut problem = if later.contains(&scalar.text.as_str()) {
            self.problem(problems, format!("`{shown}` is not supported in this version"))
        } else {
            self.problem(problems, format!("`{shown}` is not known"))
        };
        problem = problem.accepted(listed(&names));
        if scalar.written.is_none()
            && !later.contains(&shown)
            && let Some(near) = nearest(shown, &names)
        {
            problem = problem.remedy(format!("did you mean `{near}`?"));
        }
        problems.add(problem);
        None
    }

    /// The items of a list.
    pub(crate) fn list(&self, problems: &mut Problems) -> Option<Vec<Item<'n>>> {
        match &self.node.value {
            Value::Sequence(items) => Some(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, node)| Item {
                        node,
                        path: self.path.index(index),
                    })
                    .collect(),
            ),
            Value::Scalar(_) | Value::Mapping(_) => {
                problems.add(self.unexpected("a list, `[]` when there is nothing in it", problems));
                None
            }
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&self, problems: &mut Problems) -> Option<Vec<Text>> {
        let items = self.list(problems)?;
        let texts: Vec<Text> = items.iter().filter_map(|item| item.text(problems)).collect();
        (texts.len() == items.len()).then_some(texts)
    }

    /// The keys of a mapping with fixed keys.
    pub(crate) fn fields(&self, problems: &mut Problems) -> Option<Fields<'n>> {
        match &self.node.value {
            Value::Mapping(entries) => Some(Fields::new(self.node.place, self.path.clone(), entries)),
            Value::Scalar(_) | Value::Sequence(_) => {
                problems.add(self.unexpected("a mapping of keys to values", problems));
                None
            }
        }
    }

    /// A mapping whose keys are names that the user chose, to texts.
    pub(crate) fn named_texts(&self, problems: &mut Problems) -> Option<Vec<(String, Text)>> {
        let named = self.named("a mapping of names to texts", problems)?;
        named
            .into_iter()
            .map(|(name, item)| Some((name, item.text(problems)?)))
            .collect()
    }

    /// A mapping whose keys are names that the user chose.
    pub(crate) fn named(&self, accepted: &str, problems: &mut Problems) -> Option<Vec<(String, Item<'n>)>> {
        let Value::Mapping(entries) = &self.node.value else {
            problems.add(self.unexpected(accepted, problems));
            return None;
        };
        let item = |entry: &'n Entry| Item {
            node: &entry.value,
            path: self.path.key(&entry.key),
        };
        Some(entries.iter().map(|entry| (entry.key.clone(), item(entry))).collect())
    }

    fn scalar(&self, accepted: &str, problems: &mut Problems) -> Option<&'n Scalar> {
        match &self.node.value {
            Value::Scalar(scalar) => Some(scalar),
            Value::Sequence(_) | Value::Mapping(_) => {
                problems.add(self.unexpected(accepted, problems));
                None
            }
        }
    }

    /// A problem that says what stands here instead of what is asked for.
    pub(crate) fn unexpected(&self, accepted: &str, problems: &Problems) -> Problem {
        let what = match &self.node.value {
            Value::Scalar(scalar) if scalar.plain && is_null(scalar.shown()) => "there is no value",
            Value::Scalar(_) => "this is a single value",
            Value::Sequence(_) => "this is a list",
            Value::Mapping(_) => "this is a mapping",
        };
        self.problem(problems, what).accepted(accepted)
    }
}
