//! The server of the corpus: a travel desk that answers as each scenario says.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::scenario::Scenario;
use crate::support::{Answer, Asked};

/// Its tools.
const TOOLS: [&str; 7] = [
    "get_weather",
    "get_forecast",
    "find_city",
    "book_room",
    "cancel_booking",
    "send_mail",
    "look.up",
];

/// A mind for the server: what it answers depends on the scenario that the address names, and on how often it was asked.
pub(crate) fn desk(scenarios: &[Scenario]) -> impl Fn(&Asked) -> Answer + Send + Sync + use<> {
    let scripts: HashMap<String, BTreeMap<String, Vec<Value>>> = scenarios
        .iter()
        .map(|scenario| (scenario.id.clone(), scenario.server.clone()))
        .collect();
    let counts: Mutex<HashMap<(String, String), usize>> = Mutex::default();
    move |asked| {
        let scenario = asked.query.strip_prefix("scenario=").unwrap_or_default();
        let key = match asked.method.as_str() {
            "tools/call" | "prompts/get" => asked.params["name"].as_str().unwrap_or_default(),
            "resources/read" => asked.params["uri"].as_str().unwrap_or_default(),
            method => method,
        };
        let Some(answers) = scripts.get(scenario).and_then(|script| script.get(key)) else {
            return usual(asked);
        };
        let mut counts = counts.lock().unwrap();
        let count = counts.entry((scenario.to_owned(), key.to_owned())).or_default();
        *count += 1;
        answer(&answers[(*count - 1).min(answers.len() - 1)], asked)
    }
}

fn usual(asked: &Asked) -> Answer {
    match asked.method.as_str() {
        "tools/list" => {
            let schema = json!({ "type": "object", "additionalProperties": true });
            let tool =
                |name: &&str| json!({ "name": name, "description": "A tool of the desk.", "inputSchema": schema });
            Answer::Result(json!({ "tools": TOOLS.iter().map(tool).collect::<Vec<_>>() }))
        }
        "tools/call" => Answer::Text("done".to_owned()),
        "resources/read" => Answer::Result(json!({ "contents": [{ "uri": asked.params["uri"], "text": "words" }] })),
        "prompts/get" => Answer::Result(json!({ "messages": [] })),
        _ => Answer::Usual,
    }
}

/// An answer as it is written: a text, or one of the ways in which things go wrong.
fn answer(written: &Value, asked: &Asked) -> Answer {
    if let Some(word) = written.as_str() {
        return match word {
            "usual" => usual(asked),
            "nonsense" => Answer::Nonsense,
            "silence" => Answer::Silence,
            text => Answer::Text(text.to_owned()),
        };
    }
    let text = |key: &str| written[key].as_str().unwrap().to_owned();
    match written.as_object().unwrap().keys().next().unwrap().as_str() {
        "isError" => {
            let content = json!([{ "type": "text", "text": text("isError") }]);
            Answer::Result(json!({ "content": content, "isError": true }))
        }
        "error" => Answer::Error(-32602, text("error")),
        "status" => Answer::Status(u16::try_from(written["status"].as_u64().unwrap()).unwrap()),
        "result" => Answer::Result(written["result"].clone()),
        other => panic!("no such answer: {other}"),
    }
}
