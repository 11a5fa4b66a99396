//! What the child writes, and its end.

use bytes::Bytes;

use super::super::message::{Kind, Message, Pieces, Replacements};
use super::{BACKLOG, Effect, Handshake, Purpose, Router, Stream, StreamId, error};
use mcproctor_proto::call::SERVER_EXITED;

impl Router {
    /// The child wrote a message.
    pub(in crate::bridge) fn child_wrote(&mut self, message: Message) -> Vec<Effect> {
        match &message.kind {
            Kind::Result | Kind::Error => self.answered(&message),
            Kind::Request(_) => self.unasked(message),
            Kind::Notification(method) => {
                let about = match method.as_str() {
                    "notifications/progress" => message.token(),
                    _ => message.subscription(),
                };
                match about {
                    Some(about) => self.about(&about, &message),
                    None => self.unasked(message),
                }
            }
        }
    }

    fn answered(&mut self, message: &Message) -> Vec<Effect> {
        let id = message.id().and_then(|id| number(&id));
        let Some((id, pending)) = id.and_then(|id| self.pending.remove_entry(&id)) else {
            return vec![Effect::Log("the server answered a request that nobody made".to_owned())];
        };
        let mut effects = Vec::new();
        if let Some(stream) = pending.stream {
            let subscription = message
                .subscription()
                .filter(|of| number(of) == Some(id))
                .map(|_| pending.id.clone());
            let new = Replacements {
                id: Some(pending.id),
                subscription,
                ..Replacements::default()
            };
            effects.extend(self.answer(stream, message.with(new)));
        }
        if let Handshake::Running { by, waiting } = &mut self.handshake
            && *by == id
        {
            let waiting = std::mem::take(waiting);
            self.handshake = match message.kind {
                Kind::Result => Handshake::Done(message.clone()),
                _ => Handshake::Open,
            };
            for (stream, message) in waiting {
                effects.extend(self.initialize(stream, message));
            }
        }
        effects
    }

    /// Sends an answer, which may be the last that its stream waits for.
    pub(super) fn answer(&mut self, stream: StreamId, answer: Pieces) -> Vec<Effect> {
        let mut effects = vec![Effect::ToStream(stream, answer)];
        if let Some(Stream {
            purpose: Purpose::Reply { remaining, .. },
            ..
        }) = self.streams.get_mut(&stream)
        {
            *remaining = remaining.saturating_sub(1);
            if *remaining == 0 {
                self.streams.remove(&stream);
                effects.push(Effect::End(stream));
            }
        }
        effects
    }

    /// A notification about a request: its progress, or what it subscribed to.
    fn about(&self, about: &Bytes, message: &Message) -> Vec<Effect> {
        let Some(pending) = number(about).and_then(|id| self.pending.get(&id)) else {
            return vec![Effect::Log(
                "the server reported on a request that is not open".to_owned(),
            )];
        };
        let Some(stream) = pending.stream.filter(|stream| self.takes_more(*stream)) else {
            return Vec::new();
        };
        let new = match message.kind {
            Kind::Notification(ref method) if method == "notifications/progress" => Replacements {
                token: pending.token.clone(),
                ..Replacements::default()
            },
            _ => Replacements {
                subscription: Some(pending.id.clone()),
                ..Replacements::default()
            },
        };
        vec![Effect::ToStream(stream, message.with(new))]
    }

    /// A request or notification of the child's own.
    pub(super) fn unasked(&mut self, message: Message) -> Vec<Effect> {
        let target = self.newest(|purpose| matches!(purpose, Purpose::Reply { events: true, .. }));
        let target = target.or_else(|| self.newest(|purpose| purpose == Purpose::Listen));
        let Some(target) = target else {
            self.backlog.push_back(message);
            let dropped = self.backlog.len() > BACKLOG && self.backlog.pop_front().is_some();
            return dropped
                .then(|| Effect::Log("no client took a message of the server".to_owned()))
                .into_iter()
                .collect();
        };
        if let (Kind::Request(_), Some(id)) = (&message.kind, message.id()) {
            let session = self.streams.get(&target).and_then(|stream| stream.session.clone());
            self.asked.insert(id, session);
        }
        vec![Effect::ToStream(target, message.as_is())]
    }

    pub(super) fn newest(&self, fits: impl Fn(Purpose) -> bool) -> Option<StreamId> {
        self.streams
            .iter()
            .rev()
            .find(|(_, stream)| fits(stream.purpose))
            .map(|(id, _)| *id)
    }

    pub(super) fn takes_more(&self, stream: StreamId) -> bool {
        let purpose = self.streams.get(&stream).map(|stream| stream.purpose);
        matches!(purpose, Some(Purpose::Listen | Purpose::Reply { events: true, .. }))
    }

    /// The child is gone: whatever is open fails now, and so does whatever comes.
    pub(in crate::bridge) fn child_gone(&mut self, why: String) -> Vec<Effect> {
        let mut effects = self.fail_open(&why);
        effects.extend(std::mem::take(&mut self.streams).into_keys().map(Effect::End));
        self.gone = Some(why);
        effects
    }

    /// Fails every open request, because an answer to one of them was lost.
    pub(in crate::bridge) fn fail_open(&mut self, why: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for pending in std::mem::take(&mut self.pending).into_values() {
            if let Some(stream) = pending.stream {
                effects.extend(self.answer(stream, error(&pending.id, SERVER_EXITED, why)));
            }
        }
        if let Handshake::Running { waiting, .. } = &mut self.handshake {
            let waiting = std::mem::take(waiting);
            self.handshake = Handshake::Open;
            for (stream, message) in waiting {
                effects.extend(
                    message
                        .id()
                        .map(|id| self.answer(stream, error(&id, SERVER_EXITED, why)))
                        .unwrap_or_default(),
                );
            }
        }
        effects
    }
}

/// An id of the bridge's own, which a server may hand back as a string where it names a subscription.
fn number(text: &Bytes) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    text.parse().ok()
}
