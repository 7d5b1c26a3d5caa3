//! One run of a server, as the session owner: executes commands from the host's owner on the session, maintains the
//! server's catalog, and forwards reports to the host's owner.

mod events;
mod lists;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use domain::call::CallProgress;
use host_state::{PendingRefreshes, TickTimer, redact_error, redact_failure};
use mcp_proto::session::{
    CallDeadline, CallError, CallId, CancelReason, ClientRequest, ClientResponse, CloseReason, HandshakeFault,
    HandshakeMode, ServerRequestId, ServerResult, TaskState,
};
use mcp_transport::driver::{DriverEvent, SessionControl, SessionOwner};
use mcp_transport::stdio::StderrRing;
use offers::catalog::{CatalogListKind, CatalogListReader, ServerCatalog};
use ports::url_parts::redacted_url;
use rustc_hash::FxHashMap;
use supervision::activity::{ActivityKind, ActivityLog, SharedActivityLog};
use supervision::request_quota::ServerRequestQuota;
use supervision::usage_counter::UsageCounter;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::server_link::{self, ServerLink};
use super::{CallTicket, ConnectionCommand, ConnectionEvent, ConnectionStart, ConnectionTarget, RunId, failures};
use crate::owner::WeakOwner;
use crate::view::{FailureReason, ServerFailure};

/// Minimum interval between two reads of the same list, even if the server reports changes more often.
const MIN_REREAD_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of commands that are executed before other events are handled.
const MAX_COMMANDS_PER_POLL: usize = 64;
/// Timeout of a ping to the server.
pub(crate) const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// The purpose of a request that the session sends.
enum CallPurpose {
    Ticket(CallTicket),
    Page(Box<CatalogListReader>),
    /// A ping, to check that the server responds.
    Ping,
}

/// State of the task that runs a server once, from the start of its process or connection to its end.
struct SessionRun<'a> {
    id: RunId,
    owner: &'a WeakOwner,
    start: &'a ConnectionStart,
    inbox: CommandInbox<'a>,
    activity: SharedActivityLog,
    calls: ActiveCalls,
    request_quota: ServerRequestQuota,
    usage: UsageCounter,
    ending: RunEndReasons,
    lists: ServerLists,
    gathered: CoalescedEvents,
    ticks: TickTimer,
    ready: bool,
}

/// Channel of commands from the host's owner, with one command of lookahead.
struct CommandInbox<'a> {
    receiver: &'a mut mpsc::Receiver<Box<ConnectionCommand>>,
    /// Command that was received from the channel, but not executed yet.
    next: Option<Box<ConnectionCommand>>,
    /// Set once all senders of commands are dropped.
    is_closed: bool,
}

/// Requests to the server that are in progress.
#[derive(Default)]
struct ActiveCalls {
    purposes: FxHashMap<CallId, CallPurpose>,
    tickets: FxHashMap<CallTicket, CallId>,
}

/// Reasons why a run of the server has ended, as far as known.
#[derive(Default)]
struct RunEndReasons {
    stopped: bool,
    /// Reason for the end of the session, or `None` while it is open.
    closed: Option<CloseReason>,
    /// Reason why the session could not be opened.
    fault: Option<HandshakeFault>,
    /// Reason why the server is considered dead although its session did not end, such as a failed ping.
    unresponsive: Option<String>,
}

/// Lists of the server, such as its tools, and the requested reads of these lists.
#[derive(Default)]
struct ServerLists {
    /// Catalog of the server, shared with the owner. Copied on write.
    catalog: Arc<ServerCatalog>,
    /// Lists that the server supports according to its capabilities.
    offered: Vec<CatalogListKind>,
    changed: Vec<CatalogListKind>,
    last_read: FxHashMap<CatalogListKind, Instant>,
    refreshes: PendingRefreshes,
}

/// Reports to the owner that are gathered, and forwarded together every 50 ms.
#[derive(Default)]
struct CoalescedEvents {
    progress: FxHashMap<CallTicket, CallProgress>,
    tasks: FxHashMap<CallTicket, TaskState>,
    updated: HashSet<String>,
    /// Number of the latest activity entry that was reported to the owner.
    reported_activity: u64,
}

/// The result of an attempt to run the server with the current or the older kind of handshake.
enum ConnectionAttemptEnd {
    Finished(Option<ServerFailure>),
    /// The server exited when it received the probe for the newest protocol revision, so it has to be started again
    /// with the older handshake.
    OnProbe,
}

/// Runs the server until it has ended. Returns the failure, or `None` if it was stopped.
pub(super) async fn run_connection(
    mut start: Box<ConnectionStart>,
    mut commands: mpsc::Receiver<Box<ConnectionCommand>>,
    owner: &WeakOwner,
) -> Option<ServerFailure> {
    loop {
        match run_connection_attempt(&start, &mut commands, owner).await {
            ConnectionAttemptEnd::Finished(failure) => return failure,
            ConnectionAttemptEnd::OnProbe => {
                log_line(&start.activity, "it exited on the probe for 2026-07-28; starting it again with initialize");
                start.session.handshake = HandshakeMode::Initialize;
            }
        }
    }
}

async fn run_connection_attempt(
    start: &ConnectionStart,
    commands: &mut mpsc::Receiver<Box<ConnectionCommand>>,
    owner: &WeakOwner,
) -> ConnectionAttemptEnd {
    // Boxed like the following futures: work that is done once must not enlarge the connection's future forever.
    let link = match Box::pin(ServerLink::spawn_or_parse_target(start.target.get())).await {
        Ok(link) => link,
        Err(failure) => {
            log_line(&start.activity, &failure.message);
            return ConnectionAttemptEnd::Finished(Some(failure));
        }
    };
    let mut run = Box::new(SessionRun::new(start, commands, owner));
    match (&link, start.target.get()) {
        (ServerLink::Process(process), ConnectionTarget::Process { program, .. }) => {
            let spawned = process.spawned();
            start.used.lock().unwrap_or_else(PoisonError::into_inner).meter = process.resource_meter();
            log_line(&start.activity, &format!("started {} as process {}", program.display(), spawned.pid));
            run.send_event(ConnectionEvent::Started { pid: spawned.pid, record: spawned.record() });
        }
        (_, ConnectionTarget::Url(target)) => {
            log_line(&start.activity, &format!("connecting to {}", redacted_url(&target.url)))
        }
        _ => {}
    }
    let stderr = StderrRing::default();
    server_link::drive(link, start.session.clone(), stderr.clone(), &mut *run, &start.limits).await;
    Box::pin(run.into_attempt_end(&stderr)).await
}

fn log_line(activity: &SharedActivityLog, text: &str) {
    activity.lock().append_line(ActivityKind::State, text);
}

impl SessionOwner for SessionRun<'_> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.inbox.next.is_none()
            && !self.inbox.is_closed
            && let Poll::Ready(command) = self.inbox.receiver.poll_recv(context)
        {
            self.inbox.is_closed = command.is_none();
            self.inbox.next = command;
            return Poll::Ready(());
        }
        if self.inbox.next.is_some() {
            return Poll::Ready(());
        }
        self.ticks.poll(context)
    }

    fn process_ready(&mut self, session: &mut SessionControl<'_>) {
        if self.inbox.is_closed && !self.ending.stopped {
            self.ending.stopped = true;
            session.stop();
        }
        let mut next = self.inbox.next.take();
        for _ in 0..MAX_COMMANDS_PER_POLL {
            let Some(command) = next else { break };
            self.run_command(*command, session);
            next = self.inbox.receiver.try_recv().ok();
        }
        self.inbox.next = next;
        if self.ticks.is_due(Instant::now()) {
            self.on_tick(session);
        }
    }

    fn handle_event(&mut self, event: DriverEvent, session: &mut SessionControl<'_>) {
        self.on_driver_event(event, session);
    }

    /// Returns `false`, so that the driver stops reading, only while the server exceeds its limit of bytes per minute
    /// and its session is not ending. Reports never have to wait, since the owner handles each of them immediately.
    fn has_room(&mut self, _: usize) -> bool {
        let is_over = self.ending.stopped || self.ending.closed.is_some();
        is_over || !self.usage.must_slow_reading()
    }
}

impl<'a> SessionRun<'a> {
    fn new(
        start: &'a ConnectionStart,
        commands: &'a mut mpsc::Receiver<Box<ConnectionCommand>>,
        owner: &'a WeakOwner,
    ) -> Self {
        Self {
            id: start.run,
            owner,
            start,
            inbox: CommandInbox { receiver: commands, next: None, is_closed: false },
            activity: start.activity.clone(),
            calls: ActiveCalls::default(),
            request_quota: ServerRequestQuota::new(&start.limits),
            usage: UsageCounter::new(&start.limits, Arc::clone(&start.used)),
            ending: RunEndReasons::default(),
            lists: ServerLists::default(),
            gathered: CoalescedEvents::default(),
            ticks: TickTimer::new(),
            ready: false,
        }
    }

    /// Forwards the gathered reports, and determines the attempt's result after the server has ended.
    async fn into_attempt_end(mut self: Box<Self>, stderr: &StderrRing) -> ConnectionAttemptEnd {
        self.forward_coalesced_events();
        if self.ending.fault == Some(HandshakeFault::ExitedOnProbe)
            && !self.ending.stopped
            && self.start.session.handshake == HandshakeMode::Probe
        {
            return ConnectionAttemptEnd::OnProbe;
        }
        let reason = self.ending.closed.unwrap_or(CloseReason::ServerClosedOutput);
        let remote = matches!(self.start.target.get(), ConnectionTarget::Url(_));
        let stderr = stderr.last_lines(failures::MAX_FAILURE_STDERR_LINES);
        let failure = match self.ending.unresponsive.filter(|_| !self.ending.stopped) {
            Some(cause) => Some(ServerFailure { stderr, ..ServerFailure::new(FailureReason::Unresponsive, cause) }),
            None => host_state::session_end_failure(&reason, self.ending.fault, self.ready, remote, stderr),
        };
        let failure = match failure {
            Some(failure) => Some(failures::with_blocked_paths(failure, self.start.target.get()).await),
            None => None,
        };
        ConnectionAttemptEnd::Finished(failure.map(|failure| redact_failure(&self.activity, failure)))
    }

    fn send_event(&self, event: ConnectionEvent) {
        event.deliver(self.owner, self.id);
    }

    fn run_command(&mut self, command: ConnectionCommand, session: &mut SessionControl<'_>) {
        match command {
            ConnectionCommand::Call { ticket, request, deadline } => {
                if let Err(error) = self.send_call(CallPurpose::Ticket(ticket), request.into_inner(), deadline, session)
                {
                    if matches!(error, CallError::TooManyCalls) {
                        self.usage.count_refused_call();
                        self.ticks.schedule_soon();
                    }
                    self.send_event(ConnectionEvent::Done { ticket, result: Box::new(Err(error)) });
                }
            }
            ConnectionCommand::Cancel { ticket } => {
                if let Some(call) = self.calls.tickets.get(&ticket) {
                    session.cancel(*call, CancelReason::User);
                }
            }
            ConnectionCommand::Answer { request, answer } => self.send_response(request, answer.into_inner(), session),
            ConnectionCommand::Notify(notification) => session.notify(notification),
            ConnectionCommand::Refresh { kind, reply } => self.refresh_lists(kind, reply, session),
            ConnectionCommand::ReadStale => self.read_stale_lists(session),
            ConnectionCommand::Ping => {
                let deadline = CallDeadline { idle: PING_TIMEOUT, total: PING_TIMEOUT };
                if let Err(error) = self.send_call(CallPurpose::Ping, ClientRequest::Ping, deadline, session) {
                    self.on_ping_failed(&error, session);
                }
            }
            ConnectionCommand::Stop => {
                self.ending.stopped = true;
                session.stop();
            }
        }
    }

    /// Ends the run after a failed ping, unless the error shows that the server is alive or the ping was not sent.
    fn on_ping_failed(&mut self, error: &CallError, session: &mut SessionControl<'_>) {
        if matches!(error, CallError::TooManyCalls | CallError::NotReady | CallError::Server(_)) {
            return;
        }
        self.ending.unresponsive.get_or_insert_with(|| format!("it did not answer after the computer slept: {error}"));
        if !session.is_ending() {
            session.stop_with_failure(match error {
                CallError::Timeout { after, .. } => CloseReason::Unresponsive(*after),
                other => CloseReason::ConnectionLost(other.to_string()),
            });
        }
    }

    fn send_call(
        &mut self,
        purpose: CallPurpose,
        request: ClientRequest,
        deadline: CallDeadline,
        session: &mut SessionControl<'_>,
    ) -> Result<(), CallError> {
        let call = session.call(request, deadline)?;
        if let CallPurpose::Ticket(ticket) = &purpose {
            self.calls.tickets.insert(*ticket, call);
        }
        self.calls.purposes.insert(call, purpose);
        Ok(())
    }

    fn send_response(&mut self, request: ServerRequestId, answer: ClientResponse, session: &mut SessionControl<'_>) {
        self.request_quota.remove(request);
        session.answer(request, answer);
    }

    fn on_call_done(
        &mut self,
        call: CallId,
        result: Result<ServerResult, CallError>,
        session: &mut SessionControl<'_>,
    ) {
        let result = result.map_err(|error| redact_error(&self.activity, error));
        match self.calls.purposes.remove(&call) {
            Some(CallPurpose::Ticket(ticket)) => {
                self.calls.tickets.remove(&ticket);
                // The latest progress is forwarded before the result, so that it is not dropped.
                if let Some(task) = self.gathered.tasks.remove(&ticket) {
                    self.send_event(ConnectionEvent::Task { ticket, task });
                }
                if let Some(progress) = self.gathered.progress.remove(&ticket) {
                    self.send_event(ConnectionEvent::Progress { ticket, progress });
                }
                self.send_event(ConnectionEvent::Done { ticket, result: Box::new(result) });
            }
            Some(CallPurpose::Page(reading)) => self.on_list_page(*reading, result, session),
            Some(CallPurpose::Ping) => {
                if let Err(error) = result {
                    self.on_ping_failed(&error, session);
                }
            }
            None => {}
        }
    }

    fn with_activity(&mut self, add: impl FnOnce(&mut ActivityLog)) {
        add(&mut self.activity.lock());
        self.ticks.schedule_soon();
    }

    /// Forwards the gathered reports, and starts to read the lists that changed. Called when the tick timer expires.
    fn on_tick(&mut self, session: &mut SessionControl<'_>) {
        self.forward_coalesced_events();
        if self.ready {
            self.read_changed_lists(session);
        }
    }

    /// Forwards the gathered reports to the owner.
    fn forward_coalesced_events(&mut self) {
        self.ticks.clear();
        if let Some(pause) = self.usage.pause_before_next_read() {
            self.ticks.schedule_by(Instant::now() + pause);
        }
        let (last, retained, dropped) = {
            let activity = self.activity.lock();
            (activity.latest_sequence(), activity.total_body_bytes(), activity.missing_count())
        };
        self.usage.update_displayed_usage(self.calls.tickets.len(), self.request_quota.pending(), retained, dropped);
        if last > self.gathered.reported_activity {
            self.gathered.reported_activity = last;
            self.send_event(ConnectionEvent::Activity { last });
        }
        if let Some(refused) = self.request_quota.take_refused_total_if_changed() {
            self.send_event(ConnectionEvent::RequestsRefused { refused });
        }
        for (ticket, task) in std::mem::take(&mut self.gathered.tasks) {
            self.send_event(ConnectionEvent::Task { ticket, task });
        }
        for (ticket, progress) in std::mem::take(&mut self.gathered.progress) {
            self.send_event(ConnectionEvent::Progress { ticket, progress });
        }
        for uri in std::mem::take(&mut self.gathered.updated) {
            self.send_event(ConnectionEvent::ResourceUpdated { uri });
        }
    }
}
