//! What is told about the connection: notes at a bounded rate, and how the server was found.

use mcp_proto::OutgoingKind;

use crate::driver::DriverEvent;
use crate::driver::core::now;
use crate::driver::outbox::Outbox;
use crate::rate::TokenBucket;

/// How many notes are told at once, and then each second. The rest is left out.
const NOTES_AT_ONCE: u32 = 50;
const NOTES_PER_SECOND: u32 = 2;
/// How many steps of an opening are told.
const STEPS: usize = 8;

pub(super) struct News {
    rate: TokenBucket,
    left_out: u64,
    steps: Vec<String>,
}

impl News {
    pub(super) fn new() -> News {
        News { rate: TokenBucket::new(NOTES_AT_ONCE, NOTES_PER_SECOND), left_out: 0, steps: Vec::new() }
    }

    /// Tells one line.
    pub(super) fn note(&mut self, outbox: &mut Outbox, line: impl Into<String>) {
        if !self.rate.take(now()) {
            self.left_out += 1;
            return;
        }
        let mut line = line.into();
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            line = format!("{line} ({left_out} earlier notes were left out)");
        }
        outbox.push(DriverEvent::Note { line });
    }

    /// A step of the opening, such as "initialize answered".
    pub(super) fn step(&mut self, step: String) {
        if self.steps.len() < STEPS {
            self.steps.push(step);
        }
    }

    /// All steps so far, in words. The next opening begins anew.
    pub(super) fn how(&mut self) -> String {
        std::mem::take(&mut self.steps).join(", ")
    }
}

/// What a message is, for notes.
pub(super) fn name(kind: &OutgoingKind) -> String {
    match kind {
        OutgoingKind::Request { method, .. } | OutgoingKind::Notification { method } => method.clone().into_owned(),
        OutgoingKind::Response { .. } | OutgoingKind::BatchResponse { .. } => "a response".to_owned(),
        OutgoingKind::Abort { .. } => "an abort".to_owned(),
    }
}
