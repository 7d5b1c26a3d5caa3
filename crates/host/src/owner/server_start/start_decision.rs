//! Decides about the start of a server, and requests consent if required. Used by `server_start.rs`, and by
//! `packages.rs` for a package whose version was looked up.

use std::borrow::Cow;
use std::sync::Arc;

use domain::consent_request::ConsentRequestOrigin;
use launches::approvals::{address_text, command_hash, command_text, strip_sandbox_text};
use launches::packages::LoadedPackage;
use launches::pinned_parts::changed_launch_files;
use policy::{ApprovalScope, DecisionReason, GrantSubject, Hash, PolicyAct, PolicyDecision};
use ports::server_config::{HttpConfig, StdioConfig};
use supervision::activity::ActivityKind;

use super::command_lookup::ResolvedCommand;
use crate::owner::gate::SendPermit;
use crate::owner::state::{RequestPurpose, ServerRecord, consent_kind};
use crate::owner::{AuditedDecision, Owner};
use crate::view::{ConsentRequestBody, EarlierApproval, FailureReason, ServerFailure, ServerState};

impl Owner {
    /// Decides about starting a resolved command, including the version of the package that it loads.
    pub(in crate::owner) fn decide_command(
        &mut self,
        name: &str,
        config: StdioConfig,
        found: ResolvedCommand,
        mut package: Option<LoadedPackage>,
    ) {
        let ResolvedCommand { program: resolved, working_directory, plan, files, .. } = found;
        if let Some(record) = self.servers.records.get_mut(name) {
            if let Some(package) = &mut package {
                package.configured = record.config.command_line();
            }
            record.launch.command = Some(config.clone());
            record.launch.package.clone_from(&package);
            record.launch.files = Some(files.clone());
        }
        let hash = command_hash(&config, &resolved, plan.as_ref(), &files, package.as_ref());
        let writers = self.launch_file_writers(name, &files);
        let package = package.map(Box::new);
        let identity = self.reviews.pins.get(name).and_then(|pins| pins.identity.as_ref());
        let changed_files = identity.map(|identity| changed_launch_files(&identity.parts, &files)).unwrap_or_default();
        let earlier_approval = None;
        let body = ConsentRequestBody::StartServer {
            config,
            resolved,
            working_directory,
            earlier_approval,
            plan,
            files,
            changed_files,
            writers,
            package,
        };
        self.decide_start(name, &hash, body);
    }

    /// Decides by the policy about starting or connecting to a server: launches it, requests consent, or refuses.
    pub(super) fn decide_start(&mut self, name: &str, hash: &Hash, mut body: ConsentRequestBody) {
        let act = start_policy_act(name, hash, &body);
        let signed_in =
            self.servers.records.get(name).is_some_and(|record| record.supervision.may_continue_after_sign_in(hash));
        let must_ask =
            self.servers.records.get_mut(name).is_some_and(|record| std::mem::take(&mut record.launch.must_ask));
        match self.permissions.policy.decide(&act, self.now()) {
            PolicyDecision::Deny { by, .. } => {
                self.audit_denied_start(name, hash, &body, by.text());
                self.fail_server(name, ServerFailure::denied_by_rule(&by.text()));
            }
            // The grant stays, so there is nothing to add to it.
            PolicyDecision::Allow { .. } if must_ask => {
                self.request_start_consent(name, &mut body, DecisionReason::SandboxChosen, &[ApprovalScope::Once]);
            }
            // The user already approved this start, which only waited for the sign-in.
            PolicyDecision::Ask { .. } if signed_in => {
                self.audit_and_launch(name, SendPermit::after_sign_in(name, hash.clone()), body, "policy");
            }
            PolicyDecision::Allow { by } => {
                self.audit_and_launch(name, SendPermit::by_rule(by, name, hash.clone()), body, "grant");
            }
            PolicyDecision::Ask { reason, scopes, .. } => self.request_start_consent(name, &mut body, reason, scopes),
        }
    }

    /// Adds a consent request for a start to the queue. The request names as its origin the user or, on an automatic
    /// restart, the end of the server.
    fn request_start_consent(
        &mut self,
        name: &str,
        body: &mut ConsentRequestBody,
        reason: DecisionReason,
        scopes: &'static [ApprovalScope],
    ) {
        // In a chosen sandbox, the command is the approved one.
        let grants = self.permissions.policy.grants();
        let granted = grants.find(name, &GrantSubject::Command).filter(|_| reason != DecisionReason::SandboxChosen);
        match body {
            ConsentRequestBody::StartServer { config, earlier_approval, .. } => {
                *earlier_approval =
                    granted.and_then(|grant| earlier_approval_texts(&grant.words, &command_text(config)));
            }
            ConsentRequestBody::ConnectServer { config, earlier_approval } => {
                *earlier_approval =
                    granted.and_then(|grant| earlier_approval_texts(&grant.words, &address_text(config)));
            }
            _ => {}
        }
        let mut origin = ConsentRequestOrigin::User { conversation: None };
        if let Some(record) = self.servers.records.get_mut(name) {
            record.set_state(ServerState::AwaitingApproval);
            if let Some(cause) = record.supervision.restart_cause() {
                record.log_activity_line(
                    ActivityKind::State,
                    "its approval does not cover another start, so consent is requested",
                );
                origin = ConsentRequestOrigin::Ended { cause };
            }
        }
        self.emit_server_change(name);
        self.request_consent(name, origin, body.clone(), scopes, reason, RequestPurpose::Start);
    }

    /// Records in the audit log a start or connection that the policy denied.
    fn audit_denied_start(&mut self, name: &str, hash: &Hash, body: &ConsentRequestBody, rule: Cow<'static, str>) {
        let Some(record) = self.servers.records.get(name) else { return };
        let (subject, is_restart) = (start_audit_subject(record), record.supervision.is_restarting());
        self.audit_without_waiting(AuditedDecision {
            server: name,
            kind: consent_kind(body),
            subject: &subject,
            decision: "denied",
            by: "policy",
            hash: hash.as_str(),
            asker: if is_restart { "host" } else { "user" },
            rule,
            ..AuditedDecision::default()
        });
    }

    /// Writes the audit entry of a start that is allowed without consent, and then launches the server.
    fn audit_and_launch(&mut self, name: &str, permit: SendPermit, body: ConsentRequestBody, by: &'static str) {
        let Some(record) = self.servers.records.get(name) else { return };
        // After a failure, the restart is requested by the host rather than the user.
        let brings_back = record.supervision.is_restarting();
        if brings_back && by == "grant" {
            record.log_activity_line(ActivityKind::State, "starting again with its saved approval");
        }
        let hash = permit.payload_hash().clone();
        let words = start_audit_subject(record);
        let (config, permissions_version) = (Arc::clone(&record.config), self.permissions.version);
        let kind = consent_kind(&body);
        let entry = self.make_audit_entry(AuditedDecision {
            server: name,
            kind,
            subject: &words,
            decision: "allowed",
            by,
            hash: hash.as_str(),
            asker: if brings_back || by == "policy" { "host" } else { "user" },
            ..AuditedDecision::default()
        });
        let (server, subject) = (name.to_owned(), words);
        self.audit_entry_then(entry, move |owner, written| {
            let name = server.as_str();
            if owner.servers.starting_server(name, &config).is_none() {
                // The server was stopped, changed or removed while the audit entry was being written.
                if written.is_ok() {
                    owner.audit_unexecuted_start(name, kind, &subject, &hash);
                }
                return;
            }
            match written {
                Err(error) => owner.fail_server(name, ServerFailure::new(FailureReason::Refused, error.to_string())),
                Ok(()) if permissions_version == owner.permissions.version => owner.launch(name, permit),
                // The rule or grant may have been revoked while the audit entry was being written.
                Ok(()) if owner.is_start_still_allowed(name, &hash, &body) => owner.launch(name, permit),
                Ok(()) => {
                    owner.audit_unexecuted_start(name, kind, &subject, &hash);
                    owner.decide_start(name, &hash, body);
                }
            }
        });
    }

    /// Returns `true` if the policy still allows a start without consent.
    fn is_start_still_allowed(&self, name: &str, hash: &Hash, body: &ConsentRequestBody) -> bool {
        match self.permissions.policy.decide(&start_policy_act(name, hash, body), self.now()) {
            PolicyDecision::Allow { .. } => true,
            PolicyDecision::Ask { .. } => {
                self.servers.records.get(name).is_some_and(|record| record.supervision.may_continue_after_sign_in(hash))
            }
            PolicyDecision::Deny { .. } => false,
        }
    }
}

/// Returns the command line or address of a server, as its start is recorded in the audit log.
fn start_audit_subject(record: &ServerRecord) -> String {
    let command =
        || record.launch.command.as_ref().map_or_else(|| record.config.command_line(), StdioConfig::command_line);
    record.config.as_http().map_or_else(command, HttpConfig::redacted_url)
}

/// Returns the texts of an earlier grant and of the requested approval without the descriptions of their sandboxes,
/// whose changes are displayed separately. `None` if the grant has no text.
fn earlier_approval_texts(granted: &str, requested: &str) -> Option<EarlierApproval> {
    let (approved, requested) = (strip_sandbox_text(granted).to_owned(), strip_sandbox_text(requested).to_owned());
    (!approved.is_empty()).then_some(EarlierApproval { approved, requested })
}

fn start_policy_act<'a>(name: &'a str, hash: &'a Hash, body: &ConsentRequestBody) -> PolicyAct<'a> {
    match body {
        ConsentRequestBody::ConnectServer { .. } => PolicyAct::ConnectServer { server: name, address: hash },
        _ => PolicyAct::StartServer { server: name, command: hash },
    }
}
