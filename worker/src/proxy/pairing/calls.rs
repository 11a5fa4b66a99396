//! The life of a call: how it starts, goes on in another leg, and ends without an answer.

use mcproctor_proto::call::{CallState, ToolCall};
use serde_json::value::RawValue;

use super::super::message::{Message, RawId, member, text_member};
use super::super::tap::{Ending, ExchangeId};
use super::change::Change;
use super::exchange::{Asked, Phase, Summary};
use super::machine::{CallKey, Pairing};

/// A call without an end.
#[derive(Debug)]
pub(in crate::proxy) struct Open {
    pub(in crate::proxy) record: ToolCall,
    pub(super) started_us: u64,
    /// What the client has to repeat when it gives the input that was asked for (2026-07-28, multi-round-trip requests).
    pub(super) awaiting_input: Option<AwaitingInput>,
    pub(super) progress_token: Option<String>,
    /// The request asked for a task (2025-11-25, tasks).
    pub(super) wants_task: bool,
    pub(super) session: Option<String>,
    pub(super) id: RawId,
    /// When the client went away while the answer could still be fetched.
    pub(super) client_left: Option<u64>,
}

#[derive(Debug)]
pub(super) struct AwaitingInput {
    pub(super) request_state: Option<String>,
}

impl Pairing {
    /// The call that this `tools/call` request starts, or of which it is the next leg.
    pub(super) fn call_sent(&mut self, exchange: ExchangeId, rpc_id: &RawId, message: &Message) -> CallKey {
        let params = message.params.as_deref();
        let tool = text_member(params, "name").unwrap_or_default();
        let arguments = member(params, "arguments")
            .map(ToOwned::to_owned)
            .filter(|_| !message.oversize);
        let state = member(params, "requestState").map(|state| state.get().to_owned());
        if state.is_some() || member(params, "inputResponses").is_some() {
            let earlier = self.open.iter_mut().rev().find(|(_, open)| {
                open.awaiting_input
                    .as_ref()
                    .is_some_and(|awaiting| awaiting.request_state == state)
                    && open.record.tool == tool
                    && (state.is_some() || same(open.record.arguments.as_deref(), arguments.as_deref()))
            });
            if let Some((key, open)) = earlier {
                open.awaiting_input = None;
                open.record.legs += 1;
                open.record.state = CallState::NeverFinished;
                open.record.error = None;
                open.id = rpc_id.clone();
                return *key;
            }
        }
        let key = self.next;
        self.next += 1;
        let (started_us, turn, session) = match self.exchanges.get(&exchange) {
            Some(exchange) => (exchange.started_us, exchange.turn, exchange.session.clone()),
            None => (0, 0, None),
        };
        let record = ToolCall {
            id: format!("{}-{}", self.server, key + 1),
            server: self.server.clone(),
            tool,
            arguments,
            state: CallState::NeverFinished,
            result: None,
            error: None,
            started_at_unix_ms: self
                .started_unix_ms
                .saturating_add(i64::try_from(started_us / 1000).unwrap_or(i64::MAX)),
            duration_ms: 0,
            bytes: 0,
            sha256: String::new(),
            truncated: message.oversize,
            legs: 1,
            turn,
            http_status: None,
        };
        let progress_token = member(member(params, "_meta"), "progressToken").map(|token| token.get().to_owned());
        self.changes.push(Change::Started {
            key,
            call: Box::new(record.clone()),
        });
        self.open.insert(
            key,
            Open {
                record,
                started_us,
                awaiting_input: None,
                progress_token,
                // Of a request beyond the cap it is not known.
                wants_task: message.oversize || member(params, "task").is_some(),
                session,
                id: rpc_id.clone(),
                client_left: None,
            },
        );
        key
    }

    /// `notifications/cancelled` of the client (basic protocol, cancellation).
    pub(super) fn cancelled(&mut self, exchange: ExchangeId, message: &Message) {
        let Some(exchange) = self.exchanges.get(&exchange) else {
            return;
        };
        let (session, at_us) = (exchange.session.clone(), exchange.started_us);
        let params = message.params.as_deref();
        let Some(id) = member(params, "requestId").map(|id| RawId::new(id.get())) else {
            return;
        };
        // Of several with one id the youngest is meant: the others' client would not have used it again.
        let found = self
            .open
            .iter()
            .rev()
            .find(|(_, open)| open.id == id && open.session == session);
        let Some((key, open)) = found.map(|(key, open)| (*key, open)) else {
            return;
        };
        let seconds = seconds(at_us.saturating_sub(open.started_us));
        let why = match text_member(params, "reason") {
            Some(reason) if !reason.is_empty() => format!("cancelled by client at {seconds} s: {}", shortened(&reason)),
            _ => format!("cancelled by client at {seconds} s"),
        };
        self.close_call(key, at_us, CallState::Cancelled, Some(why));
    }

    pub(super) fn call_unanswered(
        &mut self,
        key: CallKey,
        at_us: u64,
        seen: &Summary,
        ending: &Ending,
        stateless: bool,
    ) {
        let Some(open) = self.open.get_mut(&key) else { return };
        open.record.http_status = seen.status;
        let at = seconds(at_us.saturating_sub(open.started_us));
        let (state, why) = match ending {
            // 2026-07-28, transports: closing the stream is how a request is cancelled.
            Ending::ClientLeft if stateless => (CallState::Cancelled, format!("cancelled by client at {at} s")),
            // Before, that is no cancellation for the server; but nothing can be held against the server either.
            Ending::ClientLeft => (CallState::Cancelled, format!("the client left after {at} s")),
            Ending::Stopped => (CallState::NeverFinished, format!("no answer after {at} s")),
            _ if seen.is_http_error() => (CallState::HttpError, seen.why(ending)),
            _ => (CallState::TransportLost, seen.why(ending)),
        };
        self.close_call(key, at_us, state, Some(why));
    }

    pub(super) fn suspend(&mut self, owner: ExchangeId, at_us: u64, ending: &Ending) {
        let Some(exchange) = self.exchanges.get(&owner) else {
            return;
        };
        for pending in &exchange.posted {
            if let Asked::Call(key) = pending.asked
                && let Some(open) = self.open.get_mut(&key)
            {
                open.record.state = CallState::Suspended;
                open.record.error = Some("the stream ended early and can be resumed".to_owned());
                open.client_left = (*ending == Ending::ClientLeft).then_some(at_us);
            }
        }
    }

    /// The stream on which the answers to a legacy endpoint's requests would have come is gone.
    pub(super) fn legacy_stream_ended(&mut self, id: ExchangeId, at_us: u64, ending: &Ending) {
        let Some(endpoint) = self.exchanges.get(&id).and_then(|exchange| exchange.endpoint.clone()) else {
            return;
        };
        let orphans: Vec<ExchangeId> = self
            .exchanges
            .iter()
            .filter(|(_, other)| other.phase == Phase::Detached && other.target == endpoint)
            .map(|(id, _)| *id)
            .collect();
        for orphan in orphans {
            let Some(exchange) = self.exchanges.remove(&orphan) else {
                continue;
            };
            let sent = exchange.sent();
            for pending in exchange.posted {
                let key = match pending.asked {
                    Asked::Call(key) => key,
                    Asked::Task { message, .. } | Asked::Other(message) => {
                        self.changes.push(Change::Unanswered {
                            request: message,
                            sent,
                            status: None,
                            why: "the event stream ended".to_owned(),
                        });
                        continue;
                    }
                };
                let at = seconds(at_us.saturating_sub(exchange.started_us));
                let (state, why) = match ending {
                    Ending::ClientLeft => (CallState::Cancelled, format!("the client left after {at} s")),
                    Ending::Stopped => (CallState::NeverFinished, format!("no answer after {at} s")),
                    _ => (
                        CallState::TransportLost,
                        "the event stream ended without an answer".to_owned(),
                    ),
                };
                self.close_call(key, at_us, state, Some(why));
            }
        }
    }

    /// Nothing more will come.
    pub(in crate::proxy) fn finish(&mut self, at_us: u64) {
        let keys: Vec<CallKey> = self.open.keys().copied().collect();
        for key in keys {
            let Some(open) = self.open.get(&key) else { continue };
            let (state, why) = if open.awaiting_input.is_some() {
                (
                    CallState::Cancelled,
                    "the server asked for input and the client did not go on",
                )
            } else if self.tasks.values().any(|task| *task == key) {
                (CallState::NeverFinished, "the task's result never came")
            } else if let Some(left_us) = open.client_left {
                let at = seconds(left_us.saturating_sub(open.started_us));
                let why = format!("the client left after {at} s and did not resume the stream");
                self.close_call(key, at_us, CallState::Cancelled, Some(why));
                continue;
            } else if open.record.state == CallState::Suspended {
                (CallState::NeverFinished, "the stream ended early and was not resumed")
            } else {
                (CallState::NeverFinished, "no answer before the end")
            };
            self.close_call(key, at_us, state, Some(why.to_owned()));
        }
        for exchange in std::mem::take(&mut self.exchanges).into_values() {
            let sent = exchange.sent();
            for pending in exchange.posted {
                if let Asked::Task { message, .. } | Asked::Other(message) = pending.asked {
                    self.changes.push(Change::Unanswered {
                        request: message,
                        sent,
                        status: None,
                        why: "no answer before the end".to_owned(),
                    });
                }
            }
        }
    }

    pub(super) fn close_call(&mut self, key: CallKey, at_us: u64, state: CallState, error: Option<String>) {
        let Some(mut open) = self.open.remove(&key) else { return };
        open.record.state = state;
        open.record.error = error;
        open.record.duration_ms = at_us.saturating_sub(open.started_us).div_ceil(1000);
        if !self.tasks.is_empty() {
            self.tasks.retain(|_, task| *task != key);
        }
        self.changes.push(Change::Ended {
            key,
            call: Box::new(open.record),
        });
    }
}

fn same(a: Option<&RawValue>, b: Option<&RawValue>) -> bool {
    a.map(RawValue::get) == b.map(RawValue::get)
}

pub(super) fn seconds(us: u64) -> String {
    let tenths = us / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// At most 300 characters, for people.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
