//! Text inside XML 1.0, whatever it holds.

use std::fmt::Write;

use crate::unseen::is_unseen;

/// Text between tags.
pub(super) fn text(into: &mut String, text: &str) {
    escape(into, text, false);
}

/// An attribute with a space before it: ` name="value"`.
pub(super) fn attribute(into: &mut String, name: &str, value: &str) {
    into.push(' ');
    into.push_str(name);
    into.push_str("=\"");
    escape(into, value, true);
    into.push('"');
}

/// Every character becomes one that the standard allows (XML 1.0, production 2): control characters become the pictures
/// that Unicode has for them; the two that are no characters, and what cannot be seen or turns the direction of writing, the
/// replacement character. `>` is always escaped, so that
/// `]]>` cannot stand anywhere.
fn escape(into: &mut String, text: &str, in_attribute: bool) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' if in_attribute => into.push_str("&quot;"),
            // A reader makes a space of a bare one in an attribute, and drops a bare carriage return anywhere.
            '\t' | '\n' if in_attribute => numeric(into, c),
            '\r' => numeric(into, c),
            '\t' | '\n' => into.push(c),
            '\u{0}'..='\u{1f}' => into.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\u{7f}' => into.push('\u{2421}'),
            '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => into.push('\u{fffd}'),
            c if is_unseen(c) => into.push('\u{fffd}'),
            c => into.push(c),
        }
    }
}

fn numeric(into: &mut String, c: char) {
    let _ = write!(into, "&#{};", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_can_break_the_file_or_get_lost_unseen() {
        let mut out = String::new();
        text(&mut out, "a<b>&]]>\0\u{1b}[31m\r\n\t\u{85}\u{ffff}é😀\"");
        assert_eq!(out, "a&lt;b&gt;&amp;]]&gt;␀␛[31m&#13;\n\t\u{fffd}\u{fffd}é😀\"");
        out.clear();
        text(&mut out, "a\u{61c}b\u{ad}c\u{e0041}d\u{202e}\u{200b}");
        assert_eq!(out, "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}\u{fffd}");
        out.clear();
        attribute(&mut out, "name", "\"x\"\n\t'\r");
        assert_eq!(out, " name=\"&quot;x&quot;&#10;&#9;'&#13;\"");
    }
}
