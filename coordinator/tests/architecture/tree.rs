//! The repository's files, and the code in them.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The text of a file of the workspace.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file at or under a path of the workspace, as paths of the workspace; those that only tests see are left out.
pub(crate) fn rust_files(path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join(path)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if !path.split('/').any(|part| part == "tests" || part == "tests.rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no Rust file at {path}");
    found
}

/// A file without its comments and without the tests at its end.
pub(crate) fn code(path: &str) -> String {
    product(&read(path))
}

fn product(text: &str) -> String {
    let product = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    product
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether the code names something of this crate, as `name::…` or `use name…`.
pub(crate) fn uses(code: &str, name: &str) -> bool {
    let inside_a_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        !before.ends_with(inside_a_name)
            && !after.starts_with(inside_a_name)
            && (after.starts_with("::") || before.ends_with("use "))
    })
}

#[test]
fn comments_and_longer_names_are_no_uses() {
    assert!(uses("use tokio::sync::mpsc;", "tokio"));
    assert!(uses("async { tokio::spawn(x) }", "tokio"));
    assert!(uses("use serde_json as json;", "serde_json"));
    assert!(!uses("use tokio_util::sync::X;", "tokio"));
    assert!(!uses("let tokio = 1;", "tokio"));
    let text = "//! Uses tokio::spawn.\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    use tokio::time;\n}\n";
    assert!(!uses(&product(text), "tokio"));
    assert!(product(text).contains("fn f"));
}
