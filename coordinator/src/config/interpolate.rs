//! `${VAR}` in the texts of a config.
//!
//! Variables are filled in after the YAML is parsed, so that a value with `: ` or a line break cannot change the
//! structure, and what was filled in is never looked at again. Keys and everything under an `x-…` key stay as they are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::environment::Environment;
use crate::yaml::{Item, KeyPath, Node, Problem, Problems, Value};

/// Filled in per iteration by later versions, so nobody may come to rely on it as a variable of their own.
const RESERVED: &str = "ITERATION_ID";

/// Where variables come from. The shell wins over the dotenv file.
pub(super) struct Variables<'e> {
    pub(super) shell: &'e Environment,
    pub(super) dotenv: Dotenv,
}

/// The dotenv file of a config.
#[derive(Default)]
pub(super) struct Dotenv {
    /// The file that is read, or would be if it were there.
    pub(super) file: Option<PathBuf>,
    /// Its variables.
    pub(super) variables: BTreeMap<String, String>,
    /// It is there but could not be read: which variables it would have set is unknown.
    pub(super) unreadable: bool,
}

impl Variables<'_> {
    /// The value of a variable; an empty value is a value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.shell
            .get(name)
            .or_else(|| self.dotenv.variables.get(name).map(String::as_str))
    }

    /// Every way out of an unset variable.
    fn remedy(&self, name: &str) -> String {
        let file = match &self.dotenv.file {
            Some(file) => format!(", add a line `{name}=…` to {}", file.display()),
            None => String::new(),
        };
        format!(
            "set {name} in the shell{file}, or give a default with `${{{name}:-…}}`; for the literal text write `$${{{name}}}`"
        )
    }
}

/// Why a text cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FillError {
    /// The variable has no value and the text no default.
    Unset(String),
    /// A name that has a meaning of its own.
    Reserved,
    /// `${` without `}`.
    Unclosed,
    /// What stands between the braces is no name.
    NotAName(String),
    /// A default that holds `${`.
    Nested,
}

/// The text with every variable filled in; `None` when it has none, not even an escaped one.
pub(super) fn fill<'v>(text: &str, lookup: impl Fn(&str) -> Option<&'v str>) -> Result<Option<String>, FillError> {
    if !text.contains("${") {
        return Ok(None);
    }
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let before = &rest[..at];
        let inside = &rest[at + 2..];
        if let Some(before) = before.strip_suffix('$') {
            filled.push_str(before);
            filled.push_str("${");
            rest = inside;
            continue;
        }
        filled.push_str(before);
        let (expression, after) = inside.split_once('}').ok_or(FillError::Unclosed)?;
        let (name, default) = match expression.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (expression, None),
        };
        if !is_name(name) {
            return Err(FillError::NotAName(expression.to_owned()));
        }
        if name == RESERVED {
            return Err(FillError::Reserved);
        }
        if default.is_some_and(|default| default.contains("${")) {
            return Err(FillError::Nested);
        }
        // As in a shell, `:-` also stands in for a value that is empty.
        let value = match (lookup(name), default) {
            (None | Some(""), Some(default)) => default,
            (Some(value), _) => value,
            (None, None) => return Err(FillError::Unset(name.to_owned())),
        };
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(Some(filled))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Fills in every text of a tree.
pub(super) fn fill_tree(node: &mut Node, path: &KeyPath, variables: &Variables<'_>, problems: &mut Problems) {
    match &mut node.value {
        Value::Mapping(entries) => {
            for entry in entries.iter_mut().filter(|entry| !entry.key.starts_with("x-")) {
                fill_tree(&mut entry.value, &path.key(&entry.key), variables, problems);
            }
        }
        Value::Sequence(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                fill_tree(item, &path.index(index), variables, problems);
            }
        }
        Value::Scalar(scalar) => match fill(&scalar.text, |name| variables.get(name)) {
            Ok(None) => {}
            Ok(Some(filled)) => scalar.written = Some(std::mem::replace(&mut scalar.text, filled)),
            Err(error) => {
                scalar.broken = true;
                let unknown = matches!(error, FillError::Unset(_)) && variables.dotenv.unreadable;
                if !unknown {
                    let item = Item {
                        node,
                        path: path.clone(),
                    };
                    problems.add(describe(&error, &item, variables, problems));
                }
            }
        },
    }
}

/// The problem that an error makes of a value.
pub(super) fn describe(error: &FillError, item: &Item<'_>, variables: &Variables<'_>, problems: &Problems) -> Problem {
    match error {
        FillError::Unset(name) => item
            .problem(problems, format!("the variable {name} is not set"))
            .remedy(variables.remedy(name)),
        FillError::Reserved => item
            .problem(problems, format!("`${{{RESERVED}}}` is not supported in this version"))
            .remedy(format!("for the literal text write `$${{{RESERVED}}}`")),
        FillError::Unclosed => item
            .problem(problems, "`${` without a closing `}`")
            .remedy("close it, or write `$${` for the literal text"),
        FillError::NotAName(text) => item
            .problem(problems, format!("`{text}` is not the name of a variable"))
            .accepted("`${NAME}` or `${NAME:-default}` with a name of letters, digits and `_`")
            .remedy("for the literal text write `$${`"),
        FillError::Nested => item
            .problem(problems, "a default cannot hold another variable")
            .remedy("give the default as plain text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<Option<String>, FillError> {
        fill(text, |name| match name {
            "KEY" => Some("k-1"),
            "EMPTY" => Some(""),
            "TRICKY" => Some("a: b\n${KEY}"),
            _ => None,
        })
    }

    fn text(text: &str) -> String {
        filled(text).ok().flatten().unwrap_or_default()
    }

    #[test]
    fn values_and_defaults_are_filled_in() {
        assert_eq!(text("Bearer ${KEY}!"), "Bearer k-1!");
        assert_eq!(text("${KEY}${KEY}"), "k-1k-1");
        assert_eq!(text("${NONE:-x y}"), "x y");
        assert_eq!(text("${NONE:-}|"), "|");
        assert_eq!(text("${EMPTY:-x}"), "x");
        assert_eq!(text("[${EMPTY}]"), "[]");
    }

    #[test]
    fn texts_without_a_variable_stay_as_they_are() {
        for literal in ["plain", "$KEY", "$$", "{{ .Values.x }}", "a}b", "$ {KEY}"] {
            assert_eq!(filled(literal), Ok(None), "{literal}");
        }
        assert_eq!(text("$${KEY} and ${KEY}"), "${KEY} and k-1");
    }

    #[test]
    fn what_was_filled_in_is_not_looked_at_again() {
        assert_eq!(text("${TRICKY}"), "a: b\n${KEY}");
        assert_eq!(text("$${${KEY}"), "${k-1");
    }

    #[test]
    fn what_cannot_be_filled_in_is_an_error() {
        assert_eq!(filled("${NONE}"), Err(FillError::Unset("NONE".to_owned())));
        assert_eq!(filled("${KEY"), Err(FillError::Unclosed));
        assert_eq!(filled("${}"), Err(FillError::NotAName(String::new())));
        assert_eq!(filled("${a.b}"), Err(FillError::NotAName("a.b".to_owned())));
        assert_eq!(filled("${NONE:-${KEY}}"), Err(FillError::Nested));
        assert_eq!(filled("x-${ITERATION_ID}"), Err(FillError::Reserved));
    }
}
