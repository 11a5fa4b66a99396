//! One JSON object a line: the events as they are, for programs.

use std::fmt::Write as _;

use crate::event::Envelope;
use crate::unseen::is_obeyed;

/// The event as one line of JSON, without the line break. Characters that a terminal would obey are escaped.
pub(super) fn line(envelope: &Envelope) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(envelope)?;
    // serde_json escapes the controls below U+0020. The others stand in strings only, where an escape means the same.
    if !json.chars().any(is_obeyed) {
        return Ok(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_obeyed(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use std::collections::BTreeSet;

    use super::*;
    use crate::event::Event;
    use crate::ui::sample::Sample;

    #[test]
    fn a_line_holds_no_control_character_and_means_the_same() {
        let text = "a\x1b[2J\n\u{7f}\u{9b}\u{202e}\u{e0001}é界";
        let envelope = Envelope {
            at: 7,
            event: Event::Notice { text: text.to_owned() },
        };
        let line = line(&envelope).unwrap();
        assert!(!line.chars().any(is_obeyed), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["at"], 7);
        assert_eq!(read["event"], "notice");
        assert_eq!(read["text"], text);
    }

    #[test]
    fn every_kind_of_event_and_every_key_of_it_is_documented() {
        let documented = include_str!("../../../docs/events.md");
        let sample = Sample {
            invalid: 300,
            judge: true,
            ..Sample::new(2, 3, 2)
        };
        let others = [
            Event::Notice { text: String::new() },
            Event::Stopping { reason: String::new() },
        ];
        let others = others.into_iter().map(|event| Envelope { at: 0, event });
        let mut kinds = BTreeSet::new();
        for envelope in sample.events().into_iter().chain(others) {
            let read: serde_json::Value = serde_json::from_str(&line(&envelope).unwrap()).unwrap();
            let kind = read["event"].as_str().unwrap().to_owned();
            let row = documented
                .lines()
                .find(|line| line.starts_with(&format!("| `{kind}` |")));
            let row = row.unwrap_or_else(|| panic!("{kind} is not documented"));
            for key in read
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| *key != "at" && *key != "event")
            {
                assert!(row.contains(&format!("`{key}`")), "{key} of {kind} is not documented");
            }
            kinds.insert(kind);
        }
        assert_eq!(kinds.len(), 11, "{kinds:?}");
    }
}
