//! Reads one exchange's bodies from their copies.

use std::io::{self, Write};

use super::super::decode::{DecodeError, Decoder};
use super::super::forward::is_event_stream;
use super::super::gather::{Gather, Gathered};
use super::super::pairing::ReplyKind;
use super::super::sse::{Event, SseParser};

/// What one piece may decode to: a body that grows more than this at once is an attack on its reader.
const EXPANSION_CAP: usize = 256 * 1024 * 1024;

/// What a piece of an answer's body gave.
#[derive(Debug)]
pub(super) enum Heard {
    /// An event.
    Event(Event),
    /// The body cannot be decoded; neither can the client.
    Garbled(String),
    /// Only the recorder cannot read it.
    Deaf(String),
}

/// Where decoded bytes go.
struct Sink {
    reading: Reading,
    left: usize,
}

enum Reading {
    Whole(Gather),
    Events { parser: Box<SseParser>, heard: Vec<Event> },
    Nothing,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        match &mut self.reading {
            Reading::Whole(gather) => gather.push(bytes),
            Reading::Events { parser, heard } => parser.push(bytes, &mut |event| heard.push(event)),
            Reading::Nothing => {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One body, request or answer.
pub(super) struct Listener {
    decoder: Option<Decoder<Sink>>,
}

impl Listener {
    /// For a body that is one JSON text.
    pub(super) fn json(encoding: Option<&str>, cap: usize) -> Result<Self, DecodeError> {
        Self::new(encoding, Reading::Whole(Gather::new(cap)))
    }

    /// For an answer of that kind.
    pub(super) fn reply(kind: &ReplyKind, encoding: Option<&str>, cap: usize) -> Result<Self, DecodeError> {
        match kind {
            // Without a content type a client may still find JSON in it.
            ReplyKind::Json | ReplyKind::None => Self::json(encoding, cap),
            ReplyKind::Events => {
                let parser = Box::new(SseParser::new(cap));
                Self::new(
                    encoding,
                    Reading::Events {
                        parser,
                        heard: Vec::new(),
                    },
                )
            }
            ReplyKind::Other(_) => Self::new(None, Reading::Nothing),
        }
    }

    fn new(encoding: Option<&str>, reading: Reading) -> Result<Self, DecodeError> {
        let sink = Sink {
            reading,
            left: EXPANSION_CAP,
        };
        Ok(Self {
            decoder: Some(Decoder::new(encoding.unwrap_or_default(), sink)?),
        })
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8], mut on: impl FnMut(Heard)) {
        let Some(decoder) = &mut self.decoder else { return };
        if let Some(sink) = decoder.sink() {
            sink.left = EXPANSION_CAP;
        }
        let pushed = decoder.push(bytes);
        if let Some(Sink {
            reading: Reading::Events { heard, .. },
            ..
        }) = decoder.sink()
        {
            heard.drain(..).for_each(|event| on(Heard::Event(event)));
        }
        if let Err(error) = pushed {
            self.decoder = None;
            on(if error.kind() == io::ErrorKind::FileTooLarge {
                Heard::Deaf("a compressed body grew too much".to_owned())
            } else {
                Heard::Garbled(format!("the body is not in its content encoding: {error}"))
            });
        }
    }

    /// The whole body, when it is one JSON text and not empty.
    pub(super) fn body(&mut self) -> Option<Gathered> {
        match self.decoder.as_mut()?.sink()? {
            Sink {
                reading: Reading::Whole(gather),
                ..
            } if !gather.is_empty() => Some(gather.take()),
            _ => None,
        }
    }
}

/// What kind of body a content type announces.
pub(super) fn kind_of(content_type: Option<&str>) -> ReplyKind {
    let Some(value) = content_type else {
        return ReplyKind::None;
    };
    let essence = value.split(';').next().unwrap_or_default().trim();
    if is_event_stream(content_type) {
        ReplyKind::Events
    } else if essence.eq_ignore_ascii_case("application/json") || essence.to_ascii_lowercase().ends_with("+json") {
        ReplyKind::Json
    } else {
        ReplyKind::Other(essence.chars().take(60).collect())
    }
}
