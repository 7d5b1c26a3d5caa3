//! Long-lived streams: the GET stream, and reopening streams that have ended early.
//!
//! A stream, including that of a POST, is resumed by a GET with the ID of its last event. The server then sends the
//! response on the GET stream (`basic/transports`, resumability). 2026-07-28 does not have resumability.

use std::time::{Duration, Instant};

use mcp_proto::{DeliveryFault, RequestId};
use reqwest::Method;

use super::{ExchangeKind, StreamableDriver};
use crate::http::endpoint::HttpRequestParts;
use crate::http::headers::{self, SessionHeaders};
use crate::http::{delivery_faults, exchange, retry};

/// Lifetime from which an event stream counts as stable: it is not a failed attempt even if it had no events.
const MIN_STABLE_STREAM_LIFETIME: Duration = Duration::from_secs(10);

impl StreamableDriver<'_> {
    /// Opens the GET stream of the session, unless it is open or the revision has none. Servers may refuse it.
    pub(super) fn open_get_stream(&mut self) {
        let legacy = self.revision().is_some_and(|revision| !revision.is_modern());
        if legacy && self.get_exchange.is_none() {
            let number = self.start_exchange(ExchangeKind::Get, "the GET stream".to_owned(), self.session_id.is_some());
            self.get_exchange = Some(number);
            self.reopen_stream(number, Duration::ZERO);
        }
    }

    pub(super) fn on_stream_open(&mut self, exchange: u64, now: Instant) {
        let Some(running) = self.exchanges.get_mut(&exchange) else { return };
        running.resume.opened_at = Some(now);
        let again = std::mem::take(&mut running.resume.reopening);
        match &running.kind {
            ExchangeKind::Get => {
                self.get_stream_was_accepted = true;
                self.emit_note("the GET stream is open");
            }
            ExchangeKind::Request { .. } if again => {
                let line = format!("the stream of {} was resumed", running.name);
                self.get_stream_was_accepted = true;
                self.emit_note(line);
            }
            ExchangeKind::Request { .. } | ExchangeKind::Message => {}
        }
    }

    /// Handles a POST or GET stream that ended before the response arrived.
    pub(super) fn on_stream_end(&mut self, exchange: u64, cause: &str, now: Instant) {
        let Some(running) = self.exchanges.get_mut(&exchange) else { return };
        if running.resume.opened_at.is_some_and(|at| now.saturating_duration_since(at) >= MIN_STABLE_STREAM_LIFETIME) {
            running.resume.failures = 0;
            running.resume.fruitless = 0;
        }
        match &running.kind {
            ExchangeKind::Message => {
                self.finish_exchange(exchange);
            }
            ExchangeKind::Request { id, modern: true, .. } => {
                let id = id.clone();
                self.fail_request_with_lost_response(exchange, &id, format!("{cause} before the answer"), now);
            }
            ExchangeKind::Request { id, modern: false, .. }
                if headers::last_event_id_value(&running.resume.last_id).is_none() =>
            {
                let id = id.clone();
                self.fail_request_with_lost_response(
                    exchange,
                    &id,
                    format!("{cause} before the answer, and it cannot be resumed"),
                    now,
                );
            }
            ExchangeKind::Request { .. } | ExchangeKind::Get => self.schedule_stream_reopening(exchange, cause),
        }
    }

    /// Handles an error status in the response to a GET that opens or resumes an event stream.
    pub(super) fn on_stream_refused(&mut self, exchange: u64, status: u16, fault: &DeliveryFault, now: Instant) {
        let Some(running) = self.exchanges.get(&exchange) else { return };
        // Servers without GET may respond with 404 or 405. A 404 means a lost session only if a stream was open before.
        if status == 404 && running.in_session && self.get_stream_was_accepted {
            return self.on_session_lost(None, now);
        }
        if matches!(status, 408 | 425 | 429) || (status >= 500 && status != 501) {
            return self.on_stream_failed(exchange, fault, now);
        }
        match &running.kind {
            ExchangeKind::Request { id, .. } => {
                let id = id.clone();
                let cause = format!("the stream ended before the answer, and resuming it was refused: {fault}");
                self.fail_request_with_lost_response(exchange, &id, cause, now);
            }
            ExchangeKind::Get | ExchangeKind::Message => {
                self.finish_exchange(exchange);
                if status == 405 {
                    self.emit_note("the server offers no GET stream (405)");
                } else {
                    self.emit_note(format!(
                        "there is no GET stream: {}",
                        delivery_faults::displayed_server_text(&fault.to_string())
                    ));
                }
            }
        }
    }

    /// Handles the failure of a GET for an event stream, to which there was no usable response: tries again later, or
    /// gives up.
    pub(super) fn on_stream_failed(&mut self, exchange: u64, fault: &DeliveryFault, now: Instant) {
        let most = self.limits.resumptions;
        let Some(running) = self.exchanges.get(&exchange) else { return };
        let unusable = matches!(fault, DeliveryFault::Unusable { .. });
        match &running.kind {
            ExchangeKind::Request { id, .. } if unusable || running.resume.failures >= most => {
                let id = id.clone();
                let cause = format!("the stream ended before the answer and could not be resumed: {fault}");
                self.fail_request_with_lost_response(exchange, &id, cause, now);
            }
            ExchangeKind::Get if unusable => {
                self.finish_exchange(exchange);
                self.emit_note(format!(
                    "there is no GET stream: {}",
                    delivery_faults::displayed_server_text(&fault.to_string())
                ));
            }
            _ => self.schedule_stream_reopening(exchange, &delivery_faults::displayed_server_text(&fault.to_string())),
        }
    }

    /// Ends a request with an error, because its response was lost.
    fn fail_request_with_lost_response(&mut self, exchange: u64, request: &RequestId, cause: String, now: Instant) {
        self.finish_exchange(exchange);
        self.core.session.handle_undelivered_request(request, DeliveryFault::Lost { cause }, now);
    }

    /// Schedules the next attempt to open the event stream of an exchange.
    fn schedule_stream_reopening(&mut self, exchange: u64, cause: &str) {
        let Some(running) = self.exchanges.get_mut(&exchange) else { return };
        let pause = retry::stream_reopen_delay(running.resume.retry, self.limits.pause, running.resume.fruitless);
        // Reset to zero by the next event.
        running.resume.failures = running.resume.failures.saturating_add(1);
        running.resume.fruitless = running.resume.fruitless.saturating_add(1);
        let line = format!("{}: {cause}; again in {:.1} s", running.name, pause.as_secs_f64());
        self.emit_note(line);
        self.reopen_stream(exchange, pause);
    }

    fn reopen_stream(&mut self, exchange: u64, pause: Duration) {
        let revision = self.revision();
        let Some(running) = self.exchanges.get_mut(&exchange) else { return };
        running.resume.reopening = true;
        let last_id = headers::last_event_id_value(&running.resume.last_id);
        let session_headers = SessionHeaders { session: self.session_id.as_ref(), revision };
        let headers = headers::get_request_headers(last_id.as_ref(), session_headers);
        let parts = HttpRequestParts { method: Method::GET, url: self.url.clone(), headers, body: None };
        let work =
            exchange::open_event_stream(exchange, self.endpoint.clone(), parts, self.limits.message_bytes, pause);
        self.continue_exchange(exchange, work);
    }
}
