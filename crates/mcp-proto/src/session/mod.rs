//! One connection to one server as a pure state machine, for both eras of the protocol.
//!
//! Messages and times go in through `handle_*`; messages come out of [`Session::poll_transmit`], news
//! out of [`Session::poll_event`], and [`Session::poll_timeout`] says when to call
//! [`Session::handle_timeout`]. After each input, drain both queues.

mod asked;
mod batches;
mod caching;
mod calls;
mod config;
mod delivery;
mod encode;
mod error;
mod event;
mod in_flight;
mod incoming;
mod liveness;
mod meta;
mod mirrored;
mod mrtr;
mod opening;
mod opening_answers;
mod progress;
mod questions;
mod queue;
mod reopening;
mod request;
mod results;
mod sampling;
mod subscriptions;
mod task_calls;
mod task_inputs;
mod tasks;
mod timers;
mod tool_headers;
mod trace;
mod transmit;
mod wire;

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

use indexmap::{IndexMap, IndexSet};

use crate::jsonrpc::{Incoming, InvalidMessage, Outgoing, RequestId};
use crate::types::LogLevel;

use batches::Batch;
use in_flight::InFlight;
use liveness::Liveness;
use meta::CommonMeta;
use mirrored::Mirrored;
use opening::{Phase, Tried};
use questions::Question;
use queue::EventQueue;
use reopening::Reopening;
use subscriptions::Listen;
use task_calls::TaskMemory;
use wire::Wire;

pub use caching::{CacheHint, CacheScope};
pub use config::{Carrier, Deadline, Limits, Opening, SessionConfig, Timeouts};
pub use delivery::DeliveryFault;
pub use error::{CallError, CloseReason, UnknownRequest};
pub use event::{
    Answer, CallId, CancelReason, ClientNotification, DroppedItem, Facts, ListKind, OpeningFault, ServerQuestion,
    ServerRequestId, SessionEvent, StreamOrigin, Withdrawal,
};
pub use request::{ClientRequest, ServerResult};
pub use tasks::TaskView;
pub use trace::{BadTraceContext, TraceContext};

/// One connection to one server.
pub struct Session {
    config: Box<SessionConfig>,
    phase: Phase,
    facts: Option<Box<Facts>>,
    tried: Tried,
    reopening: Option<Reopening>,
    out: VecDeque<Outgoing>,
    events: EventQueue,
    wire: Wire,
    calls: InFlight,
    last_call: u64,
    questions: IndexMap<ServerRequestId, Question>,
    last_question: u64,
    batches: IndexMap<u64, Batch>,
    last_batch: u64,
    listen: Box<Listen>,
    liveness: Liveness,
    log_level: Option<LogLevel>,
    trace: Option<Box<TraceContext>>,
    common_meta: CommonMeta,
    mirrored: Mirrored,
    tasks: TaskMemory,
    elicitations: IndexSet<String>,
    /// While opening: the last thing that was no message, to explain a failure.
    last_output: Option<String>,
}

impl fmt::Debug for Session {
    /// Without contents: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("facts", &self.facts)
            .field("calls", &self.calls.len())
            .field("questions", &self.questions.len())
            .finish_non_exhaustive()
    }
}

impl Session {
    /// A session that begins to open: its first message waits in [`Session::poll_transmit`].
    pub fn new(config: SessionConfig, now: Instant) -> Session {
        let mut session = Session {
            phase: Phase::Failed(String::new()),
            facts: None,
            tried: Tried::default(),
            reopening: None,
            out: VecDeque::new(),
            events: EventQueue::new(config.limits.queued_events, config.limits.queued_event_bytes),
            wire: Wire::new(),
            calls: InFlight::default(),
            last_call: 0,
            questions: IndexMap::new(),
            last_question: 0,
            batches: IndexMap::new(),
            last_batch: 0,
            listen: Box::default(),
            liveness: Liveness::default(),
            log_level: None,
            trace: None,
            common_meta: CommonMeta::default(),
            mirrored: Mirrored::default(),
            tasks: TaskMemory::default(),
            elicitations: IndexSet::new(),
            last_output: None,
            config: Box::new(config),
        };
        session.set_trace(session.config.trace.clone());
        session.open(now);
        session
    }

    /// A message came from the server.
    pub fn handle_message(&mut self, message: Incoming, origin: StreamOrigin, now: Instant) {
        if !self.is_closed() {
            self.heard(now);
            self.message(message, origin, None, now);
            self.check_output();
        }
    }

    /// Something came from the server that is no message. A call that it seems to answer fails.
    pub fn handle_invalid(&mut self, invalid: InvalidMessage, now: Instant) {
        if !self.is_closed() {
            self.heard(now);
            self.invalid(invalid, None, now);
            self.check_output();
        }
    }

    /// A request, or the stream with its answer, failed in the transport. The call ends with
    /// [`CallError::Undelivered`], or is sent again with a new id where that is safe; while opening this
    /// decides what is tried next. Unknown ids are passed over.
    pub fn handle_undelivered(&mut self, id: &RequestId, fault: DeliveryFault, now: Instant) {
        if !self.is_closed() {
            self.undelivered(id, fault, now);
            self.check_output();
        }
    }

    /// The server answered 404 to a POST that carried the session id (`basic/transports`, 2025-03-26 to
    /// 2025-11-25). A new session is opened; `refused`, which was not processed, is sent again then. Other
    /// calls in flight end.
    pub fn handle_session_lost(&mut self, refused: Option<&RequestId>, now: Instant) {
        if !self.is_closed() {
            self.session_lost(refused, now);
            self.check_output();
        }
    }

    /// The connection is over, or is about to be closed from here. Calls end, questions are
    /// withdrawn and answered; what is still to be sent may be sent if that is possible.
    pub fn handle_closed(&mut self, reason: CloseReason, _now: Instant) {
        self.end(reason);
    }

    /// The time of [`Session::poll_timeout`] has come. Harmless at any other time.
    pub fn handle_timeout(&mut self, now: Instant) {
        if !self.is_closed() {
            self.expire(now);
        }
    }

    /// Asks the server. The answer comes as [`SessionEvent::Done`].
    ///
    /// # Errors
    /// If it cannot be sent; no event follows then.
    pub fn call(&mut self, request: ClientRequest, deadline: Deadline, now: Instant) -> Result<CallId, CallError> {
        self.start_call(request, deadline, now)
    }

    /// Ends a call at once with [`CallError::Cancelled`]; an answer that comes later is dropped.
    /// Does nothing if the call has ended.
    pub fn cancel(&mut self, call: CallId, reason: CancelReason, now: Instant) {
        self.cancel_call(call, &reason, now);
    }

    /// Answers a question of the server.
    ///
    /// # Errors
    /// If it is not open, or the answer is of another kind.
    pub fn answer(&mut self, request: ServerRequestId, answer: Answer, now: Instant) -> Result<(), UnknownRequest> {
        self.answer_question(request, answer, now)
    }

    /// Tells the server something, if it can know it.
    pub fn notify(&mut self, notification: ClientNotification) {
        let ClientNotification::RootsListChanged = notification;
        let Some(facts) = &self.facts else { return };
        let offered = meta::offered(&self.config.capabilities, facts.revision);
        if matches!(self.phase, Phase::Ready) && offered.roots.is_some_and(|roots| roots.list_changed == Some(true)) {
            self.tell("notifications/roots/list_changed", None);
        }
    }

    /// Where calls belong in a distributed trace, from now on; sent in 2026-07-28.
    pub fn set_trace(&mut self, trace: Option<TraceContext>) {
        self.trace = trace.map(Box::new);
    }

    /// Whether the answer to a request of ours is still wanted.
    pub fn is_waiting_for(&self, id: &RequestId) -> bool {
        self.wire.is_waiting(id)
    }

    /// The answer to a request of ours waits for the user, outside of the session, such as for a sign-in. The times of
    /// its call stand still until [`resume_call`](Session::resume_call) is called, once for each time this gave a call.
    pub fn pause_call_of(&mut self, id: &RequestId, now: Instant) -> Option<CallId> {
        self.hold_call_of(id, now)
    }

    /// What a call was paused for is over.
    pub fn resume_call(&mut self, call: CallId, now: Instant) {
        self.let_call_run(call, now);
    }

    /// What the opening found out, once it is done.
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_deref()
    }

    /// The next message to be written.
    pub fn poll_transmit(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop()
    }

    /// Whether nothing waits but progress of calls, which is merged while it waits.
    pub fn only_progress_waits(&self) -> bool {
        self.out.is_empty() && self.events.only_progress_waits()
    }

    /// When to call [`Session::handle_timeout`], if nothing else happens before. Sometimes nothing is due then:
    /// what was has been answered.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.is_closed() { None } else { self.next_timeout() }
    }

    fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed(_))
    }

    fn heard(&mut self, now: Instant) {
        self.liveness.heard(now, self.config.timeouts.ping);
    }

    /// The one place where a session ends.
    fn end(&mut self, reason: CloseReason) {
        if self.is_closed() {
            return;
        }
        self.closed_while_opening(&reason);
        self.end_all_calls(&reason);
        self.end_all_questions();
        self.phase = Phase::Closed(reason.clone());
        self.events.push(SessionEvent::Closed(reason));
    }

    fn check_output(&mut self) {
        if self.out.len() > self.config.limits.queued_messages {
            self.end(CloseReason::NotReading(self.out.len()));
        }
    }

    fn anomaly(&mut self, cause: String, id: Option<RequestId>) {
        self.events.push(SessionEvent::Anomaly { cause, id });
    }
}
