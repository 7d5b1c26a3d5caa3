//! A sandbox for a server whose start waits for consent. Used by `handle/contained_start.rs`.

use std::path::PathBuf;

use domain::consent_request::ConsentRequestId;
use ports::server_config::ServerConfig;

use crate::owner::state::DecisionError;
use crate::owner::{Owner, ServerError};
use crate::view::ConsentRequestBody;

/// A local server without a sandbox whose start waits for consent.
pub(crate) struct UnsandboxedStart {
    pub(crate) name: String,
    /// Settings of the server. The command in the consent request may also contain a version of the server's package.
    pub(crate) config: ServerConfig,
    /// Folder of the bundle that the server was installed from, if any.
    pub(crate) bundle: Option<PathBuf>,
}

impl Owner {
    /// Returns the local server without a sandbox whose start the consent request `id` is for. If `hash` is given, the
    /// request must still have that payload hash, and no decision on the request may be in execution.
    pub(crate) fn find_unsandboxed_start(
        &self,
        id: ConsentRequestId,
        hash: Option<&str>,
    ) -> Result<UnsandboxedStart, DecisionError> {
        let pending = &self.consent.pending[self.consent.position_of(id).ok_or(DecisionError::NotOpen)?];
        let is_uncontained = matches!(&pending.view.body, ConsentRequestBody::StartServer { config, plan: None, .. } if config.sandbox.is_none());
        if !is_uncontained {
            return Err(DecisionError::WrongKind("only a local server without a sandbox can get one"));
        }
        let is_changed = |hash| pending.view.hash.as_str() != hash || pending.being_acted_on || pending.being_looked_at;
        if hash.is_some_and(is_changed) {
            return Err(DecisionError::Stale);
        }
        let name = pending.view.server.clone();
        let config = (*self.servers.records.get(&name).ok_or(DecisionError::NotOpen)?.config).clone();
        let bundle = self.launches.bundle_files(&name, &config);
        let bundle = bundle.map(|files| self.launches.own_files.bundles_folder().join(files.folder));
        Ok(UnsandboxedStart { name, config, bundle })
    }

    /// Starts a server, always with a consent request for the exact command, even if a grant covers the start.
    pub(crate) fn start_with_consent(&mut self, name: &str) -> Result<(), ServerError> {
        if let Some(record) = self.servers.records.get_mut(name) {
            record.launch.must_ask = true;
        }
        self.start_for_user(name)
    }
}
