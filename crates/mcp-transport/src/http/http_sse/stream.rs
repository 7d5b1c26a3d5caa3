//! Handles the event stream of HTTP+SSE, including the `endpoint` event with the URL for messages.

use std::time::Instant;

use mcp_proto::{CloseReason, DeliveryFault, OutgoingMessageKind, StreamOrigin};
use url::Url;

use super::{EVENT_STREAM_EXCHANGE_ID, HttpSseDriver};
use crate::driver::driver_core::tokio_clock_now;
use crate::http::delivery_faults;
use crate::http::exchange::{self, BoxedSseEvents, ExchangeEvent, stream_end_text};
use crate::http::sse::{EventStreamEnd, SseEvent};
use crate::line_decoder::DecodedLine;

impl HttpSseDriver<'_> {
    pub(super) fn on_stream_step(&mut self, what: ExchangeEvent, now: Instant) {
        match what {
            ExchangeEvent::Events { events, next, .. } => {
                self.is_answered = true;
                for event in events {
                    self.on_sse_event(event, now);
                    if self.is_over() {
                        return;
                    }
                }
                self.on_event_stream_continued(next);
            }
            ExchangeEvent::Refused(refusal) => self.on_stream_unavailable(refusal.fault, now),
            ExchangeEvent::Failed(fault) => self.on_stream_unavailable(fault, now),
            ExchangeEvent::Accepted
            | ExchangeEvent::Body(_)
            | ExchangeEvent::Expired
            | ExchangeEvent::Late(_)
            | ExchangeEvent::AwaitsAuthorizer(_) => {}
        }
    }

    fn on_event_stream_continued(&mut self, next: Result<BoxedSseEvents, EventStreamEnd<reqwest::Error>>) {
        match next {
            Ok(stream) => self.work.push(exchange::read_next_events(EVENT_STREAM_EXCHANGE_ID, stream)),
            Err(end) if self.post_to.is_none() => {
                let cause = format!("{} before it named an endpoint", stream_end_text(&end));
                self.on_stream_unavailable(DeliveryFault::Unusable { cause }, tokio_clock_now());
            }
            Err(end) => {
                let cause = stream_end_text(&end);
                self.emit_note(cause.clone());
                self.core.session.handle_connection_closed(CloseReason::ConnectionLost(cause), tokio_clock_now());
            }
        }
    }

    fn on_sse_event(&mut self, event: SseEvent, now: Instant) {
        match event {
            SseEvent::Data { kind, data } if self.post_to.is_none() => {
                let found = if kind == "endpoint" {
                    self.parse_endpoint_event(&data)
                } else {
                    Err(format!(
                        "its first event is `{}`, not `endpoint`",
                        delivery_faults::displayed_server_text(&kind)
                    ))
                };
                match found {
                    Ok(url) => {
                        self.notes.add_detection_step("GET answered with an endpoint event".to_owned());
                        self.post_to = Some(url);
                        self.fall_back_at = None;
                    }
                    Err(cause) => self.on_stream_unavailable(DeliveryFault::Unusable { cause }, now),
                }
            }
            SseEvent::Data { kind, data } if kind == "message" => {
                self.core.process_received_line(DecodedLine::Whole(data), StreamOrigin::Get, now);
            }
            SseEvent::Oversized { head } => {
                self.core.process_received_line(DecodedLine::Oversized { head }, StreamOrigin::Get, now);
            }
            SseEvent::Data { .. } | SseEvent::Id(_) | SseEvent::Retry(_) => {}
        }
    }

    /// Parses the URL for messages. Only the server's origin is allowed, since the URL will receive all messages.
    fn parse_endpoint_event(&self, data: &[u8]) -> Result<Url, String> {
        let text = String::from_utf8_lossy(data);
        let mut url = self.url.join(text.trim()).map_err(|_| "its endpoint event names no address".to_owned())?;
        if url.origin() != self.url.origin() {
            let shown = delivery_faults::displayed_server_text(&url.origin().ascii_serialization());
            return Err(format!("its endpoint event names another origin, {shown}, which is not followed"));
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// Handles a failed GET: the server does not support this transport, or is unavailable.
    pub(super) fn on_stream_unavailable(&mut self, fault: DeliveryFault, now: Instant) {
        if self.may_fall_back_to_streamable {
            self.not_found = Some(fault);
            return;
        }
        while let Some(outgoing) = self.core.session.poll_transmit() {
            if let OutgoingMessageKind::Request { id, .. } = &outgoing.about {
                self.core.session.handle_undelivered_request(id, fault.clone(), now);
            }
        }
        // The session cannot continue without the stream.
        self.core.session.handle_connection_closed(CloseReason::ConnectionLost(fault.to_string()), now);
    }
}
