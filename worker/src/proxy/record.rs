//! Where records go: evidence files, memory, an observer. Secrets are removed here, on the way to all of them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcproctor_proto::call::ToolCall;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedSender;

use super::error::ProxyError;
use mcproctor_proto::redact::Redactor;

/// Told of calls on the recorder's thread, never on the way of the bytes.
pub trait CallObserver: Send {
    /// A call was sent.
    fn started(&mut self, call: &ToolCall);
    /// A call ended; its record is final.
    fn ended(&mut self, call: &ToolCall);
    /// Everything that has happened so far was told: a good moment to flush.
    fn settled(&mut self) {}
}

/// One call as it starts or ends.
#[derive(Clone, Debug)]
pub enum CallEvent {
    /// It was sent.
    Started(ToolCall),
    /// It ended.
    Ended(ToolCall),
}

impl CallObserver for UnboundedSender<CallEvent> {
    fn started(&mut self, call: &ToolCall) {
        // Nobody listens any more: then nobody needs to know.
        let _ = self.send(CallEvent::Started(call.clone()));
    }

    fn ended(&mut self, call: &ToolCall) {
        let _ = self.send(CallEvent::Ended(call.clone()));
    }
}

/// One line of the wire log.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireLine {
    /// Milliseconds of Unix time.
    pub(super) at: i64,
    /// `exchange`, `unanswered`, `server_request`, `client_answer`, `notification`, `progress` or `fault`.
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) params: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) what: Option<String>,
    /// The message was beyond the cap, so that only a few of its fields are here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) truncated: bool,
}

/// Writes calls and the wire log.
pub(super) struct Records {
    redactor: Arc<Redactor>,
    inline_cap: usize,
    files: Option<Files>,
    kept: Vec<ToolCall>,
    observer: Option<Box<dyn CallObserver>>,
    failed: Option<io::Error>,
}

struct Files {
    calls: BufWriter<File>,
    calls_path: PathBuf,
    wire: BufWriter<File>,
    wire_path: PathBuf,
}

impl Records {
    /// With a folder, every call is kept and the evidence files are written there.
    ///
    /// # Errors
    /// The files cannot be created.
    pub(super) fn new(
        redactor: Arc<Redactor>,
        inline_cap: usize,
        folder: Option<&Path>,
        observer: Option<Box<dyn CallObserver>>,
    ) -> Result<Self, ProxyError> {
        let create = |path: &Path| {
            let file = File::create(path).map_err(|source| ProxyError::Files {
                path: path.to_owned(),
                source,
            })?;
            Ok::<_, ProxyError>(BufWriter::new(file))
        };
        let files = match folder {
            None => None,
            Some(folder) => {
                let (calls_path, wire_path) = (folder.join("calls.jsonl"), folder.join("wire.jsonl"));
                Some(Files {
                    calls: create(&calls_path)?,
                    calls_path,
                    wire: create(&wire_path)?,
                    wire_path,
                })
            }
        };
        Ok(Self {
            redactor,
            inline_cap,
            files,
            kept: Vec::new(),
            observer,
            failed: None,
        })
    }

    /// A call was sent.
    pub(super) fn started(&mut self, key: u64, call: ToolCall) {
        let call = self.inlined(self.redacted(call));
        if let Some(observer) = &mut self.observer {
            observer.started(&call);
        }
        self.keep(key, call);
    }

    /// A call ended.
    pub(super) fn ended(&mut self, key: u64, call: ToolCall) {
        let call = self.redacted(call);
        if let Some(files) = &mut self.files {
            let written = write_line(&mut files.calls, &call);
            self.note(written);
        }
        let call = self.inlined(call);
        if let Some(observer) = &mut self.observer {
            observer.ended(&call);
        }
        self.keep(key, call);
    }

    /// Something else happened.
    pub(super) fn wire(&mut self, mut line: WireLine) {
        if self.files.is_none() {
            return;
        }
        for part in [&mut line.params, &mut line.result, &mut line.error] {
            *part = part.take().map(|part| self.redactor.json(part));
        }
        for text in [&mut line.method, &mut line.what] {
            *text = text.take().map(|text| self.redactor.text(text));
        }
        if let Some(files) = &mut self.files {
            let written = write_line(&mut files.wire, &line);
            self.note(written);
        }
    }

    /// Nothing is left to be told for now.
    pub(super) fn settled(&mut self) {
        if let Some(observer) = &mut self.observer {
            observer.settled();
        }
    }

    /// The calls kept so far, each in its last final state.
    pub(super) fn kept(&self) -> &[ToolCall] {
        &self.kept
    }

    /// Takes secrets out of a part of a message.
    pub(super) fn redact(&self, part: &mut Option<Box<RawValue>>) {
        *part = part.take().map(|part| self.redactor.json(part));
    }

    /// A text without secrets.
    pub(super) fn redact_text(&self, text: String) -> String {
        self.redactor.text(text)
    }

    /// The name of something that a verdict depends on, without credentials.
    pub(super) fn redact_name(&self, name: String) -> String {
        self.redactor.name(name)
    }

    /// JSON without secrets; still JSON.
    pub(super) fn redact_json(&self, text: String) -> String {
        match RawValue::from_string(text) {
            Ok(raw) => Box::<str>::from(self.redactor.json(raw)).into_string(),
            // What is no JSON is not kept.
            Err(_) => "null".to_owned(),
        }
    }

    /// Why a file could not be written, once.
    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Flushes the files and says where they are.
    pub(super) fn finish(&mut self) -> Option<(PathBuf, PathBuf)> {
        let files = self.files.as_mut()?;
        let flushed = files.calls.flush().and(files.wire.flush());
        let paths = (files.calls_path.clone(), files.wire_path.clone());
        self.note(flushed);
        Some(paths)
    }

    fn keep(&mut self, key: u64, call: ToolCall) {
        if self.files.is_none() {
            return;
        }
        let index = usize::try_from(key).unwrap_or(usize::MAX);
        match self.kept.get_mut(index) {
            Some(kept) => *kept = call,
            // Keys are given out in order, so a new one is the next index.
            None => self.kept.push(call),
        }
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }

    fn redacted(&self, mut call: ToolCall) -> ToolCall {
        call.tool = self.redactor.name(call.tool);
        call.arguments = call.arguments.map(|arguments| self.redactor.json(arguments));
        call.result = call.result.map(|result| self.redactor.json(result));
        call.error = call.error.map(|error| self.redactor.text(error));
        call
    }

    /// Without what is beyond the inline cap.
    fn inlined(&self, mut call: ToolCall) -> ToolCall {
        for part in [&mut call.arguments, &mut call.result] {
            if part.as_ref().is_some_and(|part| part.get().len() > self.inline_cap) {
                *part = None;
                call.truncated = true;
            }
        }
        call
    }
}

fn write_line(file: &mut BufWriter<File>, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}
