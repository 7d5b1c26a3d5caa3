//! The owner of one session: it takes what the host's owner tells it, keeps what the server offers, and passes news on.

mod events;
mod lists;

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use domain::call::Progress;
use mcp_proto::session::{
    Answer, CallError, CallId, CancelReason, ClientRequest, CloseReason, Deadline, Opening, OpeningFault,
    ServerRequestId, ServerResult, TaskView,
};
use mcp_transport::driver::{Bell, Control, DriverEvent, Owner};
use mcp_transport::stdio::StderrRing;
use offers::catalog::{Catalog, List, Reading};
use ports::url_parts::shown_url;
use rustc_hash::FxHashMap;
use supervision::activity::{Activity, ActivityKind};
use supervision::usage::Usage;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use super::link::{self, Link};
use super::questions::Questions;
use super::refresh::Refreshes;
use super::{News, RunId, Start, Target, Tell, Ticket, outcome, redacted};
use crate::owner::WeakOwner;
use crate::view::{Failure, FailureReason};

/// How often activity, progress and changed resources are passed on.
const TICK: Duration = Duration::from_millis(50);
/// How long a list that was just read is not read again, however often the server says that it changed.
const REREAD: Duration = Duration::from_secs(1);
/// How many commands are taken before anything else is looked at.
const COMMANDS_AT_ONCE: usize = 64;
/// How long a server may take to show that it lives.
const PING: Duration = Duration::from_secs(10);

/// What a call of the session is for.
enum Purpose {
    Ticket(Ticket),
    Page(Box<Reading>),
    /// Whether it is still there.
    Ping,
}

struct Run<'a> {
    id: RunId,
    told: &'a mut mpsc::Receiver<Box<Tell>>,
    /// A command that was received and not yet followed.
    came: Option<Box<Tell>>,
    /// Nobody sends commands any more.
    owner_gone: bool,
    owner: &'a WeakOwner,
    activity: Arc<Mutex<Activity>>,
    start: &'a Start,
    calls: FxHashMap<CallId, Purpose>,
    tickets: FxHashMap<Ticket, CallId>,
    questions: Questions,
    usage: Usage,
    stopped: bool,
    /// Why the session is over.
    closed: Option<CloseReason>,
    /// Why it could not be opened.
    fault: Option<OpeningFault>,
    /// Shared with the owner; changed in a copy.
    catalog: Arc<Catalog>,
    /// The lists the server has, by its capabilities.
    offered: Vec<List>,
    changed_lists: Vec<List>,
    last_read: FxHashMap<List, Instant>,
    refreshes: Refreshes,
    progress: FxHashMap<Ticket, Progress>,
    tasks: FxHashMap<Ticket, TaskView>,
    /// Why it counts as gone though it did not say so.
    gone: Option<String>,
    updated: HashSet<String>,
    told_activity: u64,
    next_tick: Option<Instant>,
    /// Rings at the next tick.
    alarm: Pin<Box<Sleep>>,
    bell: Bell,
    /// Whether the next tick is one that comes soon.
    soon: bool,
    ready: bool,
}

/// How an attempt ended.
enum Ended {
    For(Option<Failure>),
    /// The server does not survive the probe for the newest revision: start it again and open as the older ones do.
    OnProbe,
}

/// Runs the server until it has ended, and says why it did. Nothing means that it was stopped.
pub(super) async fn run(
    mut start: Box<Start>,
    mut told: mpsc::Receiver<Box<Tell>>,
    owner: &WeakOwner,
) -> Option<Failure> {
    loop {
        match attempt(&start, &mut told, owner).await {
            Ended::For(failure) => return failure,
            Ended::OnProbe => {
                note(&start.activity, "it ended on the probe for 2026-07-28; starting it again with initialize");
                start.session.opening = Opening::Initialize;
            }
        }
    }
}

async fn attempt(start: &Start, told: &mut mpsc::Receiver<Box<Tell>>, owner: &WeakOwner) -> Ended {
    // In boxes, as the rest: what is done once makes the connection no larger for all the time after it.
    let link = match Box::pin(Link::find(start.target.get())).await {
        Ok(link) => link,
        Err(failure) => {
            note(&start.activity, &failure.message);
            return Ended::For(Some(failure));
        }
    };
    let mut run = Box::new(Run::new(start, told, owner));
    match (&link, start.target.get()) {
        (Link::Process(process), Target::Process { program, .. }) => {
            let spawned = process.spawned();
            start.used.lock().unwrap_or_else(PoisonError::into_inner).meter = process.meter();
            note(&start.activity, &format!("started {} as process {}", program.display(), spawned.pid));
            run.tell_owner(News::Started { pid: spawned.pid, record: spawned.record() });
        }
        (_, Target::Url(target)) => note(&start.activity, &format!("connecting to {}", shown_url(&target.url))),
        _ => {}
    }
    let stderr = StderrRing::default();
    link::drive(link, start.session.clone(), stderr.clone(), &mut *run, &start.limits).await;
    Box::pin(run.ended(&stderr)).await
}

fn note(activity: &Mutex<Activity>, text: &str) {
    activity.lock().unwrap_or_else(PoisonError::into_inner).line(ActivityKind::State, text);
}

impl Owner for Run<'_> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.came.is_none()
            && !self.owner_gone
            && let Poll::Ready(came) = self.told.poll_recv(context)
        {
            self.owner_gone = came.is_none();
            self.came = came;
            return Poll::Ready(());
        }
        if self.came.is_some() {
            return Poll::Ready(());
        }
        let Some(tick) = self.next_tick else { return Poll::Pending };
        if tick != self.alarm.deadline() {
            self.alarm.as_mut().reset(tick);
            self.bell.ring();
        }
        self.bell.poll_future(context, self.alarm.as_mut())
    }

    fn act(&mut self, session: &mut Control<'_>) {
        if self.owner_gone && !self.stopped {
            self.stopped = true;
            session.stop();
        }
        let mut came = self.came.take();
        for _ in 0..COMMANDS_AT_ONCE {
            let Some(tell) = came else { break };
            self.told(*tell, session);
            came = self.told.try_recv().ok();
        }
        self.came = came;
        if self.next_tick.is_some_and(|tick| tick <= Instant::now()) {
            self.tick(session);
        }
    }

    fn event(&mut self, event: DriverEvent, session: &mut Control<'_>) {
        self.driver_event(event, session);
    }

    /// The owner takes each news at once, so only a server that floods is slowed down, and not while it is being stopped.
    fn has_room(&mut self, _: usize) -> bool {
        let is_over = self.stopped || self.closed.is_some();
        is_over || !self.usage.is_slowed()
    }
}

impl<'a> Run<'a> {
    fn new(start: &'a Start, told: &'a mut mpsc::Receiver<Box<Tell>>, owner: &'a WeakOwner) -> Self {
        Self {
            id: start.run,
            told,
            came: None,
            owner_gone: false,
            owner,
            activity: Arc::clone(&start.activity),
            start,
            calls: FxHashMap::default(),
            tickets: FxHashMap::default(),
            questions: Questions::new(&start.limits),
            usage: Usage::new(&start.limits, Arc::clone(&start.used)),
            stopped: false,
            closed: None,
            fault: None,
            catalog: Arc::default(),
            offered: Vec::new(),
            changed_lists: Vec::new(),
            last_read: FxHashMap::default(),
            refreshes: Refreshes::default(),
            progress: FxHashMap::default(),
            tasks: FxHashMap::default(),
            gone: None,
            updated: HashSet::new(),
            told_activity: 0,
            next_tick: None,
            alarm: Box::pin(tokio::time::sleep(TICK)),
            bell: Bell::default(),
            soon: false,
            ready: false,
        }
    }

    /// What became of it, once nothing of the server is left. All that waits is told first.
    async fn ended(mut self: Box<Self>, stderr: &StderrRing) -> Ended {
        self.gather();
        if self.fault == Some(OpeningFault::ExitedOnProbe)
            && !self.stopped
            && self.start.session.opening == Opening::Probe
        {
            return Ended::OnProbe;
        }
        let reason = self.closed.unwrap_or(CloseReason::ServerClosedOutput);
        if let Some(cause) = self.gone.filter(|_| !self.stopped) {
            return Ended::For(Some(Failure::new(FailureReason::NoAnswer, cause)));
        }
        let remote = matches!(self.start.target.get(), Target::Url(_));
        let stderr = stderr.last_lines(outcome::STDERR_LINES);
        let failure = outcome::closed(&reason, self.fault, self.ready, remote, stderr);
        let failure = match failure {
            Some(failure) => Some(outcome::in_sandbox(failure, self.start.target.get()).await),
            None => None,
        };
        Ended::For(failure.map(|failure| redacted::failure(&self.activity, failure)))
    }

    fn tell_owner(&self, news: News) {
        news.tell(self.owner, self.id);
    }

    fn told(&mut self, tell: Tell, session: &mut Control<'_>) {
        match tell {
            Tell::Call { ticket, request, deadline } => {
                if let Err(error) = self.call(Purpose::Ticket(ticket), request.into_inner(), deadline, session) {
                    if matches!(error, CallError::TooManyCalls) {
                        self.usage.refused_call();
                        self.tick_soon();
                    }
                    self.tell_owner(News::Done { ticket, result: Box::new(Err(error)) });
                }
            }
            Tell::Cancel { ticket } => {
                if let Some(call) = self.tickets.get(&ticket) {
                    session.cancel(*call, CancelReason::User);
                }
            }
            Tell::Answer { request, answer } => self.answer(request, answer.into_inner(), session),
            Tell::Notify(notification) => session.notify(notification),
            Tell::Refresh { kind, reply } => self.refresh(kind, reply, session),
            Tell::ReadStale => self.read_stale(session),
            Tell::Ping => {
                let deadline = Deadline { idle: PING, total: PING };
                if let Err(error) = self.call(Purpose::Ping, ClientRequest::Ping, deadline, session) {
                    self.is_gone(&error, session);
                }
            }
            Tell::Stop => {
                self.stopped = true;
                session.stop();
            }
        }
    }

    /// It does not show that it lives.
    fn is_gone(&mut self, error: &CallError, session: &mut Control<'_>) {
        if matches!(error, CallError::TooManyCalls | CallError::NotReady | CallError::Server(_)) {
            return;
        }
        self.gone.get_or_insert_with(|| format!("it did not answer after the computer slept: {error}"));
        if !session.is_ending() {
            session.stop();
        }
    }

    fn call(
        &mut self,
        purpose: Purpose,
        request: ClientRequest,
        deadline: Deadline,
        session: &mut Control<'_>,
    ) -> Result<(), CallError> {
        let call = session.call(request, deadline)?;
        if let Purpose::Ticket(ticket) = &purpose {
            self.tickets.insert(*ticket, call);
        }
        self.calls.insert(call, purpose);
        Ok(())
    }

    fn answer(&mut self, request: ServerRequestId, answer: Answer, session: &mut Control<'_>) {
        self.questions.close(request);
        session.answer(request, answer);
    }

    fn done(&mut self, call: CallId, result: Result<ServerResult, CallError>, session: &mut Control<'_>) {
        let result = result.map_err(|error| redacted::error(&self.activity, error));
        match self.calls.remove(&call) {
            Some(Purpose::Ticket(ticket)) => {
                self.tickets.remove(&ticket);
                // How far it came is told before its end, not left out.
                if let Some(task) = self.tasks.remove(&ticket) {
                    self.tell_owner(News::Task { ticket, task });
                }
                if let Some(progress) = self.progress.remove(&ticket) {
                    self.tell_owner(News::Progress { ticket, progress });
                }
                self.tell_owner(News::Done { ticket, result: Box::new(result) });
            }
            Some(Purpose::Page(reading)) => self.page(*reading, result, session),
            Some(Purpose::Ping) => {
                if let Err(error) = result {
                    self.is_gone(&error, session);
                }
            }
            None => {}
        }
    }

    fn with_activity(&mut self, add: impl FnOnce(&mut Activity)) {
        add(&mut self.activity.lock().unwrap_or_else(PoisonError::into_inner));
        self.tick_soon();
    }

    fn tick_soon(&mut self) {
        if !std::mem::replace(&mut self.soon, true) {
            self.tick_at(Instant::now() + TICK);
        }
    }

    /// The next tick is not later than this, whatever else waits for a later one.
    fn tick_at(&mut self, at: Instant) {
        self.next_tick = Some(self.next_tick.map_or(at, |tick| tick.min(at)));
    }

    /// Passes on what has gathered, and reads the lists that changed.
    fn tick(&mut self, session: &mut Control<'_>) {
        self.gather();
        if self.ready {
            self.read_changed_lists(session);
        }
    }

    /// Passes on what has gathered.
    fn gather(&mut self) {
        self.next_tick = None;
        self.soon = false;
        if let Some(pause) = self.usage.pause() {
            self.tick_at(Instant::now() + pause);
        }
        let (last, kept, dropped) = {
            let activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
            (activity.last(), activity.kept(), activity.dropped())
        };
        self.usage.show(self.tickets.len(), self.questions.count(), kept, dropped);
        if last > self.told_activity {
            self.told_activity = last;
            self.tell_owner(News::Activity { last });
        }
        if let Some(refused) = self.questions.refused_to_pass_on() {
            self.tell_owner(News::RefusedUnseen { refused });
        }
        for (ticket, task) in std::mem::take(&mut self.tasks) {
            self.tell_owner(News::Task { ticket, task });
        }
        for (ticket, progress) in std::mem::take(&mut self.progress) {
            self.tell_owner(News::Progress { ticket, progress });
        }
        for uri in std::mem::take(&mut self.updated) {
            self.tell_owner(News::ResourceUpdated { uri });
        }
    }
}
