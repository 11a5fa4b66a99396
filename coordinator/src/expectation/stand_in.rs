//! Values for programs that know only numbers of 64 bits.
//!
//! A number that no such number is equal to gets several stand-ins around its value. What holds with all of them holds of the
//! number; where they disagree, somebody looked at digits that were lost.

use serde_json::Value;

use super::json::Json;
use super::number::Number;

/// Where a stand-in lies.
#[derive(Clone, Copy)]
enum Place {
    Nearest,
    Below,
    Above,
    /// Each number somewhere else, so that no two are equal that were not written so.
    Apart,
    /// A multiple of everything.
    Zero,
    /// No whole number.
    Half,
}

/// The value, once with each kind of stand-in; once at all when it needs none. `None` when a part of it cannot be read.
///
/// `closely` adds stand-ins for those who ask whether numbers are multiples of others.
pub(super) fn stand_ins(value: &Json, closely: bool) -> Option<Vec<Value>> {
    let Some(misfit) = misfit(value) else {
        return Some(vec![with(value, Place::Nearest, &mut 0)?]);
    };
    let mut places = vec![Place::Nearest, Place::Below, Place::Above, Place::Apart];
    if closely || !misfit.is_whole() {
        places.extend([Place::Zero, Place::Half]);
    }
    places.into_iter().map(|place| with(value, place, &mut 0)).collect()
}

/// The first number that needs a stand-in, one with a fraction if there is any.
pub(super) fn misfit(value: &Json) -> Option<&Number> {
    match value {
        Json::Number(number) => fitting(number).is_none().then_some(number),
        Json::List(items) => first(items.iter()),
        Json::Object(entries) => first(entries.values()),
        Json::Null | Json::Bool(_) | Json::Text(_) | Json::Unread(_) => None,
    }
}

fn first<'v>(values: impl Iterator<Item = &'v Json>) -> Option<&'v Number> {
    // One with a fraction asks for more stand-ins.
    values.filter_map(misfit).min_by_key(|number| number.is_whole())
}

fn with(value: &Json, place: Place, count: &mut i32) -> Option<Value> {
    Some(match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Text(text) => Value::String(text.clone()),
        Json::Number(number) => Value::Number(match fitting(number) {
            Some(number) => number,
            None => {
                *count += 1;
                serde_json::Number::from_f64(stand_in(number, place, *count))?
            }
        }),
        Json::List(items) => {
            let items = items.iter().map(|item| with(item, place, count));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Some((key.clone(), with(value, place, count)?)));
            Value::Object(entries.collect::<Option<_>>()?)
        }
        Json::Unread(_) => return None,
    })
}

/// The number of 64 bits that is equal to it, in the sense in which 0.1 is.
fn fitting(number: &Number) -> Option<serde_json::Number> {
    if let Some(digits) = number.as_integer_text() {
        let signed = digits.parse::<i64>().map(serde_json::Number::from);
        let either = signed.or_else(|_| digits.parse::<u64>().map(serde_json::Number::from));
        if let Ok(integer) = either {
            return Some(integer);
        }
    }
    let double = number.as_f64()?;
    let same = Number::parse(&double.to_string()).as_ref() == Some(number);
    same.then(|| serde_json::Number::from_f64(double)).flatten()
}

fn stand_in(number: &Number, place: Place, count: i32) -> f64 {
    let least = number.text().starts_with('-');
    let nearest = number.as_f64().unwrap_or(if least { f64::MIN } else { f64::MAX });
    let within = |value: f64| value.clamp(f64::MIN, f64::MAX);
    match place {
        Place::Nearest => nearest,
        Place::Below => within(nearest.next_down()),
        Place::Above => within(nearest.next_up()),
        Place::Apart => (0..count).fold(nearest, |value, _| {
            if least {
                within(value.next_up())
            } else {
                within(value.next_down())
            }
        }),
        Place::Zero => 0.0,
        Place::Half => 0.5,
    }
}
