//! Handles HTTP responses and stream events of the server.

use std::time::{Duration, Instant};

use bytes::Bytes;
use mcp_proto::{CloseReason, DeliveryFault, IncomingMessage, InvalidMessageCause, RequestId, StreamOrigin};
use reqwest::header::HeaderValue;

use super::{ActiveExchange, ExchangeKind, StreamableDriver};
use crate::driver::message_intake::PostResponseKind;
use crate::http::delivery_faults::{self, HttpErrorResponse};
use crate::http::endpoint::FollowedRedirect;
use crate::http::exchange::{self, BoxedSseEvents, ExchangeEvent, ExchangeStep, stream_end_text};
use crate::http::sse::{EventStreamEnd, SseEvent};
use crate::http::{headers, retry};
use crate::line_decoder::DecodedLine;

/// Number of sessions lost within [`LOST_SESSIONS_WINDOW`] at which the connection is closed, because the server would
/// discard the next session as well.
const MAX_LOST_SESSIONS_PER_WINDOW: usize = 5;
/// Time within which discarded sessions are counted towards [`MAX_LOST_SESSIONS_PER_WINDOW`].
const LOST_SESSIONS_WINDOW: Duration = Duration::from_secs(60);
/// Maximum time that an event stream may stay open after it delivered its response.
const ANSWERED_STREAM_DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

impl StreamableDriver<'_> {
    pub(super) fn on_exchange_step(&mut self, step: ExchangeStep, now: Instant) {
        let ExchangeStep { exchange, moved, session, what } = step;
        let Some(running) = self.exchanges.get(&exchange) else { return };
        if let Some(session) = session
            && running.name == "initialize"
        {
            self.on_session_id(&session);
        }
        if let Some(moved) = moved {
            self.on_followed_redirect(moved);
        }
        self.resume_exchange_deadline(exchange);
        match what {
            ExchangeEvent::AwaitsAuthorizer(work) => {
                self.pause_exchange_deadline(exchange, now);
                self.continue_exchange(exchange, work);
            }
            ExchangeEvent::Accepted => self.on_post_accepted(exchange),
            ExchangeEvent::Body(body) => self.on_json_response_body(exchange, body, now),
            ExchangeEvent::Events { opened, events, next } => {
                self.on_stream_events(exchange, opened, events, next, now)
            }
            ExchangeEvent::Refused(refusal) => self.on_http_error_response(exchange, refusal, now),
            ExchangeEvent::Failed(fault) => self.on_delivery_failed(exchange, fault, now),
            ExchangeEvent::Late(_) => {}
            ExchangeEvent::Expired => {
                self.finish_exchange(exchange);
            }
        }
    }

    fn on_followed_redirect(&mut self, moved: FollowedRedirect) {
        let FollowedRedirect { to, permanent } = moved;
        self.emit_note(format!("a redirect was followed to {}", delivery_faults::displayed_server_text(to.path())));
        if permanent {
            self.url = to;
        }
    }

    fn on_session_id(&mut self, value: &HeaderValue) {
        self.session_id = headers::parse_session_id(value);
        self.emit_note(match self.session_id {
            Some(_) => "the server keeps a session",
            None => "the server's session id was ignored: it is not visible ASCII",
        });
    }

    fn on_post_accepted(&mut self, exchange: u64) {
        let opened = self.blocking_exchange == Some(exchange);
        self.finish_exchange(exchange);
        if opened {
            self.open_get_stream();
        }
    }

    /// Handles the complete body of a JSON response to a POST.
    fn on_json_response_body(&mut self, exchange: u64, body: Bytes, now: Instant) {
        let Some(finished) = self.finish_exchange(exchange) else { return };
        let ExchangeKind::Request { id, .. } = finished.kind else { return };
        let answers =
            self.core.process_received_line(DecodedLine::Whole(body.clone()), StreamOrigin::Post(id.clone()), now);
        self.record_handshake_step_response(&finished.name, answers);
        if answers == PostResponseKind::Nothing {
            let cause = invalid_response_body_text(&body);
            self.core.session.handle_undelivered_request(&id, DeliveryFault::Unusable { cause }, now);
        }
    }

    fn record_handshake_step_response(&mut self, name: &str, answers: PostResponseKind) {
        if matches!(name, "initialize" | "server/discover") {
            match answers {
                PostResponseKind::Nothing => self.notes.add_detection_step(format!("{name} was not answered")),
                PostResponseKind::WithResult => self.notes.add_detection_step(format!("{name} answered")),
                PostResponseKind::WithError(code) => {
                    self.notes.add_detection_step(format!("{name} answered with error {code}"))
                }
                PostResponseKind::Unreadable => {
                    self.notes.add_detection_step(format!("{name} answered with something unreadable"))
                }
            }
        }
    }

    fn on_stream_events(
        &mut self,
        exchange: u64,
        opened: bool,
        events: Vec<SseEvent>,
        next: Result<BoxedSseEvents, EventStreamEnd<reqwest::Error>>,
        now: Instant,
    ) {
        if opened {
            self.on_stream_open(exchange, now);
        }
        for event in events {
            // A previous event may have ended the exchange or the session.
            let Some(running) = self.exchanges.get_mut(&exchange) else { return };
            running.resume.failures = 0;
            match event {
                SseEvent::Id(id) => running.resume.last_id = id,
                SseEvent::Retry(pause) => running.resume.retry = Some(retry::clamp_stream_retry_delay(pause)),
                // A priming event has no data. A message resets the growth of the reconnection delay, but not its
                // minimum.
                SseEvent::Data { kind, data } if kind == "message" => {
                    if !data.is_empty() {
                        running.resume.fruitless = running.resume.fruitless.min(1);
                    }
                    self.on_stream_message(exchange, data, now);
                }
                // MCP defines no other event types.
                SseEvent::Data { .. } => {}
                SseEvent::Oversized { head } => self.on_oversized_stream_message(exchange, head, now),
            }
        }
        let Some(running) = self.exchanges.get(&exchange) else { return };
        let answered = match running.kind {
            ExchangeKind::Request { answered, .. } => answered,
            ExchangeKind::Message | ExchangeKind::Get => None,
        };
        match (next, answered) {
            (Ok(stream), None) => self.continue_exchange(exchange, exchange::read_next_events(exchange, stream)),
            (Ok(stream), Some(at)) => self.continue_exchange(
                exchange,
                exchange::drain_stream_until(exchange, stream, at + ANSWERED_STREAM_DRAIN_TIMEOUT),
            ),
            (Err(_), Some(_)) => {
                self.finish_exchange(exchange);
            }
            (Err(end), None) => self.on_stream_end(exchange, &stream_end_text(&end), now),
        }
    }

    fn on_stream_message(&mut self, exchange: u64, data: Bytes, now: Instant) {
        let Some(running) = self.exchanges.get_mut(&exchange) else { return };
        let (origin, name) = match &running.kind {
            ExchangeKind::Request { id, .. } => (StreamOrigin::Post(id.clone()), running.name.clone()),
            ExchangeKind::Message | ExchangeKind::Get => {
                // Some servers send the response on the GET stream. The request's own stream is closed then.
                if let Ok(IncomingMessage::Response { id, .. }) = IncomingMessage::decode(&data) {
                    self.finish_exchange_of_request(&id);
                }
                (StreamOrigin::Get, String::new())
            }
        };
        let answers = self.core.process_received_line(DecodedLine::Whole(data), origin, now);
        if answers == PostResponseKind::Nothing {
            return;
        }
        self.record_handshake_step_response(&name, answers);
        if let Some(ActiveExchange { kind: ExchangeKind::Request { answered, .. }, .. }) =
            self.exchanges.get_mut(&exchange)
        {
            answered.get_or_insert(tokio::time::Instant::from_std(now));
        }
    }

    /// Handles a stream event that exceeds the size limit. On the response stream of a request, it is treated as the
    /// response.
    fn on_oversized_stream_message(&mut self, exchange: u64, head: Bytes, now: Instant) {
        let limit = self.limits.message_bytes;
        match self.exchanges.get(&exchange).map(|running| &running.kind) {
            Some(ExchangeKind::Request { id, .. }) => {
                let id = id.clone();
                self.finish_exchange(exchange);
                let cause = format!("an event of its stream is larger than {limit} bytes");
                self.core.session.handle_undelivered_request(&id, DeliveryFault::Unusable { cause }, now);
            }
            _ => {
                self.core.process_received_line(DecodedLine::Oversized { head }, StreamOrigin::Get, now);
            }
        }
    }

    fn on_http_error_response(&mut self, exchange: u64, refusal: HttpErrorResponse, now: Instant) {
        let Some(running) = self.exchanges.get(&exchange) else { return };
        let HttpErrorResponse { status, fault, message } = refusal;
        let lost = status == 404 && running.in_session;
        if running.resume.reopening || matches!(running.kind, ExchangeKind::Get) {
            return self.on_stream_refused(exchange, status, &fault, now);
        }
        let opened = self.blocking_exchange == Some(exchange);
        let Some(ActiveExchange { kind, name, .. }) = self.finish_exchange(exchange) else { return };
        if let Some(message) = message {
            self.core.emit_received_frame(message);
        }
        match kind {
            _ if lost => {
                let refused = if let ExchangeKind::Request { id, .. } = &kind { Some(id) } else { None };
                self.on_session_lost(refused, now);
            }
            ExchangeKind::Request { id, .. } => {
                if matches!(&*name, "initialize" | "server/discover") {
                    self.notes.add_detection_step(format!("{name} answered {status}"));
                }
                self.core.session.handle_undelivered_request(&id, fault, now);
            }
            ExchangeKind::Message | ExchangeKind::Get => {
                self.emit_note(format!(
                    "{name} was refused: {}",
                    delivery_faults::displayed_server_text(&fault.to_string())
                ));
                if opened {
                    self.open_get_stream();
                }
            }
        }
    }

    /// Handles the loss of a session that the server discarded: discards its ID and its streams, and opens a new
    /// session unless too many were lost.
    pub(super) fn on_session_lost(&mut self, refused: Option<&RequestId>, now: Instant) {
        self.emit_note("the server ended the session (404); a new one is opened");
        self.discard_session_state();
        self.session_loss_times.retain(|at| now.saturating_duration_since(*at) < LOST_SESSIONS_WINDOW);
        self.session_loss_times.push_back(now);
        if self.session_loss_times.len() >= MAX_LOST_SESSIONS_PER_WINDOW {
            let cause = format!("it forgot {MAX_LOST_SESSIONS_PER_WINDOW} sessions within {LOST_SESSIONS_WINDOW:?}");
            return self.close_session(CloseReason::ConnectionLost(cause));
        }
        self.core.session.handle_session_lost(refused, now);
    }

    /// Discards the session ID, closes the streams of the session and drops its queued messages, before a new session
    /// is opened.
    pub(super) fn discard_session_state(&mut self) {
        self.session_id = None;
        self.get_stream_was_accepted = false;
        let is_answered = |kind: &ExchangeKind| matches!(kind, ExchangeKind::Request { answered: Some(_), .. });
        let running = self.exchanges.iter().filter(|(_, exchange)| !is_answered(&exchange.kind));
        let running: Vec<u64> = running.map(|(number, _)| *number).collect();
        for exchange in running {
            self.finish_exchange(exchange);
        }
        self.requests.clear();
        self.messages.clear();
    }

    fn on_delivery_failed(&mut self, exchange: u64, fault: DeliveryFault, now: Instant) {
        let Some(running) = self.exchanges.get(&exchange) else { return };
        if running.resume.reopening || matches!(running.kind, ExchangeKind::Get) {
            return self.on_stream_failed(exchange, &fault, now);
        }
        let opened = self.blocking_exchange == Some(exchange);
        let Some(ActiveExchange { kind, name, .. }) = self.finish_exchange(exchange) else { return };
        match kind {
            ExchangeKind::Request { id, .. } => {
                if matches!(&*name, "initialize" | "server/discover") {
                    self.notes.add_detection_step(format!("{name} failed ({fault})"));
                }
                self.core.session.handle_undelivered_request(&id, fault, now);
            }
            ExchangeKind::Message | ExchangeKind::Get => {
                self.emit_note(format!(
                    "{name} was not delivered: {}",
                    delivery_faults::displayed_server_text(&fault.to_string())
                ));
                if opened {
                    self.open_get_stream();
                }
            }
        }
    }
}

/// Returns a message that explains why the body of a response is not the JSON-RPC response to its request.
fn invalid_response_body_text(body: &Bytes) -> String {
    match IncomingMessage::decode(body).map_err(|invalid| invalid.cause) {
        Ok(_) => "the answer is not one to this request".to_owned(),
        Err(InvalidMessageCause::Blank) => "the answer is empty".to_owned(),
        // The messages of these causes mention standard output.
        Err(InvalidMessageCause::UnexpectedBanner | InvalidMessageCause::LspHeader | InvalidMessageCause::HttpText) => {
            "the answer is not JSON".to_owned()
        }
        Err(cause) => format!("the answer cannot be read: {cause}"),
    }
}
