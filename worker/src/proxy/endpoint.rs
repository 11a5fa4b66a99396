//! The legacy `endpoint` event, which would lead the agent past the proxy.
//!
//! HTTP+SSE (MCP 2024-11-05, transports) names in its first event where messages are posted, possibly as an absolute
//! URL. The agent has to post them to the proxy, so that event alone is rewritten; every other byte passes as it came.

use url::Url;

use super::redirect::{origin_of, relative};
use super::target::Target;

/// A first event longer than this is no `endpoint`.
const HELD_CAP: usize = 16 * 1024;

/// What the first event announced.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Announcement {
    /// A path of this server.
    Path {
        /// The path alone.
        path: String,
        /// Path and query, as requests will name it.
        target: String,
    },
    /// A place on another origin; nothing is forwarded there.
    Elsewhere(String),
}

/// Watches the start of an event stream.
#[derive(Debug)]
pub(super) struct EndpointRewriter {
    held: Vec<u8>,
    done: bool,
}

/// The bytes to pass on, and what was learned from them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rewritten {
    pub(super) bytes: Vec<u8>,
    pub(super) announcement: Option<Announcement>,
}

impl EndpointRewriter {
    pub(super) fn new() -> Self {
        Self {
            held: Vec::new(),
            done: false,
        }
    }

    /// Whether the first event is behind us, so that everything passes untouched.
    pub(super) fn done(&self) -> bool {
        self.done
    }

    /// Takes the next piece. The first event is held back until it is complete, comments before it are not.
    pub(super) fn push(&mut self, bytes: &[u8], asked: &Url, target: &Target, own_origin: &str) -> Rewritten {
        let mut out = Rewritten::default();
        if self.done {
            out.bytes.extend_from_slice(bytes);
            return out;
        }
        self.held.extend_from_slice(bytes);
        while let Some(end) = block_end(&self.held) {
            let block: Vec<u8> = self.held.drain(..end).collect();
            if is_empty_block(&block) {
                out.bytes.extend_from_slice(&block);
                continue;
            }
            self.done = true;
            match endpoint_of(&block).and_then(|place| announce(&place, asked, target, own_origin)) {
                Some((announcement, replaced)) => {
                    out.announcement = Some(announcement);
                    match replaced {
                        Some(url) => out
                            .bytes
                            .extend_from_slice(format!("event: endpoint\ndata: {url}\n\n").as_bytes()),
                        None => out.bytes.extend_from_slice(&block),
                    }
                }
                None => out.bytes.extend_from_slice(&block),
            }
            break;
        }
        if self.done || self.held.len() > HELD_CAP || only_comments(&self.held) {
            self.done |= self.held.len() > HELD_CAP;
            out.bytes.append(&mut self.held);
        }
        out
    }

    /// What is still held when the stream ends.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.done = true;
        std::mem::take(&mut self.held)
    }
}

/// Where the first block ends, its blank line included.
fn block_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        let end = at + memchr::memchr2(b'\r', b'\n', &bytes[at..])?;
        // The last byte may be the first half of CRLF; its other half would then start the next block, which is harmless.
        let next = if bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n') {
            end + 2
        } else {
            end + 1
        };
        if end == at {
            return Some(next);
        }
        at = next;
    }
    None
}

fn lines(block: &[u8]) -> impl Iterator<Item = &str> {
    std::str::from_utf8(block)
        .unwrap_or_default()
        .trim_start_matches('\u{feff}')
        .split(['\r', '\n'])
        .filter(|line| !line.is_empty())
}

/// Comments and blank lines only.
fn is_empty_block(block: &[u8]) -> bool {
    std::str::from_utf8(block).is_ok() && lines(block).all(|line| line.starts_with(':'))
}

/// A run of complete comment lines, which need not wait for a blank line.
fn only_comments(held: &[u8]) -> bool {
    matches!(held.last(), Some(b'\n' | b'\r')) && is_empty_block(held)
}

fn endpoint_of(block: &[u8]) -> Option<String> {
    let value = |field: &str| {
        lines(block)
            .filter(|line| line.split(':').next() == Some(field))
            .last()
            .map(|line| {
                let value = line[field.len()..].strip_prefix(':').unwrap_or_default();
                value.strip_prefix(' ').unwrap_or(value).to_owned()
            })
    };
    (value("event").as_deref() == Some("endpoint"))
        .then(|| value("data"))
        .flatten()
}

/// What `place` means, and with what it has to be replaced.
fn announce(place: &str, asked: &Url, target: &Target, own_origin: &str) -> Option<(Announcement, Option<String>)> {
    let url = asked.join(place).ok()?;
    let there = relative(&url)?;
    if !target.same_origin(&url) {
        // Led to the proxy it meets a 404; led anywhere else its calls would go unseen.
        return Some((
            Announcement::Elsewhere(origin_of(&url)),
            Some(format!("{own_origin}/elsewhere")),
        ));
    }
    let absolute = Url::parse(place).is_ok() || place.starts_with("//");
    let announcement = Announcement::Path {
        path: there.path().to_owned(),
        target: there.to_string(),
    };
    Some((announcement, absolute.then(|| format!("{own_origin}{there}"))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const OWN: &str = "http://127.0.0.1:9";

    fn run(stream: &[u8], size: usize) -> (String, Option<Announcement>) {
        let target = Target::parse("https://example.com/sse").unwrap();
        let asked = Url::parse("https://example.com/sse").unwrap();
        let mut rewriter = EndpointRewriter::new();
        let (mut bytes, mut announcement) = (Vec::new(), None);
        for piece in stream.chunks(size) {
            let out = rewriter.push(piece, &asked, &target, OWN);
            bytes.extend(out.bytes);
            announcement = announcement.or(out.announcement);
        }
        bytes.extend(rewriter.rest());
        (String::from_utf8(bytes).unwrap(), announcement)
    }

    fn for_every_size(stream: &str) -> (String, Option<Announcement>) {
        let whole = run(stream.as_bytes(), stream.len());
        for size in 1..stream.len() {
            let split = run(stream.as_bytes(), size);
            assert_eq!(split.1, whole.1, "in pieces of {size}");
        }
        whole
    }

    fn messages() -> Option<Announcement> {
        Some(Announcement::Path {
            path: "/messages".to_owned(),
            target: "/messages?id=1".to_owned(),
        })
    }

    #[test]
    fn an_absolute_endpoint_leads_to_the_proxy() {
        let stream = ": hello\n\nevent: endpoint\r\ndata: https://example.com/messages?id=1\r\n\r\ndata: {}\r\n\r\n";
        let (bytes, announced) = for_every_size(stream);
        assert_eq!(announced, messages());
        assert_eq!(
            bytes,
            ": hello\n\nevent: endpoint\ndata: http://127.0.0.1:9/messages?id=1\n\ndata: {}\r\n\r\n"
        );
    }

    #[test]
    fn a_relative_endpoint_passes_unchanged() {
        for stream in [
            "event: endpoint\ndata: /messages?id=1\n\n",
            "data:/messages?id=1\revent:endpoint\r\rdata: x\r\r",
        ] {
            let (bytes, announced) = for_every_size(stream);
            assert_eq!((bytes.as_str(), announced), (stream, messages()));
        }
    }

    #[test]
    fn an_endpoint_elsewhere_is_not_reached() {
        let (bytes, announced) = for_every_size("event: endpoint\ndata: https://evil.example/m?k=v\n\n");
        assert_eq!(
            announced,
            Some(Announcement::Elsewhere("https://evil.example".to_owned()))
        );
        assert!(bytes.contains("http://127.0.0.1:9/elsewhere") && !bytes.contains("evil"));
    }

    #[test]
    fn other_streams_pass_byte_for_byte() {
        let later = "data: {}\n\nevent: endpoint\ndata: https://example.com/m\n\n";
        for stream in [
            later,
            "id: 1\ndata:\n\ndata: x",
            "retry: 5\n",
            "\u{feff}data: a\r\n\r\n",
            "event: endpoint\ndata",
        ] {
            assert_eq!(for_every_size(stream), (stream.to_owned(), None));
        }
        let binary = b"event: endpoint\ndata: \xFF\n\n";
        let target = Target::parse("https://example.com/sse").unwrap();
        let asked = Url::parse("https://example.com/sse").unwrap();
        assert_eq!(EndpointRewriter::new().push(binary, &asked, &target, OWN).bytes, binary);
    }

    #[test]
    fn comments_do_not_wait() {
        let target = Target::parse("https://example.com/sse").unwrap();
        let asked = Url::parse("https://example.com/sse").unwrap();
        let mut rewriter = EndpointRewriter::new();
        assert_eq!(rewriter.push(b": ping\n", &asked, &target, OWN).bytes, b": ping\n");
        assert!(!rewriter.done());
    }
}
