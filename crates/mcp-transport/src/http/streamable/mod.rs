//! Streamable HTTP: the driver of one session.
//!
//! One task owns the session and runs all exchanges with the server itself: each POST with its answer, and
//! the GET stream. It reads from them only while its owner takes the events.

mod answers;
mod ending;
mod posts;
mod streams;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use mcp_proto::{CallId, CloseReason, OpeningFault, Outgoing, RequestId, Revision, SessionEvent};
use reqwest::header::HeaderValue;
use url::Url;

use super::HttpLimits;
use super::endpoint::Endpoint;
use super::exchange::{Step, Work};
use super::news::News;
use crate::driver::alarm::Alarm;
use crate::driver::core::{Core, now};
use crate::driver::owner::ready;
use crate::driver::{DriverEvent, TransportFound};

/// How many answers are taken in before the owner is looked at again.
const STEPS_AT_ONCE: usize = 64;

/// The driver of one server over Streamable HTTP.
pub(super) struct Streamable<'o> {
    pub(super) core: Core<'o>,
    pub(super) news: News,
    alarm: Alarm,
    endpoint: Endpoint,
    url: Url,
    limits: HttpLimits,
    work: FuturesUnordered<Abortable<Work>>,
    exchanges: HashMap<u64, Exchange>,
    last_exchange: u64,
    /// POSTs that run.
    posts: usize,
    /// Requests that wait for a free place.
    requests: VecDeque<Outgoing>,
    /// Notifications and responses that wait for one.
    messages: VecDeque<Outgoing>,
    /// The exchange that everything else waits for: a server may refuse what it gets before `initialized`.
    gate: Option<u64>,
    session_id: Option<HeaderValue>,
    /// When sessions were lost lately.
    losses: VecDeque<Instant>,
    /// The GET stream.
    get: Option<u64>,
    /// There has been a GET stream in this session.
    had_get: bool,
    /// Whether a server that does not speak this is given back to be tried with HTTP+SSE.
    may_fall_back: bool,
    /// The server does not speak this, for this reason.
    not_streamable: Option<SessionEvent>,
}

/// How it came to an end.
pub(super) enum Finished<'o> {
    /// All is told and done.
    Done,
    /// The server seems not to speak this transport; the event says why.
    NotStreamable(Box<(Core<'o>, News, SessionEvent)>),
}

/// Something that is on its way, or goes on.
struct Exchange {
    kind: Kind,
    abort: AbortHandle,
    /// What it is, for notes.
    name: String,
    /// It carried the session id.
    in_session: bool,
    resume: Resume,
    /// The call whose times stand still while this waits for the authorizer.
    held: Option<CallId>,
}

enum Kind {
    /// A POST with a request, and the stream of its answer.
    Request {
        id: RequestId,
        /// Its stream cannot be resumed (2026-07-28).
        modern: bool,
        answered: Option<tokio::time::Instant>,
    },
    /// A POST with something else.
    Message,
    /// The GET stream.
    Get,
}

/// What is known for opening a stream again.
#[derive(Default)]
struct Resume {
    last_id: String,
    /// The pause that the server wants.
    retry: Option<Duration>,
    /// Consecutive attempts to open it that failed, or that were followed by no event.
    failures: u32,
    /// Consecutive streams that ended without a message; 1 after a message, 0 after a long life.
    fruitless: u32,
    /// When it was opened last.
    opened_at: Option<Instant>,
    /// This stream is not open but waits or connects.
    reopening: bool,
}

impl<'o> Streamable<'o> {
    pub(super) fn new(
        core: Core<'o>,
        news: News,
        endpoint: Endpoint,
        url: Url,
        limits: HttpLimits,
        may_fall_back: bool,
    ) -> Streamable<'o> {
        Streamable {
            core,
            news,
            alarm: Alarm::new(),
            endpoint,
            url,
            limits,
            work: FuturesUnordered::new(),
            exchanges: HashMap::new(),
            last_exchange: 0,
            posts: 0,
            requests: VecDeque::new(),
            messages: VecDeque::new(),
            gate: None,
            session_id: None,
            losses: VecDeque::new(),
            get: None,
            had_get: false,
            may_fall_back,
            not_streamable: None,
        }
    }

    pub(super) async fn run(mut self) -> Finished<'o> {
        self.pump();
        while !self.is_over() {
            self.step().await;
            self.pump();
        }
        match self.not_streamable.take() {
            Some(why) if !self.core.is_stopped() => Finished::NotStreamable(Box::new((self.core, self.news, why))),
            _ => {
                self.end().await;
                Finished::Done
            }
        }
    }

    fn is_over(&self) -> bool {
        self.core.is_stopped() || self.core.over.is_some() || self.not_streamable.is_some()
    }

    /// Waits for one thing and handles it. The owner comes first, so that nothing keeps its stop waiting; what comes
    /// from the server is last, and only taken while the owner takes the events.
    async fn step(&mut self) {
        self.alarm.set(self.core.wakes_at());
        let room = self.core.has_room();
        let core = &mut self.core;
        tokio::select! {
            biased;
            () = ready(core.owner) => core.act(),
            () = self.alarm.ring() => core.on_time(now()),
            Some(step) = self.work.next(), if room && !self.work.is_empty() => {
                let now = now();
                self.on_step(step, now);
                self.on_more_steps(now);
            }
        }
    }

    /// Takes in what has come already, without another round of the loop for each.
    fn on_more_steps(&mut self, now: Instant) {
        for _ in 1..STEPS_AT_ONCE {
            self.pump();
            if !self.core.has_room() || self.is_over() {
                return;
            }
            match self.work.next().now_or_never() {
                Some(Some(step)) => self.on_step(step, now),
                _ => return,
            }
        }
    }

    fn on_step(&mut self, step: Result<Step, Aborted>, now: Instant) {
        // What was aborted has left the table before.
        if let Ok(step) = step {
            self.on_answer(step, now);
        }
    }

    /// Takes over what the session wants to send and to tell.
    fn pump(&mut self) {
        loop {
            self.core.pump_notification();
            self.pump_messages();
            while self.core.has_room() {
                let Some(event) = self.core.session.poll_event() else { break };
                self.tell(event);
            }
            if !self.core.hand_over() {
                return;
            }
        }
    }

    fn tell(&mut self, event: SessionEvent) {
        match &event {
            SessionEvent::OpeningFailed { fault: OpeningFault::NotStreamable, .. } if self.may_fall_back => {
                self.not_streamable = Some(event);
                return;
            }
            SessionEvent::Ready(_) => {
                let connected =
                    DriverEvent::Connected { transport: TransportFound::StreamableHttp, how: self.news.how() };
                self.core.outbox.push(connected);
            }
            _ => {}
        }
        self.core.tell(event);
    }

    /// Runs `work` as what an exchange waits for next.
    fn go_on(&mut self, exchange: u64, work: Work) {
        if let Some(running) = self.exchanges.get_mut(&exchange) {
            let (abort, registration) = AbortHandle::new_pair();
            running.abort = abort;
            self.work.push(Abortable::new(work, registration));
        }
    }

    fn start(&mut self, kind: Kind, name: String, in_session: bool) -> u64 {
        self.last_exchange += 1;
        if !matches!(kind, Kind::Get) {
            self.posts += 1;
        }
        let abort = AbortHandle::new_pair().0;
        self.exchanges.insert(
            self.last_exchange,
            Exchange { kind, abort, name, in_session, resume: Resume::default(), held: None },
        );
        self.last_exchange
    }

    /// Ends an exchange; what it still waits for is dropped, which closes its stream.
    fn finish(&mut self, exchange: u64) -> Option<Exchange> {
        self.let_go(exchange);
        let finished = self.exchanges.remove(&exchange)?;
        finished.abort.abort();
        if matches!(finished.kind, Kind::Get) {
            self.get = None;
        } else {
            self.posts -= 1;
        }
        if self.gate == Some(exchange) {
            self.gate = None;
        }
        Some(finished)
    }

    /// An exchange waits for the user: its call's time is not running.
    fn hold(&mut self, exchange: u64, now: Instant) {
        if let Some(Exchange { kind: Kind::Request { id, .. }, held: held @ None, .. }) =
            self.exchanges.get_mut(&exchange)
        {
            *held = self.core.session.pause_call_of(id, now);
        }
    }

    /// It waits no longer.
    fn let_go(&mut self, exchange: u64) {
        if !self.endpoint.is_signed() {
            return;
        }
        if let Some(call) = self.exchanges.get_mut(&exchange).and_then(|running| running.held.take()) {
            self.core.session.resume_call(call, now());
        }
    }

    fn finish_request(&mut self, request: &RequestId) {
        let found = self.exchanges.iter().find(|(_, exchange)| exchange.is_for(request)).map(|(number, _)| *number);
        if let Some(exchange) = found {
            self.finish(exchange);
        }
    }

    /// The revision that was agreed on.
    fn revision(&self) -> Option<Revision> {
        self.core.session.facts().map(|facts| facts.revision)
    }

    fn note(&mut self, line: impl Into<String>) {
        self.news.note(&mut self.core.outbox, line);
    }

    fn close(&mut self, reason: CloseReason) {
        self.core.session.handle_closed(reason, now());
    }
}

impl Exchange {
    fn is_for(&self, request: &RequestId) -> bool {
        matches!(&self.kind, Kind::Request { id, .. } if id == request)
    }
}
