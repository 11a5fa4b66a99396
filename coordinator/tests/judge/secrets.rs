//! Planted secrets reach neither the judge nor what is kept of its words.

use std::fs;

use serde_json::json;

use crate::judged;
use crate::support::{Answer, Bed, Verdict};

const SENTINEL: &str = "snt1nel";

#[test]
fn no_secret_is_in_a_question_and_none_that_the_endpoint_quotes_is_kept() {
    let key = format!("{SENTINEL}-api-key");
    let mut bed = Bed::new(&format!(
        "requireKey: {key}\nscenarios:\n  - when: Look\n    steps:\n      - call: {{tool: look_up, arguments: \
         {{what: \"{SENTINEL}-agent-env\"}}}}\n      - answer: 'The tool says: {{result}}'\n"
    ));
    bed.case("look", "Look it up.", &["look_up"]);
    bed.serve(|asked| match asked.method.as_str() {
        "tools/call" => {
            let header = asked.headers["x-secret"].to_str().unwrap();
            Answer::Text(format!("{header} and {SENTINEL}-judge-key, {}", "x".repeat(3_000)))
        }
        _ => Answer::Usual,
    });
    let judge = bed.judge(|question| {
        let key = question.headers["authorization"].to_str().unwrap();
        let body = json!({ "error": { "message": format!("Incorrect API key provided: {key}") } });
        Verdict::Status(401, Vec::new(), body.to_string())
    });
    bed.config["judge"]["apiKey"] = json!("${JUDGE_KEY}");
    bed.env.push(("JUDGE_KEY".to_owned(), format!("{SENTINEL}-judge-key")));
    bed.config["mcp"]["headers"] = json!([{ "name": "X-Secret", "value": format!("{SENTINEL}-\"header\"") }]);
    let mut agent = bed.builtin();
    agent["apiKey"] = json!(key);
    agent["env"]["AGENT_SETTING"] = json!(format!("{SENTINEL}-agent-env"));
    bed.agents(&[agent]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0));
    let asked = judge.asked();
    let [question] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(
        question.headers["authorization"],
        format!("Bearer {SENTINEL}-judge-key")
    );
    assert!(!question.text.contains(SENTINEL), "{}", question.text);
    assert!(question.text.contains("[redacted]") && question.text.contains("bytes left out"));
    let results = bed.results();
    let reasoning = judged(&results, "look")["reasoning"].as_str().unwrap();
    assert!(
        reasoning.contains("401") && !reasoning.contains(SENTINEL),
        "{reasoning}"
    );
    for output in [&ran.stdout, &ran.stderr] {
        assert!(!output.contains(SENTINEL), "{output}");
    }
    let page = fs::read_to_string(bed.reports().join("latest/report.html")).unwrap();
    assert!(!page.contains(SENTINEL));
}
