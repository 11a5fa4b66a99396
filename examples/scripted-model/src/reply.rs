//! A turn of the model, ready for any dialect to write.

use std::time::Duration;

/// What the model says and calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Unique per conversation and turn.
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) text: Option<String>,
    pub(crate) refusal: bool,
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: Usage,
    pub(crate) pace: Duration,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) target: Target,
}

/// What is called, in the way it has to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Function {
        name: String,
        namespace: Option<String>,
        arguments: String,
    },
    LocalShell {
        command: String,
    },
    /// The Responses API's search for tools.
    ToolSearch {
        query: String,
    },
    JavaScript {
        name: String,
        namespace: Option<String>,
        source: String,
    },
}

/// Token counts, derived from sizes: one token for four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// All input tokens, cached ones included.
    pub(crate) input: u64,
    /// The part of the input that counts as read from a cache.
    pub(crate) cached: u64,
    pub(crate) output: u64,
}

impl Usage {
    /// Every turn after the first finds half of its input cached.
    pub(crate) fn of(request_bytes: usize, turn: usize, text: Option<&str>, calls: &[Call]) -> Self {
        let input = tokens(request_bytes);
        let written = text.map_or(0, str::len) + calls.iter().map(|call| call.target.written()).sum::<usize>();
        Self {
            input,
            cached: if turn == 0 { 0 } else { input / 2 },
            output: tokens(written),
        }
    }

    pub(crate) fn total(self) -> u64 {
        self.input + self.output
    }
}

/// The number of tokens that a text of so many bytes counts for.
pub(crate) fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4).max(1) as u64
}

impl Target {
    fn written(&self) -> usize {
        match self {
            Self::Function { name, arguments, .. } => name.len() + arguments.len(),
            Self::LocalShell { command: text } | Self::ToolSearch { query: text } => text.len(),
            Self::JavaScript { source, .. } => source.len(),
        }
    }
}

/// A text in pieces as a model would stream it; together they are the text.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    const SIZE: usize = 16;
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let end = rest.char_indices().nth(SIZE).map_or(rest.len(), |(index, _)| index);
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_never_split_a_character() {
        let text = "Grüße aus Österreich ☀️ und aus Graz";
        assert_eq!(pieces(text).concat(), text);
        assert!(pieces(text).len() > 1);
        assert!(pieces("").is_empty());
    }
}
