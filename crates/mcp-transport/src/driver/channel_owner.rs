//! A [`SessionOwner`] that forwards events and commands over channels to another task.

use std::pin::Pin;
use std::task::{Context, Poll};

use mcp_proto::{
    CallDeadline, CallError, CallId, CancelReason, ClientNotification, ClientRequest, ClientResponse, ServerRequestId,
};
use tokio::sync::{mpsc, oneshot};

use super::DriverEvent;
use super::session_owner::{SessionControl, SessionOwner};

/// Maximum number of commands that wait until the session's driver executes them.
const COMMAND_QUEUE_CAPACITY: usize = 256;
/// Maximum number of commands that the driver executes in a row before it polls other event sources.
const MAX_COMMANDS_PER_POLL: usize = 64;
/// Size in bytes above which an event counts as large. Large events are sent only when the channel is empty, so that a
/// full channel never contains many of them.
const MIN_LARGE_EVENT_BYTES: usize = 64 * 1024;

/// A command to the driver of a session.
#[derive(Debug)]
pub enum DriverCommand {
    /// Sends a request. `reply` receives the call ID before any event about the call is sent.
    Call {
        /// Request to the server, such as a tool call.
        request: ClientRequest,
        /// Time limits of the call: without a response or progress notification, and in total.
        deadline: CallDeadline,
        /// Receives the ID of the call, or the error because of which the request was not sent.
        reply: oneshot::Sender<Result<CallId, CallError>>,
    },
    /// Cancels a call that has not ended, and notifies the server.
    Cancel {
        /// ID of the call, which the driver sent through the `reply` of [`DriverCommand::Call`].
        call: CallId,
        /// Reason for the cancellation, which is sent to the server.
        reason: CancelReason,
    },
    /// Responds to a request that the server sent to the client.
    Answer {
        /// Identifier of the server's request, from
        /// [`SessionEvent::RequestReceived`](mcp_proto::SessionEvent::RequestReceived).
        request: ServerRequestId,
        /// Response to send, which must be of the same kind as the request.
        answer: ClientResponse,
    },
    /// Sends this notification to the server.
    Notify(ClientNotification),
    /// Ends the session, and shuts down the process of a local server. A second `Stop` kills the process immediately.
    /// Dropping the command sender has the effect of one `Stop`.
    Stop,
}

type PendingEventSend = Pin<Box<dyn Future<Output = ()> + Send>>;

/// [`SessionOwner`] that executes the commands of another task, and sends the driver's events to that task.
pub(crate) struct ChannelSessionOwner {
    commands: mpsc::Receiver<DriverCommand>,
    events: mpsc::Sender<DriverEvent>,
    next: Option<DriverCommand>,
    /// Future that completes when the receiver of events is dropped. `None` after it has completed.
    receiver_dropped: Option<PendingEventSend>,
    /// Future that completes when the event channel has room for another event, or `None` if the driver does not wait
    /// for room.
    room: Option<PendingEventSend>,
    /// Set after all senders of commands were dropped.
    is_closed: bool,
    /// Set when the session was stopped because another task dropped one of the channels.
    was_stopped: bool,
}

impl ChannelSessionOwner {
    /// Returns an owner that sends the driver's events to `events`, and the sender of commands to it. Commands may be
    /// sent before the driver runs.
    pub(crate) fn new(events: mpsc::Sender<DriverEvent>) -> (mpsc::Sender<DriverCommand>, ChannelSessionOwner) {
        let (sender, commands) = mpsc::channel(COMMAND_QUEUE_CAPACITY);
        let event_sender = events.clone();
        let receiver_dropped: PendingEventSend = Box::pin(async move { event_sender.closed().await });
        let receiver_dropped = Some(receiver_dropped);
        (
            sender,
            ChannelSessionOwner {
                commands,
                events,
                next: None,
                receiver_dropped,
                room: None,
                is_closed: false,
                was_stopped: false,
            },
        )
    }

    fn execute_driver_command(command: DriverCommand, session: &mut SessionControl<'_>) {
        match command {
            DriverCommand::Stop => session.stop(),
            DriverCommand::Call { request, deadline, reply } => {
                // A caller that does not wait for the ID ignores it.
                let _ = reply.send(session.call(request, deadline));
            }
            DriverCommand::Cancel { call, reason } => session.cancel(call, reason),
            DriverCommand::Answer { request, answer } => session.answer(request, answer),
            DriverCommand::Notify(notification) => session.notify(notification),
        }
    }
}

impl SessionOwner for ChannelSessionOwner {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.next.is_some() {
            return Poll::Ready(());
        }
        if !self.is_closed
            && let Poll::Ready(command) = self.commands.poll_recv(context)
        {
            self.is_closed = command.is_none();
            self.next = command;
            return Poll::Ready(());
        }
        for wait in [&mut self.receiver_dropped, &mut self.room] {
            if wait.as_mut().is_some_and(|wait| wait.as_mut().poll(context).is_ready()) {
                *wait = None;
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    fn process_ready(&mut self, session: &mut SessionControl<'_>) {
        let is_gone = self.is_closed || self.receiver_dropped.is_none();
        // A dropped event receiver must not count as a second stop while the driver is already stopping.
        if is_gone && !std::mem::replace(&mut self.was_stopped, true) && !session.is_ending() {
            session.stop();
        }
        let mut next = self.next.take();
        for _ in 0..MAX_COMMANDS_PER_POLL {
            let Some(command) = next else { return };
            let stops = matches!(command, DriverCommand::Stop);
            Self::execute_driver_command(command, session);
            // Later commands are handled, and refused, in the next call.
            if stops {
                return;
            }
            next = self.commands.try_recv().ok();
        }
        self.next = next;
    }

    fn handle_event(&mut self, event: DriverEvent, _: &mut SessionControl<'_>) {
        // Fails only if the event receiver was dropped.
        let _ = self.events.try_send(event);
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        let needed = if bytes > MIN_LARGE_EVENT_BYTES { self.events.max_capacity() } else { 1 };
        if self.events.capacity() >= needed || self.events.is_closed() {
            self.room = None;
            return true;
        }
        if self.room.is_none() {
            let events = self.events.clone();
            self.room = Some(Box::pin(async move {
                // An error means that the event receiver was dropped, which `receiver_dropped` detects.
                let _ = events.reserve_many(needed).await;
            }));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::{Duration, SystemTime};

    use bytes::Bytes;
    use mcp_proto::{Session, SessionConfig};
    use tokio::time::timeout;

    use super::*;
    use crate::driver::driver_core::tokio_clock_now;
    use crate::driver::session_owner::SessionOwnerRequests;
    use crate::driver::{Frame, FrameDirection, FrameKind};

    fn frame_event(length: usize) -> DriverEvent {
        DriverEvent::Frame(Frame {
            direction: FrameDirection::Received,
            at: SystemTime::UNIX_EPOCH,
            bytes: Bytes::from(vec![b'x'; length]),
            about: FrameKind::Invalid,
            note: None,
        })
    }

    #[tokio::test]
    async fn large_event_waits_until_the_channel_is_empty() {
        let (events, mut received) = mpsc::channel(8);
        let (_commands, mut owner) = ChannelSessionOwner::new(events);
        let (mut session, mut owner_requests) =
            (Session::new(SessionConfig::default(), tokio_clock_now()), SessionOwnerRequests::default());
        let mut control =
            SessionControl { session: &mut session, owner_requests: &mut owner_requests, refuses_calls: false };
        for length in [1, 2] {
            assert!(owner.has_room(length), "several small events must fit");
            owner.handle_event(frame_event(length), &mut control);
        }
        assert!(!owner.has_room(MIN_LARGE_EVENT_BYTES + 1), "a large event must wait while others are queued");
        let room = timeout(Duration::from_millis(20), poll_fn(|context| owner.poll_ready(context))).await;
        assert!(room.is_err(), "without a receive there must be no room");
        assert!(received.try_recv().is_ok() && received.try_recv().is_ok(), "both events must be received");
        poll_fn(|context| owner.poll_ready(context)).await;
        assert!(owner.has_room(MIN_LARGE_EVENT_BYTES + 1), "a large event must fit into the empty channel");
        owner.handle_event(frame_event(MIN_LARGE_EVENT_BYTES + 1), &mut control);
        assert!(!owner.has_room(MIN_LARGE_EVENT_BYTES + 1), "a second large event must not fit");
        assert!(owner.has_room(1), "a small event must fit");
    }
}
