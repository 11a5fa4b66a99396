//! JSON values from YAML.

use crate::expectation::{Json, Number, Step};
use crate::yaml::{Item, KeyPath, Problems, Value};

/// The value of `item`; `None` when there is something wrong with it, which is reported.
///
/// Quoted scalars are texts. Of the others, those are `null`, booleans and numbers that YAML 1.2 says (its core schema,
/// section 10.3.2), and the rest are texts: dates, times, `yes` and `no` too. Where a reader of YAML 1.1 would see another
/// number, nothing is guessed: it is a problem.
pub(super) fn json(item: &Item<'_>, problems: &mut Problems) -> Option<Json> {
    let (value, sound) = best_guess(item, problems);
    sound.then_some(value)
}

/// The value of `item`, with a text for whatever is wrong, so that the rest can be read on; and whether nothing is.
pub(super) fn best_guess(item: &Item<'_>, problems: &mut Problems) -> (Json, bool) {
    let mut sound = true;
    let mut inside = |item: &Item<'_>| {
        let (value, inside_is_sound) = best_guess(item, problems);
        sound &= inside_is_sound;
        value
    };
    let value = match &item.node.value {
        Value::Sequence(nodes) => Json::List(
            nodes
                .iter()
                .enumerate()
                .map(|(index, node)| {
                    let path = item.path.index(index);
                    inside(&Item { node, path })
                })
                .collect(),
        ),
        Value::Mapping(entries) => Json::Object(
            entries
                .iter()
                .map(|entry| {
                    let path = item.path.key(&entry.key);
                    let node = &entry.value;
                    (entry.key.clone(), inside(&Item { node, path }))
                })
                .collect(),
        ),
        Value::Scalar(scalar) if !scalar.plain => Json::text(&scalar.text),
        Value::Scalar(scalar) => match plain(&scalar.text) {
            Ok(value) => value,
            Err(accepted) => {
                let what = format!("`{}` may be read as a number or as a text", scalar.text);
                let problem = item.problem(problems, what);
                problems.add(problem.accepted(accepted));
                return (Json::text(&scalar.text), false);
            }
        },
    };
    (value, sound)
}

/// A number that is not written in quotes.
pub(super) fn number(item: &Item<'_>, problems: &mut Problems) -> Option<Number> {
    match json(item, problems)? {
        Json::Number(number) => Some(number),
        other => {
            let problem = match &item.node.value {
                Value::Scalar(scalar) if other != Json::Null => {
                    item.problem(problems, format!("`{}` is not a number", scalar.text))
                }
                _ => item.unexpected("a number", problems),
            };
            problems.add(problem.accepted("a number without quotes"));
            None
        }
    }
}

/// The path of a value, one step further in for each of `steps`.
pub(super) fn path_of(path: &KeyPath, steps: &[Step]) -> KeyPath {
    steps.iter().fold(path.clone(), |path, step| match step {
        Step::Key(key) => path.key(key),
        Step::Item(index) => path.index(*index),
    })
}

fn plain(text: &str) -> Result<Json, &'static str> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Json::Null),
        "true" | "True" | "TRUE" => return Ok(Json::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Json::Bool(false)),
        _ => {}
    }
    let (sign, unsigned) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    // YAML's numbers may begin or end with the point; JSON's may not.
    let number = match unsigned.split_once('.') {
        Some(("", fraction)) => Number::parse(&format!("{sign}0.{fraction}")),
        Some((integer, "")) => Number::parse(&format!("{sign}{integer}")),
        Some((integer, rest)) if rest.starts_with(['e', 'E']) => Number::parse(&format!("{sign}{integer}{rest}")),
        _ => Number::parse(&format!("{sign}{unsigned}")),
    };
    match number {
        Some(number) => Ok(Json::Number(number)),
        None if ambiguous(unsigned) => Err("decimal digits without leading zeros for a number, quotes for a text"),
        None => Ok(Json::text(text)),
    }
}

/// Numbers of one version of YAML that are texts, or other numbers, in the other: octal, hexadecimal, binary, with
/// underscores, infinite or none.
fn ambiguous(unsigned: &str) -> bool {
    let digits_and_underscores =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let prefixed = |prefix: &str, digits: &dyn Fn(char) -> bool| {
        unsigned
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c == '_' || digits(c)))
    };
    let begins_with_a_digit = unsigned.starts_with(|c: char| c.is_ascii_digit());
    (begins_with_a_digit && digits_and_underscores(&unsigned.replacen('.', "", 1)))
        || prefixed("0x", &|c| c.is_ascii_hexdigit())
        || prefixed("0o", &|c| c.is_digit(8))
        || prefixed("0b", &|c| c.is_digit(2))
        || matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use crate::yaml::parse;

    fn read(text: &str) -> Result<String, String> {
        let mut problems = Problems::of(std::path::Path::new("case.yaml"));
        let node = parse(text.as_bytes(), &mut problems).unwrap();
        let item = Item {
            node: &node,
            path: KeyPath::root(),
        };
        json(&item, &mut problems)
            .map(|value| value.to_string())
            .ok_or_else(|| problems.into_sorted()[0].to_string())
    }

    #[test]
    fn scalars_are_what_yaml_1_2_says() {
        for (yaml, json) in [
            ("\"3\"", r#""3""#),
            ("3", "3"),
            ("+3", "3"),
            ("-3.50", "-3.50"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1e3", "1e3"),
            ("5.e3", "5e3"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("2025-10-03", r#""2025-10-03""#),
            ("03/10/2025", r#""03/10/2025""#),
            ("12:30:00", r#""12:30:00""#),
            ("2025-10-03T12:30:00Z", r#""2025-10-03T12:30:00Z""#),
            ("1.2.3", r#""1.2.3""#),
            ("yes", r#""yes""#),
            ("no", r#""no""#),
            ("on", r#""on""#),
            ("true", "true"),
            ("False", "false"),
            ("'true'", r#""true""#),
            ("null", "null"),
            ("~", "null"),
            ("!!str 3", r#""3""#),
            ("{a: [1, x], 2: {}}", r#"{"2":{},"a":[1,"x"]}"#),
        ] {
            assert_eq!(read(yaml).as_deref(), Ok(json), "{yaml}");
        }
    }

    #[test]
    fn numbers_that_readers_of_yaml_disagree_on_are_refused() {
        for yaml in [
            "0123", "-007", "00.5", "0x1F", "0o17", "0b11", "1_000", ".inf", "-.inf", ".NaN",
        ] {
            let problem = read(&format!("{{id: {yaml}}}")).unwrap_err();
            assert!(
                problem.contains("may be read as a number or as a text"),
                "{yaml}: {problem}"
            );
            assert!(problem.starts_with("case.yaml:1:6: id: "), "{problem}");
        }
    }
}
