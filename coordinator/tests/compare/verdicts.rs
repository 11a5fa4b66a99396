//! When there is a verdict, and which.

use mcproctor::compare::{self, ToolChangeKind, ToolLists};
use mcproctor::record::RunState;
use mcproctor::stats::compare::{DEFAULT_MARGIN, Verdict};
use serde_json::json;

use crate::formats::compared;
use crate::planted::{Outcomes, agent, of, run};

fn only(a: &crate::planted::Planted, b: &crate::planted::Planted) -> mcproctor::compare::Comparison {
    let mut all = compared(a, b);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn ranges_that_overlap_are_told_apart_by_the_test() {
    let found = only(&run("a", &[of(40, 0)]), &run("b", &[of(34, 6)]));
    assert_eq!(found.these_prompts.verdict, Some(Verdict::DifferenceShown));
    assert_eq!(format!("{:.3}", found.these_prompts.test.p), "0.026");
    assert_eq!(
        found.too_few_cases.as_deref(),
        Some("too few test cases to generalise: 1 of at least 6")
    );
}

#[test]
fn two_passes_more_of_forty_say_nothing_and_it_is_said_what_could_be_shown() {
    let found = only(&run("a", &[of(34, 6)]), &run("b", &[of(32, 8)]));
    assert_eq!(found.these_prompts.verdict, Some(Verdict::TooFewToTell));
    assert!(found.these_prompts.detectable.fall_to.is_some());
    let text = compare::text(&[found], &[], DEFAULT_MARGIN);
    assert!(
        text.contains("too few iterations to tell") && text.contains("8 times in 10, from 34/40 on side A: a fall to"),
        "{text}"
    );
}

#[test]
fn a_clear_change_is_shown_for_the_suite_the_prompts_and_the_cases_that_made_it() {
    let before: Vec<_> = (0..8).map(|case| if case < 6 { of(1, 9) } else { of(10, 0) }).collect();
    let found = only(&run("a", &before), &run("b", &[of(10, 0); 8]));
    assert_eq!(found.these_prompts.verdict, Some(Verdict::DifferenceShown));
    assert_eq!(
        found.like_these_prompts.unwrap().verdict,
        Some(Verdict::DifferenceShown)
    );
    let shown: Vec<bool> = found
        .cases
        .iter()
        .map(|case| case.verdict == Some(Verdict::DifferenceShown))
        .collect();
    assert_eq!(shown, [true, true, true, true, true, true, false, false]);
}

#[test]
fn many_iterations_show_that_nothing_changed_for_these_prompts_and_few_cases_do_not_for_others() {
    let found = only(&run("a", &[of(48, 2); 8]), &run("b", &[of(48, 2); 8]));
    assert_eq!(found.these_prompts.verdict, Some(Verdict::Equivalent));
    assert_eq!(found.like_these_prompts.unwrap().verdict, Some(Verdict::TooFewToTell));
}

#[test]
fn over_five_percent_invalid_iterations_leave_no_verdict() {
    let hurt = Outcomes {
        passed: 8,
        invalid: 2,
        ..Outcomes::default()
    };
    let found = only(&run("a", &[of(1, 9); 8]), &run("b", &[hurt; 8]));
    assert_eq!(found.these_prompts.verdict, None);
    assert!(found.cases.iter().all(|case| case.verdict.is_none() && !case.lead));
    assert_eq!(
        found.invalid.hindrance.as_deref(),
        Some("20% of the iterations of a side are invalid, over 5%")
    );
    assert!(found.these_prompts.sides[1].with_invalid.is_some());
}

#[test]
fn invalid_iterations_count_also_where_nothing_is_left_to_compare() {
    let never_valid = Outcomes {
        invalid: 10,
        ..Outcomes::default()
    };
    let b = [of(9, 1), of(9, 1), of(9, 1), never_valid];
    let found = only(&run("a", &[of(1, 9); 4]), &run("b", &b));
    assert_eq!((found.cases.len(), found.left_out.len()), (3, 1));
    assert_eq!(
        found.invalid.hindrance.as_deref(),
        Some("25% of the iterations of a side are invalid, over 5%")
    );
    assert_eq!(found.these_prompts.verdict, None);
    // The figures are those of the test cases compared.
    assert_eq!(found.these_prompts.sides[1].pooled.n, 30);
    assert!(found.these_prompts.sides[1].with_invalid.is_none());
}

#[test]
fn changed_and_missing_test_cases_are_left_out_by_name() {
    let a = run("a", &[of(9, 1); 5]);
    let mut b = run("b", &[of(9, 1); 5]);
    b.record["testCases"][0]["prompt"] = json!("Something else?");
    b.record["testCases"][1]["expectedTools"] = json!(["list_cities"]);
    b.record["testCases"][1]["answers"] = json!(["Graz"]);
    b.record["testCases"][2]["file"] = json!("new.yaml");
    b.record["testCases"][2]["name"] = json!("new");
    b.record["testCases"][3]["file"] = json!("moved/case-4.yaml");
    b.outcomes[4] = Outcomes::default();
    let found = only(&a, &b);
    assert_eq!(
        found.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>(),
        ["case 4"]
    );
    let left_out: Vec<String> = found
        .left_out
        .iter()
        .map(|out| format!("{}: {}", out.name, out.why))
        .collect();
    assert_eq!(
        left_out,
        [
            "case 1: the prompt changed",
            "case 2: the scripted answers and what is expected changed",
            "case 3: only on side A",
            "case 5: no valid iteration on side B",
            "new: only on side B",
        ]
    );
}

#[test]
fn what_makes_a_comparison_doubtful_is_said_first() {
    let a = run("a", &[of(9, 1); 6]);
    let mut b = run("b", &[of(9, 1); 6]);
    b.state = RunState::Aborted;
    b.record["iterations"] = json!(12);
    b.record["agents"][0]["ownLogin"] = json!(true);
    let mut results = b.results();
    b.tools = json!([]);
    results.add(&b.attempts()[0]);
    let one = a.results();
    let (sides, _) = compare::choose(&one, Some(&results), &[]).unwrap();
    let found = compare::compare(&sides, &ToolLists::default(), DEFAULT_MARGIN).unwrap();
    assert_eq!(
        found[0].warnings,
        [
            "the run of side B was stopped: 11 of its iterations have no result",
            "the tool list of weather changed inside the run of side B: 2 different lists",
            "side B ran with the user's own login, not isolated; side A did not",
        ]
    );
}

#[test]
fn a_tool_list_that_was_not_kept_is_told_as_not_known() {
    let a = run("a", &[of(9, 1); 2]);
    let mut b = run("b", &[of(9, 1); 2]);
    b.tools = json!([]);
    let (one, other) = (a.results(), b.results());
    let (sides, _) = compare::choose(&one, Some(&other), &[]).unwrap();
    assert_eq!(ToolLists::wanted(&sides).len(), 2);
    let found = compare::compare(&sides, &ToolLists::default(), DEFAULT_MARGIN).unwrap();
    assert_eq!(found[0].tools[0].kind, ToolChangeKind::Unknown);
}

#[test]
fn two_runs_are_compared_agent_by_agent_and_their_tests_are_adjusted_for_each_other() {
    let two_agents = |id: &str, first: Outcomes, second: Outcomes| {
        let mut planted = run(id, &[first, first, second, second]);
        let cases = planted.record["testCases"].as_array().unwrap()[..2].to_vec();
        planted.record["testCases"] = json!(cases);
        planted.record["agents"] = json!([agent("claude", "1"), agent("codex", "2")]);
        planted
    };
    let a = two_agents("a", of(20, 0), of(20, 0));
    let b = two_agents("b", of(17, 3), of(20, 0));
    let found = compared(&a, &b);
    assert_eq!(
        found.iter().map(|one| one.sides[0].agent.as_str()).collect::<Vec<_>>(),
        ["claude", "codex"]
    );
    // The second comparison could have shown nothing, so it costs the first one nothing.
    assert!((found[0].these_prompts.adjusted_p - found[0].these_prompts.test.p).abs() < 1e-12);

    let b = two_agents("b", of(17, 3), of(17, 3));
    let found = compared(&a, &b);
    assert!((found[0].these_prompts.adjusted_p - 2.0 * found[0].these_prompts.test.p).abs() < 1e-12);
}
