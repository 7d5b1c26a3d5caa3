//! Catalogs of servers, and the user's reviews of their definitions. Used by the commands of `api` and the command
//! line, and by `chat`.

use std::sync::Arc;

use domain::call::CallFailure;
use domain::data_flow::DataFlow;
use mcp_proto::session::ListKind;
use offers::catalog::ServerCatalog;
use offers::review::{Pins, ServerReview};
use supervision::activity::{ActivityEntry, ActivityPage, SharedActivityLog};
use tokio::sync::oneshot;

use super::{Host, HostClosed};
use crate::owner::{DataFlowError, DefinitionShownToUser, ReviewError};

impl Host {
    /// Returns the catalog of a server as last read. Lists that are stale are read again in the background.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no server has this name, and [`CallFailure::Closing`] after shutdown.
    pub async fn catalog(&self, server: String) -> Result<Arc<ServerCatalog>, CallFailure> {
        let found = self.with_owner({
            let server = server.clone();
            move |owner| {
                let at = owner.now();
                owner.servers.read_stale_lists(&server, at);
                owner.servers.record(&server).map(|r| Arc::clone(&r.offer.catalog))
            }
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// Returns the catalog of a server together with the review state of each tool and prompt definition.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no server has this name, and [`CallFailure::Closing`] after shutdown.
    pub async fn server_review(&self, server: String) -> Result<ServerReview, CallFailure> {
        let found = self.with_owner({
            let server = server.clone();
            move |owner| owner.server_review(&server)
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// Records that the user reviewed these definitions. They are pinned: later changes are reported to the user, and
    /// grants and rules apply to the pinned definitions.
    ///
    /// # Errors
    ///
    /// Returns [`ReviewError::Stale`] if a definition differs from the displayed one, in which case nothing is pinned.
    /// See [`ReviewError`] for the other cases.
    pub async fn mark_definitions_reviewed(
        &self,
        server: String,
        definitions: Vec<DefinitionShownToUser>,
    ) -> Result<(), ReviewError> {
        self.with_owner_reply_result(move |owner, reply| owner.mark_definitions_reviewed(&server, &definitions, reply))
            .await
    }

    /// Returns the pinned definitions of all servers.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn pins(&self) -> Result<Pins, HostClosed> {
        self.with_owner(|owner| owner.reviews.pins.clone()).await
    }

    /// Sets the data flow settings of a server: the content of the server after which a model's calls require consent.
    ///
    /// # Errors
    ///
    /// Returns a [`DataFlowError`] if no server has this name, too many tools have a setting, the setting can't be
    /// written, or the host is closed.
    pub async fn set_data_flow(&self, server: String, flow: DataFlow) -> Result<(), DataFlowError> {
        self.with_owner_reply_result(move |owner, reply| owner.set_data_flow(&server, flow, reply)).await
    }

    /// Returns the latest entries of a server's activity log with a sequence number above `after`, at most `limit`.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no server has this name, and [`CallFailure::Closing`] after shutdown.
    pub async fn activity_page(&self, server: String, after: u64, limit: usize) -> Result<ActivityPage, CallFailure> {
        Ok(self.activity_log(server).await?.page(after, limit))
    }

    /// Returns the entry of a server's activity log with this sequence number, or `None` if it was dropped.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no server has this name, and [`CallFailure::Closing`] after shutdown.
    pub async fn activity_entry(&self, server: String, seq: u64) -> Result<Option<ActivityEntry>, CallFailure> {
        Ok(self.activity_log(server).await?.entry(seq))
    }

    async fn activity_log(&self, server: String) -> Result<SharedActivityLog, CallFailure> {
        let found = self.with_owner({
            let server = server.clone();
            move |owner| owner.servers.record(&server).map(|r| r.activity.clone())
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// Reads a list of a server again, and returns the resulting catalog.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotReady`] if the server is not running or ends meanwhile, and [`CallFailure::Closing`]
    /// if the host has shut down.
    pub async fn refresh_list(&self, server: String, kind: ListKind) -> Result<Arc<ServerCatalog>, CallFailure> {
        let (reply, replied) = oneshot::channel();
        let name = server.clone();
        self.with_owner_result(move |owner| owner.servers.refresh_list(&name, kind, reply)).await?;
        replied.await.map_err(|_| CallFailure::NotReady { server })
    }
}
