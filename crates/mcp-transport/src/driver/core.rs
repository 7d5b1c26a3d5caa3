//! What every driver has, whatever carries its messages: the session, the way in of commands and the
//! way out of events.

use std::time::{Instant, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use mcp_proto::{
    CallError, ClientNotification, CloseReason, OutgoingKind, Session, SessionConfig, SessionEvent, StreamOrigin,
};
use tokio::sync::{Notify, mpsc};

use super::intake::{Answers, Intake};
use super::outbox::Outbox;
use super::{Direction, DriverCommand, DriverEvent, Frame, FrameAbout};
use crate::lines::Line;

/// How many commands are taken before anything else is looked at.
const COMMANDS_AT_ONCE: usize = 64;

pub(crate) struct Core {
    pub(crate) session: Session,
    pub(crate) intake: Intake,
    pub(crate) outbox: Outbox,
    pub(crate) commands: mpsc::Receiver<DriverCommand>,
    pub(crate) events: mpsc::Sender<DriverEvent>,
    /// The owner wants the end, or is gone.
    pub(crate) stopped: bool,
    /// The session itself is over, for this reason if it has told it.
    pub(crate) over: Option<CloseReason>,
    /// Waits for room in the outbox. It says the same however often it is said.
    notification: Option<ClientNotification>,
}

impl Core {
    /// `limit`: the largest message that is accepted, in bytes.
    pub(crate) fn new(
        session: SessionConfig,
        commands: mpsc::Receiver<DriverCommand>,
        events: mpsc::Sender<DriverEvent>,
        limit: usize,
    ) -> Core {
        Core {
            session: Session::new(session, now()),
            intake: Intake::new(limit),
            outbox: Outbox::default(),
            commands,
            events,
            stopped: false,
            over: None,
            notification: None,
        }
    }

    /// Whether more may be read from the server.
    pub(crate) fn has_room(&self) -> bool {
        !self.outbox.is_full()
    }

    /// Takes a command, and those that wait behind it, so that what they send is written together.
    pub(crate) fn on_commands(&mut self, first: Option<DriverCommand>) {
        self.on_command(first);
        for _ in 1..COMMANDS_AT_ONCE {
            // What comes after a Stop is refused later.
            if self.stopped {
                return;
            }
            let Ok(command) = self.commands.try_recv() else { return };
            self.on_command(Some(command));
        }
    }

    pub(crate) fn on_command(&mut self, command: Option<DriverCommand>) {
        match command {
            None | Some(DriverCommand::Stop) => self.stopped = true,
            Some(DriverCommand::Call { request, deadline, reply }) => {
                let result = if self.outbox.is_crowded() {
                    Err(CallError::TooManyCalls)
                } else {
                    self.session.call(request, deadline, now())
                };
                // A caller that does not wait for the name is not told it.
                let _ = reply.send(result);
            }
            Some(DriverCommand::Cancel { call, reason }) => self.session.cancel(call, reason, now()),
            Some(DriverCommand::Answer { request, answer }) => {
                if let Err(error) = self.session.answer(request, answer, now()) {
                    tracing::debug!(%request, %error, "an answer was passed over");
                }
            }
            Some(DriverCommand::Notify(notification)) => self.notification = Some(notification),
        }
    }

    /// Hands the session a notification that has waited for room. To be called before its messages are taken.
    pub(crate) fn pump_notification(&mut self) {
        if !self.outbox.is_crowded()
            && let Some(notification) = self.notification.take()
        {
            self.session.notify(notification);
        }
    }

    /// Takes over what the session wants to tell. What does not fit stays in the session, which bounds and
    /// merges what waits there.
    pub(crate) fn pump_events(&mut self) {
        while !self.outbox.is_full() {
            let Some(event) = self.session.poll_event() else { break };
            self.tell(event);
        }
    }

    pub(crate) fn tell(&mut self, event: SessionEvent) {
        match &event {
            SessionEvent::Closed(reason) => self.over = Some(reason.clone()),
            SessionEvent::OpeningFailed { cause, .. } => {
                self.over.get_or_insert_with(|| CloseReason::OpeningFailed(cause.clone()));
            }
            _ => {}
        }
        self.intake.tell(event, &mut self.outbox, now());
    }

    /// Hands over what there is room for now, without another round of the driver's loop.
    pub(crate) fn deliver_now(&mut self) {
        if !self.outbox.is_empty() {
            // That the owner is gone is seen elsewhere.
            let _ = self.outbox.deliver(&self.events).now_or_never();
        }
    }

    /// Shows a message that is on its way to the server.
    pub(crate) fn show_sent(&mut self, bytes: Bytes, kind: &OutgoingKind) {
        self.outbox.push(DriverEvent::Frame(Frame {
            direction: Direction::Sent,
            at: SystemTime::now(),
            about: FrameAbout::of_sent(kind, &bytes),
            bytes,
            note: None,
        }));
    }

    /// What is due in the session and in the intake.
    pub(crate) fn on_time(&mut self, now: Instant) {
        if self.session.poll_timeout().is_some_and(|at| at <= now) {
            self.session.handle_timeout(now);
        }
        self.intake.on_time(&mut self.session, &mut self.outbox, now);
    }

    /// When [`Core::on_time`] is due.
    pub(crate) fn wakes_at(&self) -> Option<Instant> {
        [self.session.poll_timeout(), self.intake.wakes_at()].into_iter().flatten().min()
    }

    /// Takes over all that a closed session still tells, full or not.
    pub(crate) fn tell_rest(&mut self) {
        while let Some(event) = self.session.poll_event() {
            self.tell(event);
        }
        self.intake.report(&mut self.outbox);
    }

    /// Takes in what has come from the server. Tells whether it answers the request whose POST carried it.
    pub(crate) fn line(&mut self, line: Line, origin: StreamOrigin, now: Instant) -> Answers {
        self.intake.line(line, origin, &mut self.session, &mut self.outbox, now)
    }

    /// Shows a message that the session is told of in another way.
    pub(crate) fn show_received(&mut self, bytes: Bytes) {
        self.outbox.push(DriverEvent::Frame(Frame {
            direction: Direction::Received,
            at: SystemTime::now(),
            about: FrameAbout::read(&bytes),
            bytes,
            note: None,
        }));
    }

    /// Closes the session for the reason that is known.
    pub(crate) fn close_session(&mut self) {
        let reason = match &self.over {
            _ if self.stopped => CloseReason::StoppedByUser,
            Some(reason) => reason.clone(),
            None => CloseReason::ServerClosedOutput,
        };
        self.session.handle_closed(reason, now());
    }

    /// Hands over what is left while `last` is done, which a second Stop cuts short. The session is closed.
    pub(crate) async fn farewell(self, last: impl Future) {
        let Core { mut session, mut outbox, mut commands, events, .. } = self;
        let cut_short = Notify::new();
        tokio::select! {
            _ = async { tokio::join!(last, outbox.deliver_all(&events)) } => {}
            () = cut_short.notified() => {}
            () = refuse(&mut commands, &mut session, &cut_short) => {}
        }
        // Fails when the owner is gone, and then nobody needs to know.
        let _ = outbox.deliver_all(&events).await;
    }
}

/// Takes commands while a session ends, until everything else is done. Never ends. `kill` is notified of
/// a second Stop.
pub(crate) async fn refuse(commands: &mut mpsc::Receiver<DriverCommand>, session: &mut Session, kill: &Notify) {
    while let Some(command) = commands.recv().await {
        match command {
            DriverCommand::Stop => kill.notify_one(),
            DriverCommand::Call { request, deadline, reply } => {
                let _ = reply.send(session.call(request, deadline, now()));
            }
            // The session is over: there is nothing to cancel, to answer or to notify.
            DriverCommand::Cancel { .. } | DriverCommand::Answer { .. } | DriverCommand::Notify(_) => {}
        }
    }
    std::future::pending().await
}

/// The tokio clock, so that tests can stop it.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
