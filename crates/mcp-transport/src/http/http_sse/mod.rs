//! HTTP+SSE of 2024-11-05: one event stream with all messages of the server, and POSTs to the URL that its `endpoint`
//! event contains.
//!
//! The session ends with the stream. The owner connects again by starting a new session.

mod stream;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use mcp_proto::{CloseReason, DeliveryFault, OutgoingMessage, OutgoingMessageKind, SessionEvent};
use reqwest::Method;
use tokio::time::timeout;
use url::Url;

use crate::driver::deadline_timer::DeadlineTimer;
use crate::driver::driver_core::{DriverCore, tokio_clock_now};
use crate::driver::session_owner::wait_until_owner_ready;
use crate::driver::{DetectedTransport, DriverEvent};
use crate::http::connection_notes::ConnectionNotes;
use crate::http::endpoint::{HttpEndpoint, HttpRequestParts};
use crate::http::exchange::{self, ExchangeEvent, ExchangeFuture, ExchangeStep};
use crate::http::headers::{self, SessionHeaders};
use crate::http::{HttpLimits, connection_notes, delivery_faults};

/// Number that identifies the HTTP exchange of the event stream. POSTs have higher numbers.
const EVENT_STREAM_EXCHANGE_ID: u64 = 0;
/// Maximum number of steps of HTTP exchanges that are handled before the session's owner is polled again.
const MAX_EXCHANGE_STEPS_PER_POLL: usize = 64;
/// Maximum number of messages that wait because the maximum number of POSTs is in progress. With more, the session is
/// closed.
const MAX_MESSAGES_WAITING_FOR_POST: usize = 10_000;
/// Timeout of posting the last messages when the session is closed.
const LAST_MESSAGES_POST_TIMEOUT: Duration = Duration::from_millis(500);

/// Driver of the session with one server over HTTP+SSE.
pub(super) struct HttpSseDriver<'o> {
    pub(super) core: DriverCore<'o>,
    pub(super) notes: ConnectionNotes,
    alarm: DeadlineTimer,
    endpoint: HttpEndpoint,
    /// URL of the event stream.
    url: Url,
    limits: HttpLimits,
    work: FuturesUnordered<ExchangeFuture>,
    posts: HashMap<u64, PendingPost>,
    last_post: u64,
    waiting: VecDeque<OutgoingMessage>,
    /// URL to which messages are posted, or `None` before the server has sent it.
    post_to: Option<Url>,
    /// Number of the POST that must complete before other messages are sent, or `None` if none must.
    blocking_exchange: Option<u64>,
    /// Set if the caller tries Streamable HTTP when the server does not support HTTP+SSE.
    may_fall_back_to_streamable: bool,
    /// Set after the server has responded to the GET with an event stream.
    is_answered: bool,
    /// Time at which the driver gives up waiting for the `endpoint` event and the caller tries Streamable HTTP, or
    /// `None`.
    fall_back_at: Option<Instant>,
    not_found: Option<DeliveryFault>,
}

/// A POST whose HTTP response has not arrived yet.
struct PendingPost {
    about: OutgoingMessageKind,
    /// Set if the server did not accept the message within [`HttpLimits::accept`].
    late: bool,
}

/// Result of [`HttpSseDriver::run`].
pub(super) enum HttpSseDriverEnd<'o> {
    /// The session has ended, and the owner has received all events.
    Done,
    /// The server does not support HTTP+SSE. Contains the failure of the GET that shows this.
    NotFound(Box<(DriverCore<'o>, ConnectionNotes, DeliveryFault)>),
}

impl<'o> HttpSseDriver<'o> {
    pub(super) fn new(
        core: DriverCore<'o>,
        notes: ConnectionNotes,
        endpoint: HttpEndpoint,
        url: Url,
        limits: HttpLimits,
        may_fall_back_to_streamable: bool,
    ) -> HttpSseDriver<'o> {
        HttpSseDriver {
            core,
            notes,
            alarm: DeadlineTimer::new(),
            endpoint,
            url,
            fall_back_at: may_fall_back_to_streamable.then(|| tokio_clock_now() + limits.endpoint),
            limits,
            work: FuturesUnordered::new(),
            posts: HashMap::new(),
            last_post: EVENT_STREAM_EXCHANGE_ID,
            waiting: VecDeque::new(),
            post_to: None,
            blocking_exchange: None,
            may_fall_back_to_streamable,
            is_answered: false,
            not_found: None,
        }
    }

    pub(super) async fn run(mut self) -> HttpSseDriverEnd<'o> {
        let headers = headers::get_request_headers(None, SessionHeaders::EMPTY);
        let parts = HttpRequestParts { method: Method::GET, url: self.url.clone(), headers, body: None };
        let limit = self.limits.message_bytes;
        self.work.push(exchange::open_event_stream(
            EVENT_STREAM_EXCHANGE_ID,
            self.endpoint.clone(),
            parts,
            limit,
            Duration::ZERO,
        ));
        while !self.is_over() {
            self.process_next_event().await;
            self.send_and_deliver();
        }
        match self.not_found.take() {
            Some(fault) if !self.core.is_stopped() => {
                HttpSseDriverEnd::NotFound(Box::new((self.core, self.notes, fault)))
            }
            _ => {
                self.shut_down().await;
                HttpSseDriverEnd::Done
            }
        }
    }

    fn is_over(&self) -> bool {
        self.core.is_stopped() || self.core.close_reason.is_some() || self.not_found.is_some()
    }

    /// Waits for one event of the owner, a timer or the server, and handles it. The owner is polled first. The server
    /// is polled last, and only while the owner accepts events.
    async fn process_next_event(&mut self) {
        let wakes = [self.core.next_deadline(), self.fall_back_at].into_iter().flatten().min();
        self.alarm.fire_no_later_than(wakes);
        let room = self.core.has_room();
        let core = &mut self.core;
        tokio::select! {
            biased;
            () = wait_until_owner_ready(core.owner) => core.process_ready_owner(),
            () = self.alarm.wait_until_due() => self.on_deadline(tokio_clock_now()),
            Some(step) = self.work.next(), if room && !self.work.is_empty() => {
                let now = tokio_clock_now();
                self.on_exchange_step(step, now);
                for _ in 1..MAX_EXCHANGE_STEPS_PER_POLL {
                    self.send_and_deliver();
                    if !self.core.has_room() || self.is_over() {
                        return;
                    }
                    match self.work.next().now_or_never() {
                        Some(Some(step)) => self.on_exchange_step(step, now),
                        _ => return,
                    }
                }
            }
        }
    }

    fn on_deadline(&mut self, now: Instant) {
        self.core.on_deadline(now);
        if self.fall_back_at.is_some_and(|at| at <= now) {
            let within = self.limits.endpoint;
            self.on_stream_unavailable(
                if self.is_answered {
                    DeliveryFault::Unusable { cause: format!("it named no endpoint within {within:?}") }
                } else {
                    DeliveryFault::Lost { cause: format!("it did not answer within {within:?}") }
                },
                now,
            );
        }
    }

    fn send_and_deliver(&mut self) {
        loop {
            self.core.send_pending_notification();
            self.post_queued_messages();
            while self.core.has_room() {
                let Some(event) = self.core.session.poll_event() else { break };
                if matches!(event, SessionEvent::Ready(_)) {
                    let connected = DriverEvent::Connected {
                        transport: DetectedTransport::HttpSse,
                        how: self.notes.take_detection_steps(),
                    };
                    self.core.outbox.push(connected);
                }
                self.core.emit_session_event(event);
            }
            if !self.core.deliver_events() {
                return;
            }
        }
    }

    /// Posts the messages of the session. Before the server has sent the URL for messages, they remain in the session.
    fn post_queued_messages(&mut self) {
        let Some(post_to) = self.post_to.clone() else { return };
        while let Some(outgoing) = self.core.session.poll_transmit() {
            self.waiting.push_back(outgoing);
        }
        if self.waiting.len() > MAX_MESSAGES_WAITING_FOR_POST {
            return self
                .core
                .session
                .handle_connection_closed(CloseReason::NotReading(self.waiting.len()), tokio_clock_now());
        }
        while self.blocking_exchange.is_none()
            && self.posts.len() < self.limits.posts
            && let Some(outgoing) = self.next_message_to_post()
        {
            self.post(outgoing, post_to.clone());
        }
    }

    /// Removes and returns the next message to post. The last [`HttpLimits::POSTS_RESERVED_FOR_NON_REQUESTS`] POSTs are
    /// not used for requests other than pings, because servers may delay the responses to all requests.
    fn next_message_to_post(&mut self) -> Option<OutgoingMessage> {
        let requests = self.limits.posts.saturating_sub(HttpLimits::POSTS_RESERVED_FOR_NON_REQUESTS).max(1);
        let only_small = self.posts.len() >= requests;
        let is_small = |about: &OutgoingMessageKind| match about {
            OutgoingMessageKind::Request { method, .. } => method == "ping",
            _ => true,
        };
        let next = self.waiting.iter().position(|waiting| !only_small || is_small(&waiting.about))?;
        self.waiting.remove(next)
    }

    fn post(&mut self, outgoing: OutgoingMessage, url: Url) {
        let OutgoingMessage { json, about, .. } = outgoing;
        let body = Bytes::from(json);
        self.core.emit_sent_frame(body.clone(), &about);
        self.last_post += 1;
        if matches!(&about, OutgoingMessageKind::Notification { method } if method == "notifications/initialized") {
            self.blocking_exchange = Some(self.last_post);
        }
        let parts = HttpRequestParts {
            method: Method::POST,
            url,
            headers: headers::sse_post_request_headers(),
            body: Some(body),
        };
        let (number, endpoint, within) = (self.last_post, self.endpoint.clone(), self.limits.accept);
        self.work.push(match &about {
            OutgoingMessageKind::Request { .. } => {
                exchange::post_message_answered_on_stream(number, endpoint, parts, within)
            }
            _ => exchange::post_message(number, endpoint, parts, within),
        });
        self.posts.insert(number, PendingPost { about, late: false });
    }

    fn on_exchange_step(&mut self, step: ExchangeStep, now: Instant) {
        let ExchangeStep { exchange, moved, what, .. } = step;
        if exchange == EVENT_STREAM_EXCHANGE_ID {
            if let Some(moved) = moved {
                self.emit_note(format!(
                    "a redirect was followed to {}",
                    delivery_faults::displayed_server_text(moved.to.path())
                ));
                self.url = moved.to;
            }
            return self.on_stream_step(what, now);
        }
        let Some(post) = self.posts.remove(&exchange) else { return };
        if self.blocking_exchange == Some(exchange) {
            self.blocking_exchange = None;
        }
        let fault = match what {
            ExchangeEvent::Refused(refusal) => {
                if let Some(message) = refusal.message {
                    self.core.emit_received_frame(message);
                }
                refusal.fault
            }
            ExchangeEvent::Failed(fault) => fault,
            ExchangeEvent::Late(work) => return self.on_late_post_response(exchange, post.about, work),
            ExchangeEvent::Accepted
            | ExchangeEvent::Body(_)
            | ExchangeEvent::Events { .. }
            | ExchangeEvent::Expired
            | ExchangeEvent::AwaitsAuthorizer(_) => return,
        };
        match post.about {
            // A proxy ended the delayed HTTP response. The server may still send the result on the stream.
            OutgoingMessageKind::Request { id, method } if post.late && is_http_gateway_fault(&fault) => {
                if self.core.session.is_response_pending(&id) {
                    let cause = delivery_faults::displayed_server_text(&fault.to_string());
                    self.emit_note(format!("{method} was not accepted ({cause}); its answer is still waited for"));
                }
            }
            OutgoingMessageKind::Request { id, .. } => self.core.session.handle_undelivered_request(&id, fault, now),
            about => {
                let line = format!(
                    "{} was not delivered: {}",
                    connection_notes::outgoing_message_name(&about),
                    delivery_faults::displayed_server_text(&fault.to_string())
                );
                self.emit_note(line);
            }
        }
    }

    /// Continues to wait for the delayed HTTP response to a posted request, while the request's JSON-RPC response is
    /// pending.
    fn on_late_post_response(&mut self, exchange: u64, about: OutgoingMessageKind, work: ExchangeFuture) {
        if matches!(&about, OutgoingMessageKind::Request { id, .. } if self.core.session.is_response_pending(id)) {
            self.work.push(exchange::wait_until_accepted_or_late(exchange, work, self.limits.accept));
            self.posts.insert(exchange, PendingPost { about, late: true });
        }
    }

    /// Closes the session and its connections, and delivers the remaining events.
    async fn shut_down(mut self) {
        self.core.close_session();
        self.blocking_exchange = None;
        self.post_queued_messages();
        self.core.emit_remaining_events();
        let HttpSseDriver { core, mut work, posts, .. } = self;
        let mut left = posts.len();
        let last = timeout(LAST_MESSAGES_POST_TIMEOUT, async {
            while left > 0 && work.next().await.is_some_and(|step| step.exchange != EVENT_STREAM_EXCHANGE_ID) {
                left -= 1;
            }
            drop(work);
        });
        core.deliver_remaining_events_while(last).await;
    }

    fn emit_note(&mut self, line: impl Into<String>) {
        self.notes.emit_note(&mut self.core.outbox, line);
    }
}

/// Returns `true` if a proxy may have caused this fault of a delayed response, rather than the server.
fn is_http_gateway_fault(fault: &DeliveryFault) -> bool {
    matches!(fault, DeliveryFault::Lost { .. } | DeliveryFault::Status { code: 408 | 502..=504, .. })
}
