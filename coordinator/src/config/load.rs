//! From a file to a config.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::env_file::{read_bounded, read_dotenv};
use super::environment::Environment;
use super::error::ConfigErrors;
use super::file::{EvalFile, GatewayFile};
use super::gateway::GatewayConfig;
use super::interpolate::{Variables, fill_tree};
use super::resolve::{Context, resolve, resolve_gateway_file};
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
    let (root, base, variables) = read_filled(path, &EVALUATION, environment, problems)?;
    let file = EvalFile::read(&root, problems)?;
    let context = Context {
        file: path,
        base: &base,
        variables: &variables,
    };
    resolve(&file, &context, problems)
}

/// Reads and resolves a gateway's config, likewise. `listen` goes before what the file says.
///
/// # Errors
///
/// Everything that is wrong with the file, and with the dotenv, certificate and key files that it names.
pub fn load_gateway(
    path: &Path,
    listen: Option<SocketAddr>,
    environment: &Environment,
) -> Result<GatewayConfig, ConfigErrors> {
    let mut problems = Problems::of(path);
    let config = load_gateway_into(path, listen, environment, &mut problems);
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(ConfigErrors::new(problems.into_sorted())),
    }
}

fn load_gateway_into(
    path: &Path,
    listen: Option<SocketAddr>,
    environment: &Environment,
    problems: &mut Problems,
) -> Option<GatewayConfig> {
    let (root, base, variables) = read_filled(path, &GATEWAY, environment, problems)?;
    let file = GatewayFile::read(&root, problems)?;
    let context = Context {
        file: path,
        base: &base,
        variables: &variables,
    };
    resolve_gateway_file(&file, listen, &context, problems)
}

/// What is said of a file that is not there or empty.
struct Kind {
    /// What is read when nothing is named.
    usual: &'static str,
    needs: &'static str,
}

const EVALUATION: Kind = Kind {
    usual: "./eval.yaml",
    needs: "it needs `mcp` and `testcases`",
};

const GATEWAY: Kind = Kind {
    usual: "./gateway.yaml",
    needs: "it needs `tokenKey` and `models`",
};

/// The tree with its variables filled in, the folder of the file, and the variables.
fn read_filled<'e>(
    path: &Path,
    kind: &Kind,
    environment: &'e Environment,
    problems: &mut Problems,
) -> Option<(Node, PathBuf, Variables<'e>)> {
    let mut root = read_tree(path, kind, problems)?;
    let base = base_of(path, problems)?;
    let dotenv = read_dotenv(&root, &base, environment, problems);
    let variables = Variables {
        shell: environment,
        dotenv,
    };
    fill_tree_but_env_file(&mut root, &variables, problems);
    Some((root, base, variables))
}

fn read_tree(path: &Path, kind: &Kind, problems: &mut Problems) -> Option<Node> {
    let bytes = match read_bounded(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let problem = problems.new_problem(format!("cannot be read: {error}"));
            let remedy = if path == Path::new(kind.usual) {
                format!("name the config with `-c`; without it `{}` is read", kind.usual)
            } else {
                format!("correct what `-c` names; without it `{}` is read", kind.usual)
            };
            problems.add(problem.remedy(remedy));
            return None;
        }
    };
    let root = parse(&bytes, problems);
    if root.is_none() && problems.is_empty() {
        problems.add(
            problems
                .new_problem("the file is empty")
                .at(Place::START)
                .remedy(kind.needs),
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
