//! Pages of apps (MCP Apps): reads the page of a tool, and the user's approval of it. Used by the crate `app-views`.

use domain::app_view::AppViewEvent;
use domain::call::CallFailure;
use mcp_apps::{AppPage, PageError, SandboxGrants, SandboxPolicy, ToolMetadata, UiUri};
use mcp_proto::types::Map;
use offers::review::AppReviewState;
use serde_json::json;

use super::{Host, HostClosed};
use crate::owner::ReviewError;

/// Reason why a tool's page can't be shown.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AppPageError {
    /// The server doesn't list the tool, or the tool has no page.
    #[error("the tool has no app")]
    NoPage,
    /// The server's resource is not a page.
    #[error("the app can't be shown: {0}")]
    Page(#[from] PageError),
    /// The page can't be read.
    #[error(transparent)]
    Call(#[from] CallFailure),
}

impl Host {
    /// Returns the metadata of MCP Apps of a tool. Empty if the server doesn't list the tool.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Closing`] if the host has shut down.
    pub async fn app_metadata(&self, server: String, tool: String) -> Result<ToolMetadata, CallFailure> {
        let found = self.with_owner(move |owner| owner.current_definition(&server, &tool).map(|own| own.app.clone()));
        Ok(found.await?.unwrap_or_default())
    }

    /// Returns the names of a server's tools that its apps may call.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Closing`] if the host has shut down.
    pub async fn tools_for_apps(&self, server: String) -> Result<Vec<String>, CallFailure> {
        let catalog = self.catalog(server).await.map_err(|_| CallFailure::Closing)?;
        let listed = tokio::task::spawn_blocking(move || {
            let for_apps = catalog.tools.iter().filter_map(|entry| {
                let tool = entry.read().ok()?;
                ToolMetadata::read(tool.meta.as_ref()).is_callable_by_app().then(|| entry.name().to_owned())
            });
            for_apps.collect()
        });
        Ok(listed.await.unwrap_or_default())
    }

    /// Reads a page of a server. It is read like a resource that the user opens. `id` identifies the call.
    ///
    /// # Errors
    ///
    /// Returns [`AppPageError::Call`] if the resource can't be read, and [`AppPageError::Page`] if it is not a page.
    pub async fn read_app_page(&self, id: String, server: String, uri: &UiUri) -> Result<AppPage, AppPageError> {
        let contents = self.read_resource(id, server, uri.as_str().to_owned()).await?;
        let result: Map = std::iter::once(("contents".to_owned(), json!(contents))).collect();
        let uri = uri.clone();
        let read = tokio::task::spawn_blocking(move || AppPage::from_read_result(&uri, &result, None));
        Ok(read.await.map_err(|_| CallFailure::Internal)??)
    }

    /// Returns the review state of a page.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Closing`] if the host has shut down.
    pub async fn app_review_state(&self, server: String, page: &AppPage) -> Result<AppReviewState, CallFailure> {
        let (uri, hash) = (page.uri.as_str().to_owned(), page.hash.to_string());
        Ok(self.with_owner(move |owner| owner.app_review_state(&server, &uri, &hash)).await?)
    }

    /// Stores the user's approval of exactly this page, with the access that it gets.
    ///
    /// # Errors
    ///
    /// Returns a [`ReviewError`] if no server has this name, too many pages are approved, or the approval can't be
    /// written.
    pub async fn approve_app(&self, server: String, page: &AppPage, grants: SandboxGrants) -> Result<(), ReviewError> {
        let policy = SandboxPolicy::new(&page.metadata, &grants);
        let sources = policy.sources.iter().map(|(used_as, source)| format!("{} {source}", used_as.member())).collect();
        let (uri, hash) = (page.uri.as_str().to_owned(), page.hash.to_string());
        self.with_owner_reply(move |owner, reply| owner.approve_app(&server, &uri, &hash, (grants, sources), reply))
            .await?
    }

    /// Removes the approval of a page. Returns `false` if it has none.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Closing`] if the host has shut down.
    pub async fn revoke_app(&self, server: String, uri: String) -> Result<bool, CallFailure> {
        Ok(self.with_owner(move |owner| owner.revoke_app(&server, &uri)).await?)
    }

    /// Emits a change of a shown app to the observers, without waiting for its delivery.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn emit_app_view_event(&self, event: AppViewEvent) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.emit_app_view_event(event)).await
    }
}
