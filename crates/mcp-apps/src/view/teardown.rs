//! The end of a view. The page is notified, and gets time to save its state.

use std::time::Instant;

use super::limits::TEARDOWN_TIMEOUT;
use super::output::{CloseCause, ViewEvent};
use super::{Phase, View};

impl View {
    /// Begins the end of the view. The host removes the frame at [`ViewEvent::Closed`]. Until then, the page may still
    /// send requests, such as one that saves its state.
    pub fn begin_teardown(&mut self, now: Instant) {
        match self.phase {
            Phase::Waiting | Phase::Answered => self.close(CloseCause::NeverInitialized),
            Phase::Ready => {
                self.phase = Phase::TearingDown;
                self.request_teardown(TEARDOWN_TIMEOUT, now);
            }
            Phase::TearingDown | Phase::Closed => {}
        }
    }

    /// Ends the view of a page that is gone, for example because its process ended. Nothing is sent to the page.
    pub fn page_gone(&mut self) {
        if self.phase != Phase::Closed {
            self.close(CloseCause::PageGone);
        }
    }

    /// Ends everything that is under way. No output follows the event.
    pub(super) fn close(&mut self, cause: CloseCause) {
        let has_page = self.can_send() && cause != CloseCause::PageGone;
        self.phase = Phase::Closed;
        self.end_all_requests(has_page);
        self.end_app_tools();
        self.early = Default::default();
        self.push_event(ViewEvent::Closed(cause));
    }
}
