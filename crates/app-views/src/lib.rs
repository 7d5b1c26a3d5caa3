//! Shown apps: pages that servers provide for the results of their tools (MCP Apps).
//!
//! [`AppViews`] works on a [`Chat`] and its host. It reads the app page of a tool, stores the user's approval of it,
//! and runs one task for each shown app, which owns its [`mcp_apps::View`]. Drawbridge's page only carries messages
//! between the frame and this crate, which emits a [`domain::app_view::AppViewEvent`] for each change.
//!
//! - `page_source`: the app page of a tool, read from its server.
//! - `page_report`: an app page as the user reviews it.
//! - `document`: documents of frames with the headers that isolate them.
//! - `view_task`: the task of a shown app.
//! - `streamed_call`: a call that a model is still writing, as an app follows it.
//! - `early_arguments`: permission to give an app the arguments of a call before the call is decided.
//! - `requests`: requests of apps to their server, namely calls, lists and resources, and sampling.
//! - `app_tools`: tools that apps provide to the model of their conversation.
//! - `user_requests`: requests of apps that the user decides in Drawbridge's page.

mod app_tools;
mod context;
mod document;
mod early_arguments;
mod error;
mod page_report;
mod page_source;
mod requests;
mod result;
mod shapes;
mod streamed_call;
mod user_requests;
mod view_task;

pub use context::AppContext;
pub use document::AppResponse;
pub use error::AppViewError;
pub use page_report::{AppPageReport, AppSource, PageReview};
pub use page_source::AppPageError;
pub use shapes::{AppAnswer, AppDocumentText, DisplayedCall, OpenedApp};

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use chat::Chat;
use domain::app_view::AppViewId;
use domain::call::CallFailure;
use domain::item::ItemBody;
use host::Host;
use mcp_apps::{
    AppPage, FrameAncestor, SANDBOX_ATTRIBUTE, SamplingSupport, SandboxGrants, SandboxPolicy, ToolInfo, UiUri,
};
use offers::review::AppReviewState;
use ports::server_config::ServerConfig;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use document::FrameDocuments;
use early_arguments::may_receive_early_arguments;
use page_source::without_unsupported_permissions;
use streamed_call::StreamedCall;
use user_requests::SavedFile;
use view_task::{ViewInput, ViewSetup, ViewedCall};

/// Maximum number of apps (MCP Apps) that are shown at the same time.
const MAX_SHOWN_APPS: usize = 32;
/// Maximum total size of the messages of one app that wait for the app's async task, in bytes.
const MAX_QUEUED_MESSAGE_BYTES: usize = 32 << 20;
/// Number of random bytes in the identifier of a shown app.
const VIEW_ID_BYTES: usize = 16;
/// Reason why apps can't be shown if no page is configured that may embed them.
const NO_EMBEDDING_PAGES_REASON: &str = "this environment can't isolate their pages from the window";

/// The apps (MCP Apps) that are shown for one host. Clones share their state.
#[derive(Clone)]
pub struct AppViews {
    host: Host,
    chat: Chat,
    shared: Arc<SharedAppViewState>,
}

#[derive(Debug, Default)]
struct SharedAppViewState {
    /// Origins of the pages that may embed apps. Empty if apps can't be shown.
    ancestors: Vec<FrameAncestor>,
    views: Mutex<HashMap<AppViewId, ShownView>>,
}

/// Entry of a shown app: the documents that its frame loads, and the channel to its async task.
#[derive(Debug)]
struct ShownView {
    server: String,
    conversation: Option<String>,
    uri: String,
    documents: FrameDocuments,
    inputs: mpsc::Sender<ViewInput>,
    /// Total size of the app's messages that wait for its async task, in bytes.
    queued: Arc<AtomicUsize>,
}

impl AppViews {
    /// Creates an instance for a host that can't show apps, since no page may embed them.
    /// [`with_ancestors`](Self::with_ancestors) changes that.
    #[must_use]
    pub fn new(host: Host, chat: Chat) -> Self {
        Self { host, chat, shared: Arc::default() }
    }

    /// Returns an instance whose apps can be embedded by pages of these origins. The caller has to serve the responses
    /// of [`respond`](Self::respond) from a separate origin for each view.
    #[must_use]
    pub fn with_ancestors(self, ancestors: Vec<FrameAncestor>) -> Self {
        Self { shared: Arc::new(SharedAppViewState { ancestors, ..SharedAppViewState::default() }), ..self }
    }

    /// Reads the app page of a tool from the tool's server, for the user's review.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Unsupported`] if apps can't be shown, and [`AppViewError::Page`] if the tool has no page
    /// or the page can't be read.
    pub async fn page(&self, server: &str, tool: &str) -> Result<AppPageReport, AppViewError> {
        let page = self.read_page(server, tool).await?;
        let state = self.host.app_review_state(server.to_owned(), &page).await?;
        Ok(AppPageReport::new(page, state))
    }

    /// Returns the URI of a tool's app page, or `None` if the tool has no page or isn't listed by its server.
    pub async fn page_uri(&self, server: &str, tool: &str) -> Option<UiUri> {
        page_source::page_uri(&self.host, server, tool).await
    }

    /// Reads the app page of a tool from the tool's server, even if apps can't be shown.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Page`] if the tool has no page or the page can't be read.
    pub async fn load_page(&self, server: &str, tool: &str) -> Result<AppPage, AppViewError> {
        let call = random_id().ok_or(AppViewError::NoRandomNumbers)?;
        Ok(page_source::read_page(&self.host, call, server, tool).await?)
    }

    /// Stores the user's approval of a tool's app page with this hash, and ends the shown apps that have this page with
    /// other access.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`page`](Self::page), [`AppViewError::OtherPage`] if the server now provides another page
    /// than the one with this hash, and [`AppViewError::Review`] if the approval can't be stored.
    pub async fn approve(
        &self,
        server: &str,
        tool: &str,
        hash: &str,
        grants: SandboxGrants,
    ) -> Result<(), AppViewError> {
        let page = self.read_page(server, tool).await?;
        if page.hash.to_string() != hash {
            return Err(AppViewError::OtherPage);
        }
        let (page, _) = without_unsupported_permissions(page);
        self.host.approve_app(server.to_owned(), &page, grants).await?;
        self.remove_page(server, page.uri.as_str());
        Ok(())
    }

    /// Removes the user's approval of an app page, and ends the apps that show the page. Returns `false` if the page
    /// had no approval.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Page`] if the host has shut down.
    pub async fn revoke(&self, server: &str, uri: &str) -> Result<bool, AppViewError> {
        let had_approval = self.host.revoke_app(server.to_owned(), uri.to_owned()).await?;
        self.remove_page(server, uri);
        Ok(had_approval)
    }

    /// Opens the app of a tool for a call, and starts the app's task. The app is loaded when its frame requests the
    /// documents.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`page`](Self::page), [`AppViewError::NotApproved`] if the user has not approved this
    /// version of the page, [`AppViewError::NoResult`] or [`AppViewError::Conversation`] if the call can't be read,
    /// [`AppViewError::NotStreamed`] or [`AppViewError::NotDecided`] if a model is not writing the call or the app may
    /// not receive its arguments yet, and [`AppViewError::TooMany`] if the maximum number of apps is shown.
    pub async fn open(
        &self,
        server: String,
        tool: String,
        call: DisplayedCall,
        context: AppContext,
    ) -> Result<OpenedApp, AppViewError> {
        if let DisplayedCall::Streamed { conversation, reply, tool_use } = &call {
            self.streamed_call(conversation, reply, tool_use, (&server, &tool))?;
            // The request for the page would tell the server that the model is writing a call.
            if !may_receive_early_arguments(&self.host, &self.chat, conversation, &server, &tool).await {
                return Err(AppViewError::NotDecided);
            }
        }
        let (page, _) = without_unsupported_permissions(self.read_page(&server, &tool).await?);
        let AppReviewState::Approved(grants) = self.host.app_review_state(server.clone(), &page).await? else {
            return Err(AppViewError::NotApproved);
        };
        // A streamed call is read after that, so that no change of it is missed.
        let events = self.host.events();
        let (conversation, viewed) = self.displayed_call(&server, &tool, call).await?;
        let policy = SandboxPolicy::new(&page.metadata, &grants);
        let definition = page_source::tool_definition(&self.host, &server, &tool).await;
        let definition = definition.and_then(|definition| ToolInfo::new(None, &definition));
        let callable_tools = page_source::callable_tools(&self.host, &server).await;
        let sampling = self.sampling_support(&server).await;
        let id = random_id().ok_or(AppViewError::NoRandomNumbers)?;
        let uri = page.uri.as_str().to_owned();
        let opened = OpenedApp {
            view: id.clone(),
            uri: uri.clone(),
            sandbox: SANDBOX_ATTRIBUTE.to_owned(),
            allow: policy.allow_attribute(),
        };
        let setup = ViewSetup {
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
            config: self.server_config(&server).await?,
        };
        let of_conversation = setup.conversation.clone();
        let queued = Arc::new(AtomicUsize::new(0));
        let documents = FrameDocuments::new(&page, &policy, &self.shared.ancestors);
        let (inputs, received) = mpsc::channel(view_task::MAX_PENDING_VIEW_INPUTS);
        {
            let mut views = self.views();
            if views.len() >= MAX_SHOWN_APPS {
                return Err(AppViewError::TooMany);
            }
            let queued = Arc::clone(&queued);
            let conversation = of_conversation;
            views
                .insert(id.clone(), ShownView { server: server.clone(), conversation, uri, documents, inputs, queued });
        }
        tokio::spawn(view_task::run(self.clone(), setup, received, queued));
        // The approval may have been removed or replaced since it was read.
        if self.host.app_review_state(server, &page).await? != AppReviewState::Approved(grants) {
            self.views().remove(&id);
            return Err(AppViewError::NotApproved);
        }
        Ok(opened)
    }

    /// Returns the response to a request of an app's frame for `path` at the origin of `view`.
    #[must_use]
    pub fn respond(&self, view: &str, path: &str) -> AppResponse {
        self.views().get_mut(view).map_or_else(AppResponse::not_found, |shown| shown.documents.respond(path))
    }

    /// Returns the HTML source and the content security policy of a shown app.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Closed`] if the app is not shown.
    pub fn document(&self, view: &str) -> Result<AppDocumentText, AppViewError> {
        let views = self.views();
        let documents = &views.get(view).ok_or(AppViewError::Closed)?.documents;
        let policy = documents.content_security_policy().to_owned();
        Ok(AppDocumentText { html: documents.html().to_owned(), policy })
    }

    /// Passes a message that an app's frame has posted to the async task that runs the app.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Closed`] if the app is not shown, and [`AppViewError::Busy`] if too many messages of the
    /// app wait.
    pub fn receive_message(&self, view: &str, message: String) -> Result<(), AppViewError> {
        let bytes = message.len();
        let queued = self.views().get(view).map(|shown| Arc::clone(&shown.queued)).ok_or(AppViewError::Closed)?;
        if queued.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_QUEUED_MESSAGE_BYTES {
            queued.fetch_sub(bytes, Ordering::Relaxed);
            return Err(AppViewError::Busy);
        }
        let sent = self.send_input(view, ViewInput::Message(message));
        if sent.is_err() {
            queued.fetch_sub(bytes, Ordering::Relaxed);
        }
        sent
    }

    /// Passes the changed appearance or surroundings of a shown app to the app's async task.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`receive_message`](Self::receive_message).
    pub fn change_context(&self, view: &str, context: AppContext) -> Result<(), AppViewError> {
        self.send_input(view, ViewInput::Context(Box::new(context)))
    }

    /// Passes the user's decision on a request of an app to the app's async task.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`receive_message`](Self::receive_message).
    pub fn answer(&self, view: &str, request: u64, answer: AppAnswer) -> Result<(), AppViewError> {
        self.send_input(view, ViewInput::Answer { request, answer })
    }

    /// Lets the model of the app's conversation use the app's tools with this hash, until the app is closed or its tools
    /// change. Turns them off if `hash` is `None`.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::OtherTools`] if the app now offers other tools than those with this hash,
    /// [`AppViewError::Review`] if the decision can't be stored, and the errors of
    /// [`receive_message`](Self::receive_message).
    pub async fn set_tools(&self, view: &str, hash: Option<String>) -> Result<(), AppViewError> {
        let (reply, replied) = tokio::sync::oneshot::channel();
        self.send_input(view, ViewInput::Tools { hash, reply })?;
        replied.await.map_err(|_| AppViewError::Closed)?
    }

    /// Closes a shown app. The app is notified, and gets a short time to save its state. Closing an app that is not
    /// shown has no effect.
    pub fn close(&self, view: &str) {
        // An app that floods its view is closed without notice.
        if let Err(AppViewError::Busy) = self.send_input(view, ViewInput::Close) {
            self.views().remove(view);
        }
    }

    /// Returns a file that an app offers for saving, with its suggested name.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::NoRequest`] if the app has no such request or file, and the errors of
    /// [`receive_message`](Self::receive_message).
    pub async fn file(&self, view: &str, request: u64, index: u32) -> Result<(String, Vec<u8>), AppViewError> {
        let (reply, replied) = tokio::sync::oneshot::channel();
        self.send_input(view, ViewInput::File { request, index, reply })?;
        let SavedFile { name, bytes } = replied.await.ok().flatten().ok_or(AppViewError::NoRequest)?;
        Ok((name, bytes))
    }

    fn views(&self) -> MutexGuard<'_, HashMap<AppViewId, ShownView>> {
        self.shared.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_input(&self, view: &str, input: ViewInput) -> Result<(), AppViewError> {
        let inputs = self.views().get(view).map(|shown| shown.inputs.clone()).ok_or(AppViewError::Closed)?;
        inputs.try_send(input).map_err(|error| match error {
            TrySendError::Full(_) => AppViewError::Busy,
            TrySendError::Closed(_) => AppViewError::Closed,
        })
    }

    /// Ends all apps that show this page, without giving them time to save their state.
    fn remove_page(&self, server: &str, uri: &str) {
        self.views().retain(|_, view| view.server != server || view.uri != uri);
    }

    /// Ends the apps for whose conversation `is_removed` returns `true`. Called with `None` for apps outside of
    /// conversations. Used when a window closes or its page is loaded again, which removes the frames of the apps.
    pub fn remove_views(&self, is_removed: impl Fn(Option<&str>) -> bool) {
        self.views().retain(|_, view| !is_removed(view.conversation.as_deref()));
    }

    /// Reads the app page of a tool, or returns [`AppViewError::Unsupported`] if apps can't be shown.
    async fn read_page(&self, server: &str, tool: &str) -> Result<AppPage, AppViewError> {
        if self.shared.ancestors.is_empty() {
            return Err(AppViewError::Unsupported(NO_EMBEDDING_PAGES_REASON));
        }
        self.load_page(server, tool).await
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
    async fn displayed_call(
        &self,
        server: &str,
        tool: &str,
        call: DisplayedCall,
    ) -> Result<(Option<String>, ViewedCall), AppViewError> {
        let (conversation, item) = match call {
            DisplayedCall::Result { result } => return Ok((None, ViewedCall::Finished(*result))),
            DisplayedCall::Streamed { conversation, reply, tool_use } => {
                let streamed = self.streamed_call(&conversation, &reply, &tool_use, (server, tool))?;
                return Ok((Some(conversation), ViewedCall::Streamed(streamed)));
            }
            DisplayedCall::Item { conversation, item } => (conversation, item),
        };
        let item = self.chat.item(&conversation, item).await?;
        match item.body {
            ItemBody::ToolCall { server: called, tool: name, app: None, result: Some(result), .. }
                if called == server && name == tool =>
            {
                Ok((Some(conversation), ViewedCall::Finished(result)))
            }
            _ => Err(AppViewError::NoResult),
        }
    }

    /// Returns the call of a tool that a model is writing in this reply of a conversation.
    fn streamed_call(
        &self,
        conversation: &str,
        reply: &str,
        tool_use: &str,
        tool: (&str, &str),
    ) -> Result<StreamedCall, AppViewError> {
        let (_, live) = self.chat.reply_in_progress(conversation);
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
