//! The configured servers and their runs.

mod sign_ins;

use std::path::PathBuf;
use std::sync::Arc;

use domain::Millis;
use domain::app_view::AppStopCause;
use domain::call::CallFailure;
use domain::consent_request::ConsentRequestOrigin;
use host_state::check_server_entry;
use indexmap::IndexMap;
use launches::sandbox::shared_folders_accessible_in_sandbox;
use mcp_proto::session::{ClientRequest, ClientResponse, ListKind, ServerRequestId};
use mcp_proto::types::CreateMessageResult;
use offers::catalog::ServerCatalog;
use offers::review::{DefinitionKind, LookAlike, LookAlikeKeys, MAX_LOOK_ALIKES, ReviewFindings};
use policy::Hash;
use ports::server_config::{ServerConfig, ServerEntry, config_hash};
use process::orphans::RunningServerRecord;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::{Value, json};
use supervision::activity::{ActivityKind, TotalActivitySize};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

use super::{
    CallOrigin, DecisionError, DefinitionShownToUser, FolderShare, PendingRequest, ReviewError, ServerError,
    ServerRecord, ServerSelfDescription,
};
use crate::connection::{ConnectionCommand, RunId};
use crate::owner::gate::AuthorizedPayload;
use crate::view::{ConsentRequestBody, ServerState};

/// All servers in the settings file, and their current runs.
#[derive(Default)]
pub(crate) struct ServerRegistry {
    /// Servers by name, in the order of the settings file.
    pub(in crate::owner) records: IndexMap<String, Box<ServerRecord>, FxBuildHasher>,
    /// Name of the server that each current run belongs to.
    pub(in crate::owner) runs: FxHashMap<RunId, String>,
    /// Records of running server processes, as written to disk so that the next start can end processes left behind.
    pub(in crate::owner) running: FxHashMap<RunId, RunningServerRecord>,
    /// Total size of the activity logs of all servers, which is bounded.
    pub(in crate::owner) activity_size: TotalActivitySize,
}

impl ServerRegistry {
    /// Returns the current definitions of the tools and prompts in `reviewed`, if each is equal to the displayed one.
    ///
    /// # Errors
    ///
    /// Returns [`ReviewError::NotFound`] if no server has this name, [`ReviewError::NotRunning`] if it is not running,
    /// and [`ReviewError::Stale`] if a definition has changed.
    pub(in crate::owner) fn check_displayed_definitions(
        &self,
        server: &str,
        reviewed: &[DefinitionShownToUser],
    ) -> Result<Vec<Value>, ReviewError> {
        let record = self.records.get(server).ok_or_else(|| ReviewError::NotFound(server.to_owned()))?;
        if record.session.connection.is_none() {
            return Err(ReviewError::NotRunning(server.to_owned()));
        }
        let catalog = Arc::clone(&record.offer.catalog);
        let definitions: Vec<Option<Value>> = reviewed
            .iter()
            .map(|reviewed| match reviewed.kind {
                DefinitionKind::Tool => catalog.tool(&reviewed.name).map(|tool| json!(tool)),
                DefinitionKind::Prompt => catalog.prompt(&reviewed.name).map(|prompt| json!(prompt)),
            })
            .collect();
        let is_same = |reviewed: &DefinitionShownToUser, now: &Option<Value>| {
            now.as_ref().is_some_and(|definition| Hash::of_json(definition).as_str() == reviewed.hash)
        };
        let pairs = reviewed.iter().zip(&definitions);
        let stale: Vec<String> = pairs
            .filter(|(reviewed, now)| !is_same(reviewed, now))
            .map(|(reviewed, _)| reviewed.name.clone())
            .collect();
        if stale.is_empty() { Ok(definitions.into_iter().flatten().collect()) } else { Err(ReviewError::Stale(stale)) }
    }

    /// Returns a share of these folders for the server's current command, or `None` if there is no such server.
    pub(in crate::owner) fn share_for_command(&self, server: &str, folders: Vec<PathBuf>) -> Option<FolderShare> {
        let record = self.records.get(server)?;
        Some(FolderShare { command: config_hash(&record.config), folders })
    }

    /// Returns the record of a server, or `None` if no server has this name.
    pub(crate) fn record(&self, name: &str) -> Option<&ServerRecord> {
        self.records.get(name).map(Box::as_ref)
    }

    /// Returns the record of a server if `run` is its current run.
    pub(in crate::owner) fn record_of_run(&mut self, name: &str, run: RunId) -> Option<&mut ServerRecord> {
        self.records
            .get_mut(name)
            .map(Box::as_mut)
            .filter(|r| r.session.connection.as_ref().is_some_and(|c| c.run == run))
    }

    /// Sends a command to the connection of a server that is ready, without waiting.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no server has this name, [`CallFailure::NotReady`] if it is not ready, and
    /// [`CallFailure::Busy`] if its command channel is full.
    pub(in crate::owner) fn send_command(
        &self,
        server: &str,
        command: ConnectionCommand,
    ) -> Result<RunId, CallFailure> {
        let record = self.records.get(server).ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))?;
        match &record.session.connection {
            Some(connection) if record.state == ServerState::Ready => {
                connection.sender.try_send(Box::new(command)).map_err(|error| match error {
                    TrySendError::Full(_) => CallFailure::Busy { server: server.to_owned() },
                    TrySendError::Closed(_) => CallFailure::NotReady { server: server.to_owned() },
                })?;
                Ok(connection.run)
            }
            _ => Err(CallFailure::NotReady { server: server.to_owned() }),
        }
    }

    /// Instructs the connection of a server to read one of the server's lists again.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send_command`](Self::send_command).
    pub(crate) fn refresh_list(
        &self,
        server: &str,
        kind: ListKind,
        reply: oneshot::Sender<Arc<ServerCatalog>>,
    ) -> Result<(), CallFailure> {
        self.send_command(server, ConnectionCommand::Refresh { kind, reply }).map(|_| ())
    }

    /// Checks that this entry can be added as a new server.
    pub(crate) fn check_new_server(&self, entry: &ServerEntry) -> Result<(), ServerError> {
        check_server_entry(entry, self.records.contains_key(&entry.name))
    }

    /// Checks that the server `was` can be changed to this entry, which may have another name.
    pub(crate) fn check_changed_server(&self, was: &str, entry: &ServerEntry) -> Result<(), ServerError> {
        if !self.records.contains_key(was) {
            return Err(ServerError::NotFound(was.to_owned()));
        }
        check_server_entry(entry, entry.name != was && self.records.contains_key(&entry.name))
    }

    /// Adds an entry to the activity log of a server whose app for this tool was closed.
    pub(crate) fn log_stopped_app(&self, server: &str, tool: &str, cause: AppStopCause) {
        let Some(record) = self.records.get(server) else { return };
        let text = match cause {
            // The app of another server may be the cause.
            AppStopCause::Unresponsive => {
                format!("the app of {tool:?} was closed because the page of its window stopped responding")
            }
            AppStopCause::MemoryLimit => {
                format!("the app of {tool:?} was closed because its window used too much memory")
            }
            AppStopCause::PageEnded => format!("the process that drew the app of {tool:?} ended"),
        };
        record.log_activity_line(ActivityKind::State, &text);
    }

    /// Adds an entry about a shown app for this tool to the activity log of its server, which has no message for it.
    /// `words` follow the name of the app.
    pub(crate) fn log_app_activity(&self, server: &str, tool: &str, words: &str) {
        if let Some(record) = self.records.get(server) {
            record.log_activity_line(ActivityKind::State, &format!("the app of {tool:?} {words}"));
        }
    }

    /// Returns `true` if the user or a model makes the request, or if an app reads a resource that its server lists. An
    /// app that reaches other hosts gets `false`, since its choice of a URI can transfer data from them.
    pub(in crate::owner) fn may_read_without_consent(
        &self,
        server: &str,
        origin: &CallOrigin,
        request: &ClientRequest,
    ) -> bool {
        let CallOrigin::App { reaches_other_hosts, .. } = origin else { return true };
        let ClientRequest::ReadResource { uri } = request else { return false };
        let resources = self.records.get(server).map(|record| record.offer.catalog.resources.as_slice());
        !reaches_other_hosts && resources.unwrap_or_default().iter().any(|resource| resource.name() == uri)
    }

    /// Returns `true` if a consent request is for a call of a tool that the user turned off, by a model or an app.
    pub(in crate::owner) fn is_for_disabled_tool(&self, pending: &PendingRequest) -> bool {
        let ConsentRequestBody::Tool { tool, .. } = &pending.view.body else { return false };
        matches!(pending.view.origin, ConsentRequestOrigin::Model { .. } | ConsentRequestOrigin::App { .. })
            && self.records.get(&pending.view.server).is_some_and(|record| !record.config.tools.admits(&tool.name))
    }

    /// Examines the information that a server sent about itself for suspicious text and for names similar to others.
    pub(in crate::owner) fn examine_self_description(&mut self, server: &str) {
        if let Some(record) = self.records.get_mut(server)
            && let Some(facts) = &record.session.facts
        {
            record.offer.description = ServerSelfDescription::new(server, facts);
        }
    }

    /// Returns `true` if a server is remote: configured by a URL rather than a command.
    pub(in crate::owner) fn is_remote(&self, server: &str) -> bool {
        self.records.get(server).is_some_and(|record| record.config.as_http().is_some())
    }

    /// Returns the review warnings about the information that a server sent about itself, such as a name similar to
    /// that of another server. Warnings about its tools and other definitions are not included.
    pub(in crate::owner) fn server_findings(&self, server: &str, record: &ServerRecord) -> ReviewFindings {
        let Some((name, keys)) = record.offer.description.name.as_ref().filter(|_| record.session.facts.is_some())
        else {
            return ReviewFindings::default();
        };
        let others = self.records.iter().filter(|(other, _)| *other != server);
        let found = others.filter_map(|(label, other)| {
            let claimed = other
                .offer
                .description
                .name
                .as_ref()
                .filter(|(_, claimed)| keys.share_a_key(claimed))
                .map(|(name, _)| name.as_str());
            let like = claimed.or_else(|| keys.share_a_key(&LookAlikeKeys::new(label)).then_some(label))?;
            Some(LookAlike { server: label.clone(), name: like.to_owned(), is_identical: like == name })
        });
        ReviewFindings {
            look_alikes: found.take(MAX_LOOK_ALIKES).collect(),
            flags: record.offer.description.flags.clone(),
            ..ReviewFindings::default()
        }
    }

    /// Returns the folders in `shared` that the server receives: all, or those that its sandbox allows.
    pub(in crate::owner) fn folders_sent_to_server(&self, server: &str, shared: Vec<PathBuf>) -> Vec<PathBuf> {
        let config = self.records.get(server).and_then(|record| record.config.as_stdio());
        match config.and_then(|config| config.sandbox.as_ref()) {
            Some(sandbox) => shared_folders_accessible_in_sandbox(&shared, sandbox),
            None => shared,
        }
    }

    /// Returns `true` if the sandbox of a server allows no folders, so that it receives none whatever is shared.
    pub(in crate::owner) fn has_no_shareable_folders(&self, server: &str) -> bool {
        let config = self.records.get(server).and_then(|record| record.config.as_stdio());
        config.and_then(|config| config.sandbox.as_ref()).is_some_and(|sandbox| sandbox.folders.is_empty())
    }

    /// Returns the record of a server if it still waits for its start with this configuration, or `None` if it was
    /// stopped, changed or removed meanwhile. Only the settings that restrict its tools may differ from `config`.
    pub(in crate::owner) fn starting_server(&mut self, name: &str, config: &ServerConfig) -> Option<&mut ServerRecord> {
        self.records.get_mut(name).map(Box::as_mut).filter(|r| {
            r.state == ServerState::Starting && r.session.connection.is_none() && r.config.starts_same_server_as(config)
        })
    }

    /// Checks that a model's reply can be sent to this server.
    ///
    /// # Errors
    ///
    /// Returns the reason if it can't be sent.
    pub(in crate::owner) fn check_sampling_answer(
        &self,
        server: &str,
        response: &CreateMessageResult,
    ) -> Result<(), DecisionError> {
        if response.content.blocks().is_empty() {
            return Err(DecisionError::WrongKind("the answer is empty"));
        }
        if self.records.get(server).is_some_and(|record| !record.session.supports_content(&response.content)) {
            let cause = "the server's protocol revision cannot carry such content; send one text";
            return Err(DecisionError::WrongKind(cause));
        }
        Ok(())
    }

    /// Instructs a server's connection to read those lists again that are stale at the time `at`. Until a list is read,
    /// its known entries remain in use.
    pub(crate) fn read_stale_lists(&self, server: &str, at: Millis) {
        let Some(record) = self.records.get(server).filter(|r| r.state == ServerState::Ready) else { return };
        let is_stale = |until: &Option<Millis>| until.is_some_and(|until| until <= at);
        if record.offer.catalog.fresh_until.iter().any(is_stale)
            && let Some(connection) = &record.session.connection
        {
            // If the connection's channel is full, the next access to the lists requests this again.
            let _ = connection.sender.try_send(Box::new(ConnectionCommand::ReadStale));
        }
    }

    /// Sends the response to a request of a server's run, or drops the response if the run has ended.
    pub(in crate::owner) fn send_response(
        &mut self,
        server: &str,
        run: RunId,
        request: ServerRequestId,
        answer: AuthorizedPayload<ClientResponse>,
    ) {
        let Some(connection) =
            self.records.get(server).and_then(|r| r.session.connection.as_ref()).filter(|c| c.run == run)
        else {
            return;
        };
        let sender = connection.sender.clone();
        if let Err(error) = sender.try_send(Box::new(ConnectionCommand::Answer { request, answer })) {
            // The channel is full, but every request must receive a response, so a task waits for room.
            tokio::spawn(async move { sender.send(error.into_inner()).await });
        }
    }
}

#[cfg(test)]
mod tests;
