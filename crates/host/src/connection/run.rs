//! The task itself.

mod lists;

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_proto::session::{
    Answer, CallError, CallId, CancelReason, ClientRequest, CloseReason, Deadline, Opening, OpeningFault,
    ServerQuestion, ServerRequestId, ServerResult, SessionEvent, TaskView,
};
use mcp_proto::types::{ElicitAction, ElicitResult};
use mcp_transport::driver::{DriverCommand, DriverEvent};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::link::Link;
use super::refresh::Refreshes;
use super::{MAX_QUESTIONS, News, RunId, Start, Target, Tell, Ticket, outcome};
use crate::activity::{Activity, ActivityKind};
use crate::catalog::{Catalog, List, Reading};
use crate::url_parts::shown_url;
use crate::view::{Failure, FailureReason, Progress};

/// How often activity, progress and changed resources are passed on.
const TICK: Duration = Duration::from_millis(50);
/// How long a list that was just read is not read again, however often the server says that it changed.
const REREAD: Duration = Duration::from_secs(1);
/// The most events of the driver that wait here; then the server is not read any further.
const MAX_EVENTS: usize = 64;
/// How many events are handled before commands are looked at again.
const EVENTS_AT_ONCE: usize = 64;
/// The most changed resources that are passed on at a tick.
const MAX_UPDATED: usize = 50;
/// How long a server may take to show that it lives.
const PING: Duration = Duration::from_secs(10);
/// How many questions a server may ask in a row, and how many more each second. Beyond that they are refused unseen: each
/// one costs the owner and the audit log something, also when a rule answers it.
const QUESTIONS_AT_ONCE: f64 = 30.0;
const QUESTIONS_PER_SECOND: f64 = 3.0;

/// What a call of the session is for.
enum Purpose {
    Ticket(Ticket),
    Page(Box<Reading>),
    /// Whether it is still there.
    Ping,
}

/// Brings the id of a call, or why it was not sent.
type Name = oneshot::Receiver<Result<CallId, CallError>>;

struct Run<'a> {
    id: RunId,
    link: Link,
    events: mpsc::Receiver<DriverEvent>,
    /// Calls that were handed to the driver and whose ids it has not told yet, in order.
    unnamed: VecDeque<(Purpose, Name)>,
    /// Events that came while all ids were awaited.
    waiting: VecDeque<DriverEvent>,
    news: &'a mpsc::Sender<(RunId, News)>,
    activity: Arc<Mutex<Activity>>,
    start: &'a Start,
    calls: HashMap<CallId, Purpose>,
    tickets: HashMap<Ticket, CallId>,
    questions: HashSet<ServerRequestId>,
    /// How many questions it may still ask now, and since when that is.
    may_ask: (f64, Instant),
    refused: u64,
    stopped: bool,
    /// Shared with the owner; changed in a copy.
    catalog: Arc<Catalog>,
    /// The lists the server has, by its capabilities.
    offered: Vec<List>,
    changed_lists: Vec<List>,
    last_read: HashMap<List, Instant>,
    refreshes: Refreshes,
    progress: HashMap<Ticket, Progress>,
    tasks: HashMap<Ticket, TaskView>,
    /// Why it counts as gone though it did not say so.
    gone: Option<String>,
    updated: HashSet<String>,
    told_activity: u64,
    next_tick: Option<Instant>,
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
    mut start: Start,
    mut told: mpsc::Receiver<Tell>,
    news: &mpsc::Sender<(RunId, News)>,
) -> Option<Failure> {
    loop {
        match attempt(&start, &mut told, news).await {
            Ended::For(failure) => return failure,
            Ended::OnProbe => {
                note(&start.activity, "it ended on the probe for 2026-07-28; starting it again with initialize");
                start.session.opening = Opening::Initialize;
            }
        }
    }
}

async fn attempt(start: &Start, told: &mut mpsc::Receiver<Tell>, news: &mpsc::Sender<(RunId, News)>) -> Ended {
    let (events, received) = mpsc::channel(MAX_EVENTS);
    let link = match Link::start(&start.target, start.session.clone(), events).await {
        Ok(link) => link,
        Err(failure) => {
            note(&start.activity, &failure.message);
            return Ended::For(Some(failure));
        }
    };
    let started = match (&link, &start.target) {
        (Link::Process(driver), Target::Process { program, .. }) => {
            note(&start.activity, &format!("started {} as process {}", program.display(), driver.process.pid));
            Some(News::Started { pid: driver.process.pid, record: driver.process.record() })
        }
        (_, Target::Url(target)) => {
            note(&start.activity, &format!("connecting to {}", shown_url(&target.url)));
            None
        }
        _ => None,
    };
    let mut run = Run {
        id: start.run,
        link,
        events: received,
        unnamed: VecDeque::new(),
        waiting: VecDeque::new(),
        news,
        activity: Arc::clone(&start.activity),
        start,
        calls: HashMap::new(),
        tickets: HashMap::new(),
        questions: HashSet::new(),
        may_ask: (QUESTIONS_AT_ONCE, Instant::now()),
        refused: 0,
        stopped: false,
        catalog: Arc::default(),
        offered: Vec::new(),
        changed_lists: Vec::new(),
        last_read: HashMap::new(),
        refreshes: Refreshes::default(),
        progress: HashMap::new(),
        tasks: HashMap::new(),
        gone: None,
        updated: HashSet::new(),
        told_activity: 0,
        next_tick: None,
        soon: false,
        ready: false,
    };
    if let Some(started) = started {
        run.tell_owner(started).await;
    }
    run.until_closed(told).await
}

fn note(activity: &Mutex<Activity>, text: &str) {
    activity.lock().unwrap_or_else(PoisonError::into_inner).line(ActivityKind::State, text);
}

impl Run<'_> {
    async fn until_closed(&mut self, told: &mut mpsc::Receiver<Tell>) -> Ended {
        let mut closed = None;
        let mut fault = None;
        let mut owner_gone = false;
        // Made once: there is one in every round, and it is set at every tick only.
        let mut alarm = pin!(tokio::time::sleep(TICK));
        'driver: loop {
            let event = if let Some(event) = self.waiting.pop_front() {
                Some(event)
            } else {
                if let Some(tick) = self.next_tick.filter(|tick| *tick != alarm.deadline()) {
                    alarm.as_mut().reset(tick);
                }
                tokio::select! {
                    biased;
                    tell = told.recv(), if !owner_gone => {
                        match tell {
                            Some(tell) => self.told(tell).await,
                            None => {
                                owner_gone = true;
                                self.stopped = true;
                                let _ = self.link.commands().send(DriverCommand::Stop).await;
                            }
                        }
                        continue;
                    }
                    () = alarm.as_mut(), if self.next_tick.is_some() => {
                        self.tick().await;
                        continue;
                    }
                    name = first(&mut self.unnamed) => {
                        self.name_first(name).await;
                        continue;
                    }
                    event = self.events.recv() => event,
                }
            };
            let mut next = event;
            // Those that are there already are taken without another round of the loop.
            let mut handled = 0;
            loop {
                self.take_names().await;
                match next {
                    Some(DriverEvent::Session(SessionEvent::Closed(reason))) => {
                        note(&self.activity, &reason.to_string());
                        closed = Some(reason);
                    }
                    Some(DriverEvent::Session(SessionEvent::OpeningFailed { cause, fault: how })) => {
                        fault = Some(how);
                        note(&self.activity, &cause);
                        closed.get_or_insert(CloseReason::OpeningFailed(cause));
                    }
                    Some(event) => self.event(event).await,
                    // The driver is done: the process and its whole group are gone.
                    None => break 'driver,
                }
                handled += 1;
                if handled == EVENTS_AT_ONCE || !self.waiting.is_empty() {
                    break;
                }
                next = match self.events.try_recv() {
                    Ok(event) => Some(event),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => None,
                };
            }
        }
        self.tick().await;
        if fault == Some(OpeningFault::ExitedOnProbe) && !self.stopped && self.start.session.opening == Opening::Probe {
            return Ended::OnProbe;
        }
        let reason = closed.unwrap_or(CloseReason::ServerClosedOutput);
        if let Some(cause) = self.gone.take().filter(|_| !self.stopped) {
            return Ended::For(Some(Failure::new(FailureReason::NoAnswer, cause)));
        }
        let remote = matches!(self.link, Link::Url(_));
        let stderr = self.link.stderr(outcome::STDERR_LINES);
        Ended::For(outcome::closed(&reason, fault, self.ready, remote, stderr))
    }

    async fn tell_owner(&self, news: News) {
        // The owner only goes away when the host ends; then nobody needs the news.
        let _ = self.news.send((self.id, news)).await;
    }

    async fn told(&mut self, tell: Tell) {
        match tell {
            Tell::Call { ticket, request, deadline } => {
                if let Err(error) = self.call(Purpose::Ticket(ticket), request, deadline).await {
                    self.tell_owner(News::Done { ticket, result: Box::new(Err(error)) }).await;
                }
            }
            Tell::Cancel { ticket } => {
                self.all_named().await;
                if let Some(call) = self.tickets.get(&ticket) {
                    let command = DriverCommand::Cancel { call: *call, reason: CancelReason::User };
                    let _ = self.link.commands().send(command).await;
                }
            }
            Tell::Answer { request, answer } => self.answer(request, answer).await,
            Tell::Notify(notification) => {
                let _ = self.link.commands().send(DriverCommand::Notify(notification)).await;
            }
            Tell::Refresh { kind, reply } => self.refresh(kind, reply).await,
            Tell::ReadStale => self.read_stale().await,
            Tell::Ping => {
                let deadline = Deadline { idle: PING, total: PING };
                if let Err(error) = self.call(Purpose::Ping, ClientRequest::Ping, deadline).await {
                    self.is_gone(&error).await;
                }
            }
            Tell::Stop => {
                self.stopped = true;
                let _ = self.link.commands().send(DriverCommand::Stop).await;
            }
        }
    }

    /// It does not show that it lives.
    async fn is_gone(&mut self, error: &CallError) {
        if matches!(error, CallError::TooManyCalls | CallError::NotReady | CallError::Server(_)) {
            return;
        }
        self.gone.get_or_insert_with(|| format!("it did not answer after the computer slept: {error}"));
        let _ = self.link.commands().send(DriverCommand::Stop).await;
    }

    /// Hands a call to the driver. How it ends, also that it could not be sent, comes to [`Run::ended`] later.
    async fn call(&mut self, purpose: Purpose, request: ClientRequest, deadline: Deadline) -> Result<(), CallError> {
        let (reply, name) = oneshot::channel();
        let command = DriverCommand::Call { request, deadline, reply };
        self.link.commands().send(command).await.map_err(|_| gone())?;
        self.unnamed.push_back((purpose, name));
        Ok(())
    }

    /// Takes the ids that were told. The driver tells the id of a call before anything that happens to it.
    async fn take_names(&mut self) {
        while let Some((_, name)) = self.unnamed.front_mut() {
            match name.try_recv() {
                Ok(name) => self.name_first(name).await,
                Err(oneshot::error::TryRecvError::Empty) => return,
                Err(oneshot::error::TryRecvError::Closed) => self.name_first(Err(gone())).await,
            }
        }
    }

    /// Waits until all calls have their ids. The driver may be waiting to hand over an event before it takes a command.
    async fn all_named(&mut self) {
        while !self.unnamed.is_empty() {
            tokio::select! {
                biased;
                name = first(&mut self.unnamed) => self.name_first(name).await,
                event = self.events.recv() => match event {
                    Some(event) => self.waiting.push_back(event),
                    None => return,
                },
            }
        }
    }

    async fn name_first(&mut self, name: Result<CallId, CallError>) {
        let Some((purpose, _)) = self.unnamed.pop_front() else { return };
        match name {
            Ok(call) => {
                if let Purpose::Ticket(ticket) = &purpose {
                    self.tickets.insert(*ticket, call);
                }
                self.calls.insert(call, purpose);
            }
            Err(error) => self.ended(Some(purpose), Err(error)).await,
        }
    }

    async fn answer(&mut self, request: ServerRequestId, answer: Answer) {
        self.questions.remove(&request);
        let _ = self.link.commands().send(DriverCommand::Answer { request, answer }).await;
    }

    async fn event(&mut self, event: DriverEvent) {
        match event {
            DriverEvent::Frame(frame) => {
                self.with_activity(|a| a.frame(frame));
            }
            DriverEvent::Stderr { line } => self.with_activity(|a| a.line(ActivityKind::Stderr, &line)),
            DriverEvent::Connected { transport, how } => {
                self.with_activity(|a| a.line(ActivityKind::State, &format!("connected over {transport}: {how}")));
                self.tell_owner(News::Connected { transport, how }).await;
            }
            DriverEvent::Note { line } => self.with_activity(|a| a.line(ActivityKind::State, &line)),
            DriverEvent::StderrDropped { bytes } => {
                self.with_activity(|a| {
                    a.line(ActivityKind::Stderr, &format!("({bytes} bytes of standard error were left out)"))
                });
            }
            DriverEvent::Session(event) => self.session_event(event).await,
            DriverEvent::InvalidDropped { lines, bytes, anomalies } => {
                let words =
                    format!("{lines} more lines ({bytes} bytes) and {anomalies} more faults came too fast to be shown");
                self.with_activity(|a| a.anomaly(&words, None));
            }
            DriverEvent::Exited { status, signal } => {
                let words = match (status, signal) {
                    (Some(status), _) => format!("its process ended with exit status {status}"),
                    (None, Some(signal)) => format!("its process was ended by signal {signal}"),
                    (None, None) => "its process ended".to_owned(),
                };
                self.with_activity(|a| a.line(ActivityKind::State, &words));
            }
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

    async fn session_event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Ready(facts) => {
                self.ready = true;
                note(&self.activity, &format!("ready, speaking {}", facts.revision));
                self.offered = List::ALL.into_iter().filter(|list| list.offered(&facts.capabilities)).collect();
                self.changed_lists.clone_from(&self.offered);
                self.tell_owner(News::Ready(facts)).await;
                if self.offered.is_empty() {
                    Arc::make_mut(&mut self.catalog).is_read = true;
                    self.tell_owner(News::Catalog(Arc::clone(&self.catalog))).await;
                }
                self.tick().await;
            }
            SessionEvent::Asked { request, call, question } => self.asked(request, call, question).await,
            SessionEvent::Withdrawn { request, .. } => {
                if self.questions.remove(&request) {
                    self.tell_owner(News::Withdrawn { request }).await;
                }
            }
            SessionEvent::Progress { call, count, progress, total, message } => {
                if let Some(Purpose::Ticket(ticket)) = self.calls.get(&call) {
                    self.progress.insert(*ticket, Progress { count, progress, total, message });
                    self.tick_soon();
                }
            }
            SessionEvent::Done { call, result } => self.done(call, result).await,
            SessionEvent::ListChanged(kind) => {
                for list in lists::lists_of(kind) {
                    if !self.changed_lists.contains(list) {
                        self.changed_lists.push(*list);
                    }
                }
                self.tick_soon();
            }
            SessionEvent::ResourceUpdated { uri } => {
                if self.updated.len() < MAX_UPDATED {
                    self.updated.insert(uri);
                }
                self.tick_soon();
            }
            SessionEvent::Log { message, .. } => self.with_activity(|a| a.log(&message)),
            SessionEvent::Anomaly { cause, id } => {
                self.with_activity(|a| a.anomaly(&cause, id.map(|id| id.to_string())))
            }
            SessionEvent::SubscriptionsLost { cause } => {
                note(&self.activity, &format!("change notifications stopped and are asked for again: {cause}"));
                self.tell_owner(News::Listening { lost: Some(cause) }).await;
            }
            SessionEvent::SubscriptionsRenewed => {
                note(&self.activity, "change notifications come again");
                self.tell_owner(News::Listening { lost: None }).await;
                // What changed in between was not told.
                self.read_all_again();
            }
            SessionEvent::Reopened(facts) => {
                note(&self.activity, "the server forgot the session; a new one was opened");
                self.offered = List::ALL.into_iter().filter(|list| list.offered(&facts.capabilities)).collect();
                self.tell_owner(News::Reopened(facts)).await;
                self.read_all_again();
            }
            SessionEvent::ItemsDropped { list, items } => self.items_dropped(list, items),
            SessionEvent::TaskChanged { call, task } => {
                if let Some(Purpose::Ticket(ticket)) = self.calls.get(&call) {
                    self.tasks.insert(*ticket, task);
                    self.tick_soon();
                }
            }
            SessionEvent::ElicitationComplete { .. } | SessionEvent::OpeningFailed { .. } | SessionEvent::Closed(_) => {
            }
        }
    }

    async fn asked(&mut self, request: ServerRequestId, call: Option<CallId>, question: ServerQuestion) {
        if self.questions.len() >= MAX_QUESTIONS || !self.may_ask() {
            self.refused += 1;
            let refused = self.refused;
            if refused.is_power_of_two() {
                self.with_activity(|a| {
                    a.anomaly(&format!("it asks too much at once: {refused} questions were refused unseen"), None)
                });
            }
            let answer = match question {
                ServerQuestion::Elicitation(_) => {
                    Answer::Elicitation(ElicitResult { action: ElicitAction::Cancel, content: None })
                }
                ServerQuestion::Sampling(_) | ServerQuestion::Roots => {
                    Answer::Refused { code: -1, message: "too many questions at once".into() }
                }
            };
            self.answer(request, answer).await;
            return;
        }
        self.questions.insert(request);
        let ticket = call.and_then(|call| match self.calls.get(&call) {
            Some(Purpose::Ticket(ticket)) => Some(*ticket),
            _ => None,
        });
        self.tell_owner(News::Asked { request, ticket, question: Box::new(question) }).await;
    }

    fn may_ask(&mut self) -> bool {
        let (left, since) = self.may_ask;
        let now = Instant::now();
        let left = (left + now.duration_since(since).as_secs_f64() * QUESTIONS_PER_SECOND).min(QUESTIONS_AT_ONCE);
        let may = left >= 1.0;
        self.may_ask = (if may { left - 1.0 } else { left }, now);
        may
    }

    async fn done(&mut self, call: CallId, result: Result<ServerResult, CallError>) {
        let purpose = self.calls.remove(&call);
        self.ended(purpose, result).await;
    }

    async fn ended(&mut self, purpose: Option<Purpose>, result: Result<ServerResult, CallError>) {
        match purpose {
            Some(Purpose::Ticket(ticket)) => {
                self.tickets.remove(&ticket);
                // How far it came is told before its end, not left out.
                if let Some(task) = self.tasks.remove(&ticket) {
                    self.tell_owner(News::Task { ticket, task }).await;
                }
                if let Some(progress) = self.progress.remove(&ticket) {
                    self.tell_owner(News::Progress { ticket, progress }).await;
                }
                self.tell_owner(News::Done { ticket, result: Box::new(result) }).await;
            }
            Some(Purpose::Page(reading)) => self.page(*reading, result).await,
            Some(Purpose::Ping) => {
                if let Err(error) = result {
                    self.is_gone(&error).await;
                }
            }
            None => {}
        }
    }

    /// Passes on what has gathered, and reads the lists that changed.
    async fn tick(&mut self) {
        self.next_tick = None;
        self.soon = false;
        let last = self.activity.lock().unwrap_or_else(PoisonError::into_inner).last();
        if last > self.told_activity {
            self.told_activity = last;
            self.tell_owner(News::Activity { last }).await;
        }
        for (ticket, task) in std::mem::take(&mut self.tasks) {
            self.tell_owner(News::Task { ticket, task }).await;
        }
        for (ticket, progress) in std::mem::take(&mut self.progress) {
            self.tell_owner(News::Progress { ticket, progress }).await;
        }
        for uri in std::mem::take(&mut self.updated) {
            self.tell_owner(News::ResourceUpdated { uri }).await;
        }
        if self.ready {
            self.read_changed_lists().await;
        }
    }
}

const fn gone() -> CallError {
    CallError::Closed(CloseReason::ServerClosedOutput)
}

/// The id of the first call that has none. Never ends if there is no such call.
async fn first(unnamed: &mut VecDeque<(Purpose, Name)>) -> Result<CallId, CallError> {
    match unnamed.front_mut() {
        Some((_, name)) => name.await.unwrap_or_else(|_| Err(gone())),
        None => std::future::pending().await,
    }
}
