//! Writes down what the pure parts say happened.

use std::time::Instant;

use super::super::message::Message;
use super::super::pairing::{Change, Sent};
use super::super::record::WireLine;
use super::super::requests::{is_complete, name_of};
use super::super::tap::RequestHead;
use super::thread::Recorder;

impl Recorder {
    /// Performs what the state machine says.
    pub(super) fn apply(&mut self) {
        for change in self.pairing.changes() {
            match change {
                Change::Started { key, call } => self.records.started(key, *call),
                Change::Ended { key, call } => self.records.ended(key, *call),
                Change::Answered(mut answered) => {
                    // The tool list and the server's name are evidence too.
                    self.records.redact(&mut answered.response.result);
                    self.records.redact(&mut answered.response.error);
                    let at = self.unix_ms(answered.at_us);
                    let fault = self.survey.answered(&answered, at);
                    self.request_over(&answered.request, answered.sent, is_complete(&answered));
                    let (request, response) = (answered.request, answered.response);
                    self.records.wire(WireLine {
                        at: self.unix_ms(answered.sent.at_us),
                        kind: "exchange",
                        method: request.method,
                        status: answered.status,
                        duration_ms: Some(answered.at_us.saturating_sub(answered.sent.at_us).div_ceil(1000)),
                        params: request.params,
                        result: response.result,
                        error: response.error,
                        truncated: request.oversize || response.oversize,
                        ..WireLine::default()
                    });
                    if let Some(what) = fault {
                        self.fault(answered.at_us, what);
                    }
                }
                Change::Unanswered {
                    request,
                    sent,
                    status,
                    why,
                } => {
                    self.request_over(&request, sent, false);
                    let why = self.records.redact_text(why);
                    let at = self.unix_ms(self.us(Instant::now()));
                    let method = request.method.as_deref().unwrap_or_default();
                    self.survey.unanswered(method, status, &why, at);
                    let line = WireLine {
                        status,
                        what: Some(why),
                        ..self.line("unanswered", *request)
                    };
                    self.records.wire(line);
                }
                Change::ServerAsked(message) => {
                    let line = self.line("server_request", *message);
                    self.records.wire(line);
                }
                Change::ClientAnswered(message) => {
                    let line = self.line("client_answer", *message);
                    self.records.wire(line);
                }
                Change::Notified { by_client, message } => {
                    let from = Some(if by_client { "client" } else { "server" });
                    let line = WireLine {
                        from,
                        ..self.line("notification", *message)
                    };
                    self.records.wire(line);
                }
                Change::Progress { call, params } => {
                    let at = self.unix_ms(self.us(Instant::now()));
                    self.records.wire(WireLine {
                        at,
                        kind: "progress",
                        call,
                        params,
                        ..WireLine::default()
                    });
                }
                Change::Fault { at_us, what } => self.fault(at_us, what),
            }
        }
        if let Some(error) = self.records.failure() {
            self.queue.fail(format!("the recording could not be written: {error}"));
        }
    }

    /// The exchange of a request that is no call is over.
    fn request_over(&mut self, request: &Message, sent: Sent, ok: bool) {
        if let Some((method, name)) = name_of(request) {
            let name = self.records.redact_name(name);
            let at = self.unix_ms(sent.at_us);
            self.requests.note(method, name, ok, sent.turn, at);
        }
    }

    fn line(&self, kind: &'static str, message: Message) -> WireLine {
        WireLine {
            at: self.unix_ms(self.us(Instant::now())),
            kind,
            method: message.method,
            params: message.params,
            result: message.result,
            error: message.error,
            truncated: message.oversize,
            ..WireLine::default()
        }
    }

    pub(super) fn fault(&mut self, at_us: u64, what: String) {
        let at = self.unix_ms(at_us);
        let what = self.records.redact_text(what);
        self.survey.fault(at, what.clone());
        self.records.wire(WireLine {
            at,
            kind: "fault",
            what: Some(what),
            ..WireLine::default()
        });
    }

    /// The one place where secrets are written; the user asked for it.
    pub(super) fn debug(&mut self, at: Instant, head: &RequestHead, headers: &http::HeaderMap) {
        let at = self.unix_ms(self.us(at));
        let Some(log) = &mut self.debug_log else { return };
        let mut text = format!("{at} {} {}\n", head.method, head.target);
        for (name, value) in headers {
            text.push_str(&format!("  {name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
        }
        if let Err(error) = log.write_all(text.as_bytes()).and_then(|()| log.flush()) {
            self.queue.fail(format!("the debug log could not be written: {error}"));
        }
    }
}
