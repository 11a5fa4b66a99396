//! docs/architecture.md against the tree.

use std::collections::BTreeMap;

use crate::tree::{read, root};

/// The rooms of a crate's table: their names, and whether they are marked as pure.
pub(crate) fn rooms(base: &str) -> BTreeMap<String, bool> {
    let text = read("docs/architecture.md");
    let section = text
        .split("\n## ")
        .find(|section| {
            section
                .lines()
                .next()
                .is_some_and(|title| title.contains(&format!("`{base}`")))
        })
        .unwrap_or_else(|| panic!("no section about {base}"));
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|row| {
            let name = row.split('`').next().unwrap().to_owned();
            (name, row.ends_with("| pure |"))
        })
        .collect()
}

/// The parts between backticks outside of blocks.
fn spans(text: &str) -> Vec<String> {
    text.split("```")
        .step_by(2)
        .flat_map(|prose| prose.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_path_that_the_map_names_exists() {
    let text = read("docs/architecture.md");
    let mut checked = 0;
    for span in spans(&text) {
        let is_path = !span.contains(' ') && (span.contains('/') || span.ends_with(".rs") || span.ends_with(".md"));
        if is_path {
            checked += 1;
            let found = ["", "coordinator/src", "worker/src"]
                .iter()
                .any(|base| root().join(base).join(&span).exists());
            assert!(found, "docs/architecture.md names `{span}`, which is not there");
        }
    }
    assert!(checked > 40, "only {checked} paths were found in the map");
}

#[test]
fn every_room_has_its_row() {
    for base in ["coordinator/src/", "worker/src/"] {
        let rooms = rooms(base);
        for entry in std::fs::read_dir(root().join(base)).unwrap() {
            let entry = entry.unwrap();
            let mut name = entry.file_name().into_string().unwrap();
            if entry.path().is_dir() {
                name.push('/');
            }
            assert!(
                rooms.contains_key(&name),
                "docs/architecture.md has no row for `{name}` of {base}"
            );
        }
    }
}

#[test]
fn every_crate_has_its_row() {
    let text = read("docs/architecture.md");
    let manifest = read("Cargo.toml");
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    for member in members
        .split(',')
        .map(|member| member.trim().trim_matches('"'))
        .filter(|m| !m.is_empty())
    {
        let folder = member.split('/').next().unwrap();
        assert!(
            text.contains(&format!("| `{folder}/` |")),
            "docs/architecture.md has no row for {folder}/"
        );
    }
}
