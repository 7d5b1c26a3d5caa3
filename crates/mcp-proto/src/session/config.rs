//! How a session is to behave: opening, times and bounds.

use std::time::Duration;

use crate::revision::Revision;
use crate::types::{ClientCapabilities, Implementation};

use super::TraceContext;

/// Everything a session has to know before it starts.
#[derive(Debug, Clone, Default)]
pub struct SessionConfig {
    /// What the client calls itself.
    pub client: Implementation,
    /// What the client offers, in full. Each revision is told only what it knows.
    pub capabilities: ClientCapabilities,
    /// How the revision is found.
    pub opening: Opening,
    /// What carries the messages.
    pub carrier: Carrier,
    /// Where calls belong in a distributed trace, until [`Session::set_trace`](super::Session::set_trace) says otherwise.
    pub trace: Option<TraceContext>,
    /// What this server spoke last time. Its era is tried first, and the other one if that stops working.
    pub known: Option<Revision>,
    /// Resources that are wanted from the beginning, as after a [`Subscribe`](super::ClientRequest::Subscribe)
    /// in the session before this one.
    pub subscribed: Vec<String>,
    /// Times after which something has failed.
    pub timeouts: Timeouts,
    /// Bounds.
    pub limits: Limits,
}

/// What carries the messages of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Carrier {
    /// The input and output of a local process.
    #[default]
    Stdio,
    /// Streamable HTTP, since 2025-03-26: each message is a POST of its own.
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05: one stream, and POSTs beside it.
    HttpSse,
}

/// How the revision is found (`basic/versioning` of 2026-07-28, section on stdio).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Opening {
    /// `server/discover` first; if the server does not know it, `initialize`.
    #[default]
    Probe,
    /// `initialize` at once, for a server that ended on the probe or is known to be legacy.
    Initialize,
    /// This revision and no other.
    Pinned(Revision),
}

/// Times after which something has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// Silence after the probe that means a legacy server. 10 s.
    pub probe: Duration,
    /// Silence after `initialize` that means failure. 30 s.
    pub initialize: Duration,
    /// Default of [`Deadline::idle`]. 60 s.
    pub request: Duration,
    /// Default of [`Deadline::total`]. 10 min.
    pub hard_cap: Duration,
    /// How long the server may be silent before it is pinged; `None` (the default) never pings.
    pub ping_interval: Option<Duration>,
    /// Silence after such a ping that means that the connection is dead. 10 s.
    pub ping: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            probe: Duration::from_secs(10),
            initialize: Duration::from_secs(30),
            request: Duration::from_secs(60),
            hard_cap: Duration::from_secs(600),
            ping_interval: None,
            ping: Duration::from_secs(10),
        }
    }
}

impl Timeouts {
    /// The deadline of a call that has no other.
    pub fn deadline(&self) -> Deadline {
        Deadline { idle: self.request, total: self.hard_cap }
    }
}

/// How long a call may take. Neither runs while a question that the call led to is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Longest time without an answer or progress.
    pub idle: Duration,
    /// Longest time in all, whatever progress comes.
    pub total: Duration,
}

/// Bounds. What is beyond them fails or is dropped, and an event says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Calls at the same time. 256.
    pub in_flight_calls: usize,
    /// Questions of the server at the same time; more are answered with an error. 64.
    pub open_questions: usize,
    /// Bytes of questions that are open at the same time; more are answered with an error. 32 MiB.
    pub open_question_bytes: usize,
    /// How often one call may be asked back in 2026-07-28. 10.
    pub mrtr_rounds: usize,
    /// Largest `requestState` that is kept, in bytes. 1 MiB.
    pub request_state_bytes: usize,
    /// Events that wait for [`poll_event`](super::Session::poll_event) before log messages, changes and
    /// anomalies are dropped. 1000.
    pub queued_events: usize,
    /// Bytes of such news that wait. 4 MiB, but always one piece of news.
    pub queued_event_bytes: usize,
    /// Messages that wait for [`poll_transmit`](super::Session::poll_transmit) before the session
    /// ends because the server does not read. 10,000.
    pub queued_messages: usize,
    /// Messages in one batch; never more than [`MAX_BATCH`](crate::jsonrpc::MAX_BATCH). 1000.
    pub batch: usize,
    /// Resources subscribed to at the same time. 1000.
    pub subscriptions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            in_flight_calls: 256,
            open_questions: 64,
            open_question_bytes: 32 * 1024 * 1024,
            mrtr_rounds: 10,
            request_state_bytes: 1024 * 1024,
            queued_events: 1000,
            queued_event_bytes: 4 * 1024 * 1024,
            queued_messages: 10_000,
            batch: crate::jsonrpc::MAX_BATCH,
            subscriptions: 1000,
        }
    }
}
