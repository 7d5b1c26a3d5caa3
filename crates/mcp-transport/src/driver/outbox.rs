//! Events that the owner has not taken yet.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::{DriverEvent, Frame};

/// From so many waiting events, or bytes in them, on the server is no longer read.
const FULL_EVENTS: usize = 256;
const FULL_BYTES: usize = 4 * 1024 * 1024;
/// From so many on no new call is taken: its frames would have no place.
const CROWDED_EVENTS: usize = 16 * FULL_EVENTS;
/// A larger event waits until the owner has taken every one before it, so that a channel of many events does
/// not hold many large ones.
const LARGE_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<DriverEvent>,
    bytes: usize,
}

impl Outbox {
    pub(crate) fn push(&mut self, event: DriverEvent) {
        self.bytes += size(&event);
        self.waiting.push_back(event);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether nothing more should be read for now.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= FULL_EVENTS || self.bytes >= FULL_BYTES
    }

    /// Whether not even commands should add events.
    pub(crate) fn is_crowded(&self) -> bool {
        self.waiting.len() >= CROWDED_EVENTS
    }

    /// Hands one event over as soon as there is room, and others that fit at once. Never ends if nothing
    /// waits; fails when the owner is gone. May be dropped and called again.
    pub(crate) async fn deliver(&mut self, events: &mpsc::Sender<DriverEvent>) -> Result<(), OwnerGone> {
        let Some(first) = self.waiting.front() else {
            return std::future::pending().await;
        };
        let room = if size(first) > LARGE_BYTES { events.max_capacity() } else { 1 };
        let mut permits = events.reserve_many(room).await.map_err(|_| OwnerGone)?;
        if let (Some(permit), Some(event)) = (permits.next(), self.pop()) {
            permit.send(event);
        }
        drop(permits);
        self.hand_over(events);
        Ok(())
    }

    /// Hands over what fits at once.
    pub(crate) fn hand_over(&mut self, events: &mpsc::Sender<DriverEvent>) {
        loop {
            let small = self.waiting.iter().take_while(|event| size(event) <= LARGE_BYTES).count();
            let (events_now, room) = match small {
                0 if self.waiting.is_empty() => return,
                0 => (1, events.max_capacity()),
                small => (small.min(events.capacity()), small.min(events.capacity())),
            };
            let Ok(permits) = events.try_reserve_many(room) else { return };
            if events_now == 0 {
                return;
            }
            for permit in permits.take(events_now) {
                let Some(event) = self.pop() else { return };
                permit.send(event);
            }
        }
    }

    /// Hands all over.
    pub(crate) async fn deliver_all(&mut self, events: &mpsc::Sender<DriverEvent>) -> Result<(), OwnerGone> {
        while !self.is_empty() {
            self.deliver(events).await?;
        }
        Ok(())
    }

    fn pop(&mut self) -> Option<DriverEvent> {
        let event = self.waiting.pop_front()?;
        self.bytes -= size(&event);
        Some(event)
    }
}

/// Nobody takes the events any more.
#[derive(Debug)]
pub(crate) struct OwnerGone;

/// Bytes that may be large. What a session event holds came in a frame that was counted just before.
fn size(event: &DriverEvent) -> usize {
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
    #![allow(clippy::unwrap_used)]

    use std::time::{Duration, SystemTime};

    use bytes::Bytes;

    use super::*;
    use crate::driver::{Direction, FrameAbout};

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
        let (sender, mut receiver) = mpsc::channel(8);
        let mut outbox = Outbox::default();
        for length in [1, 2, LARGE_BYTES + 1, LARGE_BYTES + 2, 3] {
            outbox.push(frame(length));
        }
        outbox.deliver(&sender).await.unwrap();
        assert_eq!(receiver.len(), 2, "the small ones before it are handed over");
        let mut order = Vec::new();
        while !outbox.is_empty() {
            let waited = tokio::time::timeout(Duration::from_millis(20), outbox.deliver(&sender)).await;
            let large = (0..receiver.len())
                .map(|_| size(&receiver.try_recv().unwrap()))
                .inspect(|length| order.push(*length))
                .filter(|length| *length > LARGE_BYTES)
                .count();
            assert!(large <= 1, "at most one large event may be in the channel, found {large}");
            drop(waited);
        }
        while let Ok(event) = receiver.try_recv() {
            order.push(size(&event));
        }
        assert_eq!(order, [1, 2, LARGE_BYTES + 1, LARGE_BYTES + 2, 3], "the order is kept");
    }

    #[test]
    fn it_is_full_by_number_and_by_bytes() {
        let mut many = Outbox::default();
        (0..FULL_EVENTS).for_each(|_| many.push(frame(1)));
        assert!(many.is_full(), "many small events fill it");
        let mut large = Outbox::default();
        large.push(frame(FULL_BYTES));
        assert!(large.is_full(), "one event of many bytes fills it");
    }
}
