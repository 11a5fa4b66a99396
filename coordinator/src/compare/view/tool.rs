//! How a tool differs, as lines and as pieces.

use super::super::FieldChange;
use super::super::tools::{Piece, PieceKind, ToolChange, ToolChangeKind};
use super::clean::{clean, clean_line};

/// A tool that differs.
pub(in super::super) struct ToolView {
    /// Server and tool: `weather · get_forecast`.
    pub(in super::super) name: String,
    /// What became of it, in words.
    pub(in super::super) what: &'static str,
    /// Its description word by word; empty where that is the same.
    pub(in super::super) description: Vec<Piece>,
    /// The same line by line.
    pub(in super::super) lines: Vec<ToolLine>,
    /// Place, on side A, on side B.
    pub(in super::super) fields: Vec<[String; 3]>,
}

/// A line of a description.
pub(in super::super) struct ToolLine {
    /// `-` for side A, `+` for side B.
    pub(in super::super) sign: char,
    pub(in super::super) text: String,
}

impl ToolLine {
    /// The side that it stands on.
    pub(in super::super) fn letter(&self) -> char {
        if self.sign == '-' { 'A' } else { 'B' }
    }
}

impl ToolView {
    pub(super) fn of(change: &ToolChange) -> Self {
        let server = clean_line(&change.server);
        Self {
            name: if change.tool.is_empty() {
                server
            } else {
                format!("{server} · {}", clean_line(&change.tool))
            },
            what: match change.kind {
                ToolChangeKind::Added => "only on side B",
                ToolChangeKind::Removed => "only on side A",
                ToolChangeKind::Changed => "changed",
                ToolChangeKind::Reordered => "the same tools in another order, or more than once",
                ToolChangeKind::Unknown => "the tool lists differ, and one of them was not kept",
            },
            description: change
                .description
                .iter()
                .map(|piece| Piece {
                    kind: piece.kind,
                    text: clean(&piece.text),
                })
                .collect(),
            lines: lines(&change.description),
            fields: fields(&change.fields),
        }
    }
}

/// Place, on side A, on side B.
pub(super) fn fields(changes: &[FieldChange]) -> Vec<[String; 3]> {
    let value = |value: &Option<String>| value.as_deref().map_or_else(|| "nothing".to_owned(), clean_line);
    changes
        .iter()
        .map(|field| [clean_line(&field.at), value(&field.a), value(&field.b)])
        .collect()
}

fn lines(pieces: &[Piece]) -> Vec<ToolLine> {
    let side = |sign: char, other: PieceKind| {
        let text: String = pieces
            .iter()
            .filter(|piece| piece.kind != other)
            .map(|piece| piece.text.as_str())
            .collect();
        clean(&text)
            .lines()
            .map(|line| ToolLine {
                sign,
                text: line.to_owned(),
            })
            .collect::<Vec<_>>()
    };
    let mut lines = side('-', PieceKind::Added);
    lines.extend(side('+', PieceKind::Removed));
    lines
}
