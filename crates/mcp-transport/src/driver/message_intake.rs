//! Parses received lines for the session, and limits the rate at which invalid ones are reported.

use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use mcp_proto::{IncomingMessage, InvalidMessage, InvalidMessageCause, Session, SessionEvent, StreamOrigin};

use super::event_outbox::EventOutbox;
use super::{DriverEvent, Frame, FrameDirection, FrameKind};
use crate::line_decoder::DecodedLine;
use crate::token_bucket::TokenBucket;

/// Maximum number of invalid lines that are reported in a burst. The same limit applies to anomalies separately.
const INVALID_LINE_REPORTS_BURST: u32 = 100;
/// Number of invalid lines per second that are reported after a burst. The same limit applies to anomalies separately.
const INVALID_LINE_REPORTS_PER_SECOND: u32 = 10;
/// Interval at which the number of invalid lines and anomalies that exceeded the rate limit is reported.
const DROPPED_MESSAGES_REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum time to wait for the end of a line that exceeds the length limit. The end may contain the ID of the request
/// whose call then fails.
const LONG_LINE_END_TIMEOUT: Duration = Duration::from_millis(1500);

/// Parses received lines for the session, and limits the rate at which invalid ones are reported.
#[derive(Debug)]
pub(crate) struct MessageIntake {
    line_limit: usize,
    lines: TokenBucket,
    anomalies: TokenBucket,
    dropped: DroppedMessageCounts,
    /// Line that exceeds the length limit, while its end and its request ID are awaited. `None` otherwise.
    long: Option<UnfinishedLongLine>,
}

#[derive(Debug, Default)]
struct DroppedMessageCounts {
    lines: u64,
    bytes: u64,
    anomalies: u64,
    report_at: Option<Instant>,
}

/// Relation between a message in the HTTP response to a POST and the JSON-RPC request that was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostResponseKind {
    /// The message is not the response to the posted request.
    Nothing,
    /// The message is a successful response to the posted request.
    WithResult,
    /// The message is an error response to the posted request, with this code.
    WithError(i64),
    /// The message seems to be the response to the posted request, but is invalid.
    Unreadable,
}

impl PostResponseKind {
    fn from_message(message: &IncomingMessage, origin: &StreamOrigin) -> PostResponseKind {
        let StreamOrigin::Post(request) = origin else { return PostResponseKind::Nothing };
        match message {
            IncomingMessage::Response { id, result } if id == request => match result {
                Ok(_) => PostResponseKind::WithResult,
                Err(error) => PostResponseKind::WithError(error.code),
            },
            // An error in the POST response belongs to this request, even if the server could not read its ID.
            IncomingMessage::ErrorWithoutId { error } => PostResponseKind::WithError(error.code),
            IncomingMessage::Batch(messages) => {
                let answers = messages.iter().flatten().map(|message| PostResponseKind::from_message(message, origin));
                answers
                    .into_iter()
                    .find(|answers| *answers != PostResponseKind::Nothing)
                    .unwrap_or(PostResponseKind::Nothing)
            }
            _ => PostResponseKind::Nothing,
        }
    }
}

#[derive(Debug)]
struct UnfinishedLongLine {
    head: Bytes,
    give_up_at: Instant,
}

impl MessageIntake {
    pub(super) fn new(line_limit: usize) -> MessageIntake {
        MessageIntake {
            line_limit,
            lines: TokenBucket::new(INVALID_LINE_REPORTS_BURST, INVALID_LINE_REPORTS_PER_SECOND),
            anomalies: TokenBucket::new(INVALID_LINE_REPORTS_BURST, INVALID_LINE_REPORTS_PER_SECOND),
            dropped: DroppedMessageCounts::default(),
            long: None,
        }
    }

    /// Parses a received line, emits a [`DriverEvent::Frame`] for it, and passes the message to the session. Returns
    /// how the message relates to a posted request.
    pub(super) fn process_received_line(
        &mut self,
        line: DecodedLine,
        origin: StreamOrigin,
        session: &mut Session,
        outbox: &mut EventOutbox,
        now: Instant,
    ) -> PostResponseKind {
        match line {
            DecodedLine::Whole(bytes) => match IncomingMessage::decode(&bytes) {
                Ok(message) => {
                    let answers = PostResponseKind::from_message(&message, &origin);
                    outbox.push(received_frame_event(bytes, FrameKind::from_received(&message), None));
                    session.handle_message(message, origin, now);
                    return answers;
                }
                Err(invalid) if invalid.cause == InvalidMessageCause::Blank => {}
                Err(invalid) => {
                    let ours = matches!(&origin, StreamOrigin::Post(id) if invalid.id.as_ref() == Some(id));
                    self.process_invalid_line(invalid, bytes, session, outbox, now);
                    return if ours { PostResponseKind::Unreadable } else { PostResponseKind::Nothing };
                }
            },
            DecodedLine::Oversized { head } => {
                let length = self.line_limit.saturating_add(1);
                let invalid = InvalidMessage::too_long(&head, &[], self.line_limit, length);
                if invalid.id.is_some() || invalid.peer_request.is_some() {
                    self.process_invalid_line(invalid, head, session, outbox, now);
                } else {
                    self.long = Some(UnfinishedLongLine { head, give_up_at: now + LONG_LINE_END_TIMEOUT });
                }
            }
            DecodedLine::OversizedEnd { length, head, tail } => {
                if self.long.take().is_some() {
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    let invalid = InvalidMessage::too_long(&head, &tail, self.line_limit, length);
                    self.process_invalid_line(invalid, head, session, outbox, now);
                }
            }
        }
        PostResponseKind::Nothing
    }

    /// Queues an event of the session for its owner, unless it is an anomaly that exceeds the rate limit.
    pub(super) fn emit_event(&mut self, event: SessionEvent, outbox: &mut EventOutbox, now: Instant) {
        if matches!(event, SessionEvent::Anomaly { .. }) && !self.anomalies.take(now) {
            self.dropped.anomalies += 1;
            self.dropped.report_at.get_or_insert(now + DROPPED_MESSAGES_REPORT_INTERVAL);
        } else {
            outbox.push(DriverEvent::Session(event));
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let long = self.long.as_ref().map(|long| long.give_up_at);
        [long, self.dropped.report_at].into_iter().flatten().min()
    }

    pub(super) fn on_deadline(&mut self, session: &mut Session, outbox: &mut EventOutbox, now: Instant) {
        if let Some(long) = self.long.take_if(|long| long.give_up_at <= now) {
            let length = self.line_limit.saturating_add(1);
            let invalid = InvalidMessage::too_long(&long.head, &[], self.line_limit, length);
            self.process_invalid_line(invalid, long.head, session, outbox, now);
        }
        if self.dropped.report_at.is_some_and(|at| at <= now) {
            self.emit_dropped_message_counts(outbox);
        }
    }

    /// Queues a [`DriverEvent::InvalidDropped`] for the owner if invalid lines or anomalies exceeded the rate limit.
    pub(super) fn emit_dropped_message_counts(&mut self, outbox: &mut EventOutbox) {
        let DroppedMessageCounts { lines, bytes, anomalies, report_at } = std::mem::take(&mut self.dropped);
        if report_at.is_some() {
            outbox.push(DriverEvent::InvalidDropped { lines, bytes, anomalies });
        }
    }

    fn process_invalid_line(
        &mut self,
        invalid: InvalidMessage,
        bytes: Bytes,
        session: &mut Session,
        outbox: &mut EventOutbox,
        now: Instant,
    ) {
        if self.lines.take(now) {
            let about = FrameKind::classify_invalid(&bytes);
            outbox.push(received_frame_event(bytes, about, Some(invalid.to_string())));
        } else {
            self.dropped.lines += 1;
            self.dropped.bytes += bytes.len() as u64;
            self.dropped.report_at.get_or_insert(now + DROPPED_MESSAGES_REPORT_INTERVAL);
        }
        session.handle_invalid_message(invalid, now);
    }
}

fn received_frame_event(bytes: Bytes, about: FrameKind, note: Option<String>) -> DriverEvent {
    DriverEvent::Frame(Frame { direction: FrameDirection::Received, at: SystemTime::now(), bytes, about, note })
}
