//! Paths: `~` is the home folder, relative ones start at the folder of the config file.

use std::path::{Path, PathBuf};

use crate::config::environment::Environment;
use crate::yaml::{Problems, Text};

/// The absolute path that is meant. The file system is not asked.
pub(in crate::config) fn resolve_path(
    text: &Text,
    base: &Path,
    shell: &Environment,
    problems: &mut Problems,
) -> Option<PathBuf> {
    let value = text.value.as_str();
    if value.is_empty() {
        problems.add(text.problem(problems, "the path is empty"));
        return None;
    }
    if value.contains('\0') {
        problems.add(text.problem(problems, "the path holds a NUL character"));
        return None;
    }
    let Some(below_home) = value.strip_prefix('~') else {
        return Some(base.join(value));
    };
    let Some(below_home) = below_home.strip_prefix('/').or(below_home.is_empty().then_some("")) else {
        let problem = text.problem(problems, "the home folder of another user is not looked up");
        problems.add(
            problem
                .accepted("`~/…` or the whole path")
                .remedy("for a file of that name write `./~…`"),
        );
        return None;
    };
    match shell.home() {
        Some(home) if below_home.is_empty() => Some(home),
        Some(home) => Some(home.join(below_home)),
        None => {
            let problem = text.problem(problems, "`~` is used, but HOME is not set");
            problems.add(problem.remedy("set HOME in the shell, or write the whole path"));
            None
        }
    }
}

/// A program: a bare name is looked up in `PATH` later on, anything with a `/` is a path.
pub(super) fn resolve_program(
    text: &Text,
    base: &Path,
    shell: &Environment,
    problems: &mut Problems,
) -> Option<String> {
    if !text.value.contains('/') && text.value != "~" {
        return Some(text.value.clone());
    }
    let path = resolve_path(text, base, shell, problems)?;
    match path.into_os_string().into_string() {
        Ok(path) => Some(path),
        Err(_) => {
            problems.add(text.problem(problems, "the path is not UTF-8 text"));
            None
        }
    }
}
