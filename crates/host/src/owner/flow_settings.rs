//! Changes of the data flow settings of servers, and their storage.

use domain::data_flow::{DataFlow, MAX_TOOL_SETTINGS};
use host_state::{AuditedDecision, DataFlowError};
use policy::{Hash, canonical_json};
use ports::Document;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::state::{DataFlowSettings, DocumentReadResult, ServerError, with_server_entry};

fn data_flow_server_not_found(server: &str) -> DataFlowError {
    ServerError::NotFound(server.to_owned()).into()
}

impl Owner {
    /// Sets the data flow settings of a server. The audit entry is written first, since the change may allow more.
    pub(crate) fn set_data_flow(
        &mut self,
        server: &str,
        flow: DataFlow,
        reply: oneshot::Sender<Result<(), DataFlowError>>,
    ) {
        let was = self.permissions.data_flow.data_flow_of(server);
        let nothing_to_write = if !self.servers.records.contains_key(server) {
            Some(Err(data_flow_server_not_found(server)))
        } else if flow.tools.len() > MAX_TOOL_SETTINGS {
            Some(Err(DataFlowError::TooMany))
        } else {
            // While another change is being written, the settings in memory may still change.
            (was == flow && self.permissions.data_flow.pending_changes == 0).then_some(Ok(()))
        };
        if let Some(outcome) = nothing_to_write {
            // The caller may have stopped waiting, here and below.
            let _ = reply.send(outcome);
            return;
        }
        let subject = canonical_json(&json!({ "was": was, "now": flow }));
        let hash = Hash::of_bytes(subject.as_bytes());
        let entry = AuditedDecision {
            server,
            kind: "data-flow",
            subject: &subject,
            decision: "allowed",
            by: self.options.decider_name,
            hash: hash.as_str(),
            ..AuditedDecision::default()
        };
        let server = server.to_owned();
        self.permissions.data_flow.pending_changes += 1;
        self.audit_then(entry, move |owner, written| {
            // The server may have been removed or renamed while the entry was written.
            let is_there = owner.servers.records.contains_key(&server);
            let written = written.map_err(DataFlowError::from);
            if let Err(error) =
                written.and_then(|()| is_there.then_some(()).ok_or_else(|| data_flow_server_not_found(&server)))
            {
                owner.permissions.data_flow.pending_changes -= 1;
                let _ = reply.send(Err(error));
                return;
            }
            let (name, value) = (server.clone(), json!(flow));
            let change = move |stored: Option<Value>| (with_server_entry(stored, &name, Some(&value)), ());
            owner.change_document(Document::Flow, change, move |owner, written| {
                owner.permissions.data_flow.pending_changes -= 1;
                let set = if !owner.servers.records.contains_key(&server) {
                    owner.write_data_flow(&server, None);
                    Err(data_flow_server_not_found(&server))
                } else if let Err(error) = written {
                    Err(error.into())
                } else {
                    owner.permissions.data_flow.flows.insert(server.clone(), flow);
                    owner.permissions.version += 1;
                    owner.emit_server_change(&server);
                    Ok(())
                };
                let _ = reply.send(set);
            });
        });
    }

    fn write_data_flow(&mut self, server: &str, flow: Option<&DataFlow>) {
        let failure = "the data flow of a server that was renamed or removed could not be written";
        self.write_entry_later(Document::Flow, failure, server, flow.map(|flow| json!(flow)));
    }

    pub(super) fn rename_data_flow(&mut self, was: &str, name: &str) {
        if let Some(flow) = self.permissions.data_flow.flows.remove(was) {
            self.write_data_flow(was, None);
            self.write_data_flow(name, Some(&flow));
            self.permissions.data_flow.flows.insert(name.to_owned(), flow);
        }
    }

    pub(super) fn forget_data_flow(&mut self, server: &str) {
        if self.permissions.data_flow.flows.remove(server).is_some() {
            self.write_data_flow(server, None);
        }
    }

    /// Reads the data flow settings again after another instance of Drawbridge changed them.
    pub(crate) fn reload_data_flow(&mut self) {
        self.reload_document(Document::Flow, Self::on_data_flow_read);
    }

    fn on_data_flow_read(&mut self, read: DocumentReadResult) {
        let Some(now) = self.parse_document::<DataFlowSettings>(read, json!({})) else { return };
        for server in self.permissions.data_flow.replace(now) {
            self.permissions.version += 1;
            self.emit_server_change(&server);
        }
    }
}
