//! What people read.

use mcproctor::compare::{self, Comparison, ToolLists};
use mcproctor::stats::compare::DEFAULT_MARGIN;

use crate::planted::{Planted, before_and_after};

pub(crate) fn compared(a: &Planted, b: &Planted) -> Vec<Comparison> {
    let (one, other) = (a.results(), b.results());
    let (sides, _) = compare::choose(&one, Some(&other), &[]).unwrap();
    let mut lists = ToolLists::default();
    for planted in [a, b] {
        let (sha256, json) = planted.tool_list();
        lists.insert(&sha256, &json);
    }
    compare::compare(&sides, &lists, DEFAULT_MARGIN).unwrap()
}

/// The page without its style, a tag a line.
fn page(html: &str) -> String {
    let (head, rest) = html.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    let (before, hash) = head.split_once("sha256-").unwrap();
    format!(
        "{before}sha256-…{}{body}",
        hash.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "+/=".contains(c))
    )
}

#[test]
fn a_terminal_shows_both_questions_every_case_and_what_else_changed() {
    let (a, b) = before_and_after();
    insta::assert_snapshot!(compare::text(
        &compared(&a, &b),
        &["agent codex is only in run x".to_owned()],
        DEFAULT_MARGIN
    ));
}

#[test]
fn markdown_fits_a_pull_request() {
    let (a, b) = before_and_after();
    insta::assert_snapshot!(compare::markdown(&compared(&a, &b), &[], DEFAULT_MARGIN));
}

#[test]
fn the_page_stands_alone_and_runs_nothing() {
    let (a, b) = before_and_after();
    let html = compare::html(&compared(&a, &b), &[], DEFAULT_MARGIN).unwrap();
    assert!(!html.contains("<script") && !html.contains(" style=") && !html.contains("src=\"http"));
    assert!(html.contains("content=\"default-src &#39;none&#39;; style-src &#39;sha256-"));
    insta::assert_snapshot!(page(&html));
}

#[test]
fn programs_get_every_figure() {
    let (a, b) = before_and_after();
    let json = compare::json(&compared(&a, &b), &[], DEFAULT_MARGIN).unwrap();
    insta::assert_snapshot!(json);
}
