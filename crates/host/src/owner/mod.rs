//! The owner: all state of the host, behind one lock. Whoever has something for it takes a turn (`turn.rs`), in which nothing waits.
//! What takes time runs beside the turns and takes one when it is done.

mod answers;
mod approvals;
mod audit;
mod call_request;
mod calls;
mod changed;
mod confirmed;
mod conversation;
mod cool_down;
mod document_writer;
mod documents;
mod flow;
mod gate;
mod known;
mod launch_state;
mod links;
mod marks;
mod packages;
mod pins;
mod provenance;
mod providers;
mod questions;
mod read_calls;
mod reads;
mod results;
mod roots;
mod rules;
mod running;
mod sampling;
mod sandbox;
mod sandbox_home;
mod servers;
mod sessions;
mod settings;
mod sign_in;
mod starting;
mod supervision;
mod turn;
mod withdrawn;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use ::packages::LoadedPackage;
use ::supervision::activity::{Activity, Together};
use ::supervision::limits::Counted;
use credentials::vault::Vaults;
use domain::Millis;
use domain::question::QuestionId;
use indexmap::IndexMap;
use mcp_proto::session::Facts;
use mcp_proto::types::{LogLevel, SamplingCapability};
use offers::catalog::Catalog;
use offers::definitions::Definitions;
use offers::review::{KindNames, Pins, ServerPins};
use packages::ApprovedPackage;
use policy::{Grants, Hash, Policy};
use ports::server_config::{ConfigProblem, ServerConfig, StdioConfig};
use ports::{AuditReceipts, Document, DocumentSeal, Ports};
use process::orphans::RunningRecord;
use process::sandbox::Plan;
use process::{LaunchFiles, SearchPath};
use rustc_hash::{FxBuildHasher, FxHashMap};
use supervision::Supervision;
use tokio::sync::{broadcast, oneshot};

use crate::connection::{Connection, News, RunId, Ticket};
use crate::view::{AppSettings, Connected, HostEvent, ServerState, ServerView, Snapshot};
use crate::{HostOptions, NumberedEvent};

pub use answers::AnswerError;
pub(crate) use answers::real_folders;
use audit::{Audits, Decided};
pub use calls::Sent;
use calls::{CallRecord, TicketUse};
pub(crate) use calls::{CallReply, NewCall};
pub use conversation::ServerForModel;
use cool_down::Asking;
use document_writer::DocumentWriter;
pub use flow::FlowError;
pub(crate) use gate::{Passed, followed_link, open_page};
use known::Remembered;
use marks::Said;
pub use pins::{ReviewError, Seen};
use provenance::Labels;
pub use provenance::{CallOrigin, Label};
use providers::Providers;
use questions::Pending;
pub use reads::Read;
use reads::Reads;
pub use results::{ResultOrigin, ResultVerdict};
use roots::SharedRoots;
use rules::RuleFiles;
pub(crate) use running::sweep_orphans;
use sampling::Sampling;
pub use sampling::SamplingError;
pub use sandbox::NoPlan;
use sandbox::OwnFiles;
pub use servers::ServerError;
use sign_in::{Access, Answered};
pub(crate) use turn::{DeferredTurn, SharedOwner, WeakOwner};

/// A server, with all that is known of it.
pub(crate) struct ServerRecord {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) state: ServerState,
    pub(crate) since: Millis,
    pub(crate) connection: Option<Connection>,
    pub(crate) facts: Option<Facts>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) definitions: Definitions,
    /// The names of what was seen of it, made when they are needed.
    pinned_names: OnceLock<KindNames>,
    /// Over what was started or connected to.
    pub(crate) identity: Option<Hash>,
    /// What it says of itself, looked through.
    said: Said,
    pub(crate) activity: Arc<Mutex<Activity>>,
    pub(crate) subscriptions: Vec<String>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) pid: Option<u32>,
    /// Where its command was found, and how, between the approval's question and the start.
    pub(crate) found: Option<(PathBuf, SearchPath)>,
    /// What it reaches in its sandbox, if it has one, from when its command was found to its end.
    pub(crate) plan: Option<Plan>,
    /// The files that decide what it runs, as they were found.
    pub(crate) files: Option<LaunchFiles>,
    /// The command that runs, with the version of the package that it loads; from when it was found.
    command: Option<StdioConfig>,
    /// The package that its command loads, from when that was looked up.
    package: Option<LoadedPackage>,
    /// The start that is under way was asked for by the user.
    started_by_user: bool,
    /// How much it uses of what each server gets.
    pub(crate) used: Arc<Mutex<Counted>>,
    /// How a remote server was reached.
    pub(crate) connected: Option<Connected>,
    /// Why changes are not told at the moment.
    pub(crate) subscriptions_lost: Option<String>,
    /// What the user set up with a server that is being brought back: watched resources, and the level of its log.
    pub(crate) to_restore: (Vec<String>, Option<LogLevel>),
    supervision: Supervision,
    /// Whether to start it again once it has stopped.
    pub(crate) start_again: bool,
    /// What its session was told of sampling.
    sampling_offered: Option<SamplingCapability>,
    access: Access,
}

/// All state of the host.
pub(crate) struct Owner {
    ports: Ports,
    /// What is kept of the sign-ins.
    vaults: Arc<Vaults>,
    options: HostOptions,
    policy: Policy,
    /// Grows whenever something changes that calls are judged by: rules, approvals, definitions, what was seen of them.
    judgement: u64,
    servers: IndexMap<String, ServerRecord, FxBuildHasher>,
    /// How much is kept of the activity of all servers.
    kept: Together,
    runs: FxHashMap<RunId, String>,
    questions: Vec<Pending>,
    /// What waits for the answer to a question about signing in, by the question's number.
    sign_in_replies: FxHashMap<u64, oneshot::Sender<Answered>>,
    /// The results that wait for their review, by call.
    held_results: FxHashMap<String, results::HeldResult>,
    /// Who is told the outcome of an answer that is being carried out.
    answering: FxHashMap<QuestionId, answers::Reply>,
    calls: FxHashMap<Arc<str>, Box<CallRecord>>,
    tickets: FxHashMap<Ticket, TicketUse>,
    audits: Audits,
    pins: Pins,
    /// The pins and the roots as they stand in their files.
    kept_pins: Pins,
    kept_roots: BTreeMap<String, SharedRoots>,
    confirmed: confirmed::Confirmed,
    /// Whether the approvals wait for the keychain.
    awaits_seal: bool,
    labels: Labels,
    /// The providers of models.
    pub(crate) models: models::Registry,
    /// How they are set up, and what they list.
    providers: Providers,
    /// How servers ask, by name; only of those that were refused something.
    asking: BTreeMap<String, Asking>,
    roots: BTreeMap<String, SharedRoots>,
    flows: flow::Flows,
    /// The number of changes to them that are being written.
    flow_changes: usize,
    sampling: Sampling,
    rule_files: RuleFiles,
    known: BTreeMap<String, Remembered>,
    packages: BTreeMap<String, ApprovedPackage>,
    reads: Reads,
    running: FxHashMap<RunId, RunningRecord>,
    document_writer: DocumentWriter,
    own_files: OwnFiles,
    settings: AppSettings,
    settings_changes: settings::SettingsChanges,
    config_problem: Option<ConfigProblem>,
    /// Why a document that grants rights is not used.
    document_problem: Option<ConfigProblem>,
    search_path: Arc<tokio::sync::Mutex<Option<SearchPath>>>,
    next_id: u64,
    next_event: u64,
    events: broadcast::Sender<Arc<NumberedEvent>>,
    /// To come back from what runs beside the turns.
    back: WeakOwner,
    closing: Vec<oneshot::Sender<()>>,
    is_closing: bool,
}

impl Owner {
    pub(crate) fn new(
        ports: Ports,
        options: HostOptions,
        events: broadcast::Sender<Arc<NumberedEvent>>,
        back: WeakOwner,
    ) -> Self {
        let mut problem = None;
        let grants = read(&ports, Document::Grants, &mut problem).map(Grants::from_kept).unwrap_or_default();
        let roots: BTreeMap<String, SharedRoots> = read(&ports, Document::Roots, &mut problem).unwrap_or_default();
        let flows = read(&ports, Document::Flow, &mut problem).unwrap_or_default();
        let sampling = Sampling::of(read(&ports, Document::Sampling, &mut problem).unwrap_or_default());
        let pins: BTreeMap<String, ServerPins> = read(&ports, Document::Pins, &mut problem).unwrap_or_default();
        let pins: Pins = pins.into_iter().map(|(server, own)| (server, Arc::new(own))).collect();
        let awaits_seal = ports.documents.seal() == DocumentSeal::Waiting;
        let settings = read(&ports, Document::Settings, &mut problem).unwrap_or_default();
        let known = read(&ports, Document::Servers, &mut problem).unwrap_or_default();
        let packages = read(&ports, Document::Packages, &mut problem).unwrap_or_default();
        let search_path = options.search_path.clone();
        let own_files = OwnFiles::new(&ports);
        let document_writer = DocumentWriter::new(Arc::clone(&ports.documents), back.clone());
        let mut owner = Self {
            vaults: Arc::new(Vaults::new(Arc::clone(&ports.secrets))),
            ports,
            options,
            policy: Policy::new(grants),
            judgement: 0,
            servers: IndexMap::default(),
            kept: Together::default(),
            runs: FxHashMap::default(),
            questions: Vec::new(),
            sign_in_replies: FxHashMap::default(),
            held_results: FxHashMap::default(),
            answering: FxHashMap::default(),
            calls: FxHashMap::default(),
            tickets: FxHashMap::default(),
            audits: Audits::default(),
            asking: BTreeMap::new(),
            kept_pins: pins.clone(),
            pins,
            kept_roots: roots.clone(),
            confirmed: confirmed::Confirmed::default(),
            awaits_seal,
            labels: Labels::default(),
            models: models::Registry::default(),
            providers: Providers::default(),
            roots,
            flows,
            flow_changes: 0,
            sampling,
            rule_files: RuleFiles::default(),
            known,
            packages,
            reads: Reads::default(),
            running: FxHashMap::default(),
            document_writer,
            own_files,
            settings,
            settings_changes: settings::SettingsChanges::default(),
            config_problem: None,
            document_problem: None,
            search_path: Arc::new(tokio::sync::Mutex::new(search_path)),
            next_id: 0,
            next_event: 1,
            events,
            back,
            closing: Vec::new(),
            is_closing: false,
        };
        owner.ports.audit.report_to(Arc::clone(&owner.audits.receipts));
        owner.heed_documents();
        owner.read_servers();
        owner.read_rules();
        owner.read_providers();
        owner.look_at_keeping();
        owner.config_problem = owner.config_problem.or(problem);
        owner
    }

    /// Whether the host is closed and every server has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.is_closing && self.runs.is_empty()
    }

    /// Ends every server; `done` is told when nothing is left of any.
    pub(crate) fn close(&mut self, done: Option<oneshot::Sender<()>>) {
        self.closing.extend(done);
        if !self.is_closing {
            self.is_closing = true;
            let names: Vec<String> = self.servers.keys().cloned().collect();
            for name in names {
                self.stop(&name);
            }
        }
    }

    /// A connection has news of its run.
    pub(crate) fn on_news(&mut self, run: RunId, news: News) {
        // What belongs to a call needs no more than its ticket.
        let news = match news {
            News::Task { ticket, task } => return self.on_task(ticket, task),
            News::Progress { ticket, progress } => return self.on_progress(ticket, progress),
            News::Done { ticket, result } => return self.on_done(ticket, *result),
            news => news,
        };
        let Some(server) = self.runs.get(&run).cloned() else { return };
        match news {
            News::Started { pid, record } => self.on_started(run, &server, pid, record),
            News::Connected { transport, how } => self.on_connected(run, &server, transport, how),
            News::Reopened(facts) => self.on_reopened(run, &server, *facts),
            News::Listening { lost } => self.on_listening(run, &server, lost),
            News::Ready(facts) => self.on_ready(run, &server, *facts),
            News::Asked { request, ticket, question } => self.on_asked(run, &server, request, ticket, *question),
            News::Withdrawn { request } => self.on_withdrawn(run, request),
            News::Task { .. } | News::Progress { .. } | News::Done { .. } => {}
            News::Catalog(catalog) => self.on_catalog(run, &server, catalog),
            News::ResourceUpdated { uri } => self.on_resource_updated(server, uri),
            News::RefusedUnseen { refused } => self.on_refused_unseen(run, &server, refused),
            News::Activity { last } => {
                let all = self.servers.values().map(|record| &*record.activity);
                self.kept.keep_within(self.options.kept_together, all);
                self.emit(HostEvent::ActivityAppended { server, last });
            }
            News::Ended(failure) => self.on_ended(run, &server, failure),
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            next_event: self.next_event,
            servers: self.servers.keys().filter_map(|name| self.server_view(name)).collect(),
            questions: self.questions.iter().map(|pending| pending.view.clone()).collect(),
            calls: self.calls.values().map(|call| call.view.clone()).collect(),
            settings: self.settings.clone(),
            config_problem: self.shown_problem(),
        }
    }

    pub(crate) fn server_view(&self, name: &str) -> Option<ServerView> {
        let record = self.servers.get(name)?;
        Some(ServerView {
            name: name.to_owned(),
            config: (*record.config).clone(),
            state: record.state.clone(),
            since: record.since,
            approved: self.is_approved(name, &record.config),
            facts: record.facts.clone(),
            counts: record.catalog.counts(),
            roots: self.shared_roots(name),
            told_roots: self.told_roots(name),
            held_by: record.plan.as_ref().filter(|_| record.pid.is_some()).map(|plan| plan.mechanism.name()),
            subscriptions: record.subscriptions.clone(),
            log_level: record.log_level,
            muted: self.policy.is_muted(name),
            muted_until: self.asking.get(name).and_then(|asking| asking.muted_until),
            refused_questions: self.asking.get(name).map_or(0, Asking::refused_unseen),
            trust: self.trust_in(name),
            flow: self.flow_of(name),
            pid: record.pid,
            connected: record.connected.clone(),
            subscriptions_lost: record.subscriptions_lost.clone(),
            marks: self.marks_of_server(name, record),
        })
    }

    pub(crate) fn server(&self, name: &str) -> Option<&ServerRecord> {
        self.servers.get(name)
    }

    /// Whether anybody listens to events. Whoever begins to reads the snapshot first.
    fn is_observed(&self) -> bool {
        self.events.receiver_count() > 0
    }

    fn emit(&mut self, event: HostEvent) {
        if !self.is_observed() {
            return;
        }
        let number = self.next_event;
        self.next_event += 1;
        // Whoever listened may just have gone away.
        let _ = self.events.send(Arc::new(NumberedEvent { number, event }));
    }

    fn emit_server(&mut self, name: &str) {
        if self.is_observed()
            && let Some(view) = self.server_view(name)
        {
            self.emit(HostEvent::ServerChanged(Box::new(view)));
        }
    }

    const fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Runs something beside the turns, and takes one with what it gives back.
    fn beside<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Self, T) + Send + 'static,
    ) {
        let back = self.back.clone();
        tokio::spawn(async move {
            let result = work.await;
            let name = std::any::type_name_of_val(&then);
            // The host may have ended.
            let _ = back.turn(name, move |owner| then(owner, result));
        });
    }
}

/// Reads a document of this shape. One that can't be used is moved out of the way, and the user is told.
fn read<T: serde::de::DeserializeOwned>(
    ports: &Ports,
    document: Document,
    problem: &mut Option<ConfigProblem>,
) -> Option<T> {
    let read = ports.documents.read(document);
    let cause = match read.map(|value| value.map(serde_json::from_value).transpose()) {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.cause,
    };
    let place = match ports.documents.set_aside(document) {
        Ok(path) => format!("it was moved to {}", path.display()),
        Err(error) => error.to_string(),
    };
    *problem = Some(ConfigProblem {
        file: Some(ports.documents.path().join(document.file_name()).display().to_string()),
        line: None,
        column: None,
        message: format!("it can't be used: {cause}; {place}, and what it held is asked for again"),
    });
    None
}

impl Owner {
    /// Starts the servers that start with the host, if it starts any.
    pub(crate) fn autostart(&mut self) {
        if self.options.autostart {
            self.start_approved_servers();
        }
    }
}

/// Runs until the host is closed and every server has ended.
pub(crate) async fn run(owner: SharedOwner) {
    // The host may have been closed before this began.
    if let Ok(receipts) = owner.turn("begin", |owner| Arc::clone(&owner.audits.receipts)) {
        follow(&owner, &receipts).await;
    }
    let Some(mut owner) = owner.into_ended() else { return };
    owner.document_writer.close().await;
    let audit = Arc::clone(&owner.ports.audit);
    let flushed = tokio::task::spawn_blocking(move || audit.flush()).await;
    if let Ok(Err(error)) = flushed {
        tracing::error!(%error, "the last decisions may be lost if the power is");
    }
    for done in owner.closing.drain(..) {
        // Whoever closed it may have gone away.
        let _ = done.send(());
    }
}

/// Hands receipts of the audit log over until the owner has ended.
async fn follow(owner: &SharedOwner, receipts: &AuditReceipts) {
    loop {
        let turn = tokio::select! {
            written = receipts.next() => owner.turn("audit receipts", |owner| owner.on_receipts(written)),
            () = owner.is_abandoned() => owner.turn("close", |owner| owner.close(None)),
            () = owner.has_ended() => return,
        };
        if turn.is_err() {
            return;
        }
    }
}
