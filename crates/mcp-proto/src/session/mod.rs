//! A session with one server as a pure state machine, for all revisions of the protocol.
//!
//! The caller feeds messages and times in through `handle_*`, and drains two queues after each input:
//! [`Session::poll_transmit`] returns messages to write, [`Session::poll_event`] returns events.
//! [`Session::poll_timeout`] returns the time at which to call [`Session::handle_timeout`]. The driver of
//! `mcp-transport` is the caller.

mod batches;
mod caching;
mod calls;
mod config;
mod delivery;
mod encode;
mod error;
mod error_page;
mod event;
mod handshake;
mod handshake_responses;
mod incoming;
mod liveness;
mod meta;
mod mrtr;
mod pending_calls;
mod progress;
mod queue;
mod reopening;
mod request;
mod request_encoding;
mod request_table;
mod results;
mod sampling;
mod server_requests;
mod subscriptions;
mod task_calls;
mod task_inputs;
mod task_state;
mod tasks;
mod timers;
mod tool_argument_headers;
mod tool_headers;
mod trace;
mod transmit;

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

use indexmap::{IndexMap, IndexSet};

use crate::jsonrpc::{IncomingMessage, InvalidMessage, OutgoingMessage, RequestId};
use crate::types::LogLevel;

use batches::PendingBatchResponse;
use handshake::{HandshakeAttempts, SessionPhase};
use liveness::LivenessCheck;
use meta::CommonRequestMeta;
use pending_calls::PendingCalls;
use queue::EventQueue;
use reopening::ReopeningState;
use request_table::PendingRequestTable;
use server_requests::PendingServerRequest;
use subscriptions::ListenRequestState;
use task_calls::ToolTaskSupportRecords;
use tool_argument_headers::ToolArgumentHeaders;

pub use caching::{CacheHint, CacheScope};
pub use config::{CallDeadline, HandshakeMode, SessionConfig, SessionLimits, SessionTimeouts, TransportKind};
pub use delivery::DeliveryFault;
pub use error::{CallError, ClientResponseError, CloseReason};
pub use event::{
    CallId, CancelReason, ClientNotification, ClientResponse, DroppedListEntry, HandshakeFault, ListKind, ServerFacts,
    ServerRequest, ServerRequestId, SessionEvent, StreamOrigin, WithdrawalReason,
};
pub use request::{ClientRequest, ServerResult};
pub use sampling::validate_sampling_request;
pub use task_state::TaskState;
pub use trace::{InvalidTraceContext, TraceContext};

/// State machine of one session with one server.
pub struct Session {
    config: Box<SessionConfig>,
    phase: SessionPhase,
    facts: Option<Box<ServerFacts>>,
    tried: HandshakeAttempts,
    reopening: Option<ReopeningState>,
    out: VecDeque<OutgoingMessage>,
    events: EventQueue,
    wire: PendingRequestTable,
    calls: PendingCalls,
    last_call: u64,
    server_requests: IndexMap<ServerRequestId, PendingServerRequest>,
    last_request: u64,
    batches: IndexMap<u64, PendingBatchResponse>,
    last_batch: u64,
    listen: Box<ListenRequestState>,
    liveness: LivenessCheck,
    log_level: Option<LogLevel>,
    trace: Option<Box<TraceContext>>,
    common_meta: CommonRequestMeta,
    mirrored: ToolArgumentHeaders,
    tasks: ToolTaskSupportRecords,
    elicitations: IndexSet<String>,
    /// Latest line that the server wrote during the handshake and that was not a message. The error quotes it if the
    /// handshake fails.
    last_output: Option<String>,
}

impl fmt::Debug for Session {
    /// Omits the contents because they may include secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("facts", &self.facts)
            .field("calls", &self.calls.len())
            .field("server_requests", &self.server_requests.len())
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Creates a session and starts its handshake. The first message is available from [`Session::poll_transmit`].
    pub fn new(config: SessionConfig, now: Instant) -> Session {
        let mut session = Session {
            phase: SessionPhase::Failed(String::new()),
            facts: None,
            tried: HandshakeAttempts::default(),
            reopening: None,
            out: VecDeque::new(),
            events: EventQueue::new(config.limits.queued_events, config.limits.queued_event_bytes),
            wire: PendingRequestTable::new(),
            calls: PendingCalls::default(),
            last_call: 0,
            server_requests: IndexMap::new(),
            last_request: 0,
            batches: IndexMap::new(),
            last_batch: 0,
            listen: Box::default(),
            liveness: LivenessCheck::default(),
            log_level: None,
            trace: None,
            common_meta: CommonRequestMeta::default(),
            mirrored: ToolArgumentHeaders::default(),
            tasks: ToolTaskSupportRecords::default(),
            elicitations: IndexSet::new(),
            last_output: None,
            config: Box::new(config),
        };
        session.set_trace_context(session.config.trace.clone());
        session.start_handshake(now);
        session
    }

    /// Processes a message from the server.
    pub fn handle_message(&mut self, message: IncomingMessage, origin: StreamOrigin, now: Instant) {
        if !self.is_closed() {
            self.on_received_message(now);
            self.process_received_message(message, origin, None, now);
            self.close_if_output_limit_exceeded();
        }
    }

    /// Processes output of the server that is not a valid message. If it seems to be a response, the call that it
    /// belongs to fails.
    pub fn handle_invalid_message(&mut self, invalid: InvalidMessage, now: Instant) {
        if !self.is_closed() {
            self.on_received_message(now);
            self.on_invalid_message(invalid, None, now);
            self.close_if_output_limit_exceeded();
        }
    }

    /// Processes a failure of the transport to deliver a request or to receive its response. The call ends with
    /// [`CallError::Undelivered`], or the request is sent again with a new id if that is safe. During the handshake,
    /// the fault determines the next attempt. Unknown ids are ignored.
    pub fn handle_undelivered_request(&mut self, id: &RequestId, fault: DeliveryFault, now: Instant) {
        if !self.is_closed() {
            self.on_request_undelivered(id, fault, now);
            self.close_if_output_limit_exceeded();
        }
    }

    /// Processes a 404 response to a POST that carried the session id (`basic/transports`, 2025-03-26 to 2025-11-25).
    /// Opens a new session and then sends the request `refused` again, which the server did not process. Other calls in
    /// flight end unless they are safe to repeat.
    pub fn handle_session_lost(&mut self, refused: Option<&RequestId>, now: Instant) {
        if !self.is_closed() {
            self.on_session_lost(refused, now);
            self.close_if_output_limit_exceeded();
        }
    }

    /// Ends the session, after the connection was closed or before the caller closes it. Calls end, and open requests
    /// of the server are withdrawn and answered. The caller may still send the queued messages if possible.
    pub fn handle_connection_closed(&mut self, reason: CloseReason, _now: Instant) {
        self.close_session_with_reason(reason);
    }

    /// Processes expired timeouts. Has no effect before the time that [`Session::poll_timeout`] returned.
    pub fn handle_timeout(&mut self, now: Instant) {
        if !self.is_closed() {
            self.process_due_timers(now);
        }
    }

    /// Sends a request to the server. The result arrives as [`SessionEvent::Done`].
    ///
    /// # Errors
    /// Returns the [`CallError`] if the request cannot be sent, such as [`CallError::NotReady`],
    /// [`CallError::TooManyCalls`] or [`CallError::Unsupported`]. No event follows then.
    ///
    /// # Examples
    ///
    /// Calls a tool of an open session:
    ///
    /// ```
    /// # use std::time::Instant;
    /// # use bytes::Bytes;
    /// # use mcp_proto::{HandshakeMode, IncomingMessage, Session, SessionConfig, StreamOrigin};
    /// # fn receive(session: &mut Session, json: &str, now: Instant) {
    /// #     let message = IncomingMessage::decode(&Bytes::from(json.to_owned())).expect("a valid message");
    /// #     session.handle_message(message, StreamOrigin::Stdio, now);
    /// # }
    /// # fn open_session(now: Instant) -> Session {
    /// #     let config = SessionConfig { handshake: HandshakeMode::Initialize, ..SessionConfig::default() };
    /// #     let mut session = Session::new(config, now);
    /// #     let response = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
    /// #         "capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}}"#;
    /// #     receive(&mut session, response, now);
    /// #     while session.poll_transmit().is_some() || session.poll_event().is_some() {}
    /// #     session
    /// # }
    /// use mcp_proto::types::{ContentBlock, Map};
    /// use mcp_proto::{ClientRequest, OutgoingMessageKind, ServerResult, SessionEvent, SessionTimeouts};
    ///
    /// let now = Instant::now();
    /// let mut session = open_session(now);
    /// let arguments = Map::from_iter([("a".to_owned(), 1.into()), ("b".to_owned(), 2.into())]);
    /// let request = ClientRequest::CallTool { name: "add".to_owned(), arguments, as_task: false };
    /// let call = session.call(request, SessionTimeouts::default().deadline(), now)?;
    ///
    /// let sent = session.poll_transmit().expect("the call sends a request");
    /// assert!(sent.json.contains(r#""arguments":{"a":1,"b":2}"#));
    /// let OutgoingMessageKind::Request { id, .. } = sent.about else { panic!("a call is a request") };
    ///
    /// let result = r#"{"content":[{"type":"text","text":"3"}]}"#;
    /// receive(&mut session, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#), now);
    /// let Some(SessionEvent::Done { call: ended, result }) = session.poll_event() else { panic!("the call ends") };
    /// assert_eq!(ended, call);
    /// let ServerResult::Tool(result) = result? else { panic!("the result is that of a tool") };
    /// assert_eq!(result.content, [ContentBlock::text("3")]);
    /// # Ok::<(), mcp_proto::CallError>(())
    /// ```
    pub fn call(&mut self, request: ClientRequest, deadline: CallDeadline, now: Instant) -> Result<CallId, CallError> {
        self.start_call(request, deadline, now)
    }

    /// Ends a call immediately with [`CallError::Cancelled`]. A later response is ignored. Has no effect if the call
    /// has ended.
    pub fn cancel(&mut self, call: CallId, reason: CancelReason, now: Instant) {
        self.cancel_call(call, &reason, now);
    }

    /// Answers a request of the server.
    ///
    /// # Errors
    /// Returns [`ClientResponseError::NotOpen`] if the request is not open, and [`ClientResponseError::WrongKind`] if
    /// the answer is of another kind than the request.
    pub fn answer(
        &mut self,
        request: ServerRequestId,
        answer: ClientResponse,
        now: Instant,
    ) -> Result<(), ClientResponseError> {
        self.respond_to_server_request(request, answer, now)
    }

    /// Sends a notification to the server, if the revision and the client's declared capabilities allow it.
    pub fn notify(&mut self, notification: ClientNotification) {
        let ClientNotification::RootsListChanged = notification;
        let Some(facts) = &self.facts else { return };
        let offered = meta::capabilities_in_revision(&self.config.capabilities, facts.revision);
        if matches!(self.phase, SessionPhase::Ready)
            && offered.roots.is_some_and(|roots| roots.list_changed == Some(true))
        {
            self.send_notification("notifications/roots/list_changed", None);
        }
    }

    /// Sets the trace context that subsequent calls send. Only 2026-07-28 sends it.
    pub fn set_trace_context(&mut self, trace: Option<TraceContext>) {
        self.trace = trace.map(Box::new);
    }

    /// Returns `true` if the session still waits for the response to the request `id` of the client.
    pub fn is_response_pending(&self, id: &RequestId) -> bool {
        self.wire.is_pending(id)
    }

    /// Pauses the deadlines of the call that sent the request `id`, while the request waits for the user outside of the
    /// session, such as for a sign-in. Returns the call, or `None` if the request belongs to no call. Each returned
    /// call must be resumed once with [`resume_call_deadlines`](Session::resume_call_deadlines).
    pub fn pause_call_that_sent(&mut self, id: &RequestId, now: Instant) -> Option<CallId> {
        self.pause_call_that_sent_request(id, now)
    }

    /// Ends one pause of the call's deadlines that [`pause_call_that_sent`](Session::pause_call_that_sent) started.
    pub fn resume_call_deadlines(&mut self, call: CallId, now: Instant) {
        self.resume_paused_call(call, now);
    }

    /// Returns the facts about the server that the handshake determined, or `None` before the handshake is complete.
    pub fn facts(&self) -> Option<&ServerFacts> {
        self.facts.as_deref()
    }

    /// Returns the next message to send, or `None` if none is queued.
    pub fn poll_transmit(&mut self) -> Option<OutgoingMessage> {
        self.out.pop_front()
    }

    /// Returns the next event, or `None` if the queue is empty.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop()
    }

    /// Returns `true` if the event queue is empty or contains only progress of calls, which later progress replaces.
    pub fn has_only_progress_queued(&self) -> bool {
        self.out.is_empty() && self.events.has_only_progress_queued()
    }

    /// Returns the time of the next timeout, or `None` if none is pending. The timeout may be obsolete when it expires,
    /// because the response has arrived.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.is_closed() { None } else { self.next_timeout() }
    }

    fn is_closed(&self) -> bool {
        matches!(self.phase, SessionPhase::Closed(_))
    }

    fn on_received_message(&mut self, now: Instant) {
        self.liveness.on_received_message(now, self.config.timeouts.ping);
    }

    /// Ends the session. No other function sets `SessionPhase::Closed`.
    fn close_session_with_reason(&mut self, reason: CloseReason) {
        if self.is_closed() {
            return;
        }
        self.fail_handshake_on_close(&reason);
        self.end_all_calls(&reason);
        self.end_all_server_requests();
        self.phase = SessionPhase::Closed(reason.clone());
        self.events.push(SessionEvent::Closed(reason));
    }

    fn close_if_output_limit_exceeded(&mut self) {
        if self.out.len() > self.config.limits.queued_messages {
            self.close_session_with_reason(CloseReason::NotReading(self.out.len()));
        }
    }

    fn report_protocol_anomaly(&mut self, cause: String, id: Option<RequestId>) {
        self.events.push(SessionEvent::Anomaly { cause, id });
    }
}
