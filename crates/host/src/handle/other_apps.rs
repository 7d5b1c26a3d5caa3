//! Servers of other apps, beside those that are set up. Callers: the commands of `api` and of the command line.

use std::sync::Arc;

use ::other_apps::{From, Report, Surroundings, look};
use ports::server_config::{ConfigProblem, ServerEntry};

use super::{Host, HostClosed};

/// Why servers of other apps can't be looked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// There is no such app or file.
    #[error("{}", .0.message)]
    Source(ConfigProblem),
    /// The host ends.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl Host {
    /// Looks for servers in the settings of other apps, and compares them with those that are set up. Nothing is started or written.
    ///
    /// # Errors
    /// If there is no such app or file.
    pub async fn look_for_servers(&self, from: From, surroundings: Arc<Surroundings>) -> Result<Report, ImportError> {
        let servers = self.snapshot().await?.servers.into_iter();
        let set_up: Vec<ServerEntry> =
            servers.map(|server| ServerEntry { name: server.name, config: server.config }).collect();
        // The files may lie on a slow disk.
        let looked = tokio::task::spawn_blocking(move || look(&from, &surroundings, &set_up)).await.map_err(|error| {
            tracing::error!(%error, "the thread that looks for servers of other apps ended without a result");
            HostClosed
        });
        looked?.map_err(ImportError::Source)
    }
}
