//! The part of a driver that does not depend on the transport: the session, its owner, and the events that wait for the
//! owner.

use std::pin::pin;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use mcp_proto::{CloseReason, OutgoingMessageKind, Session, SessionConfig, SessionEvent, StreamOrigin};
use tokio::sync::Notify;

use super::event_outbox::EventOutbox;
use super::message_intake::{MessageIntake, PostResponseKind};
use super::session_owner::{SessionControl, SessionOwner, SessionOwnerRequests, wait_until_owner_ready};
use super::{DriverEvent, Frame, FrameDirection, FrameKind};
use crate::line_decoder::DecodedLine;

/// State of a session's driver that does not depend on the transport: the session, its owner, and the events that wait
/// for the owner.
pub(crate) struct DriverCore<'o> {
    pub(crate) session: Session,
    pub(crate) intake: MessageIntake,
    pub(crate) outbox: EventOutbox,
    pub(crate) owner: &'o mut dyn SessionOwner,
    owner_requests: SessionOwnerRequests,
    /// Reason why the session has ended, or `None` while it is open.
    pub(crate) close_reason: Option<CloseReason>,
}

impl<'o> DriverCore<'o> {
    /// Creates a session and the driver state for it. `limit` is the maximum size of a received message, in bytes.
    pub(crate) fn new(session: SessionConfig, owner: &'o mut dyn SessionOwner, limit: usize) -> DriverCore<'o> {
        DriverCore {
            session: Session::new(session, tokio_clock_now()),
            intake: MessageIntake::new(limit),
            outbox: EventOutbox::default(),
            owner,
            owner_requests: SessionOwnerRequests::default(),
            close_reason: None,
        }
    }

    /// Returns `true` if the queue of events for the owner has room for the events of another message, so that the
    /// driver may read from the server.
    pub(crate) fn has_room(&self) -> bool {
        !self.outbox.is_full()
    }

    /// Returns `true` if the owner has requested a stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.owner_requests.stops > 0
    }

    /// Returns the close reason of the stop that the owner has requested, or `None` if it has requested none.
    pub(crate) fn stop_reason(&self) -> Option<CloseReason> {
        let failure = self.owner_requests.failure.clone();
        self.is_stopped().then(|| failure.unwrap_or(CloseReason::StoppedByOwner))
    }

    /// Calls the owner's [`SessionOwner::process_ready`]. Must be called only after its [`SessionOwner::poll_ready`]
    /// returned `Ready`.
    pub(crate) fn process_ready_owner(&mut self) {
        let refuses_calls = self.outbox.must_refuse_new_calls();
        let DriverCore { session, owner, owner_requests, .. } = self;
        owner.process_ready(&mut SessionControl { session, owner_requests, refuses_calls });
    }

    /// Takes the notification that the owner wants to send to the server, and passes it to the session, unless too many
    /// events wait for the owner. Must be called before the session's outgoing messages are polled.
    pub(crate) fn send_pending_notification(&mut self) {
        if !self.outbox.must_refuse_new_calls()
            && let Some(notification) = self.owner_requests.notification.take()
        {
            self.session.notify(notification);
        }
    }

    /// Passes queued events to the owner while the owner has room. Returns `true` if the caller must poll the session
    /// again for messages and events.
    pub(crate) fn deliver_events(&mut self) -> bool {
        let was_full = self.outbox.is_full();
        while let Some(bytes) = self.outbox.next_event_bytes() {
            if !self.owner.has_room(bytes) {
                break;
            }
            let refuses_calls = self.outbox.must_refuse_new_calls();
            let Some(event) = self.outbox.pop() else { break };
            let DriverCore { session, owner, owner_requests, .. } = self;
            owner.handle_event(event, &mut SessionControl { session, owner_requests, refuses_calls });
        }
        // Events that did not fit into the outbox remain in the session, which does not wake the task for them.
        std::mem::take(&mut self.owner_requests.has_new_output) || was_full && self.has_room()
    }

    /// Moves events from the session to the queue of events for the owner, until that queue is full. Further events
    /// remain in the session, which bounds and merges them.
    pub(crate) fn queue_session_events(&mut self) {
        while !self.outbox.is_full() {
            let Some(event) = self.session.poll_event() else { break };
            self.emit_session_event(event);
        }
    }

    pub(crate) fn emit_session_event(&mut self, event: SessionEvent) {
        match &event {
            SessionEvent::Closed(reason) => self.close_reason = Some(reason.clone()),
            SessionEvent::HandshakeFailed { cause, .. } => {
                self.close_reason.get_or_insert_with(|| CloseReason::HandshakeFailed(cause.clone()));
            }
            _ => {}
        }
        self.intake.emit_event(event, &mut self.outbox, tokio_clock_now());
    }

    /// Queues a [`DriverEvent::Frame`] for the owner about a message that the driver sends to the server.
    pub(crate) fn emit_sent_frame(&mut self, bytes: Bytes, kind: &OutgoingMessageKind) {
        self.outbox.push(DriverEvent::Frame(Frame {
            direction: FrameDirection::Sent,
            at: SystemTime::now(),
            about: FrameKind::from_sent(kind, &bytes),
            bytes,
            note: None,
        }));
    }

    /// Handles expired deadlines of the session, and reports a line above the length limit as invalid if its end has
    /// not arrived in time.
    pub(crate) fn on_deadline(&mut self, now: Instant) {
        if self.session.poll_timeout().is_some_and(|at| at <= now) {
            self.session.handle_timeout(now);
        }
        self.intake.on_deadline(&mut self.session, &mut self.outbox, now);
    }

    /// Returns the time at which the driver must call [`DriverCore::on_deadline`], or `None` if no deadline is set.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        [self.session.poll_timeout(), self.intake.next_deadline()].into_iter().flatten().min()
    }

    /// Moves all remaining events of a closed session to the queue of events for the owner, even if that queue is full.
    pub(crate) fn emit_remaining_events(&mut self) {
        while let Some(event) = self.session.poll_event() {
            self.emit_session_event(event);
        }
        self.intake.emit_dropped_message_counts(&mut self.outbox);
    }

    /// Processes a message from the server. Returns how it relates to the posted request if it arrived in the response
    /// to a POST.
    pub(crate) fn process_received_line(
        &mut self,
        line: DecodedLine,
        origin: StreamOrigin,
        now: Instant,
    ) -> PostResponseKind {
        self.intake.process_received_line(line, origin, &mut self.session, &mut self.outbox, now)
    }

    /// Queues a [`DriverEvent::Frame`] for the owner about a received message that is not passed to the session as a
    /// message, such as a JSON-RPC error in the body of an HTTP error response.
    pub(crate) fn emit_received_frame(&mut self, bytes: Bytes) {
        self.outbox.push(DriverEvent::Frame(Frame {
            direction: FrameDirection::Received,
            at: SystemTime::now(),
            about: FrameKind::classify(&bytes),
            bytes,
            note: None,
        }));
    }

    /// Closes the session. The close reason is that of the owner's stop, or else that in `close_reason`, or else the
    /// end of the server's output.
    pub(crate) fn close_session(&mut self) {
        let reason = self.stop_reason().or_else(|| self.close_reason.clone());
        self.session.handle_connection_closed(reason.unwrap_or(CloseReason::ServerClosedOutput), tokio_clock_now());
    }

    /// Delivers the remaining events of a closed session to the owner while the future `last` runs, and afterwards
    /// those that are left. A second stop by the owner cancels `last`.
    pub(crate) async fn deliver_remaining_events_while(mut self, last: impl Future) {
        let second_stop = Notify::new();
        let last = async {
            tokio::select! {
                _ = last => {}
                () = second_stop.notified() => {}
            }
        };
        self.deliver_events_until(last, &second_stop).await;
        self.deliver_all_remaining_events().await;
    }

    /// Delivers the remaining events of a closed session to the owner until the future `last` completes. Notifies
    /// `on_second_stop` if the owner requests a second stop.
    pub(crate) async fn deliver_events_until<T>(
        &mut self,
        last: impl Future<Output = T>,
        on_second_stop: &Notify,
    ) -> T {
        let mut last = pin!(last);
        self.owner_requests.is_ending = true;
        loop {
            self.deliver_events();
            let stops = self.owner_requests.stops;
            tokio::select! {
                biased;
                () = wait_until_owner_ready(self.owner) => {
                    self.process_ready_owner();
                    if self.owner_requests.stops > stops {
                        on_second_stop.notify_one();
                    }
                }
                done = &mut last => return done,
            }
        }
    }

    /// Delivers all remaining events to the owner, and waits until the owner has accepted them.
    pub(crate) async fn deliver_all_remaining_events(&mut self) {
        self.owner_requests.is_ending = true;
        self.deliver_events();
        while !self.outbox.is_empty() {
            wait_until_owner_ready(self.owner).await;
            self.process_ready_owner();
            self.deliver_events();
        }
    }
}

/// Returns the current time of tokio's clock, which tests can pause.
pub(crate) fn tokio_clock_now() -> Instant {
    tokio::time::Instant::now().into_std()
}
