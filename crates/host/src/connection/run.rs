//! The owner of one session: executes commands of the host's owner, maintains the server's catalog, and forwards its
//! reports.

mod events;
mod lists;
mod ticks;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use domain::call::Progress;
use mcp_proto::session::{
    Answer, CallError, CallId, CancelReason, ClientRequest, CloseReason, Deadline, Opening, OpeningFault,
    ServerRequestId, ServerResult, TaskView,
};
use mcp_transport::driver::{Control, DriverEvent, Owner};
use mcp_transport::stdio::StderrRing;
use offers::catalog::{Catalog, List, ListReader};
use ports::url_parts::shown_url;
use rustc_hash::FxHashMap;
use supervision::activity::{Activity, ActivityKind};
use supervision::usage::Usage;
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::ticks::Ticks;
use super::link::{self, Link};
use super::questions::Questions;
use super::refresh::Refreshes;
use super::{News, RunId, Start, Target, Tell, Ticket, outcome, redacted};
use crate::owner::WeakOwner;
use crate::view::{Failure, FailureReason};

/// Minimum interval between two readings of a list, however often the server reports changes.
const REREAD: Duration = Duration::from_secs(1);
/// Maximum number of commands that are executed before other events are processed.
const COMMANDS_AT_ONCE: usize = 64;
/// Timeout of a ping.
pub(crate) const PING: Duration = Duration::from_secs(10);

/// The purpose of a call of the session.
enum Purpose {
    Ticket(Ticket),
    Page(Box<ListReader>),
    /// Checks that the server responds.
    Ping,
}

/// A run of one server.
struct Run<'a> {
    id: RunId,
    owner: &'a WeakOwner,
    start: &'a Start,
    inbox: Inbox<'a>,
    activity: Arc<Mutex<Activity>>,
    calls: Calls,
    questions: Questions,
    usage: Usage,
    ending: Ending,
    lists: Lists,
    gathered: Gathered,
    ticks: Ticks,
    ready: bool,
}

/// The commands of the host's owner.
struct Inbox<'a> {
    receiver: &'a mut mpsc::Receiver<Box<Tell>>,
    /// Command that was received but not executed yet.
    came: Option<Box<Tell>>,
    /// Set once all senders of commands are gone.
    is_closed: bool,
}

/// The session's calls in progress.
#[derive(Default)]
struct Calls {
    purposes: FxHashMap<CallId, Purpose>,
    tickets: FxHashMap<Ticket, CallId>,
}

/// The reasons for the end of a run.
#[derive(Default)]
struct Ending {
    stopped: bool,
    /// Reason for the end of the session.
    closed: Option<CloseReason>,
    /// Reason why the session could not be opened.
    fault: Option<OpeningFault>,
    /// Description of why the server is considered dead although the session did not end by itself.
    gone: Option<String>,
}

/// The lists of the server, and their pending readings.
#[derive(Default)]
struct Lists {
    /// Catalog shared with the owner. Copied on write.
    catalog: Arc<Catalog>,
    /// Lists that the server offers according to its capabilities.
    offered: Vec<List>,
    changed: Vec<List>,
    last_read: FxHashMap<List, Instant>,
    refreshes: Refreshes,
}

/// Reports that are forwarded at the next tick.
#[derive(Default)]
struct Gathered {
    progress: FxHashMap<Ticket, Progress>,
    tasks: FxHashMap<Ticket, TaskView>,
    updated: HashSet<String>,
    /// Number of the last activity entry that the owner was notified of.
    told_activity: u64,
}

/// The result of an attempt to run the server.
enum Ended {
    For(Option<Failure>),
    /// The server exited on the probe for the newest revision. It has to be started again with the older handshake.
    OnProbe,
}

/// Runs the server until it has ended, and returns the failure, or `None` if it was stopped.
pub(super) async fn run(
    mut start: Box<Start>,
    mut told: mpsc::Receiver<Box<Tell>>,
    owner: &WeakOwner,
) -> Option<Failure> {
    loop {
        match attempt(&start, &mut told, owner).await {
            Ended::For(failure) => return failure,
            Ended::OnProbe => {
                note(&start.activity, "it exited on the probe for 2026-07-28; starting it again with initialize");
                start.session.opening = Opening::Initialize;
            }
        }
    }
}

async fn attempt(start: &Start, told: &mut mpsc::Receiver<Box<Tell>>, owner: &WeakOwner) -> Ended {
    // Boxed, like the rest: one-time work must not enlarge the future of the connection for its whole lifetime.
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
        if self.inbox.came.is_none()
            && !self.inbox.is_closed
            && let Poll::Ready(came) = self.inbox.receiver.poll_recv(context)
        {
            self.inbox.is_closed = came.is_none();
            self.inbox.came = came;
            return Poll::Ready(());
        }
        if self.inbox.came.is_some() {
            return Poll::Ready(());
        }
        self.ticks.poll(context)
    }

    fn act(&mut self, session: &mut Control<'_>) {
        if self.inbox.is_closed && !self.ending.stopped {
            self.ending.stopped = true;
            session.stop();
        }
        let mut came = self.inbox.came.take();
        for _ in 0..COMMANDS_AT_ONCE {
            let Some(tell) = came else { break };
            self.told(*tell, session);
            came = self.inbox.receiver.try_recv().ok();
        }
        self.inbox.came = came;
        if self.ticks.is_due(Instant::now()) {
            self.tick(session);
        }
    }

    fn event(&mut self, event: DriverEvent, session: &mut Control<'_>) {
        self.driver_event(event, session);
    }

    /// The owner processes each report immediately, so only a flooding server is slowed down, and not while it is being
    /// stopped.
    fn has_room(&mut self, _: usize) -> bool {
        let is_over = self.ending.stopped || self.ending.closed.is_some();
        is_over || !self.usage.is_slowed()
    }
}

impl<'a> Run<'a> {
    fn new(start: &'a Start, told: &'a mut mpsc::Receiver<Box<Tell>>, owner: &'a WeakOwner) -> Self {
        Self {
            id: start.run,
            owner,
            start,
            inbox: Inbox { receiver: told, came: None, is_closed: false },
            activity: Arc::clone(&start.activity),
            calls: Calls::default(),
            questions: Questions::new(&start.limits),
            usage: Usage::new(&start.limits, Arc::clone(&start.used)),
            ending: Ending::default(),
            lists: Lists::default(),
            gathered: Gathered::default(),
            ticks: Ticks::new(),
            ready: false,
        }
    }

    /// Returns the result once the server and its processes have ended. Pending reports are forwarded first.
    async fn ended(mut self: Box<Self>, stderr: &StderrRing) -> Ended {
        self.gather();
        if self.ending.fault == Some(OpeningFault::ExitedOnProbe)
            && !self.ending.stopped
            && self.start.session.opening == Opening::Probe
        {
            return Ended::OnProbe;
        }
        let reason = self.ending.closed.unwrap_or(CloseReason::ServerClosedOutput);
        if let Some(cause) = self.ending.gone.filter(|_| !self.ending.stopped) {
            return Ended::For(Some(Failure::new(FailureReason::NoAnswer, cause)));
        }
        let remote = matches!(self.start.target.get(), Target::Url(_));
        let stderr = stderr.last_lines(outcome::STDERR_LINES);
        let failure = outcome::closed(&reason, self.ending.fault, self.ready, remote, stderr);
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
                        self.ticks.soon();
                    }
                    self.tell_owner(News::Done { ticket, result: Box::new(Err(error)) });
                }
            }
            Tell::Cancel { ticket } => {
                if let Some(call) = self.calls.tickets.get(&ticket) {
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
                self.ending.stopped = true;
                session.stop();
            }
        }
    }

    /// Handles a failed ping.
    fn is_gone(&mut self, error: &CallError, session: &mut Control<'_>) {
        if matches!(error, CallError::TooManyCalls | CallError::NotReady | CallError::Server(_)) {
            return;
        }
        self.ending.gone.get_or_insert_with(|| format!("it did not answer after the computer slept: {error}"));
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
            self.calls.tickets.insert(*ticket, call);
        }
        self.calls.purposes.insert(call, purpose);
        Ok(())
    }

    fn answer(&mut self, request: ServerRequestId, answer: Answer, session: &mut Control<'_>) {
        self.questions.close(request);
        session.answer(request, answer);
    }

    fn done(&mut self, call: CallId, result: Result<ServerResult, CallError>, session: &mut Control<'_>) {
        let result = result.map_err(|error| redacted::error(&self.activity, error));
        match self.calls.purposes.remove(&call) {
            Some(Purpose::Ticket(ticket)) => {
                self.calls.tickets.remove(&ticket);
                // The latest progress is forwarded before the result instead of being dropped.
                if let Some(task) = self.gathered.tasks.remove(&ticket) {
                    self.tell_owner(News::Task { ticket, task });
                }
                if let Some(progress) = self.gathered.progress.remove(&ticket) {
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
        self.ticks.soon();
    }

    /// Forwards the gathered reports, and reads the lists that changed.
    fn tick(&mut self, session: &mut Control<'_>) {
        self.gather();
        if self.ready {
            self.read_changed_lists(session);
        }
    }

    /// Forwards the gathered reports.
    fn gather(&mut self) {
        self.ticks.clear();
        if let Some(pause) = self.usage.pause() {
            self.ticks.at(Instant::now() + pause);
        }
        let (last, kept, dropped) = {
            let activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
            (activity.last(), activity.kept(), activity.dropped())
        };
        self.usage.show(self.calls.tickets.len(), self.questions.count(), kept, dropped);
        if last > self.gathered.told_activity {
            self.gathered.told_activity = last;
            self.tell_owner(News::Activity { last });
        }
        if let Some(refused) = self.questions.refused_to_pass_on() {
            self.tell_owner(News::RefusedUnseen { refused });
        }
        for (ticket, task) in std::mem::take(&mut self.gathered.tasks) {
            self.tell_owner(News::Task { ticket, task });
        }
        for (ticket, progress) in std::mem::take(&mut self.gathered.progress) {
            self.tell_owner(News::Progress { ticket, progress });
        }
        for uri in std::mem::take(&mut self.gathered.updated) {
            self.tell_owner(News::ResourceUpdated { uri });
        }
    }
}
