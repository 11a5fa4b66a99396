//! From a file to a config.

use std::path::{Path, PathBuf};

use super::env_file::{read_bounded, read_dotenv};
use super::environment::Environment;
use super::error::ConfigErrors;
use super::file::EvalFile;
use super::interpolate::{Variables, fill_tree};
use super::resolve::{Context, resolve};
use super::settings::Config;
use crate::yaml::{KeyPath, Node, Place, Problems, Value, parse};

/// Reads and resolves a config. Nothing after this reads the file or the environment again.
///
/// # Errors
///
/// Everything that is wrong with the file, and with the dotenv and certificate files that it names.
pub fn load(path: &Path, environment: &Environment) -> Result<Config, ConfigErrors> {
    let mut problems = Problems::of(path);
    let config = load_into(path, environment, &mut problems);
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(ConfigErrors::new(problems.into_sorted())),
    }
}

fn load_into(path: &Path, environment: &Environment, problems: &mut Problems) -> Option<Config> {
    let mut root = read_tree(path, problems)?;
    let base = base_of(path, problems)?;
    let dotenv = read_dotenv(&root, &base, environment, problems);
    let variables = Variables {
        shell: environment,
        dotenv,
    };
    fill_tree_but_env_file(&mut root, &variables, problems);
    let file = EvalFile::read(&root, problems)?;
    let context = Context {
        file: path,
        base: &base,
        variables: &variables,
    };
    resolve(&file, &context, problems)
}

fn read_tree(path: &Path, problems: &mut Problems) -> Option<Node> {
    let bytes = match read_bounded(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let problem = problems.new_problem(format!("cannot be read: {error}"));
            problems.add(problem.remedy("name the config with `-c`; without it `./eval.yaml` is read"));
            return None;
        }
    };
    let root = parse(&bytes, problems);
    if root.is_none() && problems.is_empty() {
        problems.add(
            problems
                .new_problem("the file is empty")
                .at(Place::START)
                .remedy("it needs `mcp` and `testcases`"),
        );
    }
    root
}

/// The folder of the config file, absolute.
fn base_of(path: &Path, problems: &mut Problems) -> Option<PathBuf> {
    match std::path::absolute(path) {
        Ok(absolute) => Some(absolute.parent().unwrap_or(&absolute).to_owned()),
        Err(error) => {
            problems.add(problems.new_problem(format!("its folder is unknown: {error}")));
            None
        }
    }
}

/// `envFile` is filled in from the shell alone, before there are other variables.
fn fill_tree_but_env_file(root: &mut Node, variables: &Variables<'_>, problems: &mut Problems) {
    let Value::Mapping(entries) = &mut root.value else {
        return;
    };
    for entry in entries
        .iter_mut()
        .filter(|entry| entry.key != "envFile" && !entry.key.starts_with("x-"))
    {
        fill_tree(&mut entry.value, &KeyPath::root().key(&entry.key), variables, problems);
    }
}
