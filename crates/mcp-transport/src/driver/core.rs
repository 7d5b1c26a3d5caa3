//! What every driver has, whatever carries its messages: the session, its owner, and what waits for it.

use std::pin::pin;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use mcp_proto::{CloseReason, OutgoingKind, Session, SessionConfig, SessionEvent, StreamOrigin};
use tokio::sync::Notify;

use super::intake::{Answers, Intake};
use super::outbox::Outbox;
use super::owner::{Control, Owner, Wishes, ready};
use super::{Direction, DriverEvent, Frame, FrameAbout};
use crate::lines::Line;

pub(crate) struct Core<'o> {
    pub(crate) session: Session,
    pub(crate) intake: Intake,
    pub(crate) outbox: Outbox,
    pub(crate) owner: &'o mut dyn Owner,
    wishes: Wishes,
    /// The session itself is over, for this reason if it has told it.
    pub(crate) over: Option<CloseReason>,
}

impl<'o> Core<'o> {
    /// `limit`: the largest message that is accepted, in bytes.
    pub(crate) fn new(session: SessionConfig, owner: &'o mut dyn Owner, limit: usize) -> Core<'o> {
        Core {
            session: Session::new(session, now()),
            intake: Intake::new(limit),
            outbox: Outbox::default(),
            owner,
            wishes: Wishes::default(),
            over: None,
        }
    }

    /// Whether more may be read from the server.
    pub(crate) fn has_room(&self) -> bool {
        !self.outbox.is_full()
    }

    /// Whether the owner wants the end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.wishes.stops > 0
    }

    /// Lets the owner do what it is ready for.
    pub(crate) fn act(&mut self) {
        let is_crowded = self.outbox.is_crowded();
        let Core { session, owner, wishes, .. } = self;
        owner.act(&mut Control { session, wishes, is_crowded });
    }

    /// Hands the session a notification that has waited for room. To be called before its messages are taken.
    pub(crate) fn pump_notification(&mut self) {
        if !self.outbox.is_crowded()
            && let Some(notification) = self.wishes.notification.take()
        {
            self.session.notify(notification);
        }
    }

    /// Hands events over while the owner takes them. Tells whether the session may have more to send or to tell by now.
    pub(crate) fn hand_over(&mut self) -> bool {
        let was_full = self.outbox.is_full();
        while let Some(bytes) = self.outbox.next_bytes() {
            if !self.owner.has_room(bytes) {
                break;
            }
            let is_crowded = self.outbox.is_crowded();
            let Some(event) = self.outbox.pop() else { break };
            let Core { session, owner, wishes, .. } = self;
            owner.event(event, &mut Control { session, wishes, is_crowded });
        }
        // What did not fit before waits in the session and wakes nobody.
        std::mem::take(&mut self.wishes.touched) || was_full && self.has_room()
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
            _ if self.is_stopped() => CloseReason::StoppedByUser,
            Some(reason) => reason.clone(),
            None => CloseReason::ServerClosedOutput,
        };
        self.session.handle_closed(reason, now());
    }

    /// Hands over what is left while `last` is done, which a second stop cuts short. The session is closed.
    pub(crate) async fn farewell(mut self, last: impl Future) {
        let cut_short = Notify::new();
        let last = async {
            tokio::select! {
                _ = last => {}
                () = cut_short.notified() => {}
            }
        };
        self.tell_while(last, &cut_short).await;
        self.tell_all().await;
    }

    /// Hands over what is left until `last` is done. `hurry` is notified of a second stop. The session is closed.
    pub(crate) async fn tell_while<T>(&mut self, last: impl Future<Output = T>, hurry: &Notify) -> T {
        let mut last = pin!(last);
        self.wishes.is_ending = true;
        loop {
            self.hand_over();
            let stops = self.wishes.stops;
            tokio::select! {
                biased;
                () = ready(self.owner) => {
                    self.act();
                    if self.wishes.stops > stops {
                        hurry.notify_one();
                    }
                }
                done = &mut last => return done,
            }
        }
    }

    /// Hands over all that is left.
    pub(crate) async fn tell_all(&mut self) {
        self.wishes.is_ending = true;
        self.hand_over();
        while !self.outbox.is_empty() {
            ready(self.owner).await;
            self.act();
            self.hand_over();
        }
    }
}

/// The tokio clock, so that tests can stop it.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
