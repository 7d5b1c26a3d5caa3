//! The data flow that the user set for each server, as it is kept and changed.

use std::collections::{BTreeMap, BTreeSet};

use policy::{Hash, canonical_json};
use serde_json::json;

use super::Owner;
use super::audit::Decided;
use super::servers::ServerError;
use crate::flow::{DataFlow, MAX_TOOLS};
use crate::ports::{Document, StoreError};

/// By server.
pub(super) type Flows = BTreeMap<String, DataFlow>;

impl Owner {
    /// What the user set for a server.
    pub(crate) fn flow_of(&self, server: &str) -> DataFlow {
        self.flows.get(server).cloned().unwrap_or_default()
    }

    /// Sets it. It is written down first, as it may let more pass.
    ///
    /// # Errors
    /// If there is no such server, or it can't be written.
    pub(crate) fn set_data_flow(&mut self, server: &str, flow: DataFlow) -> Result<(), FlowError> {
        if !self.servers.contains_key(server) {
            return Err(ServerError::NotFound(server.to_owned()).into());
        }
        if flow.tools.len() > MAX_TOOLS {
            return Err(FlowError::TooMany);
        }
        let was = self.flow_of(server);
        if was == flow {
            return Ok(());
        }
        let subject = canonical_json(&json!({ "was": was, "now": flow }));
        let hash = Hash::of_bytes(subject.as_bytes());
        self.audit(Decided {
            server,
            kind: "data-flow",
            subject: &subject,
            decision: "allowed",
            by: self.options.decides,
            hash: hash.as_str(),
            ..Decided::default()
        })?;
        self.keep_flow(server, Some(&flow))?;
        self.flows.insert(server.to_owned(), flow);
        self.judgement += 1;
        self.emit_server(server);
        Ok(())
    }

    fn keep_flow(&self, server: &str, flow: Option<&DataFlow>) -> Result<(), StoreError> {
        self.keep_entry(Document::Flow, server, flow.map(|flow| json!(flow)))
    }

    pub(super) fn rename_flow(&mut self, was: &str, name: &str) {
        if let Some(flow) = self.flows.remove(was) {
            let kept = self.keep_flow(was, None).and_then(|()| self.keep_flow(name, Some(&flow)));
            if let Err(error) = kept {
                tracing::error!(%error, "the data flow of a renamed server could not be written");
            }
            self.flows.insert(name.to_owned(), flow);
        }
    }

    pub(super) fn forget_flow(&mut self, server: &str) {
        if self.flows.remove(server).is_some()
            && let Err(error) = self.keep_flow(server, None)
        {
            tracing::error!(%error, "the data flow of a removed server could not be taken out");
        }
    }

    /// Another program of ours changed it.
    pub(crate) fn reload_flows(&mut self) {
        let Some(now) = self.read_again::<Flows>(Document::Flow, json!({})) else { return };
        let before = std::mem::replace(&mut self.flows, now);
        let servers: BTreeSet<&String> = before.keys().chain(self.flows.keys()).collect();
        let changed: Vec<String> =
            servers.into_iter().filter(|name| before.get(*name) != self.flows.get(*name)).cloned().collect();
        for server in changed {
            self.judgement += 1;
            self.emit_server(&server);
        }
    }
}

/// Why the data flow of a server was not set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FlowError {
    /// There is no such server.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Too many tools have a setting of their own.
    #[error("at most {MAX_TOOLS} tools can have a setting of their own")]
    TooMany,
    /// It can't be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
