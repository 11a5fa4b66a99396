//! Colours, and how they reach a terminal outside the full-screen view.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use super::marks::Mark;

/// Which styles are used. No meaning is carried by colour alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    /// Whether colours are wanted.
    pub(super) colour: bool,
}

impl Theme {
    pub(super) fn mark(self, mark: Mark) -> Style {
        match mark {
            Mark::Pending => self.dim(),
            Mark::Running => self.foreground(Color::Cyan),
            Mark::Passed => self.foreground(Color::Green),
            Mark::Failed(_) => self.foreground(Color::Red),
            Mark::Invalid(_) | Mark::Aborted => self.foreground(Color::Yellow),
        }
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn warning(self) -> Style {
        self.foreground(Color::Yellow)
    }

    pub(super) fn link(self) -> Style {
        self.foreground(Color::Cyan)
    }

    fn foreground(self, colour: Color) -> Style {
        if self.colour {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }
}

/// The line as text without any style.
pub(super) fn without_style(line: &Line<'_>) -> String {
    let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    text.trim_end().to_owned()
}

/// The line with SGR sequences (ECMA-48 8.3.117) for the styles of [`Theme`].
pub(super) fn with_sgr(line: &Line<'_>) -> String {
    let mut text = String::new();
    for span in &line.spans {
        let style = line.style.patch(span.style);
        let mut codes: Vec<&str> = Vec::new();
        if style.add_modifier.contains(Modifier::BOLD) {
            codes.push("1");
        }
        if style.add_modifier.contains(Modifier::DIM) {
            codes.push("2");
        }
        match style.fg {
            Some(Color::Red) => codes.push("31"),
            Some(Color::Green) => codes.push("32"),
            Some(Color::Yellow) => codes.push("33"),
            Some(Color::Cyan) => codes.push("36"),
            _ => {}
        }
        if codes.is_empty() {
            text.push_str(&span.content);
        } else {
            let _ = write!(text, "\x1b[{}m{}\x1b[0m", codes.join(";"), span.content);
        }
    }
    text
}
