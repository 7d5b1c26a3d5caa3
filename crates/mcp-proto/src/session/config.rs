//! Configuration of a session: handshake, timeouts and limits.

use std::time::Duration;

use crate::revision::Revision;
use crate::types::{ClientCapabilities, Implementation};

use super::TraceContext;

/// Configuration of a session, fixed at its creation.
#[derive(Debug, Clone, Default)]
pub struct SessionConfig {
    /// Name and version of the client, sent in the handshake or in each request.
    pub client: Implementation,
    /// All capabilities of the client. The session omits those that the negotiated revision does not define.
    pub capabilities: ClientCapabilities,
    /// Method by which the session negotiates the protocol revision.
    pub handshake: HandshakeMode,
    /// Transport that carries the session's messages. Determines the handshake, the HTTP headers and the form of
    /// cancellations.
    pub carrier: TransportKind,
    /// Trace context sent with calls, until [`set_trace_context`](super::Session::set_trace_context) replaces it.
    pub trace: Option<TraceContext>,
    /// Negotiated revision of the previous session with this server, or `None`. Determines if `server/discover` or
    /// `initialize` is sent first.
    pub known: Option<Revision>,
    /// URIs of resources to subscribe to when the session is ready, for instance those of the previous session.
    pub subscribed: Vec<String>,
    /// Durations after which the session treats an operation as failed.
    pub timeouts: SessionTimeouts,
    /// Limits on the session's queues and concurrent operations.
    pub limits: SessionLimits,
}

/// Transport that carries the messages of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TransportKind {
    /// Standard input and output of a local process.
    #[default]
    Stdio,
    /// Streamable HTTP, since 2025-03-26: each message is a separate POST.
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05: one stream of server messages, and a POST for each client message.
    HttpSse,
}

/// Method of negotiating the protocol revision (`basic/versioning` of 2026-07-28, section on stdio).
///
/// # Examples
///
/// A server that is known to be legacy is opened without a probe:
///
/// ```
/// use std::time::Instant;
///
/// use bytes::Bytes;
/// use mcp_proto::{HandshakeMode, IncomingMessage, Revision, Session, SessionConfig, SessionEvent, StreamOrigin};
///
/// let now = Instant::now();
/// let config = SessionConfig { handshake: HandshakeMode::Initialize, ..SessionConfig::default() };
/// let mut session = Session::new(config, now);
/// let request = session.poll_transmit().expect("the handshake sends a request");
/// assert!(request.json.contains(r#""method":"initialize""#));
///
/// // The server selects an older revision, which the session accepts.
/// let response = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18",
///     "capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1.0"}}}"#;
/// let message = IncomingMessage::decode(&Bytes::from_static(response.as_bytes()))?;
/// session.handle_message(message, StreamOrigin::Stdio, now);
///
/// let confirmation = session.poll_transmit().expect("the session confirms the revision");
/// assert!(confirmation.json.contains("notifications/initialized"));
/// let Some(SessionEvent::Ready(facts)) = session.poll_event() else { panic!("the session is open") };
/// assert_eq!(facts.revision, Revision::V2025_06_18);
/// # Ok::<(), mcp_proto::InvalidMessage>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HandshakeMode {
    /// Sends `server/discover` first (the probe), and `initialize` if the server does not support it.
    #[default]
    Probe,
    /// Sends only `initialize`, for a server that exited when it received `server/discover`, or that is known to
    /// support only revisions before 2026-07-28.
    Initialize,
    /// Offers only this revision, and fails if the server does not support it.
    Pinned(Revision),
}

/// Durations after which the session treats an operation such as a request or a ping as failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTimeouts {
    /// Timeout of `server/discover` (the probe), after which the session assumes that the server supports only
    /// revisions before 2026-07-28. Default 10 s.
    pub probe: Duration,
    /// Timeout of `initialize`, after which the handshake fails. Default 30 s.
    pub initialize: Duration,
    /// Maximum time that a call may wait without a response or progress notification, unless its caller sets another
    /// deadline. Default 60 s.
    pub request: Duration,
    /// Maximum total time of a call, unless its caller sets another deadline. Default 10 min.
    pub hard_cap: Duration,
    /// Time without messages from the server after which the session pings the server. `None` disables pings, and is
    /// the default.
    pub ping_interval: Option<Duration>,
    /// Timeout of a ping, after which the connection counts as lost. Default 10 s.
    pub ping: Duration,
}

impl Default for SessionTimeouts {
    fn default() -> Self {
        SessionTimeouts {
            probe: Duration::from_secs(10),
            initialize: Duration::from_secs(30),
            request: Duration::from_secs(60),
            hard_cap: Duration::from_secs(600),
            ping_interval: None,
            ping: Duration::from_secs(10),
        }
    }
}

impl SessionTimeouts {
    /// Returns the default deadline of calls, from the fields `request` and `hard_cap`.
    pub fn deadline(&self) -> CallDeadline {
        CallDeadline { idle: self.request, total: self.hard_cap }
    }
}

/// Maximum durations of a call. Both are paused while a request of the server that belongs to the call is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallDeadline {
    /// Maximum time that the call may wait without a response or progress notification.
    pub idle: Duration,
    /// Maximum total time of the call, regardless of progress.
    pub total: Duration,
}

/// Limits of a session. Operations above a limit fail, log messages and other notices above a limit are dropped, and
/// events report both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLimits {
    /// Maximum number of concurrent calls. Default 256.
    pub in_flight_calls: usize,
    /// Maximum number of unanswered requests from the server. The session answers further requests with an error.
    /// Default 64.
    pub open_requests: usize,
    /// Maximum total size of unanswered requests from the server in bytes. The session answers further requests with an
    /// error. Default 32 MiB.
    pub open_request_bytes: usize,
    /// Maximum number of `input_required` results that one call may receive in 2026-07-28. Default 10.
    pub mrtr_rounds: usize,
    /// Maximum size in bytes of a `requestState`, which the session retains while the user responds. Default 1 MiB.
    pub request_state_bytes: usize,
    /// Maximum number of queued log messages, change notifications and anomalies. Further ones are dropped until
    /// [`poll_event`](super::Session::poll_event) drains the queue. Default 1000.
    pub queued_events: usize,
    /// Maximum total size in bytes of queued log messages, change notifications and anomalies. A single larger one is
    /// queued if none is waiting. Default 4 MiB.
    pub queued_event_bytes: usize,
    /// Maximum number of messages queued for [`poll_transmit`](super::Session::poll_transmit). With more, the session
    /// ends, because the server does not read its input. Default 10,000.
    pub queued_messages: usize,
    /// Maximum number of messages in one batch, at most [`MAX_BATCH_MESSAGES`](crate::jsonrpc::MAX_BATCH_MESSAGES).
    /// Default 1000.
    pub batch: usize,
    /// Maximum number of subscribed resources. Default 1000.
    pub subscriptions: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits {
            in_flight_calls: 256,
            open_requests: 64,
            open_request_bytes: 32 * 1024 * 1024,
            mrtr_rounds: 10,
            request_state_bytes: 1024 * 1024,
            queued_events: 1000,
            queued_event_bytes: 4 * 1024 * 1024,
            queued_messages: 10_000,
            batch: crate::jsonrpc::MAX_BATCH_MESSAGES,
            subscriptions: 1000,
        }
    }
}
