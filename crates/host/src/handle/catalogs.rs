//! What servers offer, and what the user reviewed of it. Callers: the commands of `api` and of the command line, and `chat`.

use std::sync::{Arc, Mutex};

use domain::call::CallFailure;
use domain::flow::DataFlow;
use mcp_proto::session::ListKind;
use offers::catalog::Catalog;
use offers::review::{Pins, ServerReview};
use supervision::activity::Activity;
use tokio::sync::oneshot;

use super::{Host, HostClosed};
use crate::owner::{FlowError, ReviewError, ShownDefinition};

impl Host {
    /// What a server offers, as last read. Lists that are no longer fresh are read again meanwhile.
    ///
    /// # Errors
    /// If there is none.
    pub async fn catalog(&self, server: String) -> Result<Arc<Catalog>, CallFailure> {
        let found = self.with({
            let server = server.clone();
            move |owner| {
                let at = owner.now();
                owner.servers.read_stale_lists(&server, at);
                owner.server(&server).map(|r| Arc::clone(&r.offer.catalog))
            }
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// What a server offers beside what the user saw of it.
    ///
    /// # Errors
    /// If there is none.
    pub async fn reviewed(&self, server: String) -> Result<ServerReview, CallFailure> {
        let found = self.with({
            let server = server.clone();
            move |owner| owner.reviewed(&server)
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// The user has looked at these definitions. They are pinned, so that any change of them is told, and what allows calls
    /// covers them from now on.
    ///
    /// # Errors
    /// If one of them is not as it was shown; nothing was pinned then.
    pub async fn review(&self, server: String, seen: Vec<ShownDefinition>) -> Result<(), ReviewError> {
        self.with_reply(move |owner, reply| owner.review(&server, &seen, reply)).await?
    }

    /// What is kept of what the user saw, by server.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn pins(&self) -> Result<Pins, HostClosed> {
        self.with(|owner| owner.pins().clone()).await
    }

    /// Sets when calls ask after a server's own content.
    ///
    /// # Errors
    /// If there is no such server, or it can't be written.
    pub async fn set_data_flow(&self, server: String, flow: DataFlow) -> Result<(), FlowError> {
        self.with_reply(move |owner, reply| owner.set_data_flow(&server, flow, reply)).await?
    }

    /// A server's activity. Lock it for a moment only.
    ///
    /// # Errors
    /// If there is none.
    pub async fn activity(&self, server: String) -> Result<Arc<Mutex<Activity>>, CallFailure> {
        let found = self.with({
            let server = server.clone();
            move |owner| owner.server(&server).map(|r| Arc::clone(&r.activity))
        });
        found.await?.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))
    }

    /// Reads a list of a server again now, and gives what the server offers then.
    ///
    /// # Errors
    /// If the server is not in use, or ends meanwhile.
    pub async fn refresh_list(&self, server: String, kind: ListKind) -> Result<Arc<Catalog>, CallFailure> {
        let (reply, replied) = oneshot::channel();
        let told = server.clone();
        self.with(move |owner| owner.refresh_list(&told, kind, reply)).await??;
        replied.await.map_err(|_| CallFailure::NotReady { server })
    }
}
