//! docs/dependencies.md against what the crates depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::tree::{read, root};

/// The direct dependencies of each crate of the workspace, the workspace's own crates left out.
fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap();
            let names = dependencies
                .iter()
                .filter(|dependency| dependency["path"].is_null())
                .map(|dependency| text(&dependency["name"]));
            (text(&package["name"]), names.collect())
        })
        .collect()
}

/// The rows of docs/dependencies.md: under the heading of each crate, the first cell of each row.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let mut sections = BTreeMap::new();
    for section in read("docs/dependencies.md").split("\n## ").skip(1) {
        let (title, body) = section.split_once('\n').unwrap();
        let rows = body
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
            .filter(|(name, reason)| !name.starts_with("---") && *name != "crate" && reason.len() > 10)
            .map(|(name, _)| name.to_owned());
        sections.insert(title.trim().to_owned(), rows.collect());
    }
    sections
}

#[test]
fn every_dependency_has_its_reason_and_no_reason_is_stale() {
    let (declared, documented) = (declared(), documented());
    let names = |sections: &BTreeMap<String, BTreeSet<String>>| sections.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&documented), names(&declared), "a section for each crate");
    for (package, dependencies) in &declared {
        let known = &documented[package];
        let missing: Vec<_> = dependencies.difference(known).collect();
        let stale: Vec<_> = known.difference(dependencies).collect();
        assert!(
            missing.is_empty(),
            "docs/dependencies.md, {package}: no reason for {missing:?}"
        );
        assert!(
            stale.is_empty(),
            "docs/dependencies.md, {package}: {stale:?} is no longer there"
        );
    }
}
