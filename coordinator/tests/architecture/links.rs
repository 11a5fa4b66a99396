//! What the documents point to is there.

use std::path::Path;

use mcproctor::cli::Exit;

use crate::tree::{read, root};

fn documents() -> Vec<String> {
    let mut found = vec!["README.md".to_owned(), "CHANGELOG.md".to_owned()];
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            found.push(format!("docs/{name}"));
        }
    }
    found
}

/// Where links and images point to, blocks of code left out.
fn targets(text: &str) -> Vec<String> {
    text.split("```")
        .step_by(2)
        .flat_map(|prose| prose.split("](").skip(1))
        .map(|rest| rest.split(')').next().unwrap().to_owned())
        .collect()
}

/// The anchors that forges make of headings.
fn anchors(text: &str) -> Vec<String> {
    text.split("```")
        .step_by(2)
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix('#'))
        .map(|title| {
            title
                .trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    for document in documents() {
        let text = read(&document);
        let folder = Path::new(&document).parent().unwrap();
        for target in targets(&text) {
            if target.contains("://") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if path.is_empty() {
                document.clone()
            } else {
                folder.join(path).to_str().unwrap().to_owned()
            };
            assert!(
                root().join(&path).exists(),
                "{document} links to {target}, which is not there"
            );
            if !anchor.is_empty() {
                let known = anchors(&read(&path));
                assert!(
                    known.iter().any(|known| known == anchor),
                    "{document}: no heading for {target}"
                );
            }
        }
    }
}

#[test]
fn every_document_can_be_found_from_the_index() {
    let index = targets(&read("docs/README.md"));
    for document in documents() {
        if let Some(name) = document.strip_prefix("docs/") {
            assert!(
                name == "README.md" || index.iter().any(|target| target == name),
                "docs/README.md does not link to {name}"
            );
        }
    }
}

#[test]
fn every_exit_code_is_documented() {
    let text = read("docs/exit-codes.md");
    for exit in [
        Exit::Interrupted,
        Exit::Usage,
        Exit::Failure,
        Exit::Limit,
        Exit::Threshold,
        Exit::Success,
    ] {
        assert!(
            text.contains(&format!("\n| {} |", exit.code())),
            "{exit:?} is not documented"
        );
    }
}
