//! The thread itself: takes what the queue holds, asks the pure parts, writes what they say.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mcproctor_proto::call::ToolCall;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::request::McpRequest;

use super::super::error::ProxyError;
use super::super::message;
use super::super::options::ProxyOptions;
use super::super::pairing::{Opening, Pairing, ReplyKind};
use super::super::queue::Queue;
use super::super::record::Records;
use super::super::requests::Requests;
use super::super::survey::Survey;
use super::super::tap::{Ending, ExchangeId, Piece, ReplyHead, RequestHead, Tap};
use super::listen::{Heard, Listener, kind_of};
use mcproctor_proto::redact::Redactor;

/// What is recorded at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Every call in the order of its start, in its last state; one under way is `never_finished` or `suspended`.
    pub calls: Vec<ToolCall>,
    /// Every request that is no call, as far as expectations ask about it, in the order of their ends.
    pub requests: Vec<McpRequest>,
    /// Calls without an end.
    pub open_calls: usize,
    /// What was seen of the server.
    pub exposure: Exposure,
}

impl Snapshot {
    pub(in crate::proxy) fn unknown() -> Self {
        let exposure = Exposure {
            recording_fault: Some("the recorder is gone".to_owned()),
            ..Exposure::default()
        };
        Self {
            calls: Vec::new(),
            requests: Vec::new(),
            open_calls: 0,
            exposure,
        }
    }
}

/// The complete record of one proxy.
#[derive(Debug)]
pub struct Recorded {
    /// Every call in the order of its start, each with its end.
    pub calls: Vec<ToolCall>,
    /// Every request that is no call, as far as expectations ask about it, in the order of their ends.
    pub requests: Vec<McpRequest>,
    /// What was seen of the server.
    pub exposure: Exposure,
    /// Every call in full, one [`ToolCall`] as JSON a line, in the order of their ends; absent when nothing was kept.
    pub calls_file: Option<PathBuf>,
    /// Everything else that was said, one JSON object a line; absent when nothing was kept.
    pub wire_file: Option<PathBuf>,
    /// The tool list as the agent saw it, canonical JSON.
    pub tool_list: Option<Vec<u8>>,
}

/// The running thread.
pub(in crate::proxy) struct RecorderThread(JoinHandle<Recorded>);

impl RecorderThread {
    /// Waits for its end; blocks.
    pub(in crate::proxy) fn join(self) -> Result<Recorded, ProxyError> {
        self.0
            .join()
            .map_err(|_| ProxyError::Recorder("it panicked".to_owned()))
    }
}

/// One exchange while it lasts.
struct Watch {
    request: Option<Listener>,
    reply: Option<Listener>,
    is_json: bool,
}

/// The recorder's state.
pub(in crate::proxy) struct Recorder {
    pub(super) queue: Arc<Queue>,
    started_unix_ms: i64,
    cap: usize,
    watches: HashMap<ExchangeId, Watch>,
    pub(super) pairing: Pairing,
    pub(super) survey: Survey,
    pub(super) requests: Requests,
    pub(super) records: Records,
    pub(super) debug_log: Option<Box<dyn Write + Send>>,
}

impl Recorder {
    /// Starts the thread.
    ///
    /// # Errors
    /// The evidence files cannot be created, or the system has no thread left.
    pub(in crate::proxy) fn start(
        options: ProxyOptions,
        queue: Arc<Queue>,
        redactor: Arc<Redactor>,
    ) -> Result<RecorderThread, ProxyError> {
        let folder = options.keep.then_some(options.spill_dir.as_path());
        let records = Records::new(redactor, options.inline_cap, folder, options.observer)?;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since_start = queue.started().elapsed();
        let started = since_epoch.saturating_sub(since_start).as_millis();
        let started_unix_ms = i64::try_from(started).unwrap_or(i64::MAX);
        let recorder = Self {
            queue: Arc::clone(&queue),
            started_unix_ms,
            cap: options.body_copy_cap,
            watches: HashMap::new(),
            pairing: Pairing::new(options.server.clone(), started_unix_ms),
            requests: Requests::new(options.server.clone()),
            survey: Survey::new(options.server),
            records,
            debug_log: options.debug_log,
        };
        let thread = std::thread::Builder::new()
            .name("mcp-recorder".to_owned())
            .spawn(move || recorder.run())
            .map_err(|error| ProxyError::Recorder(error.to_string()))?;
        queue.attach(thread.thread().clone());
        Ok(RecorderThread(thread))
    }

    fn run(mut self) -> Recorded {
        let mut batch = VecDeque::new();
        while self.queue.take(&mut batch) {
            for tap in batch.drain(..) {
                if let Tap::Finish { at } = tap {
                    return self.finish(at);
                }
                self.take(tap);
            }
            self.tell_open_calls();
            self.records.settled();
        }
        self.finish(Instant::now())
    }

    fn tell_open_calls(&self) {
        self.queue
            .open_calls
            .store(self.pairing.open_count(), Ordering::Relaxed);
    }

    fn take(&mut self, tap: Tap) {
        match tap {
            Tap::Request {
                exchange,
                at,
                turn,
                head,
            } => self.request(exchange, at, turn, *head),
            Tap::RequestBody { exchange, piece } => self.request_body(exchange, piece),
            Tap::RequestEnd { exchange } => self.request_end(exchange),
            Tap::Reply { exchange, head } => self.reply(exchange, *head),
            Tap::ReplyBody { exchange, at, piece } => self.reply_body(exchange, at, piece),
            Tap::End { exchange, at, ending } => self.end(exchange, at, &ending),
            Tap::Endpoint { exchange, target } => self.pairing.endpoint(exchange, target),
            Tap::Fault { at, what } => self.fault(self.us(at), what),
            Tap::Snapshot(reply) => {
                let snapshot = self.snapshot();
                // Who asks for both is told the same.
                self.tell_open_calls();
                // Whoever asked may have stopped waiting.
                let _ = reply.send(snapshot);
            }
            Tap::Finish { .. } => {}
        }
        self.apply();
    }

    fn request(&mut self, exchange: ExchangeId, at: Instant, turn: u32, head: RequestHead) {
        if let Some(headers) = &head.all {
            self.debug(at, &head, headers);
        }
        let request = match Listener::json(head.encoding.as_deref(), self.cap) {
            Ok(listener) => Some(listener),
            Err(error) => {
                self.queue.fail(format!("request: {error}"));
                None
            }
        };
        self.watches.insert(
            exchange,
            Watch {
                request,
                reply: None,
                is_json: false,
            },
        );
        self.pairing.opened(
            exchange,
            Opening {
                at_us: self.us(at),
                turn,
                is_get: head.method == http::Method::GET,
                target: head.target,
                session: head.session,
                revision: head.revision,
                last_event_id: head.last_event_id,
            },
        );
    }

    fn request_body(&mut self, exchange: ExchangeId, piece: Piece) {
        let Some(bytes) = self.queue.read(piece) else { return };
        let Some(listener) = self.watches.get_mut(&exchange).and_then(|watch| watch.request.as_mut()) else {
            return;
        };
        let queue = &self.queue;
        listener.push(&bytes, |heard| {
            if let Heard::Deaf(why) = heard {
                queue.fail(why);
            }
        });
    }

    /// The request is complete, or its answer is here before its end.
    fn request_end(&mut self, exchange: ExchangeId) {
        let Some(watch) = self.watches.get_mut(&exchange) else {
            return;
        };
        let body = watch.request.take().and_then(|mut listener| listener.body());
        // What is no JSON-RPC cannot be a call; the server says so to the agent.
        let messages = body.and_then(|body| message::read(body).ok()).unwrap_or_default();
        for message in messages {
            self.pairing.sent(exchange, message);
        }
    }

    fn reply(&mut self, exchange: ExchangeId, head: ReplyHead) {
        self.request_end(exchange);
        if head.challenged {
            self.survey.login_required();
        }
        let kind = kind_of(head.content_type.as_deref());
        let Some(watch) = self.watches.get_mut(&exchange) else {
            return;
        };
        watch.is_json = matches!(kind, ReplyKind::Json | ReplyKind::None);
        match Listener::reply(&kind, head.encoding.as_deref(), self.cap) {
            Ok(listener) => watch.reply = Some(listener),
            Err(error) => self.queue.fail(format!("answer: {error}")),
        }
        let at_us = self.us(Instant::now());
        self.pairing.replied(exchange, at_us, head.status, kind);
    }

    fn reply_body(&mut self, exchange: ExchangeId, at: Instant, piece: Piece) {
        let Some(bytes) = self.queue.read(piece) else { return };
        let at_us = self.us(at);
        let Some(listener) = self.watches.get_mut(&exchange).and_then(|watch| watch.reply.as_mut()) else {
            return;
        };
        let (pairing, queue) = (&mut self.pairing, &self.queue);
        listener.push(&bytes, |heard| match heard {
            Heard::Event(event) => {
                if let Some(id) = event.id {
                    pairing.event_id(exchange, id);
                }
                // The legacy `endpoint` event is known from the forward path, and empty data is no message.
                let Some(data) = event.data.filter(|_| matches!(event.name.as_str(), "" | "message")) else {
                    return;
                };
                if data == super::super::gather::Gathered::Whole(Vec::new()) {
                    return;
                }
                match message::read(data) {
                    Ok(messages) => {
                        messages
                            .into_iter()
                            .for_each(|message| pairing.received(exchange, at_us, message));
                    }
                    Err(error) => pairing.unreadable(exchange, format!("an event holds {error}")),
                }
            }
            Heard::Garbled(why) => pairing.unreadable(exchange, why),
            Heard::Deaf(why) => queue.fail(why),
        });
    }

    fn end(&mut self, exchange: ExchangeId, at: Instant, ending: &Ending) {
        self.request_end(exchange);
        let at_us = self.us(at);
        if let Some(mut watch) = self.watches.remove(&exchange)
            && watch.is_json
            && *ending == Ending::Complete
            && let Some(body) = watch.reply.as_mut().and_then(Listener::body)
        {
            match message::read(body) {
                Ok(messages) => {
                    messages
                        .into_iter()
                        .for_each(|message| self.pairing.received(exchange, at_us, message));
                }
                Err(error) => self.pairing.unreadable(exchange, format!("the answer holds {error}")),
            }
        }
        self.pairing.ended(exchange, at_us, ending);
    }

    fn snapshot(&mut self) -> Snapshot {
        self.apply();
        let mut calls = self.records.kept().to_vec();
        for (key, open) in self.pairing.open() {
            if let Some(call) = usize::try_from(key).ok().and_then(|index| calls.get_mut(index)) {
                call.state = open.state;
                call.legs = open.legs;
                call.error.clone_from(&open.error);
            }
        }
        Snapshot {
            calls,
            requests: self.requests.kept().to_vec(),
            open_calls: self.pairing.open_count(),
            exposure: self.exposure(),
        }
    }

    fn exposure(&self) -> Exposure {
        let mut exposure = self.survey.exposure();
        exposure.recording_fault = self.queue.fault();
        // Servers may tell of themselves what they were told.
        for text in [
            &mut exposure.server_name,
            &mut exposure.server_version,
            &mut exposure.protocol_version,
        ] {
            *text = text.take().map(|text| self.records.redact_text(text));
        }
        exposure
    }

    fn tool_list(&self) -> Option<Vec<u8>> {
        let list = self.survey.tool_list()?.to_vec();
        Some(match String::from_utf8(list) {
            Ok(text) => self.records.redact_json(text).into_bytes(),
            Err(error) => error.into_bytes(),
        })
    }

    fn finish(mut self, at: Instant) -> Recorded {
        self.pairing.finish(self.us(at));
        self.apply();
        let files = self.records.finish();
        self.apply();
        self.records.settled();
        self.queue.open_calls.store(0, Ordering::Relaxed);
        let (calls_file, wire_file) = files.unzip();
        Recorded {
            calls: self.records.kept().to_vec(),
            requests: self.requests.kept().to_vec(),
            exposure: self.exposure(),
            calls_file,
            wire_file,
            tool_list: self.tool_list(),
        }
    }

    pub(super) fn us(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.queue.started()).as_micros()).unwrap_or(u64::MAX)
    }

    pub(super) fn unix_ms(&self, us: u64) -> i64 {
        self.started_unix_ms
            .saturating_add(i64::try_from(us / 1000).unwrap_or(i64::MAX))
    }
}
