//! The owner of a session, which receives its events and decides what is sent.
//!
//! The owner runs in the driver's task, so there are no queues between them and a call needs no task switch.

use std::future::poll_fn;
use std::task::{Context, Poll};

use mcp_proto::{
    CallDeadline, CallError, CallId, CancelReason, ClientNotification, ClientRequest, ClientResponse, ServerRequestId,
    Session,
};

use super::DriverEvent;
use super::driver_core::now;

/// The owner of a session. The driver calls it and never waits for it, except for room.
pub trait SessionOwner: Send {
    /// Returns `Ready` if [`SessionOwner::process_ready`] has work: a command was received, a deadline expired, or there is room again.
    /// Remains ready until the work is done.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()>;

    /// Does the work for which [`SessionOwner::poll_ready`] was ready.
    fn process_ready(&mut self, session: &mut SessionControl<'_>);

    /// Accepts an event. Events are in order and only passed while there is room.
    fn event(&mut self, event: DriverEvent, session: &mut SessionControl<'_>);

    /// Returns `true` if the owner accepts an event of this size now. The server is not read while it does not. The
    /// owner must become ready when this changes.
    fn has_room(&mut self, bytes: usize) -> bool;
}

/// The operations of an owner on its session.
#[derive(Debug)]
pub struct SessionControl<'a> {
    pub(super) session: &'a mut Session,
    pub(super) wishes: &'a mut OwnerRequests,
    /// Set if too many events wait for the owner.
    pub(super) is_crowded: bool,
}

/// Requests of an owner to the driver.
#[derive(Debug, Default)]
pub(super) struct OwnerRequests {
    /// Number of times the owner has requested a stop.
    pub(super) stops: u32,
    /// Notification that waits for room. Only the latest one is retained, since repeated ones are equivalent.
    pub(super) notification: Option<ClientNotification>,
    /// Set if the session may have new messages or events.
    pub(super) touched: bool,
    /// Set if the session is closed and only the remaining events are handed over.
    pub(super) is_ending: bool,
}

impl SessionControl<'_> {
    /// Sends a request. No event of the call is emitted before its ID is returned.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::TooManyCalls`] if too many events wait for the owner, or the error of [`Session::call`].
    /// The request is not sent then.
    pub fn call(&mut self, request: ClientRequest, deadline: CallDeadline) -> Result<CallId, CallError> {
        if self.is_crowded {
            return Err(CallError::TooManyCalls);
        }
        self.wishes.touched = true;
        self.session.call(request, deadline, now())
    }

    /// Cancels a call and sends the reason to the server.
    pub fn cancel(&mut self, call: CallId, reason: CancelReason) {
        self.wishes.touched = true;
        self.session.cancel(call, reason, now());
    }

    /// Responds to a request of the server. A response to a request that is no longer open is ignored, since its
    /// [`Withdrawn`](mcp_proto::SessionEvent::Withdrawn) event is already queued.
    pub fn answer(&mut self, request: ServerRequestId, answer: ClientResponse) {
        self.wishes.touched = true;
        if let Err(error) = self.session.answer(request, answer, now()) {
            tracing::debug!(%request, %error, "a response was ignored");
        }
    }

    /// Sends a notification to the server as soon as there is room.
    pub fn notify(&mut self, notification: ClientNotification) {
        self.wishes.touched = true;
        self.wishes.notification = Some(notification);
    }

    /// Ends the session and the server. A second call ends them immediately.
    pub fn stop(&mut self) {
        self.wishes.stops += 1;
    }

    /// Returns `true` if the session is closed and only remaining events are handed over.
    pub fn is_ending(&self) -> bool {
        self.wishes.is_ending
    }
}

/// Waits until the owner has work to do.
pub(crate) async fn wait_ready(owner: &mut dyn SessionOwner) {
    poll_fn(|context| owner.poll_ready(context)).await;
}
