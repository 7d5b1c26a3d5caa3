//! The activity of one server: every message that passed, its log and its standard error, in a bounded ring without secrets. Callers:
//! connections of `host`, which add to it, and the activity page.

mod body;
mod hidden;
mod together;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use domain::Millis;
use foldhash::fast::RandomState;
use ports::time::millis;

use mcp_proto::RequestId;
use mcp_proto::types::LogMessage;
use mcp_transport::driver::{Direction, Frame, FrameAbout};
use secrecy::SecretString;

use body::Body;
use hidden::Hidden;
pub use together::MAX_TOGETHER;
pub use together::Together;

/// The most entries that are kept of a server.
pub const MAX_ENTRIES: usize = 2_000;
/// The most bytes that are kept of a server's entries, unless its user wants more or less.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;
/// The most bytes that are kept of one entry.
pub const MAX_BODY: usize = 512 * 1024;
/// The most requests whose answers are awaited, to tell their latency.
const MAX_AWAITED: usize = 1_024;
const PREVIEW: usize = 200;
/// The answers to these stay known elsewhere, so that they are packed here: a server that stands idle has little else.
const PACKED: [&str; 6] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "initialize", "server/discover"];

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityEntry {
    /// Its number.
    pub seq: u64,
    /// When.
    pub at: Millis,
    /// What it is.
    pub kind: ActivityKind,
    /// Whether the host sent it.
    pub sent: bool,
    /// The method of it, or of the request it answers.
    pub method: Option<Cow<'static, str>>,
    id: Option<Id>,
    /// Its size in bytes.
    pub bytes: usize,
    /// From the request to this answer, in milliseconds.
    pub latency: Option<f64>,
    /// Why it is invalid or strange.
    pub note: Option<String>,
    body: Body,
    /// Whether the body is only the beginning.
    pub truncated: bool,
    /// Whether `[redacted]` replaces a secret in the body.
    pub redacted: bool,
}

impl ActivityEntry {
    /// The JSON-RPC id, as it is written.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.id.as_ref().map(|id| match id {
            Id::Number(number) => number.to_string(),
            Id::Shown(text) => text.to_string(),
        })
    }

    /// The message, or the beginning of it.
    #[must_use]
    pub fn body(&self) -> Cow<'_, str> {
        self.body.text()
    }

    /// How many bytes it takes here.
    const fn taken(&self) -> usize {
        self.body.kept() + size_of::<Self>()
    }

    /// The beginning of the body.
    #[must_use]
    pub fn preview(&self) -> String {
        self.body.beginning(PREVIEW)
    }
}

/// An id that needs no memory if it is a number, as ours are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Id {
    Number(i64),
    Shown(Box<str>),
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// A request.
    Request,
    /// A result.
    Response,
    /// An error.
    Error,
    /// A notification.
    Notification,
    /// Several messages in one.
    Batch,
    /// No message.
    Invalid,
    /// A line on standard error.
    Stderr,
    /// A log message.
    Log,
    /// Something about the process.
    State,
}

/// One server's activity.
#[derive(Debug)]
pub struct Activity {
    entries: VecDeque<ActivityEntry>,
    /// The most bytes that are kept.
    most: usize,
    bytes: usize,
    last: u64,
    dropped: u64,
    /// Requests under way by (sent by us, id): method and time.
    awaited: HashMap<(bool, RequestId), (Cow<'static, str>, SystemTime), RandomState>,
    /// What must not be seen here.
    hidden: Hidden,
    together: Together,
}

impl Default for Activity {
    fn default() -> Self {
        Self::counted_in(&Together::default())
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.together.remove(self.taken());
    }
}

impl Activity {
    /// An empty one, counted together with others.
    pub fn counted_in(together: &Together) -> Self {
        Self {
            entries: VecDeque::new(),
            most: MAX_BYTES,
            bytes: 0,
            last: 0,
            dropped: 0,
            awaited: HashMap::default(),
            hidden: Hidden::default(),
            together: together.clone(),
        }
    }

    /// From now on so many bytes are kept, and no more.
    pub fn keep(&mut self, bytes: u64) {
        self.most = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.let_go();
    }

    /// Lets the oldest entries go until no more than so many bytes are taken.
    fn shrink(&mut self, most: usize) {
        while self.taken() > most && self.drop_oldest() {}
    }

    /// How many bytes the entries take, with what each takes beside its body.
    fn taken(&self) -> usize {
        self.bytes + self.entries.len() * size_of::<ActivityEntry>()
    }

    /// An entry is not added, since too many come.
    pub const fn leave_out(&mut self) {
        self.dropped += 1;
    }

    /// How many bytes are kept now.
    pub const fn kept(&self) -> usize {
        self.bytes
    }

    /// The number of the latest entry; 0 if there is none.
    #[must_use]
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// How many entries were let go for the bounds.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The latest entries with a number above `after`, at most `limit` of them, in order.
    pub fn after(&self, after: u64, limit: usize) -> impl Iterator<Item = &ActivityEntry> {
        let newer = self.entries.iter().rev().take_while(|e| e.seq > after).count().min(limit);
        self.entries.range(self.entries.len() - newer..)
    }

    /// One entry, if it is still kept.
    #[must_use]
    pub fn entry(&self, seq: u64) -> Option<&ActivityEntry> {
        let first = self.entries.front()?.seq;
        self.entries.get(usize::try_from(seq.checked_sub(first)?).ok()?)
    }

    /// From now on these are replaced by [`REDACTED`](domain::REDACTED) in all that is added.
    pub fn hide(&mut self, tokens: Vec<SecretString>) {
        self.hidden.add(tokens);
    }

    /// The same for secrets that the settings name; tokens that come and go leave them hidden.
    pub fn hide_named(&mut self, secrets: Vec<SecretString>) {
        self.hidden.add_named(secrets);
    }

    /// A text without what must not be seen.
    pub fn redacted(&self, text: String) -> String {
        self.hidden.redact_text(text)
    }

    /// Adds a message that was sent or received.
    pub fn frame(&mut self, frame: Frame) {
        let Frame { direction, at, bytes, about, note } = frame;
        let sent = direction == Direction::Sent;
        let mut entry = self.blank(at, ActivityKind::Invalid, &bytes);
        entry.sent = sent;
        entry.note = note.or(entry.note);
        entry.kind = match &about {
            FrameAbout::Request { .. } => ActivityKind::Request,
            FrameAbout::Notification { .. } => ActivityKind::Notification,
            FrameAbout::Result { .. } => ActivityKind::Response,
            FrameAbout::Error { .. } => ActivityKind::Error,
            FrameAbout::Batch => ActivityKind::Batch,
            FrameAbout::Invalid => ActivityKind::Invalid,
        };
        match about {
            FrameAbout::Request { id, method } => {
                let method = cut(method);
                entry.id = Some(shown(&id));
                entry.method = Some(method.clone());
                if self.awaited.len() < MAX_AWAITED {
                    self.awaited.insert((sent, id), (method, at));
                }
            }
            FrameAbout::Notification { method } => entry.method = Some(cut(method)),
            FrameAbout::Result { id } | FrameAbout::Error { id: Some(id) } => {
                entry.id = Some(shown(&id));
                if let Some((method, asked)) = self.awaited.remove(&(!sent, id)) {
                    if PACKED.contains(&&*method) {
                        entry.body.pack();
                    }
                    entry.method = Some(method);
                    entry.latency = at.duration_since(asked).ok().map(|d| d.as_secs_f64() * 1_000.0);
                }
            }
            FrameAbout::Error { id: None } | FrameAbout::Batch | FrameAbout::Invalid => {}
        }
        self.push(entry);
    }

    /// Adds a log message.
    pub fn log(&mut self, message: &LogMessage) {
        let text = match &message.data {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // clock: stamps an entry.
        let mut entry = self.blank(SystemTime::now(), ActivityKind::Log, text.as_bytes());
        let level =
            serde_json::to_value(message.level).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
        entry.method = Some(Cow::Owned(match &message.logger {
            Some(logger) => format!("{level} · {}", logger.chars().take(PREVIEW).collect::<String>()),
            None => level,
        }));
        self.push(entry);
    }

    /// Adds a line that the server wrote to standard error, or words about its process.
    pub fn line(&mut self, kind: ActivityKind, text: &str) {
        // clock: stamps an entry.
        let entry = self.blank(SystemTime::now(), kind, text.as_bytes());
        self.push(entry);
    }

    /// Adds something that came and could not be used.
    pub fn anomaly(&mut self, cause: &str, id: Option<String>) {
        // clock: stamps an entry.
        let mut entry = self.blank(SystemTime::now(), ActivityKind::State, cause.as_bytes());
        entry.id = id.map(|id| Id::Shown(id.into()));
        entry.note = Some(cause.to_owned());
        self.push(entry);
    }

    /// What a server says beside the body.
    fn redact_words(&self, entry: &mut ActivityEntry) {
        entry.note = entry.note.take().map(|note| self.hidden.redact_text(note));
        if let Some(Cow::Owned(method)) = &mut entry.method {
            *method = self.hidden.redact_text(std::mem::take(method));
        }
        if let Some(Id::Shown(id)) = &mut entry.id {
            *id = self.hidden.redact_text(std::mem::take(id).into()).into();
        }
    }

    fn blank(&self, at: SystemTime, kind: ActivityKind, bytes: &[u8]) -> ActivityEntry {
        let clean = self.hidden.redact(bytes);
        let redacted = matches!(clean, Cow::Owned(_));
        let truncated = clean.len() > MAX_BODY;
        let kept = &clean[..clean.len().min(MAX_BODY)];
        ActivityEntry {
            seq: self.last + 1,
            at: millis(at),
            kind,
            sent: false,
            method: None,
            id: None,
            bytes: bytes.len(),
            latency: None,
            note: redacted.then(|| "a secret in it is redacted".to_owned()),
            body: Body::new(kept),
            truncated,
            redacted,
        }
    }

    fn push(&mut self, mut entry: ActivityEntry) {
        if !self.hidden.is_empty() {
            self.redact_words(&mut entry);
        }
        self.last = entry.seq;
        self.bytes += entry.body.kept();
        self.together.add(entry.taken());
        if self.entries.len() == self.entries.capacity() {
            // Twice as much would be more than what most servers ever need.
            self.entries.reserve_exact(self.entries.len() / 4 + 4);
        }
        self.entries.push_back(entry);
        self.let_go();
    }

    /// The oldest go first.
    fn let_go(&mut self) {
        while self.entries.len() > MAX_ENTRIES || self.bytes > self.most {
            if !self.drop_oldest() {
                break;
            }
        }
    }

    /// Whether there was one.
    fn drop_oldest(&mut self) -> bool {
        let Some(oldest) = self.entries.pop_front() else { return false };
        self.bytes -= oldest.body.kept();
        self.together.remove(oldest.taken());
        self.dropped += 1;
        true
    }
}

/// An id as it stands on the wire, or the beginning of it.
fn shown(id: &RequestId) -> Id {
    match id {
        RequestId::Number(number) => Id::Number(*number),
        RequestId::Text(_) => Id::Shown(id.to_string().chars().take(PREVIEW).collect()),
    }
}

/// A method, or the beginning of it. Those that come often need no memory of their own.
fn cut(method: Cow<'static, str>) -> Cow<'static, str> {
    match method {
        Cow::Borrowed(_) => method,
        Cow::Owned(owned) => PACKED
            .into_iter()
            .find(|known| *known == owned)
            .map_or_else(|| Cow::Owned(owned.chars().take(PREVIEW).collect()), Cow::Borrowed),
    }
}
