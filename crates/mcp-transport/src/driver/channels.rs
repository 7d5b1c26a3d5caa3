//! An owner in another task, reached by channels.

use std::pin::Pin;
use std::task::{Context, Poll};

use mcp_proto::{
    Answer, CallError, CallId, CancelReason, ClientNotification, ClientRequest, Deadline, ServerRequestId,
};
use tokio::sync::{mpsc, oneshot};

use super::DriverEvent;
use super::owner::{Control, Owner};

/// How many commands may wait.
const WAITING_COMMANDS: usize = 256;
/// How many commands are taken before anything else is looked at.
const COMMANDS_AT_ONCE: usize = 64;
/// A larger event waits until every one before it was taken, so that a channel of many events does not hold many
/// large ones.
const LARGE_BYTES: usize = 64 * 1024;

/// What the owner wants.
#[derive(Debug)]
pub enum DriverCommand {
    /// Send a request. `reply` gets its name before any event about it is sent.
    Call {
        /// The request.
        request: ClientRequest,
        /// How long it may take.
        deadline: Deadline,
        /// The call's name, or why it was not sent.
        reply: oneshot::Sender<Result<CallId, CallError>>,
    },
    /// End a call.
    Cancel {
        /// The call.
        call: CallId,
        /// Why; told to the server.
        reason: CancelReason,
    },
    /// Answer a question of the server.
    Answer {
        /// The question.
        request: ServerRequestId,
        /// The answer.
        answer: Answer,
    },
    /// Tell the server something.
    Notify(ClientNotification),
    /// End the session and the server. A second one kills it without more patience. Dropping the
    /// sender means the same as one.
    Stop,
}

type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The driver's side of the channels.
pub(crate) struct Channels {
    commands: mpsc::Receiver<DriverCommand>,
    events: mpsc::Sender<DriverEvent>,
    came: Option<DriverCommand>,
    /// Ends when nobody takes events any more.
    unheard: Option<Wait>,
    /// Ends when there is room again.
    room: Option<Wait>,
    /// Nobody sends commands any more.
    is_closed: bool,
    /// The session was told that its owner is gone.
    was_told: bool,
}

impl Channels {
    /// The sender takes commands at any time.
    pub(crate) fn new(events: mpsc::Sender<DriverEvent>) -> (mpsc::Sender<DriverCommand>, Channels) {
        let (sender, commands) = mpsc::channel(WAITING_COMMANDS);
        let heard = events.clone();
        let unheard: Wait = Box::pin(async move { heard.closed().await });
        let unheard = Some(unheard);
        (sender, Channels { commands, events, came: None, unheard, room: None, is_closed: false, was_told: false })
    }

    fn command(command: DriverCommand, session: &mut Control<'_>) {
        match command {
            DriverCommand::Stop => session.stop(),
            DriverCommand::Call { request, deadline, reply } => {
                // A caller that does not wait for the name is not told it.
                let _ = reply.send(session.call(request, deadline));
            }
            DriverCommand::Cancel { call, reason } => session.cancel(call, reason),
            DriverCommand::Answer { request, answer } => session.answer(request, answer),
            DriverCommand::Notify(notification) => session.notify(notification),
        }
    }
}

impl Owner for Channels {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.came.is_some() {
            return Poll::Ready(());
        }
        if !self.is_closed
            && let Poll::Ready(came) = self.commands.poll_recv(context)
        {
            self.is_closed = came.is_none();
            self.came = came;
            return Poll::Ready(());
        }
        for wait in [&mut self.unheard, &mut self.room] {
            if wait.as_mut().is_some_and(|wait| wait.as_mut().poll(context).is_ready()) {
                *wait = None;
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    fn act(&mut self, session: &mut Control<'_>) {
        let is_gone = self.is_closed || self.unheard.is_none();
        // It may also go away while the rest is told, and that means no hurry.
        if is_gone && !std::mem::replace(&mut self.was_told, true) && !session.is_ending() {
            session.stop();
        }
        let mut came = self.came.take();
        for _ in 0..COMMANDS_AT_ONCE {
            let Some(command) = came else { return };
            let stops = matches!(command, DriverCommand::Stop);
            Self::command(command, session);
            // What comes after a Stop is refused later.
            if stops {
                return;
            }
            came = self.commands.try_recv().ok();
        }
        self.came = came;
    }

    fn event(&mut self, event: DriverEvent, _: &mut Control<'_>) {
        // Fails when the owner is gone, and then nobody needs to know.
        let _ = self.events.try_send(event);
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        let needed = if bytes > LARGE_BYTES { self.events.max_capacity() } else { 1 };
        if self.events.capacity() >= needed || self.events.is_closed() {
            self.room = None;
            return true;
        }
        if self.room.is_none() {
            let events = self.events.clone();
            self.room = Some(Box::pin(async move {
                // That the owner is gone is seen elsewhere.
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
    use crate::driver::core::now;
    use crate::driver::owner::Wishes;
    use crate::driver::{Direction, Frame, FrameAbout};

    fn frame(length: usize) -> DriverEvent {
        DriverEvent::Frame(Frame {
            direction: Direction::Received,
            at: SystemTime::UNIX_EPOCH,
            bytes: Bytes::from(vec![b'x'; length]),
            about: FrameAbout::Invalid,
            note: None,
        })
    }

    #[tokio::test]
    async fn a_large_event_waits_until_the_channel_is_empty() {
        let (events, mut received) = mpsc::channel(8);
        let (_commands, mut owner) = Channels::new(events);
        let (mut session, mut wishes) = (Session::new(SessionConfig::default(), now()), Wishes::default());
        let mut control = Control { session: &mut session, wishes: &mut wishes, is_crowded: false };
        for length in [1, 2] {
            assert!(owner.has_room(length), "small events fit beside each other");
            owner.event(frame(length), &mut control);
        }
        assert!(!owner.has_room(LARGE_BYTES + 1), "a large one waits while others do");
        let room = timeout(Duration::from_millis(20), poll_fn(|context| owner.poll_ready(context))).await;
        assert!(room.is_err(), "nothing is taken, so there is no room");
        assert!(received.try_recv().is_ok() && received.try_recv().is_ok(), "both are taken");
        poll_fn(|context| owner.poll_ready(context)).await;
        assert!(owner.has_room(LARGE_BYTES + 1), "now it fits");
        owner.event(frame(LARGE_BYTES + 1), &mut control);
        assert!(!owner.has_room(LARGE_BYTES + 1), "but not a second one");
        assert!(owner.has_room(1), "a small one does");
    }
}
