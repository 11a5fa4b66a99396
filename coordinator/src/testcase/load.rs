//! From a source to test cases.

use std::collections::HashMap;
use std::path::PathBuf;

use super::bitmcp_eval;
use super::error::TestCaseErrors;
use super::model::TestCase;
use crate::source::{Document, DocumentFault, DocumentSource};
use crate::yaml::{Place, Problem, Problems, parse};

/// Reads every test case of a source, in its order. There is at least one, and no two have the same name.
///
/// # Errors
///
/// Everything that is wrong with the source and its files, at once.
pub fn load(source: &dyn DocumentSource) -> Result<Vec<TestCase>, TestCaseErrors> {
    let location = source.location();
    let documents = source
        .documents()
        .map_err(|error| one(Problem::of_file(&location, error.to_string()).remedy("check `testcases.path`")))?;
    if documents.is_empty() {
        let problem = Problem::of_file(&location, "there are no test cases")
            .accepted("files that end in `.yaml` or `.yml`, directly in the folder");
        return Err(one(problem));
    }
    let mut cases = Vec::new();
    let mut found: Vec<Problem> = Vec::new();
    let mut names: HashMap<String, PathBuf> = HashMap::new();
    for document in &documents {
        let mut problems = Problems::of(&document.path);
        if let Some(read) = read(document, &mut problems) {
            if let Some(first) = names.get(&read.case.name) {
                let what = format!("the name `{}` is taken by {}", read.case.name, first.display());
                let problem = problems.new_problem(what).at(read.name_at);
                problems.add(problem.remedy("give each test case a `name` of its own; results are told apart by it"));
            } else {
                names.insert(read.case.name.clone(), document.path.clone());
            }
            cases.push(read.case);
        }
        found.extend(problems.into_sorted());
    }
    if found.is_empty() {
        Ok(cases)
    } else {
        Err(TestCaseErrors::new(found))
    }
}

fn one(problem: Problem) -> TestCaseErrors {
    TestCaseErrors::new(vec![problem])
}

fn read(document: &Document, problems: &mut Problems) -> Option<bitmcp_eval::Read> {
    let bytes = match &document.content {
        Ok(bytes) => bytes,
        Err(fault) => {
            let problem = problems.new_problem(fault.to_string());
            problems.add(match fault {
                DocumentFault::LeadsOutside => problem.remedy("copy the file into the folder"),
                _ => problem,
            });
            return None;
        }
    };
    // https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md: a pointer starts with its version, and is valid YAML.
    if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        let problem = problems
            .new_problem("this is a Git LFS pointer and not the file itself")
            .at(Place::START);
        problems.add(problem.remedy("fetch the files with `git lfs pull`"));
        return None;
    }
    let root = parse(bytes, problems);
    if root.is_none() && problems.is_empty() {
        let problem = problems.new_problem("the file is empty").at(Place::START);
        problems.add(problem.remedy("it needs `prompt` and `expectedTools`"));
    }
    let read = bitmcp_eval::read(&document.name, &root?, problems)?;
    problems.is_empty().then_some(read)
}
