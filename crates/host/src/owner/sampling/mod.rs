//! Sampling: servers ask for a model's answer, as far as the user lets each of them. Off until it is turned on for a server; a
//! request is bounded by that server's budget, shown and changed, put to a model or answered by hand, and the answer shown and
//! changed before it goes back. A rule with a budget may let requests through without asking.

mod answers;
mod asked;
mod budget;
mod run;
mod unasked;

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::session::ServerRequestId;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, SamplingCapability};
use policy::{Hash, canonical_json};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::audit::Decided;
use super::{Owner, ServerError};
use crate::activity::now;
use crate::connection::RunId;
use crate::ports::{Document, StoreError};
use crate::sampling::{SamplingReport, SamplingSettings, SamplingState, Spending};
use crate::view::HostEvent;

pub(super) use run::Running;
use unasked::Unasked;

/// Sampling of all servers.
#[derive(Default)]
pub(super) struct Sampling {
    kept: BTreeMap<String, Kept>,
    /// What models answer without a question, by the request that they answer.
    unasked: FxHashMap<(RunId, ServerRequestId), Unasked>,
    /// The number of the last run of a model.
    last_run: u64,
}

/// What is kept of one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    settings: SamplingSettings,
    #[serde(default)]
    spent: Spending,
}

/// Why settings could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SamplingError {
    /// There is no such server.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// They, or the decision, can't be written. They are as before.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Sampling {
    pub(super) fn of(kept: BTreeMap<String, serde_json::Value>) -> Self {
        let read = |(server, value)| Some((server, serde_json::from_value(value).ok()?));
        Self { kept: kept.into_iter().filter_map(read).collect(), ..Self::default() }
    }
}

impl Owner {
    /// How a server may use the user's models.
    pub(super) fn sampling_settings(&self, server: &str) -> SamplingSettings {
        self.sampling.kept.get(server).map(|kept| kept.settings.clone()).unwrap_or_default()
    }

    fn spending(&self, server: &str) -> Spending {
        self.sampling.kept.get(server).map(|kept| kept.spent.clone()).unwrap_or_default()
    }

    /// What a server is told of sampling when its session opens. Context is never offered: nothing of any server is put in.
    pub(super) fn sampling_offered(&self, server: &str) -> Option<SamplingCapability> {
        let settings = self.sampling.kept.get(server).map(|kept| &kept.settings).filter(|settings| settings.on)?;
        Some(SamplingCapability { context: None, tools: settings.tools.then(Map::new) })
    }

    /// How much a server may use and has used.
    pub(crate) fn sampling_report(&self, server: &str) -> Result<SamplingReport, ServerError> {
        let record = self.servers.get(server).ok_or_else(|| ServerError::NotFound(server.to_owned()))?;
        let (settings, spent) = (self.sampling_settings(server), self.spending(server));
        Ok(SamplingReport {
            within_hour: spent.within_hour(now()),
            in_all: spent.in_all,
            stopped: spent.stopped(&settings, now()).filter(|_| settings.on),
            is_outdated: record.connection.is_some() && record.sampling_offered != self.sampling_offered(server),
            settings,
        })
    }

    /// Sets how much a server may use. It learns of it when it is started next; what is turned off is refused at once.
    pub(crate) fn set_sampling(&mut self, server: &str, settings: SamplingSettings) -> Result<(), SamplingError> {
        if !self.servers.contains_key(server) {
            return Err(ServerError::NotFound(server.to_owned()).into());
        }
        let settings = settings.within_bounds();
        let subject = canonical_json(&json!(settings));
        let hash = Hash::of_bytes(subject.as_bytes());
        self.audit(Decided {
            server,
            kind: "sampling-settings",
            subject: &subject,
            decision: if settings.on { "allowed" } else { "denied" },
            by: self.options.decides,
            hash: hash.as_str(),
            ..Decided::default()
        })?;
        self.change_sampling(server, &mut |kept| kept.settings.clone_from(&settings))?;
        if !settings.on {
            self.refuse_unasked(server);
        }
        self.emit(HostEvent::SamplingChanged(server.to_owned()));
        Ok(())
    }

    /// Another program changed what servers may use, or counted what they used.
    pub(crate) fn reload_sampling(&mut self) {
        let read = self.ports.documents.read(Document::Sampling);
        self.heed_documents();
        let Ok(kept) = read else { return };
        let Ok(kept) = serde_json::from_value(kept.unwrap_or_else(|| json!({}))) else {
            tracing::warn!("sampling.json can't be used; what servers may do stays as it was");
            return;
        };
        let was = std::mem::replace(&mut self.sampling.kept, Sampling::of(kept).kept);
        let servers: BTreeSet<String> = was.keys().chain(self.sampling.kept.keys()).cloned().collect();
        for server in servers {
            let now = self.sampling.kept.get(&server);
            if was.get(&server) == now {
                continue;
            }
            if now.is_none_or(|kept| !kept.settings.on) {
                self.refuse_unasked(&server);
            }
            self.emit(HostEvent::SamplingChanged(server));
        }
    }

    /// Changes what is kept of a server, as it is on disk now: another program may have counted meanwhile.
    fn change_sampling(&mut self, server: &str, change: &mut dyn FnMut(&mut Kept)) -> Result<(), StoreError> {
        let own = self.sampling.kept.get(server).cloned().unwrap_or_default();
        let mut changed = own.clone();
        change(&mut changed);
        let written = self.ports.documents.update(Document::Sampling, &mut |kept| {
            let mut all: Map<_, _> = kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default();
            let read = all.get(server).and_then(|kept| serde_json::from_value(kept.clone()).ok());
            let mut now: Kept = read.unwrap_or_else(|| own.clone());
            change(&mut now);
            all.insert(server.to_owned(), json!(now));
            changed = now;
            all.into()
        });
        // What was used counts, whether or not it could be written.
        if written.is_ok() {
            self.sampling.kept.insert(server.to_owned(), changed);
        } else {
            self.sampling.kept.entry(server.to_owned()).or_default().spent = changed.spent;
        }
        written
    }

    pub(super) fn rename_sampling(&mut self, was: &str, name: &str) {
        if let Some(kept) = self.sampling.kept.remove(was) {
            for (name, kept) in [(was, None), (name, Some(json!(kept)))] {
                if let Err(error) = self.keep_entry(Document::Sampling, name, kept) {
                    tracing::error!(%error, "the sampling settings could not be moved; they hold until Drawbridge ends");
                }
            }
            self.sampling.kept.insert(name.to_owned(), kept);
        }
    }

    pub(super) fn forget_sampling(&mut self, server: &str) {
        if self.sampling.kept.remove(server).is_some()
            && let Err(error) = self.keep_entry(Document::Sampling, server, None)
        {
            tracing::error!(%error, "the sampling settings of a removed server could not be taken out");
        }
    }
}

/// What a sampling question is about, on one line.
pub(super) fn subject(
    request: &CreateMessageParams,
    response: Option<&CreateMessageResult>,
    state: &SamplingState,
) -> String {
    let messages = format!("{} message(s)", request.messages.len());
    match (response, &state.model) {
        (Some(response), _) => format!("{messages}, answered by {}", response.model),
        (None, Some(choice)) => format!("{messages} to {}/{}", choice.model.provider, choice.model.model),
        (None, None) => messages,
    }
}
