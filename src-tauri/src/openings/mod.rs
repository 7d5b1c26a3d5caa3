//! Requests from other programs to open a bundle file (file manager, drop, command line) or an install link (browser).
//!
//! A request only opens a dialog in the page. Nothing is read, installed or started. Callers: `lib.rs` (a second
//! instance), `start.rs` (the arguments of this instance), `closing.rs` (macOS), `dropped_bundles.rs`.
//!
//! The page handles one request at a time and reports when the user has finished with it ([`finish_opening`]). The
//! queue is short, and requests beyond it are only counted, because any web page can open a link, even in a hidden
//! frame.

pub(crate) mod arguments;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tauri::{AppHandle, Manager as _, State};

use crate::link_handler;
use crate::opening_request::{NumberedOpeningRequest, OpeningRequest};
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window;
use arguments::OpenArgument;

/// Maximum number of requests in the queue, in addition to the one that the page handles.
const MAX_QUEUED_REQUESTS: usize = 8;

/// The opening request that Drawbridge's page currently handles, and the queue of further ones.
#[derive(Default)]
pub(crate) struct OpeningRequests(Mutex<OpeningRequestQueue>);

#[derive(Default)]
struct OpeningRequestQueue {
    current: Option<NumberedOpeningRequest>,
    last_id: u64,
    waiting: VecDeque<OpeningRequest>,
    dropped: u32,
}

impl OpeningRequestQueue {
    /// Queues a request. If the queue is full, or both the request and a queued or current one are links, the request
    /// is only counted.
    fn add(&mut self, opening: OpeningRequest) {
        let is_link = |one: &OpeningRequest| matches!(one, OpeningRequest::Link { .. });
        let current = self.current.iter().map(|current| &current.opening);
        let has_link = current.chain(&self.waiting).any(is_link);
        if self.waiting.len() >= MAX_QUEUED_REQUESTS || has_link && is_link(&opening) {
            self.dropped = self.dropped.saturating_add(1);
        } else {
            self.waiting.push_back(opening);
        }
    }

    /// Makes the first queued request the current one and returns it, if there is no current one. If the queue is
    /// empty, but requests were not queued, reports their number instead.
    fn start_next_request(&mut self) -> Option<NumberedOpeningRequest> {
        if self.current.is_some() {
            return None;
        }
        let opening = self.waiting.pop_front().or_else(|| match std::mem::take(&mut self.dropped) {
            0 => None,
            count => Some(OpeningRequest::Dropped { count }),
        })?;
        self.last_id += 1;
        self.current = Some(NumberedOpeningRequest { id: self.last_id, opening });
        self.current.clone()
    }

    /// Ends the current request if it has the number `id`. The page may report the end of a request late or twice.
    fn end_current_request(&mut self, id: u64) {
        self.current.take_if(|current| current.id == id);
    }
}

impl OpeningRequests {
    fn add(&self, opening: OpeningRequest, events: &ShellEvents) {
        let mut queue = self.lock();
        queue.add(opening);
        Self::start_and_send_next_request(&mut queue, events);
    }

    /// Sends the current opening request, if there is one, to Drawbridge's page, which has just loaded.
    pub(crate) fn resend_current_request(&self, events: &ShellEvents) {
        if let Some(opened) = self.lock().current.clone() {
            events.send(ShellEvent::Opened(opened));
        }
    }

    fn finish_opening(&self, id: u64, events: &ShellEvents) {
        let mut queue = self.lock();
        queue.end_current_request(id);
        Self::start_and_send_next_request(&mut queue, events);
    }

    fn start_and_send_next_request(queue: &mut OpeningRequestQueue, events: &ShellEvents) {
        if let Some(opened) = queue.start_next_request() {
            // If no page is loaded, the event is lost, and the next page gets the request by `resend_current_request`.
            events.send(ShellEvent::Opened(opened));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, OpeningRequestQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings the main window to the front and queues opening requests for these files and links. They are checked on
/// another thread.
pub(crate) fn show_window_and_queue_openings(app: &AppHandle, named: Vec<OpenArgument>) {
    if named.is_empty() {
        return;
    }
    window::show_or_open_main_window(app);
    queue_opening_requests(app, named);
}

/// Queues opening requests for these files and links, without bringing the main window to the front.
pub(crate) fn queue_opening_requests(app: &AppHandle, named: Vec<OpenArgument>) {
    if named.is_empty() {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn_blocking(move || {
        for argument in named {
            let opening = argument.classify(link_handler::is_link_handler_on);
            app.state::<OpeningRequests>().add(opening, &app.state::<ShellEvents>());
        }
    });
}

/// Command by which the page reports that the user has finished with the opening request of this number.
#[tauri::command]
pub(crate) fn finish_opening(openings: State<'_, OpeningRequests>, events: State<'_, ShellEvents>, id: u64) {
    openings.finish_opening(id, &events);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(number: usize) -> OpeningRequest {
        OpeningRequest::Bundle { path: format!("/{number}.mcpb") }
    }

    fn link(name: &str) -> OpeningRequest {
        OpeningRequest::Link { link: format!("drawbridge://mcp/install?name={name}") }
    }

    /// Ends the current request and returns the next one.
    fn next_request(queue: &mut OpeningRequestQueue) -> Option<OpeningRequest> {
        if let Some(current) = queue.current.clone() {
            queue.end_current_request(current.id);
        }
        queue.start_next_request().map(|opened| opened.opening)
    }

    #[test]
    fn completion_of_an_earlier_opening_request_does_not_end_the_current_one() {
        let mut queue = OpeningRequestQueue::default();
        (0..3).for_each(|number| queue.add(bundle(number)));
        let first = queue.start_next_request().expect("an opening should be current");
        queue.end_current_request(first.id);
        let second = queue.start_next_request().expect("the next opening should be current");
        queue.end_current_request(first.id);
        assert_eq!(queue.current, Some(second), "a late report should not end another opening");
        assert_eq!(queue.start_next_request(), None, "the third opening should wait");
    }

    #[test]
    fn opening_requests_are_handled_one_at_a_time_in_order() {
        let mut queue = OpeningRequestQueue::default();
        for number in 0..3 {
            queue.add(bundle(number));
        }
        assert_eq!(next_request(&mut queue), Some(bundle(0)), "the first opening should be current");
        assert_eq!(queue.start_next_request(), None, "only one opening should be current");
        for number in 1..3 {
            assert_eq!(next_request(&mut queue), Some(bundle(number)), "the openings should follow in order");
        }
        assert_eq!(next_request(&mut queue), None, "no opening should remain");
    }

    #[test]
    fn only_one_link_of_a_flood_is_opened_and_the_rest_counted() {
        let mut queue = OpeningRequestQueue::default();
        queue.add(link("first"));
        assert_eq!(next_request(&mut queue), Some(link("first")), "the first link should be opened");
        for _ in 0..10_000 {
            queue.add(link("more"));
        }
        assert!(queue.waiting.is_empty(), "no further link should be queued");
        queue.add(bundle(1));
        assert_eq!(next_request(&mut queue), Some(bundle(1)), "a file should still be accepted");
        assert_eq!(
            next_request(&mut queue),
            Some(OpeningRequest::Dropped { count: 10_000 }),
            "the number of dropped links should be reported"
        );
        assert_eq!(next_request(&mut queue), None, "no opening should remain");
        queue.add(link("later"));
        assert_eq!(next_request(&mut queue), Some(link("later")), "a later link should be accepted");
    }

    #[test]
    fn queued_opening_requests_are_bounded() {
        let mut queue = OpeningRequestQueue::default();
        for number in 0..MAX_QUEUED_REQUESTS + 5 {
            queue.add(bundle(number));
        }
        assert_eq!(queue.waiting.len(), MAX_QUEUED_REQUESTS, "the queue should be bounded");
        assert_eq!(queue.dropped, 5, "further openings should be counted");
    }
}
