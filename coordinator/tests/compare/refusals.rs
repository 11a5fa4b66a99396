//! Comparisons that would say nothing, or something wrong.

use mcproctor::compare::{self, Results, ToolLists};
use mcproctor::stats::compare::DEFAULT_MARGIN;
use serde_json::json;

use crate::planted::{agent, of, run};

fn refused(a: &Results, b: Option<&Results>, agents: &[&str]) -> String {
    let agents: Vec<String> = agents.iter().map(|name| (*name).to_owned()).collect();
    let compared = compare::choose(a, b, &agents)
        .and_then(|(sides, _)| compare::compare(&sides, &ToolLists::default(), DEFAULT_MARGIN));
    compared.unwrap_err().to_string()
}

#[test]
fn one_run_needs_two_agents() {
    let one = run("r", &[of(9, 1); 2]).results();
    assert_eq!(
        refused(&one, None, &[]),
        "choose two agents of run r: it has claude; name two with --agent, or a second run"
    );
    assert_eq!(
        refused(&one, None, &["claude", "claude"]),
        "compare r/claude with itself: name two runs, or two agents"
    );
    assert_eq!(
        refused(&one, None, &["claude", "gemini"]),
        "find agent \"gemini\" in run r: it has claude"
    );
    assert_eq!(
        refused(&one, None, &["a", "b", "c"]),
        "compare 3 agents: name two at most"
    );
}

#[test]
fn runs_without_a_common_agent_need_to_be_told_which() {
    let mut a = run("a", &[of(9, 1); 4]);
    a.record["agents"] = json!([agent("x", "1"), agent("y", "1")]);
    let cases = a.record["testCases"].as_array().unwrap()[..2].to_vec();
    a.record["testCases"] = json!(cases);
    let b = run("b", &[of(9, 1); 2]);
    let (a, b) = (a.results(), b.results());
    assert_eq!(
        refused(&a, Some(&b), &[]),
        "match agents: a has x, y, b has claude; name one of each with --agent"
    );
    let agents = ["x".to_owned(), "claude".to_owned()];
    assert!(compare::choose(&a, Some(&b), &agents).is_ok());
}

#[test]
fn runs_without_a_common_test_case_cannot_be_compared() {
    let a = run("a", &[of(9, 1); 2]);
    let mut b = run("b", &[of(9, 1); 2]);
    for case in 0..2 {
        b.record["testCases"][case]["prompt"] = json!("changed");
    }
    assert_eq!(
        refused(&a.results(), Some(&b.results()), &[]),
        "compare a/claude with b/claude: they have no test case in common (case 1: the prompt changed; case 2: the prompt changed)"
    );
}

#[test]
fn a_run_is_not_compared_with_what_its_own_recordings_were_judged_to_be() {
    let held = run("held", &[of(9, 1); 2]);
    let graded = |id: &str| {
        let mut graded = run(id, &[of(1, 9); 2]);
        graded.record["gradedFrom"] = json!("held");
        graded.results()
    };
    for (a, b) in [(held.results(), graded("x")), (graded("x"), graded("y"))] {
        let said = refused(&a, Some(&b), &[]);
        assert!(said.contains("both judge the same recordings"), "{said}");
    }
}

#[test]
fn one_agent_is_compared_with_the_only_other_one() {
    let mut planted = run("r", &[of(9, 1), of(1, 9)]);
    planted.record["agents"] = json!([agent("x", "1"), agent("y", "1")]);
    planted.record["testCases"] = json!([planted.record["testCases"][0]]);
    let results = planted.results();
    let (sides, _) = compare::choose(&results, None, &["y".to_owned()]).unwrap();
    let found = compare::compare(&sides, &ToolLists::default(), DEFAULT_MARGIN).unwrap();
    assert_eq!(found[0].sides.each_ref().map(|side| side.agent.as_str()), ["y", "x"]);
}
