//! The owner: all state of the host, behind one lock. The state is accessed in turns (`turn.rs`), in which no code
//! waits. Slow work is done in spawned tasks, which take another turn when they are done.

mod app_tools;
mod apps;
mod audit;
mod calls;
mod confirmed_settings;
mod consent_requests;
mod conversation_servers;
mod decisions;
mod document_writer;
mod documents;
mod flow_settings;
mod gate;
mod install_origins;
mod last_session_facts;
mod last_uses;
mod muting;
mod offline_review_states;
mod packages;
mod path_links;
mod pins;
mod provenance;
mod providers;
mod read_decisions;
mod result_reviews;
mod review_marks;
mod roots;
mod rules;
mod running_records;
mod sampling;
mod sandboxes;
mod server_start;
mod servers;
mod session_events;
mod settings;
mod sign_in;
mod state;
mod supervision;
mod tool_filter;
mod turn;
mod withdrawn_acts;

use std::collections::BTreeMap;
use std::sync::Arc;

use credentials::vault::TokenVaults;
use domain::Millis;
use launches::sandbox::DrawbridgeFiles;
use offers::review::{Pins, ServerPins};
use policy::Grants;
use ports::server_config::ConfigProblem;
use ports::{AuditReceipts, Document, DocumentMacState, Ports};
use tokio::sync::{broadcast, oneshot};

use crate::connection::{ConnectionEvent, RunId};
use crate::view::{HostEvent, ServerView, Snapshot};
use crate::{HostOptions, NumberedEvent};

use audit::PendingAudits;
pub(crate) use decisions::canonical_folders;
pub(crate) use gate::{AuthorizedPayload, authorize_link_opening, open_in_browser};
pub(crate) use host_state::end_orphaned_servers;
use host_state::{AuditedDecision, PermissionUses};
pub use host_state::{DataFlowError, ServerForModel};
pub use sampling::SamplingError;
pub use state::{
    AppTools, AppToolsForModel, CallOrigin, DataFlowLabel, DecisionError, DefinitionShownToUser, RestoreGrantError,
    ResultOrigin, ResultReviewVerdict, ReviewError, SentCall, SentNotifier, ServerError,
};
pub(crate) use state::{CallReply, NewCall, ServerRecord};
use state::{
    CallTable, ConfirmedSettings, ConsentQueue, DataFlowTable, EventStream, FolderShares, GrantDocuments, HostShutdown,
    LaunchFacts, ModelAccess, Permissions, RequestThrottle, Requester, Reviews, Sampling, ServerRegistry,
    SettingsState, SignIns,
};
pub(crate) use turn::{DeferredTurn, SharedOwner, WeakOwner};

/// All state of the host, divided into independent parts. The methods of `Owner` combine them.
pub(crate) struct Owner {
    ports: Ports,
    options: HostOptions,
    lifetime: HostShutdown,
    pub(crate) events: EventStream,
    pub(crate) servers: ServerRegistry,
    pub(crate) launches: LaunchFacts,
    pub(crate) calls: CallTable,
    pub(crate) consent: ConsentQueue,
    sign_ins: SignIns,
    pub(crate) permissions: Permissions,
    pub(crate) reviews: Reviews,
    pub(crate) models: ModelAccess,
    documents: GrantDocuments,
    pub(crate) settings: SettingsState,
    audits: PendingAudits,
}

impl Owner {
    pub(crate) fn new(
        ports: Ports,
        options: HostOptions,
        events: broadcast::Sender<Arc<NumberedEvent>>,
        back: WeakOwner,
    ) -> Self {
        let mut problem = None;
        let grants =
            read_document(&ports, Document::Grants, &mut problem).map(Grants::from_persisted).unwrap_or_default();
        let roots = read_document(&ports, Document::Roots, &mut problem).unwrap_or_default();
        let flows = read_document(&ports, Document::Flow, &mut problem).unwrap_or_default();
        let sampling =
            Sampling::from_documents(read_document(&ports, Document::Sampling, &mut problem).unwrap_or_default());
        let pins: BTreeMap<String, ServerPins> =
            read_document(&ports, Document::Pins, &mut problem).unwrap_or_default();
        let pins: Pins = pins.into_iter().map(|(server, own)| (server, Arc::new(own))).collect();
        let awaits_key = ports.documents.mac_state() == DocumentMacState::Waiting;
        let settings = read_document(&ports, Document::Settings, &mut problem).unwrap_or_default();
        let known = read_document(&ports, Document::Servers, &mut problem).unwrap_or_default();
        let packages = read_document(&ports, Document::Packages, &mut problem).unwrap_or_default();
        let origins = read_document(&ports, Document::Origins, &mut problem).unwrap_or_default();
        let search_path = options.search_path.clone();
        let own_files = DrawbridgeFiles::new(&ports);
        let writer = {
            let back = back.clone();
            host_state::DocumentWriter::new(Arc::clone(&ports.documents), move |turn| {
                // The owner may have ended.
                let _ = back.run(turn);
            })
        };
        let flow = DataFlowTable { flows, ..DataFlowTable::default() };
        let folders = FolderShares::read(roots);
        // A failure is not shown, since no decision depends on the uses.
        let uses = ports.documents.read(Document::Uses).unwrap_or_default();
        let uses = PermissionUses::read(uses, |server| folders.shared.contains_key(server));
        let mut owner = Self {
            sign_ins: SignIns::new(TokenVaults::new(Arc::clone(&ports.secrets))),
            ports,
            options,
            lifetime: HostShutdown::new(back),
            events: EventStream::new(events),
            servers: ServerRegistry::default(),
            launches: LaunchFacts { known, packages, origins, own_files, search_path },
            calls: CallTable::default(),
            consent: ConsentQueue::default(),
            permissions: Permissions { uses, ..Permissions::new(grants, flow, folders) },
            reviews: Reviews::read(pins),
            models: ModelAccess { sampling, ..ModelAccess::default() },
            documents: GrantDocuments { writer, confirmed: ConfirmedSettings::default(), awaits_key, problem: None },
            settings: SettingsState { current: settings, ..SettingsState::default() },
            audits: PendingAudits::default(),
        };
        owner.ports.audit.set_receipts(Arc::clone(&owner.audits.receipts));
        owner.report_untrusted_settings_files();
        owner.read_servers();
        owner.read_rules();
        owner.read_providers();
        owner.check_audit_retention();
        owner.settings.config_problem = owner.settings.config_problem.or(problem);
        owner
    }

    /// Returns the current time according to the host's clock.
    pub(crate) fn now(&self) -> Millis {
        self.ports.clock.now()
    }

    /// Returns `true` from the time at which the host is closed.
    pub(crate) const fn is_closing(&self) -> bool {
        self.lifetime.is_closing
    }

    /// Returns `true` if the host was closed and all servers have ended.
    pub(super) fn has_ended(&self) -> bool {
        self.lifetime.is_closing && self.servers.runs.is_empty()
    }

    /// Closes the host by stopping all servers. `done` is notified once all of their processes have ended.
    pub(crate) fn close(&mut self, done: Option<oneshot::Sender<()>>) {
        self.lifetime.waiting.extend(done);
        if !self.lifetime.is_closing {
            self.lifetime.is_closing = true;
            self.write_uses();
            let names: Vec<String> = self.servers.records.keys().cloned().collect();
            for name in names {
                self.stop(&name);
            }
        }
    }

    /// Handles a report of a server's connection. `run` is the run of the server in which it was sent.
    pub(crate) fn on_connection_event(&mut self, run: RunId, event: ConnectionEvent) {
        // Reports about a call need only the ticket, not the record of the server.
        let event = match event {
            ConnectionEvent::Task { ticket, task } => return self.on_task_update(ticket, task),
            ConnectionEvent::Progress { ticket, progress } => return self.on_progress(ticket, progress),
            ConnectionEvent::Done { ticket, result } => return self.on_call_done(ticket, *result),
            event => event,
        };
        let Some(server) = self.servers.runs.get(&run).cloned() else { return };
        match event {
            ConnectionEvent::Started { pid, record } => self.on_started(run, &server, pid, record),
            ConnectionEvent::Connected { transport, how } => self.on_connected(run, &server, transport, how),
            ConnectionEvent::Reopened(facts) => self.on_reopened(run, &server, *facts),
            ConnectionEvent::Listening { lost } => self.on_listening_changed(run, &server, lost),
            ConnectionEvent::Ready(facts) => self.on_ready(run, &server, *facts),
            ConnectionEvent::RequestReceived { request, ticket, server_request } => {
                self.decide_server_request(run, &server, request, ticket, *server_request)
            }
            ConnectionEvent::Withdrawn { request } => {
                self.on_request_withdrawn(Requester::Server { run, request });
            }
            ConnectionEvent::Task { .. } | ConnectionEvent::Progress { .. } | ConnectionEvent::Done { .. } => {}
            ConnectionEvent::Catalog(catalog) => self.on_catalog(run, &server, catalog),
            ConnectionEvent::ResourceUpdated { uri } => self.on_resource_updated(server, uri),
            ConnectionEvent::RequestsRefused { refused } => self.on_rate_limited_requests(run, &server, refused),
            ConnectionEvent::Activity { last } => {
                let all = self.servers.records.values().map(|record| &record.activity);
                self.servers.activity_size.shrink_to(self.options.max_activity_bytes, all);
                self.events.emit(HostEvent::ActivityAppended { server, last });
            }
            ConnectionEvent::Ended(failure) => self.on_ended(run, &server, failure),
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            next_event: self.events.next_event,
            servers: self.servers.records.keys().filter_map(|name| self.server_view(name)).collect(),
            consent_requests: self.consent.pending.iter().map(|pending| pending.view.clone()).collect(),
            calls: self.calls.records.values().map(|call| call.view.clone()).collect(),
            settings: self.settings.current.clone(),
            config_problem: self.displayed_config_problem(),
        }
    }

    pub(crate) fn server_view(&self, name: &str) -> Option<ServerView> {
        let record = self.servers.records.get(name)?;
        Some(ServerView {
            name: name.to_owned(),
            config: (*record.config).clone(),
            state: record.state.clone(),
            since: record.since,
            approved: self.is_approved(name, &record.config),
            launched: record.supervision.launched().cloned(),
            facts: record.session.facts.clone(),
            counts: record.offer.catalog.entry_counts(),
            unreviewed: self.reviews.count_unreviewed(name, &record.offer),
            roots: self.shared_roots(name),
            sent_roots: self.accessible_roots(name),
            sandbox_mechanism: record
                .launch
                .plan
                .as_ref()
                .filter(|_| record.session.pid.is_some())
                .map(|plan| plan.mechanism.name()),
            subscriptions: record.session.subscriptions.clone(),
            log_level: record.session.log_level,
            muted: self.permissions.policy.is_muted(name),
            muted_until: self.consent.throttles.get(name).and_then(|throttle| throttle.muted_until),
            refused_requests: self.consent.throttles.get(name).map_or(0, RequestThrottle::refused_since_reset),
            trust: self.server_trust_duration(name),
            flow: self.permissions.data_flow.data_flow_of(name),
            pid: record.session.pid,
            connected: record.session.connected.clone(),
            subscriptions_lost: record.session.subscriptions_lost.clone(),
            marks: self.servers.server_findings(name, record),
            installed: self.launches.installation_info(name, &record.config),
        })
    }

    /// Emits an event with the current view of a server.
    fn emit_server_change(&mut self, name: &str) {
        if self.events.is_observed()
            && let Some(view) = self.server_view(name)
        {
            self.events.emit(HostEvent::ServerChanged(Box::new(view)));
        }
    }

    /// Runs `work` in a spawned task, and then calls `then` with the host's state and the result.
    fn run_concurrently<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Self, T) + Send + 'static,
    ) {
        let back = self.lifetime.back.clone();
        tokio::spawn(async move {
            let result = work.await;
            let name = std::any::type_name_of_val(&then);
            // Fails only if the host has shut down.
            let _ = back.run_turn(name, move |owner| then(owner, result));
        });
    }
}

/// Reads and parses a stored document. An invalid document is moved to another path, and `problem` describes this for
/// the user.
fn read_document<T: serde::de::DeserializeOwned>(
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
        message: format!("it can't be used: {cause}; {place}, and what it contained has to be approved again"),
    });
    None
}

impl Owner {
    /// Writes that last uses were dropped at startup, and starts the approved servers if autostart is enabled.
    pub(crate) fn start_servers_automatically(&mut self) {
        self.write_uses();
        if self.options.autostart {
            self.start_approved_servers();
        }
    }
}

/// Runs the owner's background work until the host is closed and all servers have ended.
pub(crate) async fn run_owner(owner: SharedOwner) {
    // Fails only if the host was closed before this task started.
    if let Ok(receipts) = owner.run_turn("begin", |owner| Arc::clone(&owner.audits.receipts)) {
        deliver_audit_receipts(&owner, &receipts).await;
    }
    let Some(mut owner) = owner.into_ended() else { return };
    owner.documents.writer.close().await;
    let audit = Arc::clone(&owner.ports.audit);
    let flushed = tokio::task::spawn_blocking(move || audit.flush()).await;
    if let Ok(Err(error)) = flushed {
        tracing::error!(%error, "the last audit entries may be lost in a power failure");
    }
    for done in owner.lifetime.waiting.drain(..) {
        // The caller of `close` may have stopped waiting.
        let _ = done.send(());
    }
}

/// Delivers confirmations of the audit log to the owner, until the owner has ended.
async fn deliver_audit_receipts(owner: &SharedOwner, receipts: &AuditReceipts) {
    loop {
        let turn = tokio::select! {
            written = receipts.wait_for_outcomes() => {
                owner.run_turn("audit receipts", |owner| owner.on_audit_receipts(written))
            }
            () = owner.wait_until_abandoned() => owner.run_turn("close", |owner| owner.close(None)),
            () = owner.wait_until_ended() => return,
        };
        if turn.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
