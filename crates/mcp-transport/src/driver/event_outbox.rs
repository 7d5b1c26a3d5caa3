//! Queue of events that the session's owner has not accepted yet.

use std::collections::VecDeque;

use super::{DriverEvent, Frame};

/// Number of queued events at which the driver stops reading from the server.
const MAX_QUEUED_EVENTS_WHILE_READING: usize = 256;
/// Total size in bytes of queued events at which the driver stops reading from the server.
const MAX_QUEUED_BYTES_WHILE_READING: usize = 4 * 1024 * 1024;
/// Number of queued events at which the driver refuses new calls of the owner, because each call adds events about its
/// messages to the queue.
const MAX_QUEUED_EVENTS_FOR_NEW_CALLS: usize = 16 * MAX_QUEUED_EVENTS_WHILE_READING;

/// Queue of events that the session's owner has not accepted yet.
#[derive(Debug, Default)]
pub(crate) struct EventOutbox {
    waiting: VecDeque<DriverEvent>,
    bytes: usize,
}

impl EventOutbox {
    pub(crate) fn push(&mut self, event: DriverEvent) {
        self.bytes += driver_event_bytes(&event);
        self.waiting.push_back(event);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns `true` if the queue has reached a limit at which the driver must not read from the server.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_QUEUED_EVENTS_WHILE_READING || self.bytes >= MAX_QUEUED_BYTES_WHILE_READING
    }

    /// Returns `true` if the queue has reached the limit at which the session's owner may make no further calls.
    pub(crate) fn must_refuse_new_calls(&self) -> bool {
        self.waiting.len() >= MAX_QUEUED_EVENTS_FOR_NEW_CALLS
    }

    /// Returns the size of the next queued event in bytes, or `None` if the queue is empty.
    pub(crate) fn next_event_bytes(&self) -> Option<usize> {
        self.waiting.front().map(driver_event_bytes)
    }

    pub(crate) fn pop(&mut self) -> Option<DriverEvent> {
        let event = self.waiting.pop_front()?;
        self.bytes -= driver_event_bytes(&event);
        Some(event)
    }
}

/// Returns the size of an event's content in bytes. Session events count as zero, since the [`Frame`](super::Frame)
/// event of the same message already counts their content.
fn driver_event_bytes(event: &DriverEvent) -> usize {
    match event {
        DriverEvent::Frame(Frame { bytes, .. }) => bytes.len(),
        DriverEvent::Stderr { line } | DriverEvent::Note { line } => line.len(),
        DriverEvent::Session(_)
        | DriverEvent::StderrDropped { .. }
        | DriverEvent::InvalidDropped { .. }
        | DriverEvent::Connected { .. }
        | DriverEvent::Exited { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use bytes::Bytes;

    use super::*;
    use crate::driver::{FrameDirection, FrameKind};

    fn frame_event(length: usize) -> DriverEvent {
        DriverEvent::Frame(Frame {
            direction: FrameDirection::Received,
            at: SystemTime::UNIX_EPOCH,
            bytes: Bytes::from(vec![b'x'; length]),
            about: FrameKind::Invalid,
            note: None,
        })
    }

    #[test]
    fn event_outbox_is_full_by_count_and_by_bytes() {
        let mut many = EventOutbox::default();
        (0..MAX_QUEUED_EVENTS_WHILE_READING).for_each(|_| many.push(frame_event(1)));
        assert!(many.is_full(), "many small events must fill the outbox");
        let mut large = EventOutbox::default();
        large.push(frame_event(MAX_QUEUED_BYTES_WHILE_READING));
        assert!(large.is_full(), "one large event must fill the outbox");
    }
}
