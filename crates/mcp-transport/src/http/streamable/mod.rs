//! Streamable HTTP: the driver of one session.
//!
//! One task owns the session and runs all exchanges with the server itself: each POST with its response, and the GET
//! stream. It reads from them only while its owner accepts the events.

mod posts;
mod responses;
mod shutdown;
mod streams;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use mcp_proto::{CallId, CloseReason, HandshakeFault, OutgoingMessage, RequestId, Revision, SessionEvent};
use reqwest::header::HeaderValue;
use url::Url;

use super::HttpLimits;
use super::connection_notes::ConnectionNotes;
use super::endpoint::HttpEndpoint;
use super::exchange::{ExchangeFuture, ExchangeStep};
use crate::driver::deadline_timer::DeadlineTimer;
use crate::driver::driver_core::{DriverCore, tokio_clock_now};
use crate::driver::session_owner::wait_until_owner_ready;
use crate::driver::{DetectedTransport, DriverEvent};

/// Maximum number of steps of HTTP exchanges that are handled before the session's owner is polled again.
const MAX_EXCHANGE_STEPS_PER_POLL: usize = 64;

/// Driver of the session with one server over Streamable HTTP.
pub(super) struct StreamableDriver<'o> {
    pub(super) core: DriverCore<'o>,
    pub(super) notes: ConnectionNotes,
    alarm: DeadlineTimer,
    endpoint: HttpEndpoint,
    url: Url,
    limits: HttpLimits,
    work: FuturesUnordered<Abortable<ExchangeFuture>>,
    exchanges: HashMap<u64, ActiveExchange>,
    last_exchange: u64,
    /// Number of POSTs in progress.
    posts: usize,
    /// Requests that wait because the maximum number of POSTs is in progress.
    requests: VecDeque<OutgoingMessage>,
    /// Notifications and responses that wait because the maximum number of POSTs is in progress.
    messages: VecDeque<OutgoingMessage>,
    /// Number of the HTTP exchange that must complete before other messages are sent, or `None` if none must. Servers
    /// may refuse messages that arrive before `notifications/initialized`.
    blocking_exchange: Option<u64>,
    session_id: Option<HeaderValue>,
    /// Times at which the server recently discarded sessions.
    session_loss_times: VecDeque<Instant>,
    /// Number of the HTTP exchange of the GET stream, or `None` if there is no GET stream.
    get_exchange: Option<u64>,
    /// Set if the server has accepted a GET stream in this session.
    get_stream_was_accepted: bool,
    /// Set if the caller tries HTTP+SSE when the server does not support Streamable HTTP.
    may_fall_back: bool,
    /// Event about a failed handshake that indicates that the server does not support Streamable HTTP.
    not_streamable: Option<SessionEvent>,
}

/// Result of [`StreamableDriver::run`].
pub(super) enum StreamableDriverEnd<'o> {
    /// The session has ended, and the owner has received all events.
    Done,
    /// The server seems not to support Streamable HTTP. Contains the event about the failed handshake.
    NotStreamable(Box<(DriverCore<'o>, ConnectionNotes, SessionEvent)>),
}

/// A POST, or a GET with its event stream, that is in progress.
struct ActiveExchange {
    kind: ExchangeKind,
    abort: AbortHandle,
    /// Name of the HTTP exchange in notes to the user.
    name: String,
    /// Set if the HTTP request contained a session ID.
    in_session: bool,
    resume: StreamResumption,
    /// Call whose deadlines are paused while the HTTP exchange waits for the authorizer, or `None`.
    paused_call: Option<CallId>,
}

enum ExchangeKind {
    /// A POST with a request, and the event stream of its response.
    Request {
        id: RequestId,
        /// Set if the revision is 2026-07-28 or later, in which a response stream cannot be resumed.
        modern: bool,
        answered: Option<tokio::time::Instant>,
    },
    /// A POST with a notification or a response.
    Message,
    /// The GET stream of the session.
    Get,
}

/// State that is needed to reopen an event stream which ended early, and to choose the delay before that.
#[derive(Default)]
struct StreamResumption {
    last_id: String,
    /// Reconnection time that the server requested in the `retry` field of the stream.
    retry: Option<Duration>,
    /// Number of consecutive attempts to open the event stream that failed or yielded no event.
    failures: u32,
    /// Number of consecutive event streams that ended without a message. A message sets it to 1, and a stream that
    /// stayed open for long sets it to 0.
    fruitless: u32,
    /// Time at which the event stream was last opened.
    opened_at: Option<Instant>,
    /// Set while a closed event stream waits to be reopened or is being reopened.
    reopening: bool,
}

impl<'o> StreamableDriver<'o> {
    pub(super) fn new(
        core: DriverCore<'o>,
        notes: ConnectionNotes,
        endpoint: HttpEndpoint,
        url: Url,
        limits: HttpLimits,
        may_fall_back: bool,
    ) -> StreamableDriver<'o> {
        StreamableDriver {
            core,
            notes,
            alarm: DeadlineTimer::new(),
            endpoint,
            url,
            limits,
            work: FuturesUnordered::new(),
            exchanges: HashMap::new(),
            last_exchange: 0,
            posts: 0,
            requests: VecDeque::new(),
            messages: VecDeque::new(),
            blocking_exchange: None,
            session_id: None,
            session_loss_times: VecDeque::new(),
            get_exchange: None,
            get_stream_was_accepted: false,
            may_fall_back,
            not_streamable: None,
        }
    }

    pub(super) async fn run(mut self) -> StreamableDriverEnd<'o> {
        self.send_and_deliver();
        while !self.is_over() {
            self.process_next_event().await;
            self.send_and_deliver();
        }
        match self.not_streamable.take() {
            Some(why) if !self.core.is_stopped() => {
                StreamableDriverEnd::NotStreamable(Box::new((self.core, self.notes, why)))
            }
            _ => {
                self.shut_down().await;
                StreamableDriverEnd::Done
            }
        }
    }

    fn is_over(&self) -> bool {
        self.core.is_stopped() || self.core.close_reason.is_some() || self.not_streamable.is_some()
    }

    /// Waits for one event of the owner, a timer or the server, and handles it. The owner is polled first, so that a
    /// stop by the owner is not delayed. The server is polled last, and only while the owner accepts events.
    async fn process_next_event(&mut self) {
        self.alarm.fire_no_later_than(self.core.next_deadline());
        let room = self.core.has_room();
        let core = &mut self.core;
        tokio::select! {
            biased;
            () = wait_until_owner_ready(core.owner) => core.process_ready_owner(),
            () = self.alarm.wait_until_due() => core.on_deadline(tokio_clock_now()),
            Some(step) = self.work.next(), if room && !self.work.is_empty() => {
                let now = tokio_clock_now();
                self.on_exchange_step_or_abort(step, now);
                self.process_further_exchange_steps(now);
            }
        }
    }

    /// Handles further steps of HTTP exchanges that are ready without waiting, which avoids an iteration of the event
    /// loop for each.
    fn process_further_exchange_steps(&mut self, now: Instant) {
        for _ in 1..MAX_EXCHANGE_STEPS_PER_POLL {
            self.send_and_deliver();
            if !self.core.has_room() || self.is_over() {
                return;
            }
            match self.work.next().now_or_never() {
                Some(Some(step)) => self.on_exchange_step_or_abort(step, now),
                _ => return,
            }
        }
    }

    fn on_exchange_step_or_abort(&mut self, step: Result<ExchangeStep, Aborted>, now: Instant) {
        // Aborted exchanges were already removed from the table.
        if let Ok(step) = step {
            self.on_exchange_step(step, now);
        }
    }

    /// Posts the queued messages of the session, and delivers its events to the owner.
    fn send_and_deliver(&mut self) {
        loop {
            self.core.send_pending_notification();
            self.post_queued_messages();
            while self.core.has_room() {
                let Some(event) = self.core.session.poll_event() else { break };
                self.emit_session_event(event);
            }
            if !self.core.deliver_events() {
                return;
            }
        }
    }

    fn emit_session_event(&mut self, event: SessionEvent) {
        match &event {
            SessionEvent::HandshakeFailed { fault: HandshakeFault::NotStreamable, .. } if self.may_fall_back => {
                self.not_streamable = Some(event);
                return;
            }
            SessionEvent::Ready(_) => {
                let connected = DriverEvent::Connected {
                    transport: DetectedTransport::StreamableHttp,
                    how: self.notes.take_detection_steps(),
                };
                self.core.outbox.push(connected);
            }
            _ => {}
        }
        self.core.emit_session_event(event);
    }

    /// Makes `work` the next step of the HTTP exchange number `exchange`, if it is in progress.
    fn continue_exchange(&mut self, exchange: u64, work: ExchangeFuture) {
        if let Some(running) = self.exchanges.get_mut(&exchange) {
            let (abort, registration) = AbortHandle::new_pair();
            running.abort = abort;
            self.work.push(Abortable::new(work, registration));
        }
    }

    fn start_exchange(&mut self, kind: ExchangeKind, name: String, in_session: bool) -> u64 {
        self.last_exchange += 1;
        if !matches!(kind, ExchangeKind::Get) {
            self.posts += 1;
        }
        let abort = AbortHandle::new_pair().0;
        self.exchanges.insert(
            self.last_exchange,
            ActiveExchange { kind, abort, name, in_session, resume: StreamResumption::default(), paused_call: None },
        );
        self.last_exchange
    }

    /// Ends the HTTP exchange number `exchange`, and returns it if it was in progress. Its pending future is aborted,
    /// which closes its stream.
    fn finish_exchange(&mut self, exchange: u64) -> Option<ActiveExchange> {
        self.resume_exchange_deadline(exchange);
        let finished = self.exchanges.remove(&exchange)?;
        finished.abort.abort();
        if matches!(finished.kind, ExchangeKind::Get) {
            self.get_exchange = None;
        } else {
            self.posts -= 1;
        }
        if self.blocking_exchange == Some(exchange) {
            self.blocking_exchange = None;
        }
        Some(finished)
    }

    /// Pauses the deadlines of the call whose HTTP exchange waits for the authorizer.
    fn pause_exchange_deadline(&mut self, exchange: u64, now: Instant) {
        if let Some(ActiveExchange {
            kind: ExchangeKind::Request { id, .. }, paused_call: paused_call @ None, ..
        }) = self.exchanges.get_mut(&exchange)
        {
            *paused_call = self.core.session.pause_call_that_sent(id, now);
        }
    }

    /// Resumes the deadlines of the call whose HTTP exchange waited for the authorizer.
    fn resume_exchange_deadline(&mut self, exchange: u64) {
        if !self.endpoint.signs_requests() {
            return;
        }
        if let Some(call) = self.exchanges.get_mut(&exchange).and_then(|running| running.paused_call.take()) {
            self.core.session.resume_call_deadlines(call, tokio_clock_now());
        }
    }

    fn finish_exchange_of_request(&mut self, request: &RequestId) {
        let found =
            self.exchanges.iter().find(|(_, exchange)| exchange.carries_request(request)).map(|(number, _)| *number);
        if let Some(exchange) = found {
            self.finish_exchange(exchange);
        }
    }

    /// Returns the negotiated revision, or `None` before the handshake is complete.
    fn revision(&self) -> Option<Revision> {
        self.core.session.facts().map(|facts| facts.revision)
    }

    fn emit_note(&mut self, line: impl Into<String>) {
        self.notes.emit_note(&mut self.core.outbox, line);
    }

    fn close_session(&mut self, reason: CloseReason) {
        self.core.session.handle_connection_closed(reason, tokio_clock_now());
    }
}

impl ActiveExchange {
    fn carries_request(&self, request: &RequestId) -> bool {
        matches!(&self.kind, ExchangeKind::Request { id, .. } if id == request)
    }
}
