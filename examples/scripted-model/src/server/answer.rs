//! What each path answers.

use super::observe::{offered_key, record};
use super::shared::Shared;
use crate::conversation::Conversation;
use crate::delivery::{Ending, body, half};
use crate::dialect::{Dialect, models};
use crate::director::Decision;
use crate::record::{RequestRecord, ToldUsage};
use crate::reply::tokens;
use crate::scenario::{FaultKind, Moment};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The largest request body read, in bytes.
const MAX_BODY: usize = 64 << 20;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(answer).with_state(shared)
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, request_body) = request.into_parts();
    let path = parts.uri.path().trim_end_matches('/').to_owned();
    let dialect = match path.as_str() {
        "/v1/messages" | "/v1/messages/count_tokens" => Some(Dialect::AnthropicMessages),
        "/v1/responses" => Some(Dialect::OpenaiResponses),
        "/v1/chat/completions" => Some(Dialect::ChatCompletions),
        _ if parts.headers.contains_key("anthropic-version") => Some(Dialect::AnthropicMessages),
        _ => None,
    };
    let refused = path.starts_with("/v1") && is_refused(&shared, &parts);
    if refused {
        return plain(&shared, &parts, dialect, 401, None);
    }
    match (&parts.method, path.as_str(), dialect) {
        (&Method::HEAD | &Method::GET, "", _) => plain(&shared, &parts, dialect, 200, Some(json!({"status": "ok"}))),
        (&Method::GET, "/v1/models", _) => {
            let list = models(&shared.scenarios.models, dialect == Some(Dialect::AnthropicMessages));
            plain(&shared, &parts, dialect, 200, Some(list))
        }
        (&Method::GET, path, _) if path.starts_with("/v1/models/") => {
            let name = path.trim_start_matches("/v1/models/").to_owned();
            let list = models(&[name], dialect == Some(Dialect::AnthropicMessages));
            plain(&shared, &parts, dialect, 200, list.pointer("/data/0").cloned())
        }
        (&Method::POST, "/v1/messages/count_tokens", _) => match to_bytes(request_body, MAX_BODY).await {
            Ok(bytes) => plain(
                &shared,
                &parts,
                dialect,
                200,
                Some(json!({"input_tokens": tokens(bytes.len())})),
            ),
            Err(_) => plain(&shared, &parts, dialect, 413, None),
        },
        (&Method::POST, "/v1/messages" | "/v1/responses" | "/v1/chat/completions", Some(dialect)) => {
            match to_bytes(request_body, MAX_BODY).await {
                Ok(bytes) => converse(&shared, &parts, dialect, &bytes).await,
                Err(_) => plain(&shared, &parts, Some(dialect), 413, None),
            }
        }
        _ => plain(
            &shared,
            &parts,
            dialect,
            404,
            Some(json!({"error": {"message": "no such path"}})),
        ),
    }
}

fn is_refused(shared: &Shared, parts: &Parts) -> bool {
    let required = shared.scenarios.require_key.as_ref();
    required.is_some_and(|key| !offered_key(&parts.headers).is_some_and(|offered| key.is(offered)))
}

/// An answer outside any conversation; without a body it is the dialect's error for the status.
fn plain(shared: &Shared, parts: &Parts, dialect: Option<Dialect>, status: u16, body: Option<Value>) -> Response {
    let dialect_or_openai = dialect.unwrap_or(Dialect::ChatCompletions);
    let body = body.unwrap_or_else(|| dialect_or_openai.error(status, None, None, ""));
    shared.record(RequestRecord {
        outcome: status.to_string(),
        ..record(parts, dialect, None)
    });
    json_response(status, &body, None)
}

async fn converse(shared: &Shared, parts: &Parts, dialect: Dialect, bytes: &Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(bytes) else {
        let body = dialect.error(400, Some("invalid_request_error"), Some("the body is not JSON"), "");
        return plain(shared, parts, Some(dialect), 400, Some(body));
    };
    let conversation = dialect.read(&request, &parts.headers, bytes.len());
    let decision = shared.decide(&conversation);
    let mut record = record(parts, Some(dialect), Some(&conversation));
    if let Some(part) = &decision.part {
        record.scenario = Some(part.scenario.clone());
        record.play = Some(part.play.clone());
        record.iteration = Some(part.iteration);
        record.turn = Some(part.turn);
    }
    record.outcome = outcome(decision.fault.as_ref());
    let used = decision.reply.usage;
    record.usage = decision.fault.is_none().then_some(ToldUsage {
        input: used.input,
        cached: used.cached,
        output: used.output,
    });
    shared.record(record);
    if !decision.delay.is_zero() {
        tokio::time::sleep(decision.delay).await;
    }
    deliver(shared, dialect, &conversation, decision).await
}

fn outcome(fault: Option<&FaultKind>) -> String {
    match fault {
        None => "200".to_owned(),
        Some(FaultKind::Status { status, .. }) => status.to_string(),
        Some(FaultKind::Hang(_)) => "hang".to_owned(),
        Some(FaultKind::Cut(_)) => "cut".to_owned(),
        Some(FaultKind::ErrorEvent { .. }) => "errorEvent".to_owned(),
    }
}

async fn deliver(shared: &Shared, dialect: Dialect, conversation: &Conversation, decision: Decision) -> Response {
    let reply = &decision.reply;
    let (moment, ending) = match decision.fault {
        Some(FaultKind::Status {
            status,
            retry_after,
            code,
            message,
        }) => {
            let body = dialect.error(status, code.as_deref(), message.as_deref(), &conversation.model);
            return json_response(status, &body, retry_after);
        }
        Some(FaultKind::ErrorEvent { message }) => {
            let message = message.as_deref().unwrap_or("Overloaded");
            if !conversation.stream {
                return json_response(500, &dialect.error(500, None, Some(message), &conversation.model), None);
            }
            let events = dialect.error_events(reply, message);
            return streamed(shared, true, events, Duration::ZERO, Ending::Complete);
        }
        Some(FaultKind::Hang(Moment::AtOnce)) => {
            shared.stopped.cancelled().await;
            return streamed(shared, false, Vec::new(), Duration::ZERO, Ending::Cut);
        }
        Some(FaultKind::Hang(moment)) => (moment, Ending::Silence),
        Some(FaultKind::Cut(moment)) => (moment, Ending::Cut),
        None => (Moment::AtOnce, Ending::Complete),
    };
    let frames = if conversation.stream {
        dialect.stream(reply, conversation)
    } else {
        vec![Bytes::from(dialect.write(reply).to_string())]
    };
    let frames = match (ending, moment) {
        (Ending::Complete, _) => frames,
        (_, Moment::AtOnce) => Vec::new(),
        (_, Moment::Midway) => half(frames),
    };
    streamed(shared, conversation.stream, frames, reply.pace, ending)
}

fn streamed(shared: &Shared, events: bool, frames: Vec<Bytes>, pace: Duration, ending: Ending) -> Response {
    let content_type = if events {
        "text/event-stream"
    } else {
        "application/json"
    };
    let mut response = Response::new(body(frames, pace, ending, shared.stopped.clone()));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
        .headers_mut()
        .insert("request-id", HeaderValue::from_static("req_scripted"));
    response
}

fn json_response(status: u16, body: &Value, retry_after: Option<u64>) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
        .headers_mut()
        .insert("request-id", HeaderValue::from_static("req_scripted"));
    if let Some(seconds) = retry_after {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
