//! Handles reports about a server's session: readiness, catalog changes, and the end of the session. The session's
//! events are handled in `connection/session_run/events.rs`.

use std::sync::Arc;

use host_state::truncate_server_facts;
use mcp_proto::session::ServerFacts;
use offers::catalog::ServerCatalog;
use process::orphans::RunningServerRecord;

use super::Owner;
use crate::connection::RunId;
use crate::view::{HostEvent, ServerFailure, ServerState};

impl Owner {
    pub(super) fn on_started(&mut self, run: RunId, name: &str, pid: u32, record: RunningServerRecord) {
        self.servers.running.insert(run, record);
        self.write_running_server_records();
        if let Some(server) = self.servers.record_of_run(name, run) {
            server.session.pid = Some(pid);
        }
        self.emit_server_change(name);
    }

    pub(super) fn on_ready(&mut self, run: RunId, name: &str, facts: ServerFacts) {
        if let Some(record) = self.servers.record_of_run(name, run).filter(|r| r.state == ServerState::Starting) {
            record.session.facts = Some(truncate_server_facts(facts));
            record.set_state(ServerState::Ready);
            record.supervision.on_ready();
            self.servers.examine_self_description(name);
            self.store_last_session_facts(name);
            self.restore_session_state(name);
            self.sign_in_if_requested(name);
        }
        self.emit_server_change(name);
    }

    pub(super) fn on_catalog(&mut self, run: RunId, name: &str, catalog: Arc<ServerCatalog>) {
        let Some(record) = self.servers.record_of_run(name, run) else { return };
        let is_same = record.offer.catalog.has_equal_entries(&catalog);
        let is_equally_current = record.offer.catalog.outdated == catalog.outdated;
        record.offer.catalog = catalog;
        record.offer.unreviewed = Default::default();
        self.permissions.version += 1;
        // Lists that are read again because they were stale are usually unchanged.
        if is_same {
            if !is_equally_current {
                self.recompute_review_warnings(name);
                self.events.emit(HostEvent::CatalogChanged(name.to_owned()));
            }
            return;
        }
        self.update_tools_in_consent_requests(name);
        self.record_tools_that_differ_from_pins(name);
        self.refresh_offered_read_only_tools(name);
        self.events.emit(HostEvent::CatalogChanged(name.to_owned()));
        self.emit_server_change(name);
    }

    /// Handles the opening of a new session after the server dropped the previous one. `facts` are the server's name,
    /// capabilities and other data in the new session.
    pub(super) fn on_reopened(&mut self, run: RunId, name: &str, facts: ServerFacts) {
        if let Some(record) = self.servers.record_of_run(name, run) {
            record.session.facts = Some(truncate_server_facts(facts));
        }
        self.permissions.forget_approved_calls(name);
        self.servers.examine_self_description(name);
        self.emit_server_change(name);
    }

    /// Stores the reason why change notifications stopped, or `None` if they work.
    pub(super) fn on_listening_changed(&mut self, run: RunId, name: &str, lost: Option<String>) {
        if let Some(record) = self.servers.record_of_run(name, run) {
            record.session.subscriptions_lost = lost;
        }
        self.emit_server_change(name);
    }

    pub(super) fn on_ended(&mut self, run: RunId, name: &str, failure: Option<ServerFailure>) {
        self.servers.runs.remove(&run);
        if self.servers.running.remove(&run).is_some() {
            self.write_running_server_records();
        }
        for view in self.calls.app_tools.app_views_of_server(name) {
            self.turn_off_app_tools(&view, false);
        }
        self.end_calls_of_run(run);
        self.calls.reads.forget_server(name);
        // The user approved the calls for this session.
        self.permissions.forget_approved_calls(name);
        self.models.sampling.end_requests(|requester| requester.run() == run);
        self.withdraw_requests_if(|p| p.must_end_with_run(run, name));
        let mut again = false;
        if failure.is_some()
            && self.servers.record_of_run(name, run).is_some_and(|record| record.session.facts.is_none())
        {
            self.discard_facts_of_unready_server(name);
        }
        if let Some(record) = self.servers.record_of_run(name, run) {
            record.session.connection = None;
            record.session.facts = None;
            record.session.connected = None;
            record.session.pid = None;
            record.launch.plan = None;
            record.session.subscriptions_lost = None;
            record.save_session_state_for_restart();
            record.offer.catalog = Arc::default();
            record.offer.unreviewed = Default::default();
            again = std::mem::take(&mut record.start_again);
            let stopped = record.state == ServerState::Stopping;
            match (record.sign_in.take_end_cause(), failure.filter(|_| !stopped)) {
                (Some(cause), _) => self.on_sign_in_required(name, cause),
                (None, Some(failure)) => self.on_unexpected_end(name, failure),
                (None, None) => {
                    record.session.to_restore = Default::default();
                    record.set_state(ServerState::Stopped);
                }
            }
            self.events.emit(HostEvent::CatalogChanged(name.to_owned()));
        }
        self.emit_server_change(name);
        self.run_act_waiting_for_session_end(name);
        if again && !self.lifetime.is_closing {
            let _ = self.start(name);
        }
    }
}
