//! Which dotenv file a config has, and what is in it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::dotenv;
use super::environment::Environment;
use super::interpolate::{Dotenv, Variables, describe, fill};
use super::resolve::resolve_path;
use crate::yaml::{Item, KeyPath, MAX_BYTES, Node, Place, Problem, Problems};

/// The file that `envFile` names, which has to be there; else `.env` beside the config, if it is there.
pub(super) fn read_dotenv(root: &Node, base: &Path, shell: &Environment, problems: &mut Problems) -> Dotenv {
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

/// One byte more than a file may have tells that it has too many.
pub(super) fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
