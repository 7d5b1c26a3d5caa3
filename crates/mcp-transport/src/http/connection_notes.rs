//! Emits notes about the connection to a remote server at a limited rate, and records the steps of the transport
//! detection.

use mcp_proto::OutgoingMessageKind;

use crate::driver::DriverEvent;
use crate::driver::driver_core::tokio_clock_now;
use crate::driver::event_outbox::EventOutbox;
use crate::token_bucket::TokenBucket;

/// Maximum number of [`DriverEvent::Note`]s that are emitted in a burst. Further notes are dropped.
const CONNECTION_NOTES_BURST: u32 = 50;
/// Number of [`DriverEvent::Note`]s per second that are emitted after a burst.
const CONNECTION_NOTES_PER_SECOND: u32 = 2;
/// Maximum number of transport detection steps that one [`DriverEvent::Connected`] reports.
const MAX_DETECTION_STEPS: usize = 8;

/// Emits notes about one connection at a limited rate, and records the steps of its transport detection.
pub(super) struct ConnectionNotes {
    rate: TokenBucket,
    dropped: u64,
    steps: Vec<String>,
}

impl ConnectionNotes {
    pub(super) fn new() -> ConnectionNotes {
        ConnectionNotes {
            rate: TokenBucket::new(CONNECTION_NOTES_BURST, CONNECTION_NOTES_PER_SECOND),
            dropped: 0,
            steps: Vec::new(),
        }
    }

    /// Emits `line` as a [`DriverEvent::Note`], unless the rate limit is exceeded.
    pub(super) fn emit_note(&mut self, outbox: &mut EventOutbox, line: impl Into<String>) {
        if !self.rate.take(tokio_clock_now()) {
            self.dropped += 1;
            return;
        }
        let mut line = line.into();
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 {
            line = format!("{line} ({dropped} earlier notes were dropped)");
        }
        outbox.push(DriverEvent::Note { line });
    }

    /// Records a step of the transport detection, such as "initialize answered".
    pub(super) fn add_detection_step(&mut self, step: String) {
        if self.steps.len() < MAX_DETECTION_STEPS {
            self.steps.push(step);
        }
    }

    /// Returns all recorded detection steps as text, and clears them.
    pub(super) fn take_detection_steps(&mut self) -> String {
        std::mem::take(&mut self.steps).join(", ")
    }
}

/// Returns the name of a client's message for notes: its method, or "a response" or "an abort".
pub(super) fn outgoing_message_name(kind: &OutgoingMessageKind) -> String {
    match kind {
        OutgoingMessageKind::Request { method, .. } | OutgoingMessageKind::Notification { method } => {
            method.clone().into_owned()
        }
        OutgoingMessageKind::Response { .. } | OutgoingMessageKind::BatchResponse { .. } => "a response".to_owned(),
        OutgoingMessageKind::Abort { .. } => "an abort".to_owned(),
    }
}
