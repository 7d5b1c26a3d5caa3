//! Apps (MCP Apps): the user's approval of their pages, their sampling requests, what they may receive before a call is
//! decided, their tools for models, and events of shown apps. Used by the crate `app-views`.

use domain::app_view::{AppStopCause, AppViewEvent, AppViewId};
use domain::call::CallFailure;
use host_state::Requester;
use mcp_apps::{AppPage, SandboxGrants, SandboxPolicy};
use mcp_proto::session::ClientResponse;
use mcp_proto::types::CreateMessageParams;
use offers::review::AppReviewState;
use tokio::sync::oneshot;

use super::{Host, HostClosed};
use crate::owner::{AppTools, AppToolsForModel, CallOrigin, Owner, ReviewError, WeakOwner};
use crate::view::HostEvent;

/// Name, in log messages, of the turns that handle sampling requests of apps.
const APP_SAMPLING_TURN_NAME: &str = "app sampling";

impl Host {
    /// Returns the state of the user's review of an app's page.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Closing`] if the host has shut down.
    pub async fn app_review_state(&self, server: String, page: &AppPage) -> Result<AppReviewState, CallFailure> {
        let (uri, hash) = (page.uri.as_str().to_owned(), page.hash.to_string());
        Ok(self.with_owner(move |owner| owner.reviews.app_review_state(&server, &uri, &hash)).await?)
    }

    /// Stores the user's approval of exactly this page of an app, and the access that the page gets.
    ///
    /// # Errors
    ///
    /// Returns a [`ReviewError`] if no server has this name, too many pages are approved, or it can't be written.
    pub async fn approve_app(&self, server: String, page: &AppPage, grants: SandboxGrants) -> Result<(), ReviewError> {
        let policy = SandboxPolicy::new(&page.metadata, &grants);
        let sources = policy.sources.iter().map(|(used, host)| format!("{} {host}", used.metadata_name())).collect();
        let (uri, hash) = (page.uri.as_str().to_owned(), page.hash.to_string());
        let approve = move |owner: &mut Owner, reply| owner.approve_app(&server, &uri, &hash, (grants, sources), reply);
        self.with_owner_reply_result(approve).await
    }

    /// Removes the user's approval of an app's page. Returns `false` if the page has no approval.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Closing`] if the host has shut down.
    pub async fn revoke_app(&self, server: String, uri: String) -> Result<bool, CallFailure> {
        Ok(self.with_owner(move |owner| owner.revoke_app(&server, &uri)).await?)
    }

    /// Returns `true` if reading a resource of a server for this originator needs the user's decision now.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Closing`] if the host has shut down.
    pub async fn asks_before_read(&self, origin: CallOrigin, server: String, uri: String) -> Result<bool, CallFailure> {
        Ok(self.with_owner(move |owner| owner.asks_before_read(&server, &origin, uri)).await?)
    }

    /// Requests a response of a model for an app of a server. The settings and limits of sampling are those of this
    /// server, and the user decides about each step. The returned response is a result or an error. Dropping the future
    /// withdraws the request.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no server has this name, [`CallFailure::NotReady`] if it is not running,
    /// [`CallFailure::Busy`] if too many requests of the server and its apps wait for a response,
    /// [`CallFailure::Cancelled`] if the request ended without a response, for example with the server's session, and
    /// [`CallFailure::Closing`] if the host has shut down.
    pub async fn sample_for_app(
        &self,
        origin: CallOrigin,
        server: String,
        params: Box<CreateMessageParams>,
    ) -> Result<ClientResponse, CallFailure> {
        let (reply, replied) = oneshot::channel();
        let accept = |owner: &mut Owner| owner.accept_app_sampling(&server, &origin, params, reply);
        let requester = self.owner.0.run_turn(APP_SAMPLING_TURN_NAME, accept)??;
        let _withdrawal = AppSamplingWithdrawal { back: self.owner.0.downgrade(), requester };
        replied.await.map_err(|_| CallFailure::Cancelled)
    }

    /// Returns `true` if `origin` may now call a tool without consent, whatever the arguments are: the tool's server is
    /// ready, the definition is reviewed, a rule without conditions on arguments or a grant allows the call, and no rule
    /// can deny it or require consent. Only then may an app of the server receive arguments of an undecided call.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn allows_every_call_of_tool(
        &self,
        origin: CallOrigin,
        server: String,
        tool: String,
    ) -> Result<bool, HostClosed> {
        self.with_owner(move |owner| owner.allows_every_call_of_tool(&origin, &server, &tool)).await
    }

    /// Lets the model of a conversation use the tools of a shown app, as the user decided. Calls still require the user's
    /// consent. `hash` is the hash of the definitions that the user saw.
    ///
    /// # Errors
    ///
    /// Returns a [`ReviewError`] if no server has this name, or the decision can't be written to the audit log.
    pub async fn turn_on_app_tools(&self, tools: AppTools, hash: String) -> Result<(), ReviewError> {
        self.with_owner_reply_result(move |owner, reply| owner.turn_on_app_tools(tools, &hash, reply)).await
    }

    /// Turns off the tools of a shown app, withdraws pending calls of them, and cancels running ones. `by_user` is
    /// `false` if the app was closed or changed its tools. Has no effect if the tools are not turned on.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn turn_off_app_tools(&self, view: AppViewId, by_user: bool) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.turn_off_app_tools(&view, by_user)).await
    }

    /// Returns the tools of shown apps that the model of a conversation may call, in a stable order.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn app_tools_for_model(&self, conversation: String) -> Result<Vec<AppToolsForModel>, HostClosed> {
        self.with_owner(move |owner| owner.calls.app_tools.tools_for_model(&conversation)).await
    }

    /// Adds an entry to the activity log of a server whose app for this tool was closed for a reason outside of the
    /// session. Has no effect if no server has this name.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn log_stopped_app(&self, server: String, tool: String, cause: AppStopCause) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.servers.log_stopped_app(&server, &tool, cause)).await
    }

    /// Adds an entry about a shown app for this tool to the activity log of its server. `words` follow the name of the
    /// app, as in "requests to open a link". Has no effect if no server has this name.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn log_app_activity(&self, server: String, tool: String, words: String) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.servers.log_app_activity(&server, &tool, &words)).await
    }

    /// Emits an event about a change of a shown app to the observers, without waiting for its delivery.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn emit_app_view_event(&self, event: AppViewEvent) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.events.emit(HostEvent::AppView(event))).await
    }
}

/// Withdraws the sampling request of an app on drop, unless it has a response.
struct AppSamplingWithdrawal {
    back: WeakOwner,
    requester: Requester,
}

impl Drop for AppSamplingWithdrawal {
    fn drop(&mut self) {
        // A spawned task takes the turn, since the current thread may already hold the lock on the host's state.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (back, requester) = (self.back.clone(), self.requester);
            // Fails only if the host has shut down.
            runtime.spawn(async move {
                back.run_turn(APP_SAMPLING_TURN_NAME, move |owner| owner.on_request_withdrawn(requester))
            });
        }
    }
}
