//! Where a value is not like a pattern.

use std::collections::BTreeMap;

use super::shown::{found, shortened, typed};
use crate::expectation::{Json, JsonType, Limit, Matcher, Pattern};
use crate::record::Difference;

/// Differences that are told of one value; more help no reader.
const MOST: usize = 20;

/// What comparing a value with a pattern came to.
pub(super) struct Compared {
    /// Where it is not like it.
    pub(super) differences: Vec<Difference>,
    /// Why it cannot be told whether it is like it, when nothing is known in which it is not.
    pub(super) unknown: Option<String>,
}

/// Compares a value with a pattern.
pub(super) fn compared(pattern: &Pattern, value: Option<&Json>) -> Compared {
    let mut comparison = Comparison::default();
    comparison.compare(pattern, value, &mut Pointer::default(), Keys::Subset);
    comparison.done()
}

/// Whether objects may have keys that their pattern does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Subset,
    Exact,
}

#[derive(Default)]
struct Comparison {
    found: Vec<Difference>,
    unknown: Option<String>,
}

impl Comparison {
    fn done(self) -> Compared {
        Compared {
            unknown: self.unknown.filter(|_| self.found.is_empty()),
            differences: self.found,
        }
    }

    fn cannot_tell(&mut self, why: impl ToString) {
        self.unknown.get_or_insert_with(|| why.to_string());
    }

    fn add(&mut self, at: &Pointer, expected: impl Into<String>, value: Option<&Json>) {
        self.add_found(at.to_string(), expected, found(value));
    }

    fn add_found(&mut self, at: String, expected: impl Into<String>, found: String) {
        if self.found.len() < MOST {
            self.found.push(Difference {
                at,
                expected: expected.into(),
                found,
            });
        }
    }

    fn compare(&mut self, pattern: &Pattern, value: Option<&Json>, at: &mut Pointer, keys: Keys) {
        match (pattern, value) {
            (Pattern::Exact(inner), _) => self.compare(inner, value, at, Keys::Exact),
            (Pattern::Absent, None) | (Pattern::Any, Some(_)) => {}
            (Pattern::Absent, Some(_)) => self.add(at, "nothing", value),
            (Pattern::Matchers(matchers), _) => {
                for matcher in matchers {
                    self.matcher(matcher, value, at, keys);
                }
            }
            (Pattern::Object(keys_of), Some(Json::Unread(unread)))
                if unread.kind == JsonType::Object && keys_of.is_empty() && keys == Keys::Subset => {}
            (_, Some(Json::Unread(unread))) if type_of(pattern) == Some(unread.kind) => self.cannot_tell(unread.why),
            (Pattern::Scalar(wanted), Some(value)) if wanted == value => {}
            (Pattern::List(patterns), Some(Json::List(items))) => self.list(patterns, items, at, keys),
            (Pattern::Object(patterns), Some(Json::Object(entries))) => self.object(patterns, entries, at, keys),
            _ => self.add(at, wanted(pattern), value),
        }
    }

    fn list(&mut self, patterns: &[Pattern], items: &[Json], at: &mut Pointer, keys: Keys) {
        for (index, pattern) in patterns.iter().enumerate() {
            at.inside(&index.to_string(), |at| {
                self.compare(pattern, items.get(index), at, keys)
            });
        }
        for (index, item) in items.iter().enumerate().skip(patterns.len()) {
            at.inside(&index.to_string(), |at| self.add(at, "nothing", Some(item)));
        }
    }

    fn object(
        &mut self,
        patterns: &BTreeMap<String, Pattern>,
        entries: &BTreeMap<String, Json>,
        at: &mut Pointer,
        keys: Keys,
    ) {
        for (key, pattern) in patterns {
            at.inside(key, |at| self.compare(pattern, entries.get(key), at, keys));
        }
        if keys == Keys::Exact {
            for (key, value) in entries.iter().filter(|(key, _)| !patterns.contains_key(*key)) {
                at.inside(key, |at| self.add(at, "nothing", Some(value)));
            }
        }
    }

    fn matcher(&mut self, matcher: &Matcher, value: Option<&Json>, at: &mut Pointer, keys: Keys) {
        let like = |pattern: &Pattern, value: Option<&Json>| {
            let mut inside = Self::default();
            inside.compare(pattern, value, &mut Pointer::default(), keys);
            inside.done()
        };
        // One that is like it is enough; with none, one of which it cannot be told leaves it open.
        let any = |compared: &mut dyn Iterator<Item = Compared>| {
            let mut unknown = None;
            for one in compared {
                match one.unknown {
                    Some(why) => unknown = unknown.or(Some(why)),
                    None if one.differences.is_empty() => return Ok(true),
                    None => {}
                }
            }
            unknown.map_or(Ok(false), Err)
        };
        let holds = match (matcher, value) {
            (Matcher::OneOf(choices), _) => any(&mut choices.iter().map(|choice| like(choice, value))),
            (Matcher::Regex(_), Some(Json::Unread(unread))) if unread.kind == JsonType::String => {
                Err(unread.why.to_string())
            }
            (Matcher::Contains(_), Some(Json::Unread(unread)))
                if matches!(unread.kind, JsonType::String | JsonType::Array) =>
            {
                Err(unread.why.to_string())
            }
            (_, None) => Ok(false),
            (Matcher::Regex(expression), Some(Json::Text(text))) => Ok(expression.is_in(text)),
            (Matcher::Contains(part), Some(Json::Text(text))) => Ok(match part.as_ref() {
                Pattern::Scalar(Json::Text(part)) => text.contains(part),
                _ => false,
            }),
            (Matcher::Contains(item), Some(Json::List(items))) => any(&mut items.iter().map(|it| like(item, Some(it)))),
            (Matcher::Bound(bound), Some(Json::Number(number))) => Ok(bound.holds(number)),
            (Matcher::Type(types), Some(value)) => Ok(types.iter().any(|kind| kind.includes(value))),
            (Matcher::Schema(schema), Some(value)) => {
                let told = match value.unread() {
                    Some(why) => Err(why.to_string()),
                    None => schema.violations(value),
                };
                let violations = match told {
                    Ok(violations) => violations,
                    Err(why) => return self.cannot_tell(why),
                };
                for violation in violations {
                    let place = format!("{at}{}", violation.at);
                    let inside = value_at(value, &violation.at);
                    self.add_found(
                        place,
                        format!("valid by the schema: {}", shortened(&violation.what)),
                        found(inside),
                    );
                }
                return;
            }
            _ => Ok(false),
        };
        match holds {
            Ok(true) => {}
            Ok(false) => self.add(at, matcher_in_words(matcher), value),
            Err(why) => self.cannot_tell(why),
        }
    }
}

/// The type of the values that are like a pattern, where it is plain.
fn type_of(pattern: &Pattern) -> Option<JsonType> {
    match pattern {
        Pattern::Scalar(value) => Some(value.json_type()),
        Pattern::List(_) => Some(JsonType::Array),
        Pattern::Object(_) => Some(JsonType::Object),
        Pattern::Exact(inner) => type_of(inner),
        Pattern::Any | Pattern::Absent | Pattern::Matchers(_) => None,
    }
}

/// What stands at a JSON Pointer.
fn value_at<'v>(value: &'v Json, pointer: &str) -> Option<&'v Json> {
    pointer.split('/').skip(1).try_fold(value, |here, token| {
        let key = token.replace("~1", "/").replace("~0", "~");
        match here {
            Json::Object(entries) => entries.get(&key),
            Json::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    })
}

fn wanted(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Scalar(value) => typed(value),
        Pattern::Any => "any value".to_owned(),
        Pattern::Absent => "nothing".to_owned(),
        Pattern::Exact(inner) => wanted(inner),
        Pattern::List(_) | Pattern::Object(_) => typed(&pattern.to_json()),
        Pattern::Matchers(matchers) => {
            let words: Vec<String> = matchers.iter().map(matcher_in_words).collect();
            words.join(" and ")
        }
    }
}

/// A matcher in words.
pub(super) fn matcher_in_words(matcher: &Matcher) -> String {
    let operand = || shortened(&matcher.operand().to_string());
    match matcher {
        Matcher::Regex(expression) => format!("a string that matches /{}/", shortened(expression.as_str())),
        Matcher::Contains(part) => match part.as_ref() {
            Pattern::Scalar(Json::Text(_)) => format!("a string or an array that contains {}", operand()),
            _ => format!("an array that contains {}", operand()),
        },
        Matcher::OneOf(_) => format!("one of {}", operand()),
        Matcher::Bound(bound) => {
            let sign = match bound.limit {
                Limit::Above => ">",
                Limit::AtLeast => "≥",
                Limit::Below => "<",
                Limit::AtMost => "≤",
            };
            format!("a number {sign} {}", bound.than.text())
        }
        Matcher::Type(types) => {
            let names: Vec<&str> = types.iter().map(|kind| kind.name()).collect();
            format!("a value of type {}", names.join(" or "))
        }
        Matcher::Schema(_) => format!("valid by the schema {}", operand()),
    }
}

/// A JSON Pointer (RFC 6901) that grows and shrinks on the way.
#[derive(Default)]
struct Pointer(String);

impl Pointer {
    fn inside<T>(&mut self, token: &str, visit: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.0.len();
        self.0.push('/');
        self.0.push_str(&token.replace('~', "~0").replace('/', "~1"));
        let value = visit(self);
        self.0.truncate(length);
        value
    }
}

impl std::fmt::Display for Pointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
