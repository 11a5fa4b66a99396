//! From a file to a config.

use std::path::{Path, PathBuf};

use super::dotenv;
use super::environment::Environment;
use super::error::ConfigErrors;
use super::file::EvalFile;
use super::interpolate::{Dotenv, Variables, describe, fill, fill_tree};
use super::resolve::{Context, resolve, resolve_path};
use super::settings::Config;
use crate::yaml::{Item, KeyPath, MAX_BYTES, Node, Place, Problem, Problems, parse};

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

/// One byte more than a file may have tells that it has too many.
fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
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

/// The file that `envFile` names, which has to be there; else `.env` beside the config, if it is there.
fn read_dotenv(root: &Node, base: &Path, shell: &Environment, problems: &mut Problems) -> Dotenv {
    let unreadable = |file: Option<PathBuf>| Dotenv {
        file,
        unreadable: true,
        ..Dotenv::default()
    };
    let Some(node) = root.get("envFile") else {
        let file = base.join(".env");
        return match file.try_exists() {
            Ok(false) => Dotenv {
                file: Some(file),
                ..Dotenv::default()
            },
            Ok(true) | Err(_) => parse_dotenv(&file).unwrap_or_else(|problem| {
                problems.add(*problem);
                unreadable(Some(file))
            }),
        };
    };
    let item = Item {
        node,
        path: KeyPath::root().key("envFile"),
    };
    let Some(file) = env_file(&item, base, shell, problems) else {
        return unreadable(None);
    };
    if !file.exists() {
        let problem = item.problem(problems, format!("{} does not exist", file.display()));
        problems
            .add(problem.remedy("create it, or remove `envFile`; `.env` beside the config is read when it is there"));
        return unreadable(Some(file));
    }
    parse_dotenv(&file).unwrap_or_else(|problem| {
        problems.add(*problem);
        unreadable(Some(file))
    })
}

/// The path that `envFile` names; its own variables come from the shell alone.
fn env_file(item: &Item<'_>, base: &Path, shell: &Environment, problems: &mut Problems) -> Option<PathBuf> {
    let mut text = item.filled_text(problems)?;
    match fill(&text.value, |name| shell.get(name)) {
        Ok(Some(filled)) => text.value = filled,
        Ok(None) => {}
        Err(error) => {
            let variables = Variables {
                shell,
                dotenv: Dotenv::default(),
            };
            problems.add(describe(&error, item, &variables, problems));
            return None;
        }
    }
    resolve_path(&text, base, shell, problems)
}

fn parse_dotenv(file: &Path) -> Result<Dotenv, Box<Problem>> {
    let text = match read_bounded(file) {
        Ok(bytes) if bytes.len() > MAX_BYTES => return Err(Box::new(Problem::of_file(file, "the file is too large"))),
        Ok(bytes) => {
            String::from_utf8(bytes).map_err(|_| Box::new(Problem::of_file(file, "the file is not UTF-8 text")))?
        }
        Err(error) => return Err(Box::new(Problem::of_file(file, format!("cannot be read: {error}")))),
    };
    match dotenv::parse(&text) {
        Ok(variables) => Ok(Dotenv {
            file: Some(file.to_owned()),
            variables,
            unreadable: false,
        }),
        Err(error) => {
            let place = Place {
                line: error.line,
                column: 1,
            };
            Err(Box::new(
                Problem::of_file(file, error.what).at(place).remedy(error.remedy),
            ))
        }
    }
}

/// `envFile` is filled in from the shell alone, before there are other variables.
fn fill_tree_but_env_file(root: &mut Node, variables: &Variables<'_>, problems: &mut Problems) {
    use crate::yaml::Value;
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
