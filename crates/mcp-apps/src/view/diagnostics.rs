//! Reports of the diagnostic script in the document of the page. They are never messages of the protocol, and have a
//! rate limit of their own, so that console output does not use up the rate of the app's messages.

use std::time::Instant;

use super::View;
use super::limits::{
    DIAGNOSTIC_REPORTS_PER_SECOND, MAX_DIAGNOSTIC_REPORT_BURST, MAX_DIAGNOSTIC_REPORT_BYTES, MAX_QUEUED_VIEW_OUTPUTS,
};
use super::output::ViewEvent;
use super::rate::MessageRateLimit;
use crate::diagnostics::parse_diagnostic_report;

/// Rate limit for reports of the diagnostic script, and the number of discarded reports.
#[derive(Debug)]
pub(super) struct DiagnosticsState {
    rate: MessageRateLimit,
    /// Number of reports that were discarded since the last processed one.
    dropped: u64,
}

impl DiagnosticsState {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            rate: MessageRateLimit::new(DIAGNOSTIC_REPORTS_PER_SECOND, MAX_DIAGNOSTIC_REPORT_BURST, now),
            dropped: 0,
        }
    }
}

impl View {
    /// Processes a report of the diagnostic script in any phase, or discards and counts it.
    pub(super) fn on_diagnostic_report(&mut self, text: &str, now: Instant) {
        let has_room = self.outputs.len() < MAX_QUEUED_VIEW_OUTPUTS;
        let is_admitted =
            has_room && text.len() <= MAX_DIAGNOSTIC_REPORT_BYTES && self.diagnostics.rate.try_admit(text.len(), now);
        match is_admitted.then(|| parse_diagnostic_report(text)).flatten() {
            Some(message) => {
                let dropped = std::mem::take(&mut self.diagnostics.dropped) + u64::from(message.dropped);
                self.push_event(ViewEvent::Diagnosed { diagnostic: message.diagnostic, dropped });
            }
            None => self.diagnostics.dropped += 1,
        }
    }
}
