//! The session owner, which receives the session's events and decides which messages to send.
//!
//! The owner runs in the driver's task, so that there are no queues between owner and driver, and a call needs no task
//! switch.

use std::future::poll_fn;
use std::task::{Context, Poll};

use mcp_proto::{
    CallDeadline, CallError, CallId, CancelReason, ClientNotification, ClientRequest, ClientResponse, CloseReason,
    ServerRequestId, Session,
};

use super::DriverEvent;
use super::driver_core::tokio_clock_now;

/// Receives the events of a session, and decides what the session sends. The driver calls all methods in its own task,
/// and waits for the owner only while the owner has no room for events.
pub trait SessionOwner: Send {
    /// Returns `Ready` if [`SessionOwner::process_ready`] has work to do: a command was received, a deadline expired,
    /// or the owner has room for events again. Remains ready until that work is done.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()>;

    /// Does the owner's work for which [`SessionOwner::poll_ready`] returned `Ready`, such as executing commands.
    fn process_ready(&mut self, session: &mut SessionControl<'_>);

    /// Receives an event of the driver. Events arrive in order, and only after [`SessionOwner::has_room`] returned
    /// `true`.
    fn handle_event(&mut self, event: DriverEvent, session: &mut SessionControl<'_>);

    /// Returns `true` if the owner can accept an event of `bytes` bytes. After `false`, the driver does not read from
    /// the server, and [`SessionOwner::poll_ready`] must return `Ready` as soon as the owner has room again.
    fn has_room(&mut self, bytes: usize) -> bool;
}

/// Operations that an owner can perform on its session.
#[derive(Debug)]
pub struct SessionControl<'a> {
    pub(super) session: &'a mut Session,
    pub(super) owner_requests: &'a mut SessionOwnerRequests,
    /// Set if so many events wait for the owner that its new calls are refused.
    pub(super) refuses_calls: bool,
}

/// Operations that the session's owner requested from the driver, such as stops and a pending notification.
#[derive(Debug, Default)]
pub(super) struct SessionOwnerRequests {
    /// Number of times the owner has called [`SessionControl::stop`] or [`SessionControl::stop_with_failure`].
    pub(super) stops: u32,
    /// Reason with which the owner called [`SessionControl::stop_with_failure`], or `None` if it has not, or if it
    /// called `stop` before.
    pub(super) failure: Option<CloseReason>,
    /// Notification that waits until fewer events are queued for the owner, and is then sent to the server. A later
    /// notification replaces it, since repeated ones are equivalent.
    pub(super) notification: Option<ClientNotification>,
    /// Set by an operation of the owner that may have caused new messages or events of the session, until the driver
    /// polls them.
    pub(super) has_new_output: bool,
    /// Set if the session is closed and the driver only delivers its remaining events.
    pub(super) is_ending: bool,
}

impl SessionControl<'_> {
    /// Sends a request. No event of the call is emitted before its ID is returned.
    ///
    /// # Errors
    /// Returns [`CallError::TooManyCalls`] if too many events are queued for the owner, or the error of
    /// [`Session::call`]. The request is not sent then.
    pub fn call(&mut self, request: ClientRequest, deadline: CallDeadline) -> Result<CallId, CallError> {
        if self.refuses_calls {
            return Err(CallError::TooManyCalls);
        }
        self.owner_requests.has_new_output = true;
        self.session.call(request, deadline, tokio_clock_now())
    }

    /// Cancels a call and sends the reason to the server.
    pub fn cancel(&mut self, call: CallId, reason: CancelReason) {
        self.owner_requests.has_new_output = true;
        self.session.cancel(call, reason, tokio_clock_now());
    }

    /// Responds to a request from the server. A response to a request that is no longer open is ignored, since its
    /// [`Withdrawn`](mcp_proto::SessionEvent::Withdrawn) event is already queued.
    pub fn answer(&mut self, request: ServerRequestId, answer: ClientResponse) {
        self.owner_requests.has_new_output = true;
        if let Err(error) = self.session.answer(request, answer, tokio_clock_now()) {
            tracing::debug!(%request, %error, "a response was ignored");
        }
    }

    /// Sends a notification to the server. If too many events wait for the owner, stores it until there are fewer. At
    /// most one notification is stored: a later one of any kind replaces it.
    pub fn notify(&mut self, notification: ClientNotification) {
        self.owner_requests.has_new_output = true;
        self.owner_requests.notification = Some(notification);
    }

    /// Ends the session, and shuts down the process of a local server. A second call kills the process immediately.
    pub fn stop(&mut self) {
        self.owner_requests.stops += 1;
    }

    /// Ends the session like [`SessionControl::stop`], because of a failure that the owner detected. Calls in flight
    /// end with this reason, unless the owner has already called `stop`.
    pub fn stop_with_failure(&mut self, failure: CloseReason) {
        if self.owner_requests.stops == 0 {
            self.owner_requests.failure = Some(failure);
        }
        self.stop();
    }

    /// Returns `true` if the session is closed and the driver only delivers its remaining events to the owner.
    pub fn is_ending(&self) -> bool {
        self.owner_requests.is_ending
    }
}

/// Waits until the owner's [`SessionOwner::poll_ready`] returns `Ready`.
pub(crate) async fn wait_until_owner_ready(owner: &mut dyn SessionOwner) {
    poll_fn(|context| owner.poll_ready(context)).await;
}
