//! What an answer says about its call.

use mcproctor_proto::call::CallState;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::message::{Message, member, text_member};
use super::calls::{AwaitingInput, shortened};
use super::change::{Answered, Change};
use super::exchange::{Asked, Pending, Sent, TaskRequest};
use super::machine::{CallKey, Pairing};

impl Pairing {
    /// A request got its answer.
    pub(super) fn answer(&mut self, pending: Pending, response: Message, status: Option<u16>, sent: Sent, at_us: u64) {
        match pending.asked {
            Asked::Call(key) => self.call_answered(key, &response, status, at_us),
            Asked::Task { request, task, message } => {
                self.task_answered(request, task, &response, status, at_us);
                let request = *message;
                self.changes.push(Change::Answered(Box::new(Answered {
                    request,
                    response,
                    status,
                    sent,
                    at_us,
                })));
            }
            Asked::Other(message) => {
                let request = *message;
                self.changes.push(Change::Answered(Box::new(Answered {
                    request,
                    response,
                    status,
                    sent,
                    at_us,
                })));
            }
        }
    }

    fn call_answered(&mut self, key: CallKey, response: &Message, status: Option<u16>, at_us: u64) {
        let result = response.result.as_deref();
        if response.error.is_none() {
            // 2025-11-25: `task` in the result, when the request asked for one; tasks extension: `resultType` and `taskId` beside each other.
            let kind = text_member(result, "resultType");
            let wants_task = self.open.get(&key).is_some_and(|open| open.wants_task);
            let task = text_member(member(result, "task").filter(|_| wants_task), "taskId")
                .or_else(|| text_member(result, "taskId").filter(|_| kind.as_deref() == Some("task")));
            if let Some(task) = task {
                self.tasks.insert(task, key);
                return;
            }
            if kind.as_deref() == Some("input_required") {
                let request_state = member(result, "requestState").map(|state| state.get().to_owned());
                if let Some(open) = self.open.get_mut(&key) {
                    open.awaiting_input = Some(AwaitingInput { request_state });
                    open.record.state = CallState::Suspended;
                    open.record.error = Some("the server asked for input".to_owned());
                }
                return;
            }
        }
        self.settle(key, result, response.error.as_deref(), response, status, at_us);
    }

    fn task_answered(
        &mut self,
        request: TaskRequest,
        task: Option<String>,
        response: &Message,
        status: Option<u16>,
        at_us: u64,
    ) {
        let key = task.as_ref().and_then(|task| self.tasks.get(task).copied());
        match (request, key, response.result.as_deref()) {
            (TaskRequest::Result, Some(key), result) => {
                self.settle(key, result, response.error.as_deref(), response, status, at_us);
            }
            (TaskRequest::Get | TaskRequest::Cancel, Some(_), Some(result)) => {
                self.task_seen(task, result, response, status, at_us);
            }
            _ => {}
        }
    }

    /// A task's state became known: the first terminal one that says how the call ended counts.
    pub(super) fn task_seen(
        &mut self,
        task: Option<String>,
        state: &RawValue,
        message: &Message,
        http_status: Option<u16>,
        at_us: u64,
    ) {
        let Some(key) = task.and_then(|task| self.tasks.get(&task).copied()) else {
            return;
        };
        let state = Some(state);
        let (result, error) = (member(state, "result"), member(state, "error"));
        match text_member(state, "status").as_deref() {
            Some("completed" | "failed") if result.is_some() || error.is_some() => {
                self.settle(key, result, error, message, http_status, at_us);
            }
            Some("cancelled") => {
                let why = text_member(state, "statusMessage").map_or_else(
                    || "the task was cancelled".to_owned(),
                    |message| format!("the task was cancelled: {}", shortened(&message)),
                );
                self.close_call(key, at_us, CallState::Cancelled, Some(why));
            }
            // 2025-11-25: what a completed or failed task holds is fetched by `tasks/result`.
            _ => {}
        }
    }

    /// A call has its result or error.
    fn settle(
        &mut self,
        key: CallKey,
        result: Option<&RawValue>,
        error: Option<&RawValue>,
        message: &Message,
        status: Option<u16>,
        at_us: u64,
    ) {
        let Some(open) = self.open.get_mut(&key) else { return };
        let record = &mut open.record;
        record.http_status = status;
        record.bytes = message.bytes;
        record.sha256.clone_from(&message.sha256);
        record.truncated |= message.oversize;
        record.result = error.or(result).map(ToOwned::to_owned).filter(|_| !message.oversize);
        let (state, why) = match (result, error) {
            (_, Some(error)) => {
                let why = error_text(error);
                match status {
                    Some(status) if status >= 500 => (CallState::HttpError, Some(format!("HTTP {status}: {why}"))),
                    Some(status) if status >= 400 && message.id.is_none() => {
                        (CallState::HttpError, Some(format!("HTTP {status}: {why}")))
                    }
                    _ => (CallState::ProtocolError, Some(why)),
                }
            }
            (Some(result), None) => {
                let is_error = member(Some(result), "isError").is_some_and(|flag| truthy(flag.get()));
                match status {
                    Some(status) if status >= 400 => (CallState::HttpError, Some(format!("HTTP {status}"))),
                    _ if !result.get().starts_with('{') => {
                        (CallState::TransportLost, Some("the result is no object".to_owned()))
                    }
                    _ if is_error => (CallState::ToolError, Some(tool_error_text(result))),
                    _ => (CallState::Ok, None),
                }
            }
            (None, None) => (
                CallState::TransportLost,
                Some("the answer has neither a result nor an error".to_owned()),
            ),
        };
        self.close_call(key, at_us, state, why);
    }
}

/// What a client that does not insist on a boolean takes for true.
fn truthy(raw: &str) -> bool {
    let zero = raw.parse::<f64>().is_ok_and(|number| number == 0.0);
    !zero && !matches!(raw, "false" | "null" | "\"\"")
}

fn error_text(error: &RawValue) -> String {
    let message = text_member(Some(error), "message").unwrap_or_default();
    let code = member(Some(error), "code").map(RawValue::get).unwrap_or_default();
    match (message.as_str(), code) {
        ("", "") => "JSON-RPC error".to_owned(),
        ("", code) => format!("JSON-RPC error {}", shortened(code)),
        (message, "") => shortened(message),
        (message, code) => format!("{} ({})", shortened(message), shortened(code)),
    }
}

/// The first text that the tool gave with its error.
fn tool_error_text(result: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Block {
        text: Option<String>,
    }
    let content = member(Some(result), "content");
    let blocks: Vec<Block> = content
        .and_then(|content| serde_json::from_str(content.get()).ok())
        .unwrap_or_default();
    let text = blocks.into_iter().find_map(|block| block.text);
    text.map_or_else(|| "the tool reported an error".to_owned(), |text| shortened(&text))
}
