//! Two texts, word by word.

use std::time::Duration;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// A part of a text that is on both sides, or on one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Where it is.
    pub kind: PieceKind,
    /// The part.
    pub text: String,
}

/// Where a part of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    /// On both sides.
    Same,
    /// Only on side A.
    Removed,
    /// Only on side B.
    Added,
}

/// How long the parts of two texts are looked for. What is left then is told as removed and added: finding the fewest
/// parts takes time that grows with the square of what differs.
const LONGEST: Duration = Duration::from_secs(1);

/// What was removed and added between two texts; empty when they are equal.
pub(super) fn pieces(a: &str, b: &str) -> Vec<Piece> {
    if a == b {
        return Vec::new();
    }
    let diff = TextDiff::configure().timeout(LONGEST).diff_words(a, b);
    let mut pieces: Vec<Piece> = Vec::new();
    for change in diff.iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => PieceKind::Same,
            ChangeTag::Delete => PieceKind::Removed,
            ChangeTag::Insert => PieceKind::Added,
        };
        match pieces.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(change.value()),
            _ => pieces.push(Piece {
                kind,
                text: change.value().to_owned(),
            }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_can_be_read_from_the_pieces() {
        let (a, b) = (
            "Get the weather of a city.",
            "Get the current weather of a city, in Celsius.",
        );
        let pieces = pieces(a, b);
        let side = |other| {
            pieces
                .iter()
                .filter(|piece| piece.kind != other)
                .map(|piece| piece.text.as_str())
                .collect::<String>()
        };
        assert_eq!(
            (side(PieceKind::Added).as_str(), side(PieceKind::Removed).as_str()),
            (a, b)
        );
        assert!(pieces.iter().any(|piece| piece.kind == PieceKind::Same));
        assert!(super::pieces(a, a).is_empty());
    }

    #[test]
    fn texts_of_which_every_word_differs_end_and_can_be_read_all_the_same() {
        let text = |word: &str| (0..60_000).map(|n| format!("{word}{n} ")).collect::<String>();
        let (a, b) = (text("a"), text("b"));
        let side = |kind| {
            let of_it = pieces(&a, &b).into_iter().filter(|piece| piece.kind == kind);
            of_it.map(|piece| piece.text).collect::<String>().replace(' ', "")
        };
        assert_eq!(side(PieceKind::Removed), a.replace(' ', ""));
        assert_eq!(side(PieceKind::Added), b.replace(' ', ""));
    }
}
