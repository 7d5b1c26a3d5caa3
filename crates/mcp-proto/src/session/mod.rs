//! One connection to one server as a pure state machine, for both eras of the protocol.
//!
//! Messages and times go in through `handle_*`; messages come out of [`Session::poll_transmit`], news
//! out of [`Session::poll_event`], and [`Session::poll_timeout`] says when to call
//! [`Session::handle_timeout`]. After each input, drain both queues.

mod config;
mod error;
mod event;
mod request;

use std::collections::VecDeque;
use std::time::Instant;

use crate::jsonrpc::{Incoming, InvalidMessage, Outgoing};

pub use config::{Deadline, Limits, Opening, SessionConfig, Timeouts};
pub use error::{CallError, CloseReason, UnknownRequest};
pub use event::{
    Answer, CallId, CancelReason, ClientNotification, Facts, ListKind, ServerQuestion, ServerRequestId, SessionEvent,
    StreamOrigin, Withdrawal,
};
pub use request::{ClientRequest, ServerResult};

/// One connection to one server.
#[derive(Debug)]
pub struct Session {
    config: SessionConfig,
    out: VecDeque<Outgoing>,
    events: VecDeque<SessionEvent>,
    facts: Option<Facts>,
    closed: Option<CloseReason>,
}

impl Session {
    /// A session that begins to open: its first message waits in [`Session::poll_transmit`].
    pub fn new(config: SessionConfig, now: Instant) -> Session {
        let _ = now;
        Session { config, out: VecDeque::new(), events: VecDeque::new(), facts: None, closed: None }
    }

    /// A message came from the server.
    pub fn handle_message(&mut self, message: Incoming, origin: StreamOrigin, now: Instant) {
        let _ = (message, origin, now);
    }

    /// Something came from the server that is no message. A call that it seems to answer fails.
    pub fn handle_invalid(&mut self, invalid: InvalidMessage, now: Instant) {
        let _ = now;
        self.events.push_back(SessionEvent::Anomaly { cause: invalid.to_string(), id: invalid.id });
    }

    /// The connection is over, or is about to be closed from here. Calls end, questions are
    /// withdrawn and answered; what is still to be sent may be sent if that is possible.
    pub fn handle_closed(&mut self, reason: CloseReason, now: Instant) {
        let _ = now;
        if self.closed.is_none() {
            self.closed = Some(reason.clone());
            self.events.push_back(SessionEvent::Closed(reason));
        }
    }

    /// The time of [`Session::poll_timeout`] has come. Harmless at any other time.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// Asks the server. The answer comes as [`SessionEvent::Done`].
    ///
    /// # Errors
    /// If it cannot be sent; no event follows then.
    pub fn call(&mut self, request: ClientRequest, deadline: Deadline, now: Instant) -> Result<CallId, CallError> {
        let _ = (request, deadline, now, &self.config);
        match &self.closed {
            Some(reason) => Err(CallError::Closed(reason.clone())),
            None => Err(CallError::NotReady),
        }
    }

    /// Ends a call at once with [`CallError::Cancelled`]; an answer that comes later is dropped.
    /// Does nothing if the call has ended.
    pub fn cancel(&mut self, call: CallId, reason: CancelReason, now: Instant) {
        let _ = (call, reason, now);
    }

    /// Answers a question of the server.
    ///
    /// # Errors
    /// If it is not open, or the answer is of another kind.
    pub fn answer(&mut self, request: ServerRequestId, answer: Answer, now: Instant) -> Result<(), UnknownRequest> {
        let _ = (request, answer, now);
        Err(UnknownRequest::NotOpen)
    }

    /// Tells the server something, if it can know it.
    pub fn notify(&mut self, notification: ClientNotification) {
        let _ = notification;
    }

    /// What the opening found out, once it is done.
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_ref()
    }

    /// The next message to be written.
    pub fn poll_transmit(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop_front()
    }

    /// When to call [`Session::handle_timeout`], if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
