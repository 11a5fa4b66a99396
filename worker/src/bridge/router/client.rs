//! What clients send.

use super::super::message::{Kind, Message, Replacements};
use super::{Effect, Handshake, Pending, Router, StreamId, error};
use mcproctor_proto::call::SERVER_EXITED;

impl Router {
    /// A client sent a message; `stream` takes the answer when it is a request.
    pub(in crate::bridge) fn client_sent(
        &mut self,
        stream: Option<StreamId>,
        session: Option<&str>,
        message: Message,
    ) -> Vec<Effect> {
        match &message.kind {
            Kind::Request(method) => {
                let Some(stream) = stream else { return Vec::new() };
                if method == "initialize" {
                    self.initialize(stream, message)
                } else {
                    self.request(stream, &message)
                }
            }
            Kind::Notification(method) => match method.as_str() {
                "notifications/initialized" if std::mem::replace(&mut self.initialized, true) => Vec::new(),
                "notifications/cancelled" => self.cancel(session, &message),
                _ => vec![Effect::ToChild(message.as_is())],
            },
            Kind::Result | Kind::Error => {
                let put_to = message.id().and_then(|id| self.asked.remove_entry(&id));
                match put_to {
                    Some((_, of)) if of.as_deref() == session => vec![Effect::ToChild(message.as_is())],
                    Some((id, of)) => {
                        self.asked.insert(id, of);
                        vec![Effect::Log(
                            "a client answered a request that was put to another".to_owned(),
                        )]
                    }
                    None => vec![Effect::Log(
                        "a client answered a request that the server did not make".to_owned(),
                    )],
                }
            }
        }
    }

    pub(super) fn initialize(&mut self, stream: StreamId, message: Message) -> Vec<Effect> {
        match &mut self.handshake {
            Handshake::Open => {
                let by = self.next;
                self.handshake = Handshake::Running {
                    by,
                    waiting: Vec::new(),
                };
                self.request(stream, &message)
            }
            Handshake::Running { waiting, .. } => {
                waiting.push((stream, message));
                Vec::new()
            }
            Handshake::Done(result) => {
                let answer = result.with(Replacements {
                    id: message.id(),
                    ..Replacements::default()
                });
                self.answer(stream, answer)
            }
        }
    }

    fn request(&mut self, stream: StreamId, message: &Message) -> Vec<Effect> {
        let id = self.next();
        let Some(own) = message.id() else { return Vec::new() };
        if let Some(why) = &self.gone {
            let error = error(&own, SERVER_EXITED, why);
            return self.answer(stream, error);
        }
        let text = message.with(Replacements {
            id: Some(id.to_string().into()),
            token: Some(id.to_string().into()),
            ..Replacements::default()
        });
        let session = self.streams.get(&stream).and_then(|stream| stream.session.clone());
        let stateless = session.is_none();
        let pending = Pending {
            stream: Some(stream),
            session,
            id: own,
            token: message.token(),
            stateless,
        };
        self.pending.insert(id, pending);
        vec![Effect::ToChild(text)]
    }

    fn cancel(&self, session: Option<&str>, message: &Message) -> Vec<Effect> {
        let of = message.request_id();
        let cancelled = self
            .pending
            .iter()
            .rev()
            .find(|(_, pending)| pending.session.as_deref() == session && Some(&pending.id) == of.as_ref());
        match cancelled {
            Some((id, _)) => {
                let request_id = Some(id.to_string().into());
                vec![Effect::ToChild(message.with(Replacements {
                    request_id,
                    ..Replacements::default()
                }))]
            }
            None => vec![Effect::Log("a client cancelled a request that is not open".to_owned())],
        }
    }
}
