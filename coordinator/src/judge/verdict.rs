//! Reads what models really answer when they are asked for one JSON object.
//!
//! The whole answer is tried first, then what an outer fence holds, then every object in the text: a fence or a brace inside
//! of the reasoning must not break an answer that is right, and words around it must not hide it.

use serde_json::{Map, Value};

use super::judgement::JudgeVerdict;

/// Reasoning is cut here, in bytes.
const MOST_REASONING: usize = 2_000;
/// Answers are looked at up to here, in bytes: the object that is asked for is short.
const MOST_ANSWER: usize = 256 * 1024;
/// Places at which an object may begin are tried up to so many.
const MOST_STARTS: usize = 2_000;

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Never [`JudgeVerdict::Error`].
    pub(super) verdict: JudgeVerdict,
    pub(super) reasoning: String,
}

/// Which of the prepared replies fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The number that it was shown under; `None` when none fits.
    pub(super) number: Option<usize>,
    pub(super) reasoning: String,
}

/// Reads a verdict; `None` when there is none, or when there are several that contradict each other.
pub(super) fn read_verdict(answer: &str) -> Option<Verdict> {
    let read = |object: &Map<String, Value>| {
        Some(Verdict {
            verdict: verdict(field(object, "verdict")?)?,
            reasoning: reasoning(object),
        })
    };
    find(answer, read, |a, b| a.verdict == b.verdict)
}

/// Reads a choice among replies that were shown under the numbers 1 to `most`.
pub(super) fn read_choice(answer: &str, most: usize) -> Option<Choice> {
    let read = |object: &Map<String, Value>| {
        Some(Choice {
            number: number(field(object, "reply")?, most)?,
            reasoning: reasoning(object),
        })
    };
    find(answer, read, |a, b| a.number == b.number)
}

/// The newest object that `read` understands, provided that all of them say the same.
fn find<T>(answer: &str, read: impl Fn(&Map<String, Value>) -> Option<T>, same: impl Fn(&T, &T) -> bool) -> Option<T> {
    let answer = &answer[..answer.floor_char_boundary(MOST_ANSWER)];
    let answer = without_thoughts(answer).trim();
    let whole = |text: &str| {
        let value: Value = serde_json::from_str(text).ok()?;
        read(value.as_object()?)
    };
    if let Some(found) = whole(answer).or_else(|| whole(fenced(answer)?)) {
        return Some(found);
    }
    let mut newest: Option<T> = None;
    for object in objects(answer, &read) {
        if newest.as_ref().is_some_and(|newest| !same(newest, &object)) {
            return None;
        }
        newest = Some(object);
    }
    newest
}

/// What follows the thoughts that some models write before their answer.
fn without_thoughts(answer: &str) -> &str {
    let start = answer.trim_start();
    let thinks = ["<think>", "<thinking>"].iter().any(|tag| start.starts_with(tag));
    // Templates that open the tag themselves leave only its end in the answer.
    ["</think>", "</thinking>"]
        .iter()
        .filter_map(|tag| answer.rfind(tag).map(|at| at + tag.len()))
        .max()
        .map_or(if thinks { "" } else { answer }, |end| &answer[end..])
}

/// What an outer fence of Markdown holds.
fn fenced(answer: &str) -> Option<&str> {
    let inner = answer.strip_prefix("```")?.strip_suffix("```")?;
    let (language, rest) = inner.split_once('\n').unwrap_or(("", inner));
    let plain = language.trim().chars().all(|c| c.is_ascii_alphanumeric());
    Some(if plain { rest.trim() } else { inner.trim() })
}

/// Every object in the text that `read` understands, in order; what stands inside of one of them is not looked at.
fn objects<T>(text: &str, read: impl Fn(&Map<String, Value>) -> Option<T>) -> Vec<T> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_STARTS {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at) else {
            break;
        };
        from = start + 1;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(object))) = values.next()
            && let Some(read) = read(&object)
        {
            from = start + values.byte_offset();
            found.push(read);
        }
    }
    found
}

/// A field by its name in any case.
fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let named = |(key, value): (&String, &'a Value)| key.trim().eq_ignore_ascii_case(name).then_some(value);
    object.iter().find_map(named)
}

/// The words that models use for the three verdicts.
fn verdict(value: &Value) -> Option<JudgeVerdict> {
    let word = value.as_str()?;
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    match word.as_str() {
        "pass" | "passed" | "passes" | "passing" => Some(JudgeVerdict::Pass),
        "fail" | "failed" | "fails" | "failing" => Some(JudgeVerdict::Fail),
        "uncertain" | "unsure" | "unknown" | "unclear" | "inconclusive" => Some(JudgeVerdict::Uncertain),
        _ => None,
    }
}

fn number(value: &Value, most: usize) -> Option<Option<usize>> {
    let number = match value {
        Value::Null => return Some(None),
        Value::Number(number) => usize::try_from(number.as_u64()?).ok()?,
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "none" | "null" | "" => return Some(None),
            digits => digits.parse().ok()?,
        },
        _ => return None,
    };
    match number {
        0 => Some(None),
        number => (number <= most).then_some(Some(number)),
    }
}

fn reasoning(object: &Map<String, Value>) -> String {
    let text = match field(object, "reasoning").or_else(|| field(object, "reason")) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(Value::as_str)
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" "),
        _ => String::new(),
    };
    if text.is_empty() {
        return "no reasons given".to_owned();
    }
    shortened(&text, MOST_REASONING)
}

/// The beginning of a text, with a sign that it goes on.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(answer: &str) -> Option<(&'static str, String)> {
        read_verdict(answer).map(|read| (read.verdict.name(), read.reasoning))
    }

    #[test]
    fn a_bare_verdict_whose_reasoning_holds_a_fence_and_braces_is_not_taken_apart() {
        let reasoning = "It sent:\n```json\n{\"verdict\": \"fail\", \"city\": {\"Graz\"}\n```\nand } was right.";
        let answer = serde_json::json!({ "verdict": "pass", "reasoning": reasoning });
        for answer in [answer.to_string(), serde_json::to_string_pretty(&answer).unwrap()] {
            assert_eq!(read(&answer), Some(("pass", reasoning.to_owned())));
            let fenced = format!("```json\n{answer}\n```");
            assert_eq!(read(&fenced), Some(("pass", reasoning.to_owned())));
            let in_prose = format!("Here it is {{so}}:\n```\n{answer}\n```\nI hope that {{this}} helps }} !");
            assert_eq!(read(&in_prose), Some(("pass", reasoning.to_owned())));
        }
    }

    #[test]
    fn fences_in_every_form_are_opened() {
        for answer in [
            "```json\n{\"verdict\":\"fail\",\"reasoning\":\"No data.\"}\n```",
            "```\n{\"verdict\":\"fail\",\"reasoning\":\"No data.\"}\n```\n",
            "```{\"verdict\":\"fail\",\"reasoning\":\"No data.\"}```",
            "  \n```JSON\r\n{\"verdict\":\"fail\",\"reasoning\":\"No data.\"}\r\n```  ",
            "Sure!\n```json\n{\"verdict\":\"fail\",\"reasoning\":\"No data.\"}\n```",
            "{\"verdict\":\"fail\",\"reasoning\":\"No data.\"} That is all }",
            "\u{feff}{\"verdict\":\"fail\",\"reasoning\":\"No data.\"}",
        ] {
            assert_eq!(read(answer), Some(("fail", "No data.".to_owned())), "{answer}");
        }
    }

    #[test]
    fn thoughts_before_the_answer_are_no_answer() {
        let thoughts = "Maybe {\"verdict\":\"fail\",\"reasoning\":\"a first idea\"}. Or not.";
        let answer = "{\"verdict\":\"pass\",\"reasoning\":\"r\"}";
        for whole in [
            format!("<think>{thoughts}</think>\n{answer}"),
            format!("{thoughts}</think>{answer}"),
            format!("<thinking>\n{thoughts}\n</thinking>\n\n```json\n{answer}\n```"),
        ] {
            assert_eq!(read(&whole), Some(("pass", "r".to_owned())), "{whole}");
        }
        assert_eq!(read(&format!("<think>{thoughts}")), None, "it never came to an answer");
    }

    #[test]
    fn an_object_around_the_verdict_is_looked_into() {
        assert_eq!(
            read("{\"result\": {\"Verdict\": \"PASSED\", \"Reasoning\": [\"One.\", \"Two.\"]}}"),
            Some(("pass", "One. Two.".to_owned()))
        );
    }

    #[test]
    fn the_words_of_models_are_understood() {
        for (word, expected) in [
            ("pass", "pass"),
            ("Passed", "pass"),
            ("PASSING", "pass"),
            (" **pass**. ", "pass"),
            ("FAIL", "fail"),
            ("failed", "fail"),
            (" Uncertain ", "uncertain"),
            ("inconclusive", "uncertain"),
            ("unsure", "uncertain"),
            ("unknown", "uncertain"),
        ] {
            let answer = serde_json::json!({ "verdict": word }).to_string();
            assert_eq!(read(&answer), Some((expected, "no reasons given".to_owned())), "{word}");
        }
    }

    #[test]
    fn what_is_no_verdict_is_none() {
        for answer in [
            "",
            "I think it went well overall.",
            "{\"verdict\":\"excellent\"}",
            "{\"verdict\":true}",
            "{\"verdict\":\"pass or fail\"}",
            "{\"error_percentage\": \"0.08%\", \"codes\": [{\"code\": 400}]}",
            "{\"verdict\": \"pass\" | \"fail\" | \"uncertain\"}",
            "{\"verdict\":\"pass\", \"reasoning\":\"cut in the mid",
            "[\"pass\"]",
            "\"pass\"",
        ] {
            assert_eq!(read(answer), None, "{answer}");
        }
    }

    #[test]
    fn verdicts_that_contradict_each_other_are_none_and_those_that_agree_are_one() {
        let two = |a: &str, b: &str| format!("First {{\"verdict\":\"{a}\"}}, then {{\"verdict\":\"{b}\"}}.");
        assert_eq!(read(&two("pass", "fail")), None);
        assert!(read(&two("pass", "Passed")).is_some());
    }

    #[test]
    fn hostile_answers_cost_little_and_break_nothing() {
        for answer in ["{".repeat(300_000), "{\"a\":".repeat(100_000), "{\"é".repeat(50_000)] {
            assert_eq!(read(&answer), None);
        }
        let long = serde_json::json!({ "verdict": "fail", "reasoning": "ü".repeat(5_000) }).to_string();
        assert!(read(&long).unwrap().1.len() <= MOST_REASONING + "…".len());
    }

    #[test]
    fn a_choice_is_a_number_that_was_shown_or_none() {
        let choice = |answer: &str| read_choice(answer, 3).map(|choice| choice.number);
        assert_eq!(
            choice("{\"reply\": 2, \"reasoning\": \"it asked for a day\"}"),
            Some(Some(2))
        );
        assert_eq!(choice("```json\n{\"reply\": \"3\"}\n```"), Some(Some(3)));
        for none in ["null", "0", "\"none\"", "\"\""] {
            assert_eq!(choice(&format!("{{\"reply\": {none}}}")), Some(None), "{none}");
        }
        for wrong in ["4", "-1", "1.5", "\"the first\"", "[1]", "true"] {
            assert_eq!(choice(&format!("{{\"reply\": {wrong}}}")), None, "{wrong}");
        }
        assert_eq!(choice("The second one."), None);
    }
}
