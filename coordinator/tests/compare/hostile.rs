//! Names, prompts and descriptions that try to be more than text.

use mcproctor::compare;
use mcproctor::stats::compare::DEFAULT_MARGIN;
use serde_json::json;

use crate::code_spans::{SMUGGLERS, assert_only_code_spans_hold};
use crate::formats::compared;
use crate::planted::{Planted, before_and_after, of, run, tools};

const EVIL: &str = "<script>alert(1)</script>|`x`\u{1b}[2J\u{202e}@team\n```\n<img src=x onerror=y>";

/// Two runs that differ wherever they can, with `words` in every text.
fn planted(words: &str) -> (Planted, Planted) {
    let (mut a, mut b) = before_and_after();
    for run in [&mut a, &mut b] {
        run.record["testCases"][0]["name"] = json!(words);
        run.record["testCases"][1]["name"] = json!(format!("{words} 2"));
        run.record["agents"][0]["name"] = json!(words);
    }
    b.record["testCases"][1]["prompt"] = json!(words);
    b.record["agents"][0]["model"] = json!(words);
    b.record["agents"][0]["version"] = json!(words);
    b.tools = tools(words);
    b.tools[0]["name"] = json!(words);
    b.tools[1]["inputSchema"] = json!({ words: words });
    (a, b)
}

#[test]
fn what_servers_and_test_cases_say_stays_text_in_every_format() {
    let (a, b) = planted(EVIL);
    let comparisons = compared(&a, &b);
    let notices = [EVIL.to_owned()];

    let html = compare::html(&comparisons, &notices, DEFAULT_MARGIN).unwrap();
    assert!(!html.contains("<script") && !html.contains("<img"));
    let markdown = compare::markdown(&comparisons, &notices, DEFAULT_MARGIN);
    let text = compare::text(&comparisons, &notices, DEFAULT_MARGIN);
    for shown in [&html, &markdown, &text] {
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
    }
}

#[test]
fn in_a_pull_request_nothing_becomes_markup_a_mention_or_a_link() {
    for words in SMUGGLERS {
        let (a, b) = planted(words);
        let text = compare::markdown(&compared(&a, &b), &[words.to_owned()], DEFAULT_MARGIN);
        assert_only_code_spans_hold("smuggled", &text);
    }
}

#[test]
fn it_fits_a_comment_however_many_test_cases_and_tools_there_are() {
    let long = "🦀".repeat(500);
    let of_side = |id: &str, of_the_first| {
        let mut outcomes = [of(2, 0); 150];
        outcomes[0] = of_the_first;
        let mut run = run(id, &outcomes);
        run.record["agents"][0]["version"] = json!(format!("{id} {long}"));
        for (number, case) in run.record["testCases"].as_array_mut().unwrap().iter_mut().enumerate() {
            case["name"] = json!(format!("{number} {long}"));
            if number >= 130 {
                case["prompt"] = json!(format!("{id} {long}"));
            }
        }
        let tools = (0..60).map(|number| {
            let name = format!("{number} {long}");
            json!({ "name": name, "description": format!("{id}\n{long}").repeat(5), "inputSchema": { id: long } })
        });
        run.tools = tools.collect();
        run
    };
    let (a, b) = (of_side("a", of(2, 0)), of_side("b", of(1, 1)));
    let notices = vec![long.clone(); 100];
    let text = compare::markdown(&compared(&a, &b), &notices, DEFAULT_MARGIN);
    assert!(text.len() < 65_000, "{}", text.len());
    for section in [
        "## `claude`",
        "### Prompts like these",
        "### Left out",
        "### What else differs",
    ] {
        assert!(text.contains(section), "{section} is not in\n{text}");
    }
    assert!(text.contains("30 more in the page and in the JSON."), "{text}");
}
