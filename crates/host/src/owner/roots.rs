//! Folders that the user shares with servers as roots. A decision applies to one command of a server: another command
//! under the same name requires a new decision.
//!
//! A denial is sent as an empty list rather than as an error, so that a call that doesn't depend on roots can continue.

use std::path::PathBuf;

use domain::StoreError;
use domain::consent_request::ConsentRequestOutcome;
use host_state::AuditedDecision;
use mcp_proto::session::{ClientResponse, ServerRequest, ServerRequestId};
use policy::{DecisionSource, Hash, PolicyDecision, canonical_json};
use ports::Document;
use ports::server_config::config_hash;
use serde_json::json;

use super::Owner;
use super::audit::PendingRootsResponse;
use super::gate::{authorize_allowed_response, authorize_denial_response};
use super::state::{FolderShare, Requester, refusal_error, refusal_response, to_roots, with_server_entry};
use crate::connection::{CallTicket, RunId};
use crate::view::ConsentRequestBody;

/// Text in the audit entry of a request for roots of a server with which the user decided to share none.
const NO_FOLDERS_REASON: &str = "the user shares no folders";

impl Owner {
    /// Returns the folders shared with a server, or `None` if the user has not decided for its current command.
    pub(super) fn shared_roots(&self, server: &str) -> Option<Vec<PathBuf>> {
        let record = self.servers.records.get(server)?;
        self.permissions.folders.shared_for_command(server, || config_hash(&record.config))
    }

    /// Returns `true` if the user need not decide about the folders of a server: they are chosen already, or its
    /// sandbox allows none.
    pub(super) fn are_roots_decided(&self, server: &str) -> bool {
        self.servers.has_no_shareable_folders(server) || self.shared_roots(server).is_some()
    }

    /// Stores which folders the user shares with a server, after the audit entry of the decision was written. If the
    /// server's command has changed meanwhile, the share doesn't apply to the new command. Returns `false` if no server
    /// has this name any more.
    pub(super) fn share_roots(&mut self, server: &str, shared: FolderShare) -> bool {
        if !self.servers.records.contains_key(server) {
            return false;
        }
        self.permissions.folders.shared.insert(server.to_owned(), shared);
        // Scripted decisions apply to this run only.
        if self.options.decider_name == "user" {
            self.write_roots(server);
        }
        true
    }

    /// Stops sharing those folders with a server that the share `now` doesn't contain, effective immediately.
    pub(super) fn remove_unshared_roots(&mut self, server: &str, now: &FolderShare) {
        if let Some(narrowed) = self.permissions.folders.without_removed_folders(server, now) {
            self.share_roots(server, narrowed);
        }
    }

    pub(super) fn rename_shared_roots(&mut self, was: &str, name: &str) {
        if let Some(shared) = self.permissions.folders.shared.remove(was) {
            self.permissions.folders.shared.insert(name.to_owned(), shared);
            self.permissions.uses.rename_server(was, name);
            self.write_roots(was);
            self.write_roots(name);
            self.write_uses();
        }
    }

    pub(super) fn forget_shared_roots(&mut self, server: &str) {
        if self.permissions.folders.shared.remove(server).is_some() {
            self.write_roots(server);
        }
    }

    /// Writes the shared folders of one server to the file. Other entries of the file are retained, since another
    /// process may have written them.
    fn write_roots(&mut self, server: &str) {
        let own = self.permissions.folders.shared.get(server).cloned();
        let value = own.as_ref().and_then(|shared| serde_json::to_value(shared).ok());
        let (entry, server) = (server.to_owned(), server.to_owned());
        self.change_document(
            Document::Roots,
            move |stored| (with_server_entry(stored, &entry, value.as_ref()), ()),
            move |owner, written| match written {
                Ok(()) => owner.permissions.folders.on_written(server, own),
                Err(error) => {
                    tracing::error!(%error, "the shared folders could not be written; they are effective until Drawbridge exits");
                }
            },
        );
    }

    /// Responds to a server's request for roots with its shared folders, as allowed by an earlier decision of the user,
    /// or with an empty list if its sandbox allows none. If the user decided to share none, the request is denied.
    pub(super) fn send_allowed_roots(
        &mut self,
        server: &str,
        (run, request): (RunId, ServerRequestId),
        ticket: Option<CallTicket>,
        by: DecisionSource,
    ) {
        let requester = Requester::Server { run, request };
        let call = ticket.and_then(|ticket| self.calls.call_of_ticket(ticket));
        let shared = self.shared_roots(server);
        if shared.as_ref().is_some_and(Vec::is_empty) {
            let body = ConsentRequestBody::Roots;
            let answer = refusal_response(&body, ConsentRequestOutcome::Denied);
            let of = (requester, call.as_deref());
            return self.refuse_automatically(server, of, (&body, None), NO_FOLDERS_REASON, answer);
        }
        let conversation = self.conversation_of_request(requester, call.as_deref());
        let sent = self.accessible_roots(server).unwrap_or_default();
        let subject = canonical_json(&json!(sent));
        let hash = Hash::of_bytes(subject.as_bytes());
        let entry = self.make_audit_entry(AuditedDecision {
            server,
            kind: "roots",
            subject: &subject,
            decision: "allowed",
            by: if shared.is_some() { "grant" } else { "policy" },
            hash: hash.as_str(),
            asker: "server",
            conversation: conversation.as_deref(),
            ..AuditedDecision::default()
        });
        let answer = authorize_allowed_response(by, ClientResponse::Roots(to_roots(&sent)));
        let server = server.to_owned();
        self.send_roots_when_audited(
            PendingRootsResponse { server, run, request, ticket, answer, subject, hash },
            entry,
        );
    }

    /// Sends the response to a server's request for roots once the audit entry is written. If the server was muted or
    /// its shared folders changed meanwhile, the request is decided again.
    pub(super) fn continue_roots_response(&mut self, folders: PendingRootsResponse, written: Result<(), StoreError>) {
        let PendingRootsResponse { server, run, request, ticket, answer, subject, hash } = folders;
        if let Err(error) = written {
            return self.servers.send_response(
                &server,
                run,
                request,
                authorize_denial_response(refusal_error(error.to_string())),
            );
        }
        let is_there =
            self.servers.records.get(&server).and_then(|r| r.session.connection.as_ref()).is_some_and(|c| c.run == run);
        let decision =
            self.permissions.policy.decide(&self.policy_act_of_request(&server, &ServerRequest::Roots), self.now());
        let is_same = canonical_json(&json!(self.accessible_roots(&server).unwrap_or_default())) == subject;
        if is_there && is_same && matches!(decision, PolicyDecision::Allow { .. }) {
            if self.shared_roots(&server).is_some() {
                self.record_roots_use(&server);
            }
            return self.servers.send_response(&server, run, request, answer);
        }
        self.audit_unsent_roots(&server, &subject, &hash);
        if is_there {
            self.decide_server_request(run, &server, request, ticket, ServerRequest::Roots);
        }
    }
}
