//! Documents that store permissions: reports documents that were rejected, and applies changes made by another instance
//! of Drawbridge immediately.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use host_state::AuditedDecision;
use offers::review::{Pins, ServerPins};
use policy::{Grant, GrantSubject};
use ports::server_config::ConfigProblem;
use ports::{Document, DocumentMacState, DocumentRefusal, RefusedDocument};
use serde_json::{Value, json};

use super::Owner;
use super::state::{DocumentReadResult, FolderShare};
use crate::view::{HostEvent, ServerState};

/// Value of the field `kind` in audit entries about documents that store permissions, such as `grants.json`.
const DOCUMENT_AUDIT_KIND: &str = "document";
/// Documents whose content can allow acts without the user's consent. Each file contains a MAC, and is rejected
/// if another program has changed it.
const PERMISSION_GRANTING_DOCUMENTS: [Document; 6] =
    [Document::Grants, Document::Pins, Document::Roots, Document::Flow, Document::Sampling, Document::Confirmed];

impl Owner {
    /// Reports documents rejected since this was last called: writes audit entries, and shows the user the problem.
    pub(super) fn report_untrusted_settings_files(&mut self) {
        if let Some(adopted) = self.ports.documents.take_newly_authenticated() {
            self.documents.confirmed.adopts = true;
            if !adopted.is_empty() {
                let subject = format!("sealed for the first time with their current content: {}", adopted.join(", "));
                self.audit_settings_file_check(&subject, "noted");
            }
        }
        for name in PERMISSION_GRANTING_DOCUMENTS {
            if let Some(refused) = self.ports.documents.take_refusal(name) {
                self.show_untrusted_settings_file(name, refused);
            }
        }
    }

    fn show_untrusted_settings_file(&mut self, name: Document, refused: RefusedDocument) {
        let file = name.file_name();
        let message = if refused.why == DocumentRefusal::Removed {
            self.audit_settings_file_check(&format!("{file}: {}", refused.cause), "denied");
            "it is missing. What it allowed has to be approved again.".to_owned()
        } else if refused.why == DocumentRefusal::Forged {
            let place =
                refused.moved_to.map(|path| format!(" It was moved to {}.", path.display())).unwrap_or_default();
            self.audit_settings_file_check(&format!("{file}: {}", refused.cause), "denied");
            format!(
                "another program wrote it ({}). Nothing in it is used, and what it allowed has to be approved again.{place}",
                refused.cause
            )
        } else if self.ports.documents.mac_state() == DocumentMacState::Waiting {
            return;
        } else {
            format!("its seal can't be checked ({}). Until it can, nothing in it is used.", refused.cause)
        };
        tracing::warn!(file, message, "a document is not used");
        let own = match self.documents.problem.take() {
            Some(other) if other.message != message => {
                ConfigProblem { message: format!("{} {file}: {message}", other.message), ..other }
            }
            _ => ConfigProblem {
                file: Some(self.ports.documents.path().join(file).display().to_string()),
                line: None,
                column: None,
                message,
            },
        };
        self.documents.problem = Some(own);
        self.events.emit(HostEvent::ConfigProblem(self.displayed_config_problem()));
    }

    /// Returns the problem to display: that of the servers' settings file or, if there is none, of a rejected document.
    pub(super) fn displayed_config_problem(&self) -> Option<ConfigProblem> {
        self.settings.config_problem.clone().or_else(|| self.documents.problem.clone())
    }

    fn audit_settings_file_check(&mut self, subject: &str, decision: &'static str) {
        let (kind, by, asker) = (DOCUMENT_AUDIT_KIND, "policy", "file");
        self.audit_without_waiting(AuditedDecision {
            kind,
            subject,
            decision,
            by,
            asker,
            ..AuditedDecision::default()
        });
    }

    /// Parses the content of a stored document. Returns `None` if the document is unusable, in which case the state in
    /// memory must not be changed.
    pub(super) fn parse_document<T: serde::de::DeserializeOwned>(
        &mut self,
        read: DocumentReadResult,
        nothing: Value,
    ) -> Option<T> {
        self.report_untrusted_settings_files();
        serde_json::from_value(read.ok()?.unwrap_or(nothing)).ok()
    }

    /// Reads the grants again after another process changed them, or after the keychain became available.
    pub(crate) fn reload_grants(&mut self) {
        self.reload_document(Document::Grants, Self::on_grants_read);
    }

    fn on_grants_read(&mut self, read: DocumentReadResult) {
        let Some(stored) = self.parse_document::<Vec<Grant>>(read, json!([])) else { return };
        let (removed, added) = self.permissions.policy.grants_mut().replace_persisted(stored);
        for grant in removed.iter().filter(|grant| grant.subject == GrantSubject::Command) {
            self.on_approval_revoked(&grant.server);
        }
        let servers: BTreeSet<&String> = removed.iter().chain(&added).map(|grant| &grant.server).collect();
        if !servers.is_empty() {
            self.permissions.version += 1;
            self.events.emit(HostEvent::AuditChanged(None));
        }
        for server in servers {
            self.events.emit(HostEvent::CatalogChanged(server.clone()));
            self.emit_server_change(server);
        }
        if self.documents.awaits_key && self.ports.documents.mac_state() != DocumentMacState::Waiting {
            self.documents.awaits_key = false;
            if self.options.autostart {
                self.start_approved_servers();
            }
        }
    }

    /// Reads the pins of reviewed definitions again after another process changed them.
    pub(crate) fn reload_pins(&mut self) {
        self.reload_document(Document::Pins, Self::on_pins_read);
    }

    fn on_pins_read(&mut self, read: DocumentReadResult) {
        let Some(stored) = self.parse_document::<BTreeMap<String, ServerPins>>(read, json!({})) else { return };
        let stored: Pins = stored.into_iter().map(|(server, pins)| (server, Arc::new(pins))).collect();
        for server in self.reviews.merge(stored) {
            self.on_reviewed_definitions_changed(&server);
            self.recompute_review_warnings(&server);
            self.events.emit(HostEvent::CatalogChanged(server));
        }
    }

    /// Reads the folders shared as roots again after another process changed them.
    pub(crate) fn reload_roots(&mut self) {
        self.reload_document(Document::Roots, Self::on_roots_read);
    }

    fn on_roots_read(&mut self, read: DocumentReadResult) {
        let Some(stored) = self.parse_document::<BTreeMap<String, FolderShare>>(read, json!({})) else { return };
        for server in self.permissions.folders.merge(stored) {
            self.emit_server_change(&server);
        }
    }

    /// Starts all servers that are stopped, that are to start with Drawbridge, and whose start is approved.
    pub(super) fn start_approved_servers(&mut self) {
        let approved: Vec<String> = self
            .servers
            .records
            .iter()
            .filter(|(name, r)| {
                r.state == ServerState::Stopped && r.config.autostart && self.is_approved(name, &r.config)
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in approved {
            // A failure is displayed with the server.
            let _ = self.start(&name);
        }
    }
}
