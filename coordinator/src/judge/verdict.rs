//! Reads what models really answer when they are asked for one JSON object.
//!
//! The whole answer is tried first, and what an outer fence holds; then the same behind each end of thoughts; then every
//! object in the text. A fence, a brace or a tag inside of the reasoning must not break an answer that is right, and words
//! around it must not hide it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::judgement::JudgeVerdict;
use crate::surrogates::without_lone_surrogates;

/// Answers are looked at up to here, in bytes: the object that is asked for is short.
const MOST_ANSWER: usize = 256 * 1024;
/// Places at which an object may begin are tried up to so many.
const MOST_STARTS: usize = 2_000;
/// Ends of thoughts are tried up to so many, and the last one.
const MOST_ENDS: usize = 50;
/// What ends thoughts.
const ENDS: [&str; 2] = ["</think>", "</thinking>"];

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

/// Why an answer says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is not in the form that was asked for.
    NotInForm,
    /// It says two things.
    ContradictsItself,
}

/// Reads a verdict.
///
/// # Errors
/// When there is none, or when there are several that contradict each other.
pub(super) fn read_verdict(answer: &str) -> Result<Verdict, Unread> {
    let read = |object: &Fields| {
        Ok(Verdict {
            verdict: object.only("verdict", verdict)?,
            reasoning: reasoning(object),
        })
    };
    find(answer, read, |a, b| a.verdict == b.verdict)
}

/// Reads a choice among replies that were shown under the numbers 1 to `most`.
///
/// # Errors
/// As for a verdict.
pub(super) fn read_choice(answer: &str, most: usize) -> Result<Choice, Unread> {
    let read = |object: &Fields| {
        Ok(Choice {
            number: object.only("reply", |value| number(value, most))?,
            reasoning: reasoning(object),
        })
    };
    find(answer, read, |a, b| a.number == b.number)
}

/// The newest object that `read` understands, provided that all of them say the same.
fn find<T>(
    answer: &str,
    read: impl Fn(&Fields) -> Result<T, Unread>,
    same: impl Fn(&T, &T) -> bool,
) -> Result<T, Unread> {
    let answer = &answer[..answer.floor_char_boundary(MOST_ANSWER)];
    // Half a character in the reasoning makes no verdict unclear.
    let answer = without_lone_surrogates(answer);
    let answer = answer.trim();
    for text in std::iter::once(answer).chain(behind_thoughts(answer)) {
        for text in [Some(text), fenced(text)].into_iter().flatten() {
            match serde_json::from_str(text).map(|object| read(&object)) {
                Ok(Err(Unread::NotInForm)) | Err(_) => {}
                Ok(found) => return found,
            }
        }
    }
    let mut newest: Option<T> = None;
    for object in objects(without_thoughts(answer), &read) {
        let object = object?;
        if newest.as_ref().is_some_and(|newest| !same(newest, &object)) {
            return Err(Unread::ContradictsItself);
        }
        newest = Some(object);
    }
    newest.ok_or(Unread::NotInForm)
}

/// What follows each end of thoughts, the first one first.
fn behind_thoughts(answer: &str) -> impl Iterator<Item = &str> {
    let ends = ENDS
        .into_iter()
        .flat_map(|tag| answer.match_indices(tag).take(MOST_ENDS));
    let mut rests: Vec<usize> = ends.map(|(at, tag)| at + tag.len()).collect();
    rests.extend(last_end(answer));
    rests.sort_unstable();
    rests.dedup();
    rests.into_iter().map(|end| answer[end..].trim())
}

/// Templates that open the tag themselves leave only its end in the answer.
fn last_end(answer: &str) -> Option<usize> {
    let ends = ENDS.iter().filter_map(|tag| answer.rfind(tag).map(|at| at + tag.len()));
    ends.max()
}

/// What follows the thoughts that some models write before their answer.
fn without_thoughts(answer: &str) -> &str {
    let thinks = ["<think>", "<thinking>"].iter().any(|tag| answer.starts_with(tag));
    last_end(answer).map_or(if thinks { "" } else { answer }, |end| answer[end..].trim())
}

/// What an outer fence of Markdown holds.
fn fenced(answer: &str) -> Option<&str> {
    let inner = answer.strip_prefix("```")?.strip_suffix("```")?;
    let (language, rest) = inner.split_once('\n').unwrap_or(("", inner));
    let plain = language.trim().chars().all(|c| c.is_ascii_alphanumeric());
    Some(if plain { rest.trim() } else { inner.trim() })
}

/// Every object in the text that `read` understands, in order; what stands inside of one of them is not looked at.
fn objects<T>(text: &str, read: impl Fn(&Fields) -> Result<T, Unread>) -> Vec<Result<T, Unread>> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_STARTS {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at) else {
            break;
        };
        from = start + 1;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Fields>();
        if let Some(Ok(object)) = values.next() {
            let read = read(&object);
            if !matches!(read, Err(Unread::NotInForm)) {
                from = start + values.byte_offset();
                found.push(read);
            }
        }
    }
    found
}

/// An object with all of its fields, also those that share a name.
struct Fields(Vec<(String, Value)>);

impl Fields {
    /// Fields by their name in any case.
    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        let named = move |(key, _): &&(String, Value)| key.trim().eq_ignore_ascii_case(name);
        self.0.iter().filter(named).map(|(_, value)| value)
    }

    /// What the fields of this name say, provided that they say the same.
    fn only<T: PartialEq>(&self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T, Unread> {
        let mut said = self.named(name).map(read);
        let first = said.next().ok_or(Unread::NotInForm)?;
        if said.any(|other| other != first) {
            return Err(Unread::ContradictsItself);
        }
        first.ok_or(Unread::NotInForm)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Collect)
    }
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

fn reasoning(object: &Fields) -> String {
    let text = match object.named("reasoning").chain(object.named("reason")).next() {
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
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(answer: &str) -> Option<(&'static str, String)> {
        read_verdict(answer)
            .ok()
            .map(|read| (read.verdict.name(), read.reasoning))
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
    fn a_tag_inside_of_the_reasoning_ends_no_thoughts() {
        let answer = "{\"verdict\":\"fail\",\"reasoning\":\"The tool said </think> and lied\"}";
        for whole in [
            answer.to_owned(),
            format!("```json\n{answer}\n```"),
            format!("<think>Maybe {{\"verdict\":\"pass\"}}.</think>\n{answer}"),
        ] {
            let expected = Some(("fail", "The tool said </think> and lied".to_owned()));
            assert_eq!(read(&whole), expected, "{whole}");
        }
    }

    #[test]
    fn half_a_character_in_the_reasoning_leaves_the_verdict_clear() {
        assert_eq!(
            read("{\"verdict\":\"fail\",\"reasoning\":\"cut \\ud83d off \\ud83d\\ude00\"}"),
            Some(("fail", "cut \u{fffd} off 😀".to_owned()))
        );
    }

    #[test]
    fn an_object_that_says_two_things_says_nothing() {
        for answer in [
            "{\"verdict\":\"pass\",\"Verdict\":\"fail\"}",
            "{\"verdict\":\"fail\",\"verdict\":\"pass\",\"reasoning\":\"r\"}",
            "Well: {\"verdict\":\"pass\",\"VERDICT\":\"maybe\"} it is.",
            "{\"verdict\":\"pass\"} {\"verdict\":\"fail\"}",
        ] {
            assert_eq!(read_verdict(answer), Err(Unread::ContradictsItself), "{answer}");
        }
        assert!(read("{\"verdict\":\"pass\",\"Verdict\":\"PASSED\"}").is_some());
        let choice = read_choice("{\"reply\":1,\"Reply\":2}", 3);
        assert_eq!(choice, Err(Unread::ContradictsItself));
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
    }

    #[test]
    fn a_choice_is_a_number_that_was_shown_or_none() {
        let choice = |answer: &str| read_choice(answer, 3).ok().map(|choice| choice.number);
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
