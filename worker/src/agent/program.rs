//! Finding the programs of agents and learning their versions.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mcproctor_proto::agent::AgentKind;

use super::error::AgentError;
use crate::question::ask;
use crate::search_path::{self, is_executable};

/// How long a program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// A program that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Absolute path, symbolic links not resolved.
    pub path: PathBuf,
    /// Folders that it needs in its `PATH`: its own, and that of `node` for a program that Node runs.
    pub folders: Vec<PathBuf>,
}

/// What is known about the program of an agent kind that has one of its own.
struct Known {
    name: &'static str,
    variable: &'static str,
    package: &'static str,
    /// The oldest version that the driver was tested with.
    minimum: [u64; 3],
}

const CLAUDE: Known = Known {
    name: "claude",
    variable: "MCPROCTOR_CLAUDE",
    package: "@anthropic-ai/claude-code",
    minimum: [2, 1, 197],
};

const CODEX: Known = Known {
    name: "codex",
    variable: "MCPROCTOR_CODEX",
    package: "@openai/codex",
    minimum: [0, 171, 0],
};

fn known(kind: AgentKind) -> Option<&'static Known> {
    match kind {
        AgentKind::Claude => Some(&CLAUDE),
        AgentKind::Codex => Some(&CODEX),
        AgentKind::Command => None,
    }
}

impl Known {
    fn hint(&self) -> String {
        format!(
            "install it with `npm install -g {}`, or name its path in {}",
            self.package, self.variable
        )
    }
}

/// Finds the program of `kind`: at the path that `MCPROCTOR_CLAUDE` or `MCPROCTOR_CODEX` names, else in `PATH`.
///
/// # Errors
///
/// [`AgentError::NotFound`] or [`AgentError::BadOverride`]; [`AgentError::Unsupported`] for a kind without a program of
/// its own.
pub fn find(kind: AgentKind) -> Result<Program, AgentError> {
    let Some(known) = known(kind) else {
        return Err(AgentError::Unsupported {
            agent: kind.to_string(),
            reason: "this kind names its own program".to_owned(),
        });
    };
    if let Some(path) = env::var_os(known.variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
    {
        let bad = |reason: &str| AgentError::BadOverride {
            variable: known.variable,
            path: path.clone(),
            reason: reason.to_owned(),
        };
        let absolute = std::path::absolute(&path).map_err(|error| bad(&error.to_string()))?;
        return if is_executable(&absolute) {
            Ok(program(absolute))
        } else {
            Err(bad("it is no executable file"))
        };
    }
    search_path::find(known.name)
        .map(program)
        .ok_or_else(|| AgentError::NotFound {
            program: known.name.to_owned(),
            hint: known.hint(),
        })
}

/// Finds the program of a command agent: a path, or a name in `PATH`.
///
/// # Errors
///
/// [`AgentError::NotFound`].
pub fn find_command(name: &str) -> Result<Program, AgentError> {
    let found = if name.contains('/') {
        std::path::absolute(name)
            .ok()
            .filter(|path| is_executable(path))
            .map(program)
    } else {
        search_path::find(name).map(program)
    };
    found.ok_or_else(|| AgentError::NotFound {
        program: name.to_owned(),
        hint: "name an executable file or install it".to_owned(),
    })
}

/// The version that the program of `kind` reports, checked against the oldest one that works.
///
/// Blocks for as long as the program takes.
///
/// # Errors
///
/// Those of [`find`], [`AgentError::NoVersion`] and [`AgentError::TooOld`].
pub fn version(kind: AgentKind) -> Result<String, AgentError> {
    let program = find(kind)?;
    let Some(known) = known(kind) else {
        return Ok(String::new());
    };
    let no_version = |reason: String| AgentError::NoVersion {
        program: program.path.clone(),
        reason,
    };
    let output = first_output(&program).map_err(no_version)?;
    let Some((text, numbers)) = parse_version(&output) else {
        return Err(no_version(format!(
            "it printed `{}`",
            super::escape::shorten(&output, 80)
        )));
    };
    if numbers < known.minimum {
        let [major, minor, patch] = known.minimum;
        return Err(AgentError::TooOld {
            kind,
            found: text,
            minimum: format!("{major}.{minor}.{patch}"),
            hint: known.hint(),
        });
    }
    Ok(text)
}

/// What `program --version` prints.
fn first_output(program: &Program) -> Result<String, String> {
    let path = env::join_paths(given_path(&program.folders)).map_err(|error| error.to_string())?;
    let answer = ask(
        Command::new(&program.path).arg("--version").env("PATH", path),
        VERSION_TIMEOUT,
    );
    match answer {
        Ok(answer) if answer.status.success() => Ok(answer.stdout),
        Ok(answer) => Err(answer.status.to_string()),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            Err(format!("no answer in {} s", VERSION_TIMEOUT.as_secs()))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The first `1.2.3` in `text`, with what follows it up to white space (`1.2.3-beta.1`).
fn parse_version(text: &str) -> Option<(String, [u64; 3])> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_start_matches('v');
        let core = word.split(['-', '+']).next()?;
        let mut numbers = core.split('.').map(|part| part.parse::<u64>().ok());
        let parsed = [numbers.next()??, numbers.next()??, numbers.next()??];
        Some((word.to_owned(), parsed))
    })
}

/// The folders a program is given: `first`, then those of a usual system.
fn given_path(first: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = first.to_vec();
    folders.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    folders
}

fn program(path: PathBuf) -> Program {
    let node = search_path::find("node");
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in [Some(path.as_path()), node.as_deref()]
        .into_iter()
        .flatten()
        .filter_map(Path::parent)
    {
        if !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_owned());
        }
    }
    Program { path, folders }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn reads_versions_as_the_programs_print_them() {
        assert_eq!(parse_version("2.1.197 (Claude Code)\n").unwrap().1, [2, 1, 197]);
        assert_eq!(
            parse_version("codex-cli 0.171.0").unwrap(),
            ("0.171.0".to_owned(), [0, 171, 0])
        );
        assert_eq!(parse_version("codex-cli 0.180.0-alpha.3").unwrap().0, "0.180.0-alpha.3");
        assert_eq!(parse_version("command not found"), None);
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(parse_version("2.1.99").unwrap().1 < CLAUDE.minimum);
        assert!(parse_version("10.0.0").unwrap().1 > CLAUDE.minimum);
    }
}
