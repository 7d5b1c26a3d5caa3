//! The owner of a session: who is told what happens in it, and decides what is sent.
//!
//! It lives in the driver's own task, so that nothing waits between them and a call costs no change of task.

use std::future::poll_fn;
use std::task::{Context, Poll};

use mcp_proto::{
    Answer, CallError, CallId, CancelReason, ClientNotification, ClientRequest, Deadline, ServerRequestId, Session,
};

use super::DriverEvent;
use super::core::now;

/// Who owns a session. The driver calls it and never waits for it, except for room.
pub trait Owner: Send {
    /// Ready as soon as there is something for [`Owner::act`] to do: a command has come, a time has passed, there is
    /// room again. Stays so until it is done.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()>;

    /// Does what it is ready for.
    fn act(&mut self, session: &mut Control<'_>);

    /// Takes an event; they come in order, and only while there is room.
    fn event(&mut self, event: DriverEvent, session: &mut Control<'_>);

    /// Whether it takes an event now that holds so many bytes. While it does not, the server is not read.
    /// When that changes, it becomes ready.
    fn has_room(&mut self, bytes: usize) -> bool;
}

/// What an owner may do with its session.
#[derive(Debug)]
pub struct Control<'a> {
    pub(super) session: &'a mut Session,
    pub(super) wishes: &'a mut Wishes,
    /// Too much waits for the owner already.
    pub(super) is_crowded: bool,
}

/// What an owner wants of the driver.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    /// How often it wanted the end.
    pub(super) stops: u32,
    /// Waits for room. It says the same however often it is said.
    pub(super) notification: Option<ClientNotification>,
    /// The session may have something to send or to tell since.
    pub(super) touched: bool,
    /// The session is over already; what is left is told.
    pub(super) is_ending: bool,
}

impl Control<'_> {
    /// Sends a request. Nothing is told of the call before its name is returned.
    ///
    /// # Errors
    ///
    /// If it was not sent; nothing more comes of it then.
    pub fn call(&mut self, request: ClientRequest, deadline: Deadline) -> Result<CallId, CallError> {
        if self.is_crowded {
            return Err(CallError::TooManyCalls);
        }
        self.wishes.touched = true;
        self.session.call(request, deadline, now())
    }

    /// Ends a call; the server is told why.
    pub fn cancel(&mut self, call: CallId, reason: CancelReason) {
        self.wishes.touched = true;
        self.session.cancel(call, reason, now());
    }

    /// Answers a question of the server. One that is no longer open is passed over, as its
    /// [`Withdrawn`](mcp_proto::SessionEvent::Withdrawn) is already on the way.
    pub fn answer(&mut self, request: ServerRequestId, answer: Answer) {
        self.wishes.touched = true;
        if let Err(error) = self.session.answer(request, answer, now()) {
            tracing::debug!(%request, %error, "an answer was passed over");
        }
    }

    /// Tells the server something, as soon as there is room.
    pub fn notify(&mut self, notification: ClientNotification) {
        self.wishes.touched = true;
        self.wishes.notification = Some(notification);
    }

    /// Ends the session and the server. A second one ends it without more patience.
    pub fn stop(&mut self) {
        self.wishes.stops += 1;
    }

    /// Whether the session is over and only the rest is told.
    pub fn is_ending(&self) -> bool {
        self.wishes.is_ending
    }
}

/// Waits until the owner has something to do.
pub(crate) async fn ready(owner: &mut dyn Owner) {
    poll_fn(|context| owner.poll_ready(context)).await;
}
