//! From lines to the session, with a bound on how often broken ones are told.

use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use mcp_proto::{Incoming, InvalidCause, InvalidMessage, Session, SessionEvent, StreamOrigin};

use super::outbox::Outbox;
use super::{Direction, DriverEvent, Frame, FrameAbout};
use crate::lines::Line;
use crate::rate::TokenBucket;

/// How many invalid lines, and how many anomalies, are told: so many at once, then so many each second.
const TOLD_AT_ONCE: u32 = 100;
const TOLD_PER_SECOND: u32 = 10;
/// How often it is told how many were not.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// How long the end of an over-long line is waited for. It may name the call that must fail.
const LONG_LINE_LIMIT: Duration = Duration::from_millis(1500);

#[derive(Debug)]
pub(crate) struct Intake {
    line_limit: usize,
    lines: TokenBucket,
    anomalies: TokenBucket,
    dropped: Dropped,
    /// An over-long line whose id is not known yet.
    long: Option<LongLine>,
}

#[derive(Debug, Default)]
struct Dropped {
    lines: u64,
    bytes: u64,
    anomalies: u64,
    report_at: Option<Instant>,
}

/// How a message answers the request of ours whose POST carried it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// It does not.
    Nothing,
    WithResult,
    /// With this code.
    WithError(i64),
    /// It seems to, and cannot be read.
    Unreadable,
}

impl Answers {
    fn of(message: &Incoming, origin: &StreamOrigin) -> Answers {
        let StreamOrigin::Post(request) = origin else { return Answers::Nothing };
        match message {
            Incoming::Response { id, result } if id == request => match result {
                Ok(_) => Answers::WithResult,
                Err(error) => Answers::WithError(error.code),
            },
            // It came as the answer, so it is about this request, even if the server could not read the id.
            Incoming::ErrorWithoutId { error } => Answers::WithError(error.code),
            Incoming::Batch(messages) => {
                let answers = messages.iter().flatten().map(|message| Answers::of(message, origin));
                answers.into_iter().find(|answers| *answers != Answers::Nothing).unwrap_or(Answers::Nothing)
            }
            _ => Answers::Nothing,
        }
    }
}

#[derive(Debug)]
struct LongLine {
    head: Bytes,
    give_up_at: Instant,
}

impl Intake {
    pub(super) fn new(line_limit: usize) -> Intake {
        Intake {
            line_limit,
            lines: TokenBucket::new(TOLD_AT_ONCE, TOLD_PER_SECOND),
            anomalies: TokenBucket::new(TOLD_AT_ONCE, TOLD_PER_SECOND),
            dropped: Dropped::default(),
            long: None,
        }
    }

    /// Decodes a line, shows it, and hands it to the session.
    pub(super) fn line(
        &mut self,
        line: Line,
        origin: StreamOrigin,
        session: &mut Session,
        outbox: &mut Outbox,
        now: Instant,
    ) -> Answers {
        match line {
            Line::Whole(bytes) => match Incoming::decode(&bytes) {
                Ok(message) => {
                    let answers = Answers::of(&message, &origin);
                    outbox.push(received(bytes, FrameAbout::of(&message), None));
                    session.handle_message(message, origin, now);
                    return answers;
                }
                Err(invalid) if invalid.cause == InvalidCause::Blank => {}
                Err(invalid) => {
                    let ours = matches!(&origin, StreamOrigin::Post(id) if invalid.id.as_ref() == Some(id));
                    self.invalid(invalid, bytes, session, outbox, now);
                    return if ours { Answers::Unreadable } else { Answers::Nothing };
                }
            },
            Line::TooLong { head } => {
                let seen = self.line_limit.saturating_add(1);
                let invalid = InvalidMessage::too_long(&head, &[], self.line_limit, seen);
                if invalid.id.is_some() || invalid.server_request.is_some() {
                    self.invalid(invalid, head, session, outbox, now);
                } else {
                    self.long = Some(LongLine { head, give_up_at: now + LONG_LINE_LIMIT });
                }
            }
            Line::TooLongEnded { seen, head, tail } => {
                if self.long.take().is_some() {
                    let seen = usize::try_from(seen).unwrap_or(usize::MAX);
                    let invalid = InvalidMessage::too_long(&head, &tail, self.line_limit, seen);
                    self.invalid(invalid, head, session, outbox, now);
                }
            }
        }
        Answers::Nothing
    }

    /// Passes an event of the session on, unless it is one anomaly too many.
    pub(super) fn tell(&mut self, event: SessionEvent, outbox: &mut Outbox, now: Instant) {
        if matches!(event, SessionEvent::Anomaly { .. }) && !self.anomalies.take(now) {
            self.dropped.anomalies += 1;
            self.dropped.report_at.get_or_insert(now + REPORT_INTERVAL);
        } else {
            outbox.push(DriverEvent::Session(event));
        }
    }

    pub(super) fn wakes_at(&self) -> Option<Instant> {
        let long = self.long.as_ref().map(|long| long.give_up_at);
        [long, self.dropped.report_at].into_iter().flatten().min()
    }

    pub(super) fn on_time(&mut self, session: &mut Session, outbox: &mut Outbox, now: Instant) {
        if let Some(long) = self.long.take_if(|long| long.give_up_at <= now) {
            let seen = self.line_limit.saturating_add(1);
            let invalid = InvalidMessage::too_long(&long.head, &[], self.line_limit, seen);
            self.invalid(invalid, long.head, session, outbox, now);
        }
        if self.dropped.report_at.is_some_and(|at| at <= now) {
            self.report(outbox);
        }
    }

    /// Tells what was not told.
    pub(super) fn report(&mut self, outbox: &mut Outbox) {
        let Dropped { lines, bytes, anomalies, report_at } = std::mem::take(&mut self.dropped);
        if report_at.is_some() {
            outbox.push(DriverEvent::InvalidDropped { lines, bytes, anomalies });
        }
    }

    fn invalid(
        &mut self,
        invalid: InvalidMessage,
        bytes: Bytes,
        session: &mut Session,
        outbox: &mut Outbox,
        now: Instant,
    ) {
        if self.lines.take(now) {
            let about = FrameAbout::guess(&bytes);
            outbox.push(received(bytes, about, Some(invalid.to_string())));
        } else {
            self.dropped.lines += 1;
            self.dropped.bytes += bytes.len() as u64;
            self.dropped.report_at.get_or_insert(now + REPORT_INTERVAL);
        }
        session.handle_invalid(invalid, now);
    }
}

fn received(bytes: Bytes, about: FrameAbout, note: Option<String>) -> DriverEvent {
    DriverEvent::Frame(Frame { direction: Direction::Received, at: SystemTime::now(), bytes, about, note })
}
