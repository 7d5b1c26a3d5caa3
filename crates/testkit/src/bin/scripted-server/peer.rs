//! Reads requests from standard input and writes messages to standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufWriter, StdinLock, StdoutLock, Write};

use serde_json::{Value, json};

use crate::options::{ReplyContent, ScriptedServerOptions};

pub(crate) struct ScriptedPeer {
    pub(crate) options: ScriptedServerOptions,
    pub(crate) never_exits: bool,
    input: StdinLock<'static>,
    output: BufWriter<StdoutLock<'static>>,
    record: Option<File>,
}

/// Message from the client, or the start of the server, which precedes all messages.
pub(crate) struct PeerRequest {
    pub(crate) method: String,
    /// Id of the request; null if the message has none.
    pub(crate) id: Value,
    pub(crate) params: Value,
}

impl PeerRequest {
    pub(crate) fn start_event() -> PeerRequest {
        PeerRequest { method: "start".to_owned(), id: Value::Null, params: Value::Null }
    }

    /// Returns the progress token of the request, or null if the client sent none.
    pub(crate) fn progress_token(&self) -> Value {
        self.params.pointer("/_meta/progressToken").cloned().unwrap_or(Value::Null)
    }
}

impl ScriptedPeer {
    pub(crate) fn new(options: ScriptedServerOptions) -> ScriptedPeer {
        let record =
            options.record.as_ref().and_then(|path| OpenOptions::new().create(true).append(true).open(path).ok());
        ScriptedPeer {
            options,
            never_exits: false,
            input: io::stdin().lock(),
            output: BufWriter::new(io::stdout().lock()),
            record,
        }
    }

    /// Reads the next message, or returns `None` at the end of the input. A response is returned with an empty method.
    pub(crate) fn read(&mut self) -> io::Result<Option<PeerRequest>> {
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if let Some(record) = &mut self.record {
            record.write_all(&line)?;
        }
        let mut message: Value = serde_json::from_slice(&line).unwrap_or(Value::Null);
        Ok(Some(PeerRequest {
            method: message["method"].as_str().unwrap_or_default().to_owned(),
            id: message["id"].take(),
            params: message["params"].take(),
        }))
    }

    /// Sends the reply that `--reply` or `--raw` sets for this method. Returns `true` if there is one.
    pub(crate) fn send_scripted_reply(&mut self, request: &PeerRequest) -> io::Result<bool> {
        let replies = &mut self.options.replies;
        let mut matching = replies.iter().enumerate().filter(|(_, reply)| reply.method == request.method);
        let Some((first, reply)) = matching.next() else { return Ok(false) };
        let what = reply.what.clone();
        if matching.next().is_some() {
            replies.remove(first);
        }
        match what {
            ReplyContent::Result(result) => self.send_result(request, result)?,
            ReplyContent::Line(line) => self.write_line(line.replace("$ID", &request.id.to_string()).as_bytes())?,
        }
        Ok(true)
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.options.revision.as_str() >= "2026"
    }

    /// Returns the value of `--count`, the number of repetitions, or else this default.
    pub(crate) fn count(&self, default: usize) -> usize {
        self.options.count.unwrap_or(default)
    }

    /// Returns the value of `--bytes`, the size of the output, or else this default.
    pub(crate) fn bytes(&self, default: usize) -> usize {
        self.options.bytes.unwrap_or(default)
    }

    /// Writes bytes to standard output without adding a line break.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)
    }

    pub(crate) fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.write_raw(line)?;
        self.write_raw(b"\n")
    }

    pub(crate) fn send(&mut self, message: &Value) -> io::Result<()> {
        self.write_line(message.to_string().as_bytes())
    }

    pub(crate) fn send_result(&mut self, request: &PeerRequest, result: Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": request.id, "result": result}))
    }

    pub(crate) fn send_error(&mut self, request: &PeerRequest, code: i64, message: &str) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": request.id, "error": {"code": code, "message": message}}))
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    pub(crate) fn send_request(&mut self, id: &str, method: &str, params: Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Sends a tool result with this text.
    pub(crate) fn send_text_result(&mut self, request: &PeerRequest, text: &str) -> io::Result<()> {
        let mut result = self.with_required_result_members(json!({"content": [{"type": "text", "text": text}]}));
        testkit::forbidden_url::add_forbidden_url_to_result(&self.options.revision, &mut result);
        self.send_result(request, result)
    }

    /// Returns `result` with the member `resultType`, which 2026-07-28 requires, if the server supports this revision.
    pub(crate) fn with_required_result_members(&self, mut result: Value) -> Value {
        if self.is_stateless() {
            result["resultType"] = json!("complete");
        }
        result
    }
}
