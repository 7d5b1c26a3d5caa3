//! The servers and their runs.

mod entry;
mod sign_ins;

pub use entry::ServerError;

use std::path::PathBuf;
use std::sync::Arc;

use domain::Millis;
use domain::call::CallFailure;
use indexmap::IndexMap;
use launches::sandbox::reachable;
use mcp_proto::session::{Answer, ServerRequestId};
use mcp_proto::types::CreateMessageResult;
use offers::review::{Kind, LookAlike, MAX_LOOK_ALIKES, Marks, NameKeys};
use policy::Hash;
use ports::server_config::{ServerConfig, config_hash};
use process::orphans::RunningRecord;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::{Value, json};
use supervision::activity::Together;
use tokio::sync::mpsc::error::TrySendError;

use super::{AnswerError, FolderShare, ReviewError, SelfDescription, ServerRecord, ShownDefinition};
use crate::connection::{RunId, Tell};
use crate::owner::gate::Passed;
use crate::view::ServerState;

/// All servers of the settings file, and what runs of them.
#[derive(Default)]
pub(crate) struct ServerRegistry {
    /// The servers, in the order of the file.
    pub(in crate::owner) records: IndexMap<String, ServerRecord, FxBuildHasher>,
    /// The server of each run.
    pub(in crate::owner) runs: FxHashMap<RunId, String>,
    /// The processes that run, as they are written down.
    pub(in crate::owner) running: FxHashMap<RunId, RunningRecord>,
    /// The size of the activity of all servers.
    pub(in crate::owner) activity_size: Together,
}

impl ServerRegistry {
    /// These definitions, if all are as they were shown.
    pub(in crate::owner) fn as_shown(&self, server: &str, seen: &[ShownDefinition]) -> Result<Vec<Value>, ReviewError> {
        let record = self.records.get(server).ok_or_else(|| ReviewError::NotFound(server.to_owned()))?;
        if record.session.connection.is_none() {
            return Err(ReviewError::NotRunning(server.to_owned()));
        }
        let catalog = Arc::clone(&record.offer.catalog);
        let definitions: Vec<Option<Value>> = seen
            .iter()
            .map(|seen| match seen.kind {
                Kind::Tool => catalog.tool(&seen.name).map(|tool| json!(tool)),
                Kind::Prompt => catalog.prompt(&seen.name).map(|prompt| json!(prompt)),
            })
            .collect();
        let is_same = |seen: &ShownDefinition, now: &Option<Value>| {
            now.as_ref().is_some_and(|definition| Hash::of(definition).as_str() == seen.hash)
        };
        let pairs = seen.iter().zip(&definitions);
        let stale: Vec<String> =
            pairs.filter(|(seen, now)| !is_same(seen, now)).map(|(seen, _)| seen.name.clone()).collect();
        if stale.is_empty() { Ok(definitions.into_iter().flatten().collect()) } else { Err(ReviewError::Stale(stale)) }
    }

    /// The folders with the command of the server as it is now, for which the user decides.
    pub(in crate::owner) fn shared_with_command(&self, server: &str, folders: Vec<PathBuf>) -> Option<FolderShare> {
        let record = self.records.get(server)?;
        Some(FolderShare { command: config_hash(&record.config), folders })
    }

    /// The server, if this is still its run.
    pub(in crate::owner) fn current(&mut self, name: &str, run: RunId) -> Option<&mut ServerRecord> {
        self.records.get_mut(name).filter(|r| r.session.connection.as_ref().is_some_and(|c| c.run == run))
    }

    /// Tells a ready server's connection something, without waiting for it.
    pub(in crate::owner) fn tell(&self, server: &str, tell: Tell) -> Result<RunId, CallFailure> {
        let record = self.records.get(server).ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))?;
        match &record.session.connection {
            Some(connection) if record.state == ServerState::Ready => {
                connection.tell.try_send(Box::new(tell)).map_err(|error| match error {
                    TrySendError::Full(_) => CallFailure::Busy { server: server.to_owned() },
                    TrySendError::Closed(_) => CallFailure::NotReady { server: server.to_owned() },
                })?;
                Ok(connection.run)
            }
            _ => Err(CallFailure::NotReady { server: server.to_owned() }),
        }
    }

    /// Looks through what a server says of itself.
    pub(in crate::owner) fn look_at_claims(&mut self, server: &str) {
        if let Some(record) = self.records.get_mut(server)
            && let Some(facts) = &record.session.facts
        {
            record.offer.description = SelfDescription::of(server, facts);
        }
    }

    /// Returns true if a server is reached by a URL.
    pub(in crate::owner) fn is_remote(&self, server: &str) -> bool {
        self.records.get(server).is_some_and(|record| record.config.as_http().is_some())
    }

    /// The marks on a server itself.
    pub(in crate::owner) fn marks_of_server(&self, server: &str, record: &ServerRecord) -> Marks {
        let Some((name, keys)) = record.offer.description.name.as_ref().filter(|_| record.session.facts.is_some())
        else {
            return Marks::default();
        };
        let others = self.records.iter().filter(|(other, _)| *other != server);
        let found = others.filter_map(|(label, other)| {
            let claimed = other
                .offer
                .description
                .name
                .as_ref()
                .filter(|(_, claimed)| keys.meet(claimed))
                .map(|(name, _)| name.as_str());
            let like = claimed.or_else(|| keys.meet(&NameKeys::of(label)).then_some(label))?;
            Some(LookAlike { server: label.clone(), name: like.to_owned(), same: like == name })
        });
        Marks {
            look_alikes: found.take(MAX_LOOK_ALIKES).collect(),
            flags: record.offer.description.flags.clone(),
            ..Marks::default()
        }
    }

    /// The folders of these that a server is told of: in a sandbox, those that it reaches.
    pub(in crate::owner) fn told_of(&self, server: &str, shared: Vec<PathBuf>) -> Vec<PathBuf> {
        let config = self.records.get(server).and_then(|record| record.config.as_stdio());
        match config.and_then(|config| config.sandbox.as_ref()) {
            Some(sandbox) => reachable(&shared, sandbox),
            None => shared,
        }
    }

    /// A server that is still to be started as it was when what took time began. It may have been stopped, changed or
    /// removed meanwhile.
    pub(in crate::owner) fn awaited(&mut self, name: &str, config: &ServerConfig) -> Option<&mut ServerRecord> {
        self.records
            .get_mut(name)
            .filter(|r| r.state == ServerState::Starting && r.session.connection.is_none() && *r.config == *config)
    }

    /// Returns an error if a model's answer can't go back to this server.
    pub(in crate::owner) fn check_sampling_answer(
        &self,
        server: &str,
        response: &CreateMessageResult,
    ) -> Result<(), AnswerError> {
        if response.content.blocks().is_empty() {
            return Err(AnswerError::WrongKind("the answer is empty"));
        }
        if self.records.get(server).is_some_and(|record| !record.session.can_carry(&response.content)) {
            let cause = "the server's protocol revision cannot carry such content; send one text";
            return Err(AnswerError::WrongKind(cause));
        }
        Ok(())
    }

    /// Has lists read again that are no longer fresh at this time. What is known of them serves until then.
    pub(crate) fn read_stale_lists(&self, server: &str, at: Millis) {
        let Some(record) = self.records.get(server).filter(|r| r.state == ServerState::Ready) else { return };
        let is_stale = |until: &Option<Millis>| until.is_some_and(|until| until <= at);
        if record.offer.catalog.fresh_until.iter().any(is_stale)
            && let Some(connection) = &record.session.connection
        {
            // If it is too busy now, the next who asks has them read.
            let _ = connection.tell.try_send(Box::new(Tell::ReadStale));
        }
    }

    /// Answers a request of this very run; an answer for a run that has ended has nobody to go to.
    pub(in crate::owner) fn tell_answer(
        &mut self,
        server: &str,
        run: RunId,
        request: ServerRequestId,
        answer: Passed<Answer>,
    ) {
        let Some(connection) =
            self.records.get(server).and_then(|r| r.session.connection.as_ref()).filter(|c| c.run == run)
        else {
            return;
        };
        let tell = connection.tell.clone();
        if let Err(error) = tell.try_send(Box::new(Tell::Answer { request, answer })) {
            // The connection is busy; every request is answered all the same.
            tokio::spawn(async move { tell.send(error.into_inner()).await });
        }
    }
}

#[cfg(test)]
mod tests;
