//! The state machine. Sections named here are those of the MCP specification.

use std::collections::{BTreeMap, HashMap, VecDeque};

use mcproctor_proto::call::{CallState, ToolCall};

use super::super::message::{Message, member, text_member};
use super::super::tap::{Ending, ExchangeId};
use super::calls::{Open, seconds};
use super::change::Change;
use super::exchange::{Asked, Exchange, Opening, Pending, Phase, ReplyKind, TaskRequest};

/// Event ids that are remembered for resumption.
const EVENT_ID_CAP: usize = 16 * 1024;
/// Exchanges that are over but still owe an answer; beyond, the oldest is given up.
const LINGER_CAP: usize = 4 * 1024;
/// First revision without sessions, GET streams and resumption.
const STATELESS: &str = "2026-07-28";

/// A call's number, from 0 in the order of start.
pub(in crate::proxy) type CallKey = u64;

/// The state machine.
#[derive(Debug)]
pub(in crate::proxy) struct Pairing {
    pub(super) server: String,
    pub(super) started_unix_ms: i64,
    pub(super) next: CallKey,
    pub(super) open: BTreeMap<CallKey, Open>,
    pub(super) exchanges: BTreeMap<ExchangeId, Exchange>,
    pub(super) tasks: HashMap<String, CallKey>,
    event_ids: HashMap<(Option<String>, String), ExchangeId>,
    event_order: VecDeque<(Option<String>, String)>,
    pub(super) changes: Vec<Change>,
}

impl Pairing {
    /// `server` goes into every record; times are microseconds since `started_unix_ms`.
    pub(in crate::proxy) fn new(server: String, started_unix_ms: i64) -> Self {
        Self {
            server,
            started_unix_ms,
            next: 0,
            open: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            tasks: HashMap::new(),
            event_ids: HashMap::new(),
            event_order: VecDeque::new(),
            changes: Vec::new(),
        }
    }

    /// What changed since the last time.
    pub(in crate::proxy) fn changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Calls without an end, in the order of their start.
    pub(in crate::proxy) fn open(&self) -> impl Iterator<Item = (CallKey, &ToolCall)> {
        self.open.iter().map(|(key, open)| (*key, &open.record))
    }

    /// How many calls have no end.
    pub(in crate::proxy) fn open_count(&self) -> usize {
        self.open.len()
    }

    /// A request's head was sent.
    pub(in crate::proxy) fn opened(&mut self, id: ExchangeId, opening: Opening) {
        let continues = opening
            .last_event_id
            .as_ref()
            .and_then(|event| self.event_ids.get(&(opening.session.clone(), event.clone())).copied());
        self.exchanges.insert(id, Exchange::new(opening, continues));
        self.give_up_the_oldest();
    }

    /// The client sent a message on an exchange.
    pub(in crate::proxy) fn sent(&mut self, id: ExchangeId, message: Message) {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        if let Some(revision) = revision_of(&message) {
            exchange.stateless = revision.as_str() >= STATELESS;
        }
        let Some(method) = message.method.clone() else {
            // An answer to the server's own request.
            self.changes.push(Change::ClientAnswered(Box::new(message)));
            return;
        };
        let Some(rpc_id) = message.id.clone() else {
            if method == "notifications/cancelled" {
                self.cancelled(id, &message);
            }
            self.changes.push(Change::Notified {
                by_client: true,
                message: Box::new(message),
            });
            return;
        };
        let params = message.params.as_deref();
        let task = || text_member(params, "taskId");
        let asked = match method.as_str() {
            "tools/call" => Asked::Call(self.call_sent(id, &rpc_id, &message)),
            "tasks/result" => Asked::Task {
                request: TaskRequest::Result,
                task: task(),
                message: Box::new(message),
            },
            "tasks/get" => Asked::Task {
                request: TaskRequest::Get,
                task: task(),
                message: Box::new(message),
            },
            "tasks/cancel" => Asked::Task {
                request: TaskRequest::Cancel,
                task: task(),
                message: Box::new(message),
            },
            _ => Asked::Other(Box::new(message)),
        };
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.had_call |= matches!(asked, Asked::Call(_));
            exchange.posted.push(Pending { id: rpc_id, asked });
        }
    }

    /// The answer's head arrived.
    pub(in crate::proxy) fn replied(&mut self, id: ExchangeId, at_us: u64, status: u16, kind: ReplyKind) {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        exchange.status = Some(status);
        exchange.kind = kind;
        if status == 404 && exchange.session.is_some() && !exchange.stateless {
            self.changes.push(Change::Fault {
                at_us,
                what: "the server lost the session (404)".to_owned(),
            });
        }
    }

    /// An event with an id arrived: its stream can be resumed from there (2025-11-25, transports, resumability).
    pub(in crate::proxy) fn event_id(&mut self, id: ExchangeId, event: String) {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        exchange.resumable = true;
        let stream = exchange.continues.unwrap_or(id);
        let key = (exchange.session.clone(), event);
        if self.event_ids.insert(key.clone(), stream).is_none() {
            self.event_order.push_back(key);
            if self.event_order.len() > EVENT_ID_CAP
                && let Some(oldest) = self.event_order.pop_front()
            {
                self.event_ids.remove(&oldest);
            }
        }
    }

    /// A legacy stream announced where its messages are posted (2024-11-05, transports, HTTP with SSE).
    pub(in crate::proxy) fn endpoint(&mut self, id: ExchangeId, target: String) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.endpoint = Some(target);
        }
    }

    /// The body is nothing that a client could read as an answer.
    pub(in crate::proxy) fn unreadable(&mut self, id: ExchangeId, why: String) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.unreadable.get_or_insert(why);
        }
    }

    /// The server sent a message on an exchange.
    pub(in crate::proxy) fn received(&mut self, id: ExchangeId, at_us: u64, message: Message) {
        if message.method.is_some() {
            self.server_spoke(at_us, message);
            return;
        }
        match self.pending_for(id, &message) {
            Some((owner, index)) => {
                let Some(exchange) = self.exchanges.get_mut(&owner) else {
                    return;
                };
                let pending = exchange.posted.remove(index);
                let sent = exchange.sent();
                let status = self.exchanges.get(&id).and_then(|exchange| exchange.status);
                self.answer(pending, message, status, sent, at_us);
                self.drop_if_done(owner);
            }
            None => self.unrelated(id, at_us, &message),
        }
    }

    /// Which request a response belongs to: the exchange it came on, the stream which that exchange resumes, the
    /// requests posted for a legacy stream, and for a GET stream at last any request of the session.
    fn pending_for(&self, id: ExchangeId, message: &Message) -> Option<(ExchangeId, usize)> {
        let exchange = self.exchanges.get(&id)?;
        let rpc_id = message.id.as_ref()?;
        let within = |owner: ExchangeId| {
            let index = self
                .exchanges
                .get(&owner)?
                .posted
                .iter()
                .position(|pending| pending.id == *rpc_id)?;
            Some((owner, index))
        };
        let elsewhere = |matches: &dyn Fn(&Exchange) -> bool| {
            self.exchanges
                .iter()
                .filter(|(_, other)| matches(other))
                .find_map(|(owner, _)| within(*owner))
        };
        within(id)
            .or_else(|| exchange.continues.and_then(within))
            .or_else(|| {
                let endpoint = exchange.endpoint.as_ref()?;
                elsewhere(&|other| other.target == *endpoint)
            })
            .or_else(|| {
                (exchange.is_get && exchange.endpoint.is_none())
                    .then(|| elsewhere(&|other| !other.is_get && other.session == exchange.session))
                    .flatten()
            })
    }

    /// A response that no request waits for.
    fn unrelated(&mut self, id: ExchangeId, at_us: u64, message: &Message) {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        let status = exchange.status;
        if message.id.is_none() && message.error.is_some() {
            // The server could not read the id; the error is about everything in this exchange.
            let posted = std::mem::take(&mut exchange.posted);
            let sent = exchange.sent();
            for pending in posted {
                self.answer(pending, message.clone(), status, sent, at_us);
            }
        } else if !exchange.posted.is_empty() && !exchange.is_events() {
            exchange
                .unreadable
                .get_or_insert_with(|| "the answer carries another id than the request".to_owned());
        }
    }

    /// A request or notification of the server.
    fn server_spoke(&mut self, at_us: u64, message: Message) {
        let params = message.params.as_deref();
        match message.method.as_deref().unwrap_or_default() {
            "notifications/progress" => {
                let token = member(params, "progressToken").map(|token| token.get().to_owned());
                let call = self
                    .open
                    .values()
                    .rev()
                    .find(|open| token.is_some() && open.progress_token == token);
                let call = call.map(|open| open.record.id.clone());
                self.changes.push(Change::Progress {
                    call,
                    params: message.params,
                });
                return;
            }
            // 2025-11-25 and the tasks extension.
            "notifications/tasks/status" | "notifications/tasks" => {
                let task = text_member(params, "taskId");
                if let Some(params) = message.params.clone() {
                    self.task_seen(task, &params, &message, None, at_us);
                }
            }
            _ => {}
        }
        self.changes.push(if message.id.is_some() {
            Change::ServerAsked(Box::new(message))
        } else {
            Change::Notified {
                by_client: false,
                message: Box::new(message),
            }
        });
    }

    /// An exchange is over.
    pub(in crate::proxy) fn ended(&mut self, id: ExchangeId, at_us: u64, ending: &Ending) {
        let Some(exchange) = self.exchanges.get_mut(&id) else {
            return;
        };
        exchange.over = true;
        let owner = exchange.continues.filter(|_| exchange.is_get).unwrap_or(id);
        let seen = exchange.summary();
        let had_call = exchange.had_call;
        if exchange.endpoint.is_some() {
            self.legacy_stream_ended(id, at_us, ending);
        }
        if owner != id {
            self.exchanges.remove(&id);
        }
        let Some(exchange) = self.exchanges.get(&owner) else {
            return;
        };
        let legacy = self
            .exchanges
            .values()
            .any(|stream| stream.endpoint.as_ref() == Some(&exchange.target));
        let Some(exchange) = self.exchanges.get_mut(&owner) else {
            return;
        };
        let phase = seen.phase_after(exchange.stateless, owner != id, legacy);
        exchange.phase = phase;
        match phase {
            Phase::Suspended => self.suspend(owner, at_us, ending),
            Phase::Detached => {}
            Phase::Over => {
                let posted = std::mem::take(&mut exchange.posted);
                let (stateless, sent) = (exchange.stateless, exchange.sent());
                let lost_for_nobody = posted.is_empty() && !had_call;
                for pending in posted {
                    match pending.asked {
                        Asked::Call(key) => self.call_unanswered(key, at_us, &seen, ending, stateless),
                        Asked::Task { message, .. } | Asked::Other(message) => {
                            if let Some(why) = seen.server_to_blame(ending) {
                                let method = message.method.clone().unwrap_or_default();
                                self.changes.push(Change::Fault {
                                    at_us,
                                    what: format!("{method}: {why}"),
                                });
                            }
                            let waited = seconds(at_us.saturating_sub(sent.at_us));
                            let why = match ending {
                                Ending::ClientLeft => format!("the client left after {waited} s"),
                                Ending::Stopped => format!("no answer after {waited} s"),
                                _ => seen.why(ending),
                            };
                            self.changes.push(Change::Unanswered {
                                sent,
                                status: seen.status,
                                why,
                                request: message,
                            });
                        }
                    }
                }
                if lost_for_nobody && let Some(why) = seen.without_request(ending) {
                    self.changes.push(Change::Fault { at_us, what: why });
                }
                self.exchanges.remove(&owner);
            }
        }
        self.drop_if_done(owner);
    }

    fn drop_if_done(&mut self, id: ExchangeId) {
        if self
            .exchanges
            .get(&id)
            .is_some_and(|exchange| exchange.over && exchange.posted.is_empty())
        {
            self.exchanges.remove(&id);
        }
    }

    fn give_up_the_oldest(&mut self) {
        if self.exchanges.len() <= LINGER_CAP {
            return;
        }
        let oldest = self
            .exchanges
            .iter()
            .find(|(_, exchange)| exchange.over)
            .map(|(id, _)| *id);
        if let Some(exchange) = oldest.and_then(|id| self.exchanges.remove(&id)) {
            for pending in exchange.posted {
                if let Asked::Call(key) = pending.asked {
                    let why = "no answer, and too many others wait".to_owned();
                    self.close_call(key, exchange.started_us, CallState::NeverFinished, Some(why));
                }
            }
        }
    }
}

/// The revision that a stateless request names itself (2026-07-28, `_meta` of every request).
pub(in crate::proxy) fn revision_of(message: &Message) -> Option<String> {
    text_member(
        member(message.params.as_deref(), "_meta"),
        "io.modelcontextprotocol/protocolVersion",
    )
}
