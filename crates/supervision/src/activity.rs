//! The activity log of one server: protocol messages, log messages of the server and its standard error, in a bounded
//! buffer without secrets. Used by the connections of `host`, which append to it, and by the activity view of
//! Drawbridge's page.

mod entry_body;
mod hidden_secrets;
mod shared_log;
mod total_size;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use domain::Millis;
use foldhash::fast::RandomState;
use ports::time::to_millis;

use mcp_proto::RequestId;
use mcp_proto::types::LogMessage;
use mcp_transport::driver::{Frame, FrameDirection, FrameKind};

use entry_body::EntryBody;
use hidden_secrets::RedactedSecrets;
pub use shared_log::{ActivityPage, SharedActivityLog};
pub use total_size::{MAX_TOTAL_ACTIVITY_BYTES, TotalActivitySize};

/// Maximum number of entries in the log of one server.
pub const MAX_ACTIVITY_ENTRIES: usize = 2_000;
/// Default maximum size of all entries of one server together, in bytes. The user can change it.
pub const DEFAULT_MAX_ACTIVITY_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of bytes that are stored of one entry's body.
pub const MAX_ENTRY_BODY_BYTES: usize = 512 * 1024;
/// Maximum number of pending requests that are tracked to measure latency.
const MAX_REQUESTS_TRACKED_FOR_LATENCY: usize = 1_024;
const ENTRY_PREVIEW_CHARS: usize = 200;
/// Methods of requests whose responses are stored compressed, because their contents are also stored elsewhere and are
/// rarely read here. Most entries of an idle server are such responses.
const COMPRESSED_RESPONSE_METHODS: [&str; 6] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "initialize", "server/discover"];

/// A message, log line or event in the activity log.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityEntry {
    /// Sequence number of the entry in the log of its server, starting at 1.
    pub seq: u64,
    /// Time at which the message was sent or received, in milliseconds since 1970.
    pub at: Millis,
    /// Kind of the entry: a JSON-RPC message, a log message, a line of standard error, or a change of state.
    pub kind: ActivityKind,
    /// Set if the host sent the message to the server. Otherwise the server sent it.
    pub sent: bool,
    /// Method of the message or, for a response, of the request that it answers.
    pub method: Option<Cow<'static, str>>,
    id: Option<DisplayedRequestId>,
    /// Size of the whole message, in bytes.
    pub bytes: usize,
    /// Time from the request to this response, in milliseconds. `None` for other entries.
    pub latency: Option<f64>,
    /// Reason why the message is invalid or unusual, or `None` if it is neither.
    pub note: Option<String>,
    body: EntryBody,
    /// Set if only the beginning of the body was stored.
    pub truncated: bool,
    /// Set if `[redacted]` replaces a secret in the body.
    pub redacted: bool,
}

impl ActivityEntry {
    /// Returns the JSON-RPC ID of the message as it appears in the message.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.id.as_ref().map(|id| match id {
            DisplayedRequestId::Number(number) => number.to_string(),
            DisplayedRequestId::Shown(text) => text.to_string(),
        })
    }

    /// Returns the message, or its beginning if it was truncated.
    #[must_use]
    pub fn body(&self) -> Cow<'_, str> {
        self.body.text()
    }

    /// Returns the memory used by the log entry, in bytes.
    fn memory_used(&self) -> usize {
        self.body.memory_used() + size_of::<Self>()
    }

    /// Returns the first 200 characters of the body.
    #[must_use]
    pub fn preview(&self) -> String {
        self.body.first_chars_of_body(ENTRY_PREVIEW_CHARS)
    }
}

/// A JSON-RPC ID. Numbers, such as IDs of the host's own requests, need no allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DisplayedRequestId {
    Number(i64),
    Shown(Box<str>),
}

/// Kind of an entry in the activity log: a JSON-RPC message, a log message, a line of standard error, or a change of
/// state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// A JSON-RPC request message.
    Request,
    /// A JSON-RPC response with a result.
    Response,
    /// A JSON-RPC response with an error.
    Error,
    /// A JSON-RPC notification message.
    Notification,
    /// A batch of several JSON-RPC messages.
    Batch,
    /// Data from the server that is not a valid message.
    Invalid,
    /// A line that the server printed on standard error.
    Stderr,
    /// A log message (`notifications/message`).
    Log,
    /// A change in the state of the process or connection.
    State,
}

/// The activity log of one server: its latest messages, log lines and state changes, within a maximum size.
#[derive(Debug)]
pub struct ActivityLog {
    entries: VecDeque<ActivityEntry>,
    /// Maximum size of all entries together, in bytes.
    most: usize,
    bytes: usize,
    last: u64,
    dropped: u64,
    /// Method and time of each pending request, by direction (`true` if the host sent it) and ID.
    awaited: HashMap<(bool, RequestId), (Cow<'static, str>, SystemTime), RandomState>,
    /// Secrets that are redacted in the entries, shared with [`SharedActivityLog`].
    hidden: RedactedSecrets,
    together: TotalActivitySize,
}

impl Default for ActivityLog {
    fn default() -> Self {
        Self::with_shared_total_size(&TotalActivitySize::default())
    }
}

impl Drop for ActivityLog {
    fn drop(&mut self) {
        self.together.remove(self.memory_used());
    }
}

impl ActivityLog {
    /// Creates an empty log that adds its size to `together`, the total size of the logs of all servers.
    pub fn with_shared_total_size(together: &TotalActivitySize) -> Self {
        Self {
            entries: VecDeque::new(),
            most: DEFAULT_MAX_ACTIVITY_BYTES,
            bytes: 0,
            last: 0,
            dropped: 0,
            awaited: HashMap::default(),
            hidden: RedactedSecrets::default(),
            together: together.clone(),
        }
    }

    /// Sets the maximum size of the entries, in bytes, and drops the oldest entries beyond it.
    pub fn set_max_bytes(&mut self, bytes: u64) {
        self.most = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.drop_entries_beyond_limits();
    }

    /// Drops the oldest entries until the log uses at most `most` bytes of memory.
    fn shrink_to(&mut self, most: usize) {
        while self.memory_used() > most && self.drop_oldest_entry() {}
    }

    /// Returns the memory used by the log, in bytes, including the overhead of each entry.
    fn memory_used(&self) -> usize {
        self.bytes + self.entries.len() * size_of::<ActivityEntry>()
    }

    /// Counts an entry that the caller did not append because the server sends too many messages.
    pub const fn count_omitted_entry(&mut self) {
        self.dropped += 1;
    }

    /// Returns the total size of the bodies of all entries, in bytes.
    pub const fn total_body_bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the sequence number of the latest entry, or 0 if there is none.
    #[must_use]
    pub const fn latest_sequence(&self) -> u64 {
        self.last
    }

    /// Returns the number of entries that are missing: dropped because of the size limits, or omitted because the
    /// server sent too many messages.
    #[must_use]
    pub const fn missing_count(&self) -> u64 {
        self.dropped
    }

    /// Returns the latest entries with a sequence number above `after`, at most `limit`, oldest first.
    pub fn entries_after(&self, after: u64, limit: usize) -> impl Iterator<Item = &ActivityEntry> {
        let newer = self.entries.iter().rev().take_while(|e| e.seq > after).count().min(limit);
        self.entries.range(self.entries.len() - newer..)
    }

    /// Returns the log entry with this sequence number, or `None` if it was dropped.
    #[must_use]
    pub fn entry(&self, seq: u64) -> Option<&ActivityEntry> {
        let first = self.entries.front()?.seq;
        self.entries.get(usize::try_from(seq.checked_sub(first)?).ok()?)
    }

    /// Appends a message that was sent or received.
    pub fn append_frame(&mut self, frame: Frame) {
        let Frame { direction, at, bytes, about, note } = frame;
        let sent = direction == FrameDirection::Sent;
        let mut entry = self.new_entry(at, ActivityKind::Invalid, &bytes);
        entry.sent = sent;
        entry.note = note.or(entry.note);
        entry.kind = match &about {
            FrameKind::Request { .. } => ActivityKind::Request,
            FrameKind::Notification { .. } => ActivityKind::Notification,
            FrameKind::Result { .. } => ActivityKind::Response,
            FrameKind::Error { .. } => ActivityKind::Error,
            FrameKind::Batch => ActivityKind::Batch,
            FrameKind::Invalid => ActivityKind::Invalid,
        };
        match about {
            FrameKind::Request { id, method } => {
                let method = truncated_method(method);
                entry.id = Some(to_displayed_request_id(&id));
                entry.method = Some(method.clone());
                if self.awaited.len() < MAX_REQUESTS_TRACKED_FOR_LATENCY {
                    self.awaited.insert((sent, id), (method, at));
                }
            }
            FrameKind::Notification { method } => entry.method = Some(truncated_method(method)),
            FrameKind::Result { id } | FrameKind::Error { id: Some(id) } => {
                entry.id = Some(to_displayed_request_id(&id));
                if let Some((method, requested_at)) = self.awaited.remove(&(!sent, id)) {
                    if COMPRESSED_RESPONSE_METHODS.contains(&&*method) {
                        entry.body.compress();
                    }
                    entry.method = Some(method);
                    entry.latency = at.duration_since(requested_at).ok().map(|d| d.as_secs_f64() * 1_000.0);
                }
            }
            FrameKind::Error { id: None } | FrameKind::Batch | FrameKind::Invalid => {}
        }
        self.push(entry);
    }

    /// Appends a log message that the server sent.
    pub fn append_log_message(&mut self, message: &LogMessage) {
        let text = match &message.data {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // clock: timestamp of an entry.
        let mut entry = self.new_entry(SystemTime::now(), ActivityKind::Log, text.as_bytes());
        let level =
            serde_json::to_value(message.level).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
        entry.method = Some(Cow::Owned(match &message.logger {
            Some(logger) => format!("{level} · {}", logger.chars().take(ENTRY_PREVIEW_CHARS).collect::<String>()),
            None => level,
        }));
        self.push(entry);
    }

    /// Appends a line that the server wrote to standard error, or a message about the server's process or connection.
    pub fn append_line(&mut self, kind: ActivityKind, text: &str) {
        // clock: timestamp of an entry.
        let entry = self.new_entry(SystemTime::now(), kind, text.as_bytes());
        self.push(entry);
    }

    /// Appends an entry about a received message that could not be used. `cause` is the reason.
    pub fn append_anomaly(&mut self, cause: &str, id: Option<String>) {
        // clock: timestamp of an entry.
        let mut entry = self.new_entry(SystemTime::now(), ActivityKind::State, cause.as_bytes());
        entry.id = id.map(|id| DisplayedRequestId::Shown(id.into()));
        entry.note = Some(cause.to_owned());
        self.push(entry);
    }

    /// Redacts the texts of an entry other than its body: note, method and ID.
    fn redact_entry_text(&self, entry: &mut ActivityEntry) {
        entry.note = entry.note.take().map(|note| self.hidden.redact_text(note));
        if let Some(Cow::Owned(method)) = &mut entry.method {
            *method = self.hidden.redact_text(std::mem::take(method));
        }
        if let Some(DisplayedRequestId::Shown(id)) = &mut entry.id {
            *id = self.hidden.redact_text(std::mem::take(id).into()).into();
        }
    }

    fn new_entry(&self, at: SystemTime, kind: ActivityKind, bytes: &[u8]) -> ActivityEntry {
        let clean = self.hidden.redact(bytes);
        let redacted = matches!(clean, Cow::Owned(_));
        let truncated = clean.len() > MAX_ENTRY_BODY_BYTES;
        let body = &clean[..clean.len().min(MAX_ENTRY_BODY_BYTES)];
        ActivityEntry {
            seq: self.last + 1,
            at: to_millis(at),
            kind,
            sent: false,
            method: None,
            id: None,
            bytes: bytes.len(),
            latency: None,
            note: redacted.then(|| "a secret in it is redacted".to_owned()),
            body: EntryBody::new(body),
            truncated,
            redacted,
        }
    }

    fn push(&mut self, mut entry: ActivityEntry) {
        if !self.hidden.is_empty() {
            self.redact_entry_text(&mut entry);
        }
        self.last = entry.seq;
        self.bytes += entry.body.memory_used();
        self.together.add(entry.memory_used());
        if self.entries.len() == self.entries.capacity() {
            // Doubling the capacity would allocate more memory than most servers ever need.
            self.entries.reserve_exact(self.entries.len() / 4 + 4);
        }
        self.entries.push_back(entry);
        self.drop_entries_beyond_limits();
    }

    /// Drops the oldest entries until the log is within its limits.
    fn drop_entries_beyond_limits(&mut self) {
        while self.entries.len() > MAX_ACTIVITY_ENTRIES || self.bytes > self.most {
            if !self.drop_oldest_entry() {
                break;
            }
        }
    }

    /// Drops the oldest entry. Returns `false` if the log is empty.
    fn drop_oldest_entry(&mut self) -> bool {
        let Some(oldest) = self.entries.pop_front() else { return false };
        self.bytes -= oldest.body.memory_used();
        self.together.remove(oldest.memory_used());
        self.dropped += 1;
        true
    }
}

/// Returns an ID as it appears in the message, truncated to 200 characters.
fn to_displayed_request_id(id: &RequestId) -> DisplayedRequestId {
    match id {
        RequestId::Number(number) => DisplayedRequestId::Number(*number),
        RequestId::Text(_) => DisplayedRequestId::Shown(id.to_string().chars().take(ENTRY_PREVIEW_CHARS).collect()),
    }
}

/// Returns a method, truncated to 200 characters. Common methods need no allocation.
fn truncated_method(method: Cow<'static, str>) -> Cow<'static, str> {
    match method {
        Cow::Borrowed(_) => method,
        Cow::Owned(owned) => COMPRESSED_RESPONSE_METHODS
            .into_iter()
            .find(|known| *known == owned)
            .map_or_else(|| Cow::Owned(owned.chars().take(ENTRY_PREVIEW_CHARS).collect()), Cow::Borrowed),
    }
}
