//! Teardown of a view: the page is notified, and gets time to save its state.

use std::time::Instant;

use super::limits::PAGE_TEARDOWN_TIMEOUT;
use super::output::{ViewCloseCause, ViewEvent};
use super::{View, ViewPhase};

impl View {
    /// Begins the teardown of the view. The host removes the frame at [`ViewEvent::Closed`]. Until then, the app page
    /// may still send requests, such as one that saves its state.
    pub fn begin_teardown(&mut self, now: Instant) {
        match self.phase {
            ViewPhase::Waiting | ViewPhase::Answered => self.close(ViewCloseCause::NeverInitialized),
            ViewPhase::Ready => {
                self.phase = ViewPhase::TearingDown;
                self.send_teardown_request(PAGE_TEARDOWN_TIMEOUT, now);
            }
            ViewPhase::TearingDown | ViewPhase::Closed => {}
        }
    }

    /// Ends the view after its app page has disappeared, for example because its process ended. Sends nothing to the
    /// page.
    pub fn handle_page_gone(&mut self) {
        if self.phase != ViewPhase::Closed {
            self.close(ViewCloseCause::PageGone);
        }
    }

    /// Closes the view and ends all pending requests. No output follows [`ViewEvent::Closed`].
    pub(super) fn close(&mut self, cause: ViewCloseCause) {
        let has_page = self.can_send_to_page() && cause != ViewCloseCause::PageGone;
        self.phase = ViewPhase::Closed;
        self.end_all_page_requests(has_page);
        self.end_requests_to_page();
        self.early = Default::default();
        self.push_event(ViewEvent::Closed(cause));
    }
}
