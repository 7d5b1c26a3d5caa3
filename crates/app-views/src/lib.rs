//! Shown apps: pages that servers provide for the results of their tools (MCP Apps).
//!
//! [`AppViews`] works on a [`Chat`] and its host. It reads the app page of a tool, stores the user's approval of it,
//! and runs one task for each shown app, which owns its [`mcp_apps::View`]. Drawbridge's page only carries messages
//! between the frame and this crate, which emits a [`domain::app_view::AppViewEvent`] for each change.
//!
//! - `page_source`: the app page of a tool, read from its server.
//! - `page_report`: an app page as the user reviews it.
//! - `page_reviews`: reading a page for review, and the user's approvals.
//! - `shown_views`: the table of shown apps, and the inputs of their tasks.
//! - `displayed_call`: the tool call that an app displays.
//! - `opened_app`: the frame of an opened app, its source, and its name.
//! - `document`: documents of frames with the headers that isolate them.
//! - `view_task`: the task of a shown app.
//! - `streamed_call`: a call that a model is still writing, as an app follows it.
//! - `early_arguments`: permission to give an app the arguments of a call before the call is decided.
//! - `requests`: requests of apps to their server, namely calls, lists and resources, and sampling.
//! - `app_activity`: entries about an app in the activity log of its server.
//! - `app_tools`: tools that apps provide to the model of their conversation.
//! - `user_requests`: requests of apps that Drawbridge's page answers, if necessary after the user's decision.

mod app_activity;
mod app_tools;
mod context;
mod displayed_call;
mod document;
mod early_arguments;
mod error;
mod opened_app;
mod page_report;
mod page_reviews;
mod page_source;
mod requests;
mod result;
mod shown_views;
mod streamed_call;
mod user_requests;
mod view_task;

pub use context::AppContext;
pub use displayed_call::DisplayedCall;
pub use document::AppFrameResponse;
pub use error::AppViewError;
pub use opened_app::{AppDocumentText, OpenedApp, ShownApp};
pub use page_report::{AppPageReport, AppPageReview, AppSource};
pub use page_source::AppPageError;
pub use user_requests::AppAnswer;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use chat::Chat;
use domain::call::CallFailure;
use domain::item::ItemBody;
use host::Host;
use mcp_apps::{FRAME_SANDBOX_ATTRIBUTE, FrameAncestor, SamplingSupport, SandboxPolicy, ToolInfo};
use offers::review::AppReviewState;
use ports::server_config::ServerConfig;
use serde_json::Value;
use tokio::sync::mpsc;

use document::FrameDocuments;
use early_arguments::may_stream_arguments_to_app;
use page_source::without_unsupported_permissions;
use shown_views::{SharedAppViewState, ShownView};
use streamed_call::StreamedCall;
use view_task::{DisplayedCallState, ViewTaskSetup};

/// Maximum number of apps (MCP Apps) that are shown at the same time.
const MAX_SHOWN_APPS: usize = 32;
/// Number of random bytes in the identifier of a shown app.
const VIEW_ID_BYTES: usize = 16;

/// The apps (MCP Apps) that are shown for one host. Clones share their state.
#[derive(Clone)]
pub struct AppViews {
    host: Host,
    chat: Chat,
    shared: Arc<SharedAppViewState>,
}

impl AppViews {
    /// Creates an instance for a host that can't show apps, since no page may embed them.
    /// [`with_frame_ancestors`](Self::with_frame_ancestors) changes that.
    #[must_use]
    pub fn new(host: Host, chat: Chat) -> Self {
        Self { host, chat, shared: Arc::default() }
    }

    /// Returns an instance whose apps can be embedded by pages of these origins. The caller has to serve the responses
    /// of [`respond_to_frame`](Self::respond_to_frame) from a separate origin for each view.
    #[must_use]
    pub fn with_frame_ancestors(self, ancestors: Vec<FrameAncestor>) -> Self {
        Self { shared: Arc::new(SharedAppViewState { ancestors, ..SharedAppViewState::default() }), ..self }
    }

    /// Opens the app of a tool for a call, and starts the app's task. The app is loaded when its frame requests the
    /// documents.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`page_for_review`](Self::page_for_review), [`AppViewError::NotApproved`] if the user has
    /// not approved this version of the page, [`AppViewError::NoResult`] or [`AppViewError::Conversation`] if the call
    /// can't be read, [`AppViewError::NotStreamed`] or [`AppViewError::NotDecided`] if a model is not writing the call
    /// or the app may not receive its arguments yet, and [`AppViewError::TooMany`] if the maximum number of apps is
    /// shown.
    pub async fn open(
        &self,
        server: String,
        tool: String,
        call: DisplayedCall,
        context: AppContext,
    ) -> Result<OpenedApp, AppViewError> {
        if let DisplayedCall::Streamed { conversation, reply, tool_use } = &call {
            self.find_streamed_call(conversation, reply, tool_use, (&server, &tool))?;
            // The request for the page would tell the server that the model is writing a call.
            if !may_stream_arguments_to_app(&self.host, &self.chat, conversation, &server, &tool).await {
                return Err(AppViewError::NotDecided);
            }
        }
        let (definition, page) = self.read_tool_and_page_if_supported(&server, &tool).await?;
        let (page, _) = without_unsupported_permissions(page);
        let AppReviewState::Approved(grants) = self.host.app_review_state(server.clone(), &page).await? else {
            return Err(AppViewError::NotApproved);
        };
        // A streamed call is read after that, so that no change of it is missed.
        let events = self.host.events();
        let (conversation, viewed) = self.find_displayed_call(&server, &tool, call).await?;
        let policy = SandboxPolicy::new(&page.metadata, &grants);
        let definition = ToolInfo::new(None, &definition);
        let callable_tools = page_source::tools_callable_by_apps(&self.host, &server).await;
        let sampling = self.sampling_support(&server).await;
        let id = random_id().ok_or(AppViewError::NoRandomNumbers)?;
        let uri = page.uri.as_str().to_owned();
        let opened = OpenedApp {
            view: id.clone(),
            uri: uri.clone(),
            sandbox: FRAME_SANDBOX_ATTRIBUTE.to_owned(),
            allow: policy.frame_allow_attribute(),
            has_border: page.metadata.prefers_border != Some(false),
        };
        let shown = Arc::new(());
        let setup = ViewTaskSetup {
            id: id.clone(),
            server: server.clone(),
            tool,
            conversation,
            granted: policy.granted(),
            reaches_other_hosts: policy.sources.iter().next().is_some(),
            context,
            definition,
            callable_tools,
            sampling,
            viewed,
            events,
            shown: Arc::downgrade(&shown),
            config: self.server_config(&server).await?,
        };
        let (of_conversation, of_tool) = (setup.conversation.clone(), setup.tool.clone());
        let queued = Arc::new(AtomicUsize::new(0));
        let documents = FrameDocuments::new(&page, &policy, &self.shared.ancestors);
        let (inputs, received) = mpsc::channel(view_task::MAX_PENDING_VIEW_INPUTS);
        {
            let mut views = self.lock_views();
            if views.len() >= MAX_SHOWN_APPS {
                return Err(AppViewError::TooMany);
            }
            let (queued, shown) = (Arc::clone(&queued), Some(shown));
            let (server, tool, conversation) = (server.clone(), of_tool, of_conversation);
            views.insert(id.clone(), ShownView { server, tool, conversation, uri, documents, inputs, shown, queued });
        }
        tokio::spawn(view_task::run(self.clone(), setup, received, queued));
        // The approval may have been removed or replaced since it was read.
        if self.host.app_review_state(server, &page).await? != AppReviewState::Approved(grants) {
            self.lock_views().remove(&id);
            return Err(AppViewError::NotApproved);
        }
        Ok(opened)
    }

    async fn server_config(&self, server: &str) -> Result<ServerConfig, AppViewError> {
        let servers = self.host.snapshot().await?.servers;
        let found = servers.into_iter().find(|view| view.name == server);
        Ok(found.ok_or_else(|| CallFailure::NotFound(format!("server \"{server}\"")))?.config)
    }

    /// Returns the sampling features for apps of a server, or `None` if the user has not turned sampling on for it.
    async fn sampling_support(&self, server: &str) -> Option<SamplingSupport> {
        let settings = self.host.sampling(server.to_owned()).await.ok()?.settings;
        settings.on.then_some(SamplingSupport { tools: settings.tools })
    }

    /// Returns the conversation to which a displayed call belongs, if any, and the result or the current state of the
    /// call.
    async fn find_displayed_call(
        &self,
        server: &str,
        tool: &str,
        call: DisplayedCall,
    ) -> Result<(Option<String>, DisplayedCallState), AppViewError> {
        let (conversation, item) = match call {
            DisplayedCall::Result { result } => return Ok((None, DisplayedCallState::Finished(*result))),
            DisplayedCall::Streamed { conversation, reply, tool_use } => {
                let streamed = self.find_streamed_call(&conversation, &reply, &tool_use, (server, tool))?;
                return Ok((Some(conversation), DisplayedCallState::Streamed(streamed)));
            }
            DisplayedCall::Item { conversation, item } => (conversation, item),
        };
        let item = self.chat.item(&conversation, item).await?;
        match item.body {
            ItemBody::ToolCall { server: called, tool: name, app: None, result: Some(result), .. }
                if called == server && name == tool =>
            {
                Ok((Some(conversation), DisplayedCallState::Finished(result)))
            }
            _ => Err(AppViewError::NoResult),
        }
    }

    /// Returns the call of a tool that a model is writing in this reply of a conversation.
    fn find_streamed_call(
        &self,
        conversation: &str,
        reply: &str,
        tool_use: &str,
        tool: (&str, &str),
    ) -> Result<StreamedCall, AppViewError> {
        let (_, live) = self.chat.is_replying_with_partial_reply(conversation);
        let (item, next_delta) = live.filter(|(item, _)| item.id == reply).ok_or(AppViewError::NotStreamed)?;
        let found = StreamedCall::find(conversation, (&item, next_delta), tool_use, tool);
        found.ok_or(AppViewError::NotStreamed)
    }
}

/// Returns a random identifier for an app or a call, or `None` if the operating system provides no random numbers.
fn random_id() -> Option<String> {
    let mut bytes = [0; VIEW_ID_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the arguments of a call as an object. Other values count as no arguments.
fn arguments_object(arguments: Value) -> Option<mcp_proto::types::Map> {
    match arguments {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    }
}
