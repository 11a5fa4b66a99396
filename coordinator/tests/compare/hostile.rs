//! Names, prompts and descriptions that try to be more than text.

use mcproctor::compare;
use mcproctor::stats::compare::DEFAULT_MARGIN;
use serde_json::json;

use crate::formats::compared;
use crate::planted::{before_and_after, tools};

const EVIL: &str = "<script>alert(1)</script>|`x`\u{1b}[2J\u{202e}@team\n```\n<img src=x onerror=y>";

#[test]
fn what_servers_and_test_cases_say_stays_text_in_every_format() {
    let (mut a, mut b) = before_and_after();
    for run in [&mut a, &mut b] {
        run.record["testCases"][0]["name"] = json!(EVIL);
        run.record["agents"][0]["name"] = json!(EVIL);
    }
    b.record["testCases"][1]["prompt"] = json!("other");
    b.record["agents"][0]["model"] = json!(EVIL);
    b.tools = tools(EVIL);
    b.tools[0]["inputSchema"] = json!({ EVIL: EVIL });
    let comparisons = compared(&a, &b);
    let notices = [EVIL.to_owned()];

    let html = compare::html(&comparisons, &notices, DEFAULT_MARGIN).unwrap();
    assert!(!html.contains("<script") && !html.contains("<img"));
    let markdown = compare::markdown(&comparisons, &notices, DEFAULT_MARGIN);
    let (mut fence, mut outside) = (None::<&str>, String::new());
    for line in markdown.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line == open => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => outside.push_str(line),
            Some(_) => {}
        }
    }
    assert_eq!(fence, None);
    assert!(!outside.contains("<script") && !outside.contains("<img") && !outside.contains("@team"));
    let text = compare::text(&comparisons, &notices, DEFAULT_MARGIN);
    for shown in [&html, &markdown, &text] {
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
    }
}
