//! Pages of apps for the user's review, and the user's approvals of them.

use mcp_apps::{AppPage, SandboxGrants, UiUri};
use mcp_proto::types::Tool;

use crate::page_source::without_unsupported_permissions;
use crate::{AppPageError, AppPageReport, AppViewError, AppViews, page_source, random_id};

/// Reason why apps can't be shown if no page is configured that may embed them.
const APPS_NOT_EMBEDDABLE_REASON: &str = "this environment can't isolate their pages from the window";

impl AppViews {
    /// Reads the app page of a tool from the tool's server, for the user's review.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Unsupported`] if apps can't be shown, and [`AppViewError::Page`] if the tool has no page
    /// or the page can't be read.
    pub async fn page_for_review(&self, server: &str, tool: &str) -> Result<AppPageReport, AppViewError> {
        let page = self.read_page_if_supported(server, tool).await?;
        let state = self.host.app_review_state(server.to_owned(), &page).await?;
        Ok(AppPageReport::new(page, state))
    }

    /// Returns the URI of a tool's app page, or `None` if the tool has no page or isn't listed by its server.
    pub async fn app_page_uri(&self, server: &str, tool: &str) -> Option<UiUri> {
        page_source::find_tool_with_app_page(&self.host, server, tool).await.map(|(_, uri)| uri)
    }

    /// Reads the app page of a tool from the tool's server, even if apps can't be shown.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Page`] if the tool has no page or the page can't be read.
    pub async fn load_page(&self, server: &str, tool: &str) -> Result<AppPage, AppViewError> {
        Ok(self.load_tool_and_page(server, tool).await?.1)
    }

    /// Stores the user's approval of a tool's app page with this hash, and ends the shown apps that have this page with
    /// other access.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`page_for_review`](Self::page_for_review), [`AppViewError::OtherPage`] if the server now
    /// provides another page than the one with this hash, and [`AppViewError::Review`] if the approval can't be stored.
    pub async fn approve_page(
        &self,
        server: &str,
        tool: &str,
        hash: &str,
        grants: SandboxGrants,
    ) -> Result<(), AppViewError> {
        let page = self.read_page_if_supported(server, tool).await?;
        if page.hash.to_string() != hash {
            return Err(AppViewError::OtherPage);
        }
        let (page, _) = without_unsupported_permissions(page);
        self.host.approve_app(server.to_owned(), &page, grants).await?;
        self.close_views_of_page(server, page.uri.as_str());
        Ok(())
    }

    /// Removes the user's approval of an app page, and ends the apps that show the page. Returns `false` if the page
    /// had no approval.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Page`] if the host has shut down.
    pub async fn revoke_page_approval(&self, server: &str, uri: &str) -> Result<bool, AppViewError> {
        let had_approval = self.host.revoke_app(server.to_owned(), uri.to_owned()).await?;
        self.close_views_of_page(server, uri);
        Ok(had_approval)
    }

    async fn read_page_if_supported(&self, server: &str, tool: &str) -> Result<AppPage, AppViewError> {
        Ok(self.read_tool_and_page_if_supported(server, tool).await?.1)
    }

    /// Reads a tool's definition and its app page, or returns [`AppViewError::Unsupported`] if apps can't be shown.
    pub(crate) async fn read_tool_and_page_if_supported(
        &self,
        server: &str,
        tool: &str,
    ) -> Result<(Tool, AppPage), AppViewError> {
        if self.shared.ancestors.is_empty() {
            return Err(AppViewError::Unsupported(APPS_NOT_EMBEDDABLE_REASON));
        }
        self.load_tool_and_page(server, tool).await
    }

    async fn load_tool_and_page(&self, server: &str, tool: &str) -> Result<(Tool, AppPage), AppViewError> {
        let call = random_id().ok_or(AppViewError::NoRandomNumbers)?;
        let found = page_source::find_tool_with_app_page(&self.host, server, tool).await;
        let (definition, uri) = found.ok_or(AppPageError::NoPage)?;
        Ok((definition, page_source::read_page(&self.host, call, server, uri).await?))
    }
}
