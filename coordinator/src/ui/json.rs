//! One JSON object a line: the events as they are, for programs.

use std::fmt::Write as _;

use super::text::is_hidden_control;
use crate::event::Envelope;

/// The event as one line of JSON, without the line break. Characters that a terminal would obey are escaped.
pub(super) fn line(envelope: &Envelope) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(envelope)?;
    // serde_json escapes the controls below U+0020. The others stand in strings only, where an escape means the same.
    if !json.chars().any(must_be_escaped) {
        return Ok(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if must_be_escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped)
}

fn must_be_escaped(c: char) -> bool {
    c == '\u{7f}' || is_hidden_control(c)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::event::Event;

    #[test]
    fn a_line_holds_no_control_character_and_means_the_same() {
        let text = "a\x1b[2J\n\u{7f}\u{9b}\u{202e}\u{e0001}é界";
        let envelope = Envelope {
            at: 7,
            event: Event::Notice { text: text.to_owned() },
        };
        let line = line(&envelope).unwrap();
        assert!(!line.chars().any(|c| c.is_control() || is_hidden_control(c)), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["at"], 7);
        assert_eq!(read["event"], "notice");
        assert_eq!(read["text"], text);
    }
}
