//! Which tools a request shows the model. Pure; reads the request's copy piece by piece.
//!
//! Sources: Anthropic, Messages (`tools`, `defer_loading`, `tool_reference`); OpenAI, Responses (`tools`, `namespace`, items
//! that bring tools along) and Chat Completions (`tools[].function`).

use std::collections::BTreeSet;

use super::json_walk::{Event, Walk};

/// Tools that are kept of one request.
pub(super) const NAME_CAP: usize = 4_096;
/// Bytes of a name that are kept; no API takes a longer one.
const LENGTH_CAP: usize = 256;
/// How the names of MCP tools begin that a script may call.
const SCRIPTED: &[u8] = b"mcp__";

/// Reads one request.
#[derive(Debug, Default)]
pub(super) struct Offer {
    walk: Walk,
    reader: Reader,
}

impl Offer {
    /// Takes the next piece of the body.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        let Self { walk, reader } = self;
        walk.feed(piece, |event| reader.take(event));
    }

    /// Whether the request has been read to its end.
    pub(super) fn complete(&self) -> bool {
        self.reader.complete
    }

    /// The names so far of tools that it shows the model.
    pub(super) fn names(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.reader.names)
    }

    /// The names so far of tools that it holds back until they are searched for.
    pub(super) fn deferred(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.reader.deferred)
    }
}

#[derive(Debug, Default)]
struct Reader {
    stack: Vec<Frame>,
    names: BTreeSet<String>,
    deferred: BTreeSet<String>,
    complete: bool,
}

/// What an open object or array is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// The request.
    Root,
    /// A list of tools.
    Tools,
    /// A tool, or a namespace of tools.
    Tool,
    /// What Chat Completions wraps a tool in.
    Function,
    /// The list of a conversation's items.
    Items,
    /// An item of it, which may bring tools along.
    Item,
    /// Anything inside an item that may refer to a tool by its name.
    Said,
    #[default]
    Other,
}

/// An open object or array.
#[derive(Debug, Default)]
struct Frame {
    place: Place,
    key: Key,
    name: String,
    kind: String,
    /// It is named to the model only once it is searched for.
    deferred: bool,
    /// Tools of a namespace, or of an item.
    inner: Vec<Named>,
    scripted: Mentions,
}

/// The keys that matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Key {
    Tools,
    Function,
    Conversation,
    Name,
    ToolName,
    Type,
    Description,
    DeferLoading,
    /// Arguments of a call, which may look like anything.
    Input,
    #[default]
    Other,
}

impl Key {
    fn of(text: &str, place: Place) -> Self {
        match text {
            "tools" => Self::Tools,
            "function" => Self::Function,
            "messages" => Self::Conversation,
            "input" if place == Place::Root => Self::Conversation,
            "input" => Self::Input,
            "name" => Self::Name,
            "tool_name" => Self::ToolName,
            "type" => Self::Type,
            "description" => Self::Description,
            "defer_loading" => Self::DeferLoading,
            _ => Self::Other,
        }
    }
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Open { object } => {
                let place = self.place_of(object);
                self.stack.push(Frame {
                    place,
                    ..Frame::default()
                });
            }
            Event::Close => self.close(),
            Event::Key(text) => {
                if let Some(frame) = self.stack.last_mut() {
                    frame.key = Key::of(text, frame.place);
                }
            }
            Event::Piece(piece) => {
                if let Some(frame) = self.stack.last_mut()
                    && (frame.place, frame.key) == (Place::Tool, Key::Description)
                {
                    frame.scripted.feed(piece);
                }
            }
            Event::Text(text) => {
                if let Some(frame) = self.stack.last_mut() {
                    frame.text(text);
                }
            }
            Event::Literal(text) => {
                if let Some(frame) = self.stack.last_mut()
                    && (frame.place, frame.key) == (Place::Tool, Key::DeferLoading)
                {
                    frame.deferred = text == "true";
                }
            }
        }
    }

    /// What an object or array is that begins here.
    fn place_of(&self, object: bool) -> Place {
        let Some(parent) = self.stack.last() else {
            return if object { Place::Root } else { Place::Other };
        };
        match (parent.place, parent.key, object) {
            (Place::Root | Place::Item | Place::Tool, Key::Tools, false) => Place::Tools,
            (Place::Root, Key::Conversation, false) => Place::Items,
            (Place::Tools, _, true) => Place::Tool,
            (Place::Tool, Key::Function, true) => Place::Function,
            (Place::Items, _, true) => Place::Item,
            (Place::Item | Place::Said, key, _) if key != Key::Input => Place::Said,
            _ => Place::Other,
        }
    }

    fn close(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        match frame.place {
            Place::Root => self.complete = true,
            Place::Function => {
                if let Some(tool) = self.stack.last_mut() {
                    tool.name = frame.name;
                }
            }
            Place::Tool => {
                // The list it stands in, and what is around that: the request, a namespace, or an item that brings it along.
                let around = self.stack.len().checked_sub(2).and_then(|at| self.stack.get_mut(at));
                let around = around.filter(|around| matches!(around.place, Place::Tool | Place::Item));
                let names = frame.names();
                match around {
                    Some(around) => {
                        let room = NAME_CAP.saturating_sub(around.inner.len());
                        around.inner.extend(names.into_iter().take(room));
                    }
                    None => names.into_iter().for_each(|named| self.emit(named)),
                }
            }
            Place::Item => {
                let found = frame.kind == "tool_search_output";
                for named in frame.inner {
                    // What was found is shown, though it is still marked as a tool that has to be searched for.
                    if found && named.deferred {
                        self.emit(Named {
                            name: named.name.clone(),
                            deferred: false,
                        });
                    }
                    self.emit(named);
                }
            }
            Place::Said if frame.kind == "tool_reference" => self.emit(Named {
                name: frame.name,
                deferred: false,
            }),
            _ => {}
        }
    }

    fn emit(&mut self, named: Named) {
        let Named { name, deferred } = named;
        let names = if deferred { &mut self.deferred } else { &mut self.names };
        if !name.is_empty() && name.len() <= LENGTH_CAP && names.len() < NAME_CAP {
            names.insert(name);
        }
    }
}

impl Frame {
    fn text(&mut self, text: &str) {
        match (self.place, self.key) {
            (Place::Tool | Place::Function, Key::Name) | (Place::Said, Key::ToolName) => {
                text.clone_into(&mut self.name)
            }
            (Place::Tool | Place::Item | Place::Said, Key::Type) => text.clone_into(&mut self.kind),
            _ => {}
        }
    }

    /// What the model can call through this tool, now or once it was found.
    fn names(self) -> Vec<Named> {
        if self.kind == "namespace" {
            let within = |inner: Named| Named {
                name: format!("{}.{}", self.name, inner.name),
                deferred: inner.deferred || self.deferred,
            };
            return self.inner.into_iter().map(within).collect();
        }
        // The API's own tools may have a type alone.
        let name = if self.name.is_empty() {
            self.kind.clone()
        } else {
            self.name
        };
        let scripted = self.scripted.found.into_iter().filter(|_| self.kind == "custom");
        let deferred = self.deferred;
        let named = |name| Named { name, deferred };
        std::iter::once(name).chain(scripted).map(named).collect()
    }
}

/// A tool's name, and whether it is held back.
#[derive(Debug)]
struct Named {
    name: String,
    deferred: bool,
}

/// Names of MCP tools in the description of a tool that runs scripts: `mcp__server__tool(args: …)` declares one.
#[derive(Debug, Default)]
struct Mentions {
    /// The word that the last piece ended in.
    word: Vec<u8>,
    /// A name that an opening bracket followed.
    candidate: Option<Vec<u8>>,
    found: BTreeSet<String>,
}

impl Mentions {
    fn feed(&mut self, piece: &[u8]) {
        for &byte in piece {
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                if self.word.len() <= LENGTH_CAP {
                    self.word.push(byte);
                }
            } else {
                self.word_ended(byte);
            }
        }
    }

    fn word_ended(&mut self, by: u8) {
        let word = std::mem::take(&mut self.word);
        if let Some(name) = self.candidate.take()
            && word == b"args"
            && self.found.len() < NAME_CAP
            && let Ok(name) = String::from_utf8(name)
        {
            self.found.insert(name);
        }
        // The letter of an escape such as `\n` may stand right before it.
        self.candidate = [0, 1]
            .into_iter()
            .filter_map(|skipped| word.get(skipped..))
            .find(|name| by == b'(' && name.starts_with(SCRIPTED) && name.len() <= LENGTH_CAP)
            .map(<[u8]>::to_vec);
    }
}

#[cfg(test)]
mod tests;
