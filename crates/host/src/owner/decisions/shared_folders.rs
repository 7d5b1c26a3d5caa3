//! Folders that the user shares with a server as roots, in reply to a consent request or on the page of the server.
//! Used by `decisions.rs` and `handle/consent.rs`.

use std::path::{Path, PathBuf};

use domain::consent_request::ConsentRequestId;
use host_state::AuditedDecision;
use mcp_proto::session::{ClientNotification, ClientResponse};
use policy::{ApprovalScope, Hash};
use serde_json::json;

use crate::connection::ConnectionCommand;
use crate::owner::Owner;
use crate::owner::gate::{Approval, OutgoingPayload};
use crate::owner::state::{DecisionError, DecisionProgress, DecisionReply, PendingRequest, to_roots};
use crate::view::ConsentRequestBody;

impl Owner {
    /// Approves a request for roots by sharing these folders, whose paths are canonical.
    pub(super) fn share_folders(
        &mut self,
        at: usize,
        approval: Approval,
        folders: Vec<PathBuf>,
    ) -> Result<DecisionProgress, DecisionError> {
        if self.consent.pending[at].view.body != ConsentRequestBody::Roots {
            return Err(DecisionError::WrongKind("it is not a request for folders"));
        }
        let server = self.consent.pending[at].view.server.clone();
        let sent = self.servers.folders_sent_to_server(&server, folders.clone());
        let Some(shared) = self.servers.share_for_command(&server, folders) else {
            return Err(DecisionError::WrongKind("there is no such server"));
        };
        let subject = policy::canonical_json(&json!(sent));
        let answer = ClientResponse::Roots(to_roots(&sent));
        let outgoing = OutgoingPayload::response(&self.consent.pending[at], subject, None, &answer);
        let again = outgoing.clone();
        self.audit_approval_and_remove(approval, ApprovalScope::Always, outgoing, move |owner, pending, permit| {
            owner.share_roots(&server, shared);
            owner.send_approved_response(&pending, answer.clone(), permit);
            owner.share_with_identical_requests(&server, &again, &answer);
            owner.emit_server_change(&server);
            Ok(DecisionProgress::Done)
        })
    }

    /// Sends the same response to all pending requests of the server for roots, so that the user decides only once.
    fn share_with_identical_requests(&mut self, server: &str, outgoing: &OutgoingPayload, answer: &ClientResponse) {
        let same = |p: &&PendingRequest| {
            p.view.server == server && p.view.body == ConsentRequestBody::Roots && !p.being_acted_on
        };
        let others: Vec<ConsentRequestId> = self.consent.pending.iter().filter(same).map(|p| p.view.id).collect();
        for id in others {
            let Some(at) = self.consent.position_of(id) else { continue };
            let shown = self.consent.pending[at].view.hash.clone();
            let Ok(approval) = self.approval(at, shown.as_str()) else { break };
            let answer = answer.clone();
            let taken = self.audit_approval_and_remove(
                approval,
                ApprovalScope::Always,
                outgoing.clone(),
                move |owner, pending, permit| {
                    owner.send_approved_response(&pending, answer, permit);
                    Ok(DecisionProgress::Done)
                },
            );
            if taken.is_err() {
                break;
            }
        }
    }

    /// Shares these folders with a server without a consent request, and notifies it. The paths are canonical.
    pub(crate) fn set_roots(&mut self, server: &str, folders: Vec<PathBuf>, reply: DecisionReply) {
        let subject = policy::canonical_json(&json!(folders));
        let Some(shared) = self.servers.share_for_command(server, folders) else {
            let _ = reply.send(Err(DecisionError::WrongKind("there is no such server")));
            return;
        };
        // Removed folders are no longer shared from now on, even if the audit entry can't be written.
        self.remove_unshared_roots(server, &shared);
        let hash = Hash::of_bytes(subject.as_bytes());
        let entry = AuditedDecision {
            server,
            kind: "roots",
            subject: &subject,
            decision: "allowed",
            scope: Some(ApprovalScope::Always),
            by: self.options.decider_name,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        };
        let server = server.to_owned();
        self.audit_then(entry, move |owner, written| {
            let set = written.map_err(|_| DecisionError::Audit).and_then(|()| {
                if !owner.share_roots(&server, shared) {
                    return Err(DecisionError::WrongKind("the server was removed or renamed meanwhile"));
                }
                Ok(())
            });
            // Fails if the server is not ready. It requests its roots once it is.
            let _ =
                owner.servers.send_command(&server, ConnectionCommand::Notify(ClientNotification::RootsListChanged));
            owner.emit_server_change(&server);
            let _ = reply.send(set);
        });
    }
}

/// Checks that folders can be shared with a server. Returns their canonical paths without duplicates.
///
/// # Errors
///
/// Returns [`DecisionError::Folder`] if a path is not absolute, is not a folder, or can't be shared.
pub(crate) async fn canonical_folders(folders: Vec<PathBuf>) -> Result<Vec<PathBuf>, DecisionError> {
    let looked = tokio::task::spawn_blocking(move || canonicalize_shared_folders(&folders)).await;
    looked.unwrap_or_else(|error| Err(DecisionError::Folder { folder: String::new(), cause: error.to_string() }))
}

fn canonicalize_shared_folders(folders: &[PathBuf]) -> Result<Vec<PathBuf>, DecisionError> {
    let mut real: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let bad = |cause: &str| DecisionError::Folder { folder: folder.display().to_string(), cause: cause.to_owned() };
        if !folder.is_absolute() {
            return Err(bad("give the whole path, from the root"));
        }
        let path = Path::canonicalize(folder).map_err(|e| bad(&e.to_string()))?;
        if !path.is_dir() {
            return Err(bad("it is not a folder"));
        }
        if !real.contains(&path) {
            real.push(path);
        }
    }
    Ok(real)
}
