//! Table of the shown apps: the documents that their frames load, and the inputs of their tasks.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::app_view::AppViewId;
use mcp_apps::FrameAncestor;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::document::FrameDocuments;
use crate::user_requests::FileOfferedByApp;
use crate::view_task::ViewTaskInput;
use crate::{AppAnswer, AppContext, AppDocumentText, AppFrameResponse, AppViewError, AppViews, ShownApp};

/// Maximum total size of the messages of one app that wait for the app's async task, in bytes.
const MAX_QUEUED_MESSAGE_BYTES: usize = 32 << 20;

/// State that all clones of [`AppViews`] share: the origins that may embed apps, and the shown apps.
#[derive(Debug, Default)]
pub(crate) struct SharedAppViewState {
    /// Origins of the pages that may embed apps. Empty if apps can't be shown.
    pub(crate) ancestors: Vec<FrameAncestor>,
    pub(crate) views: Mutex<HashMap<AppViewId, ShownView>>,
}

/// Entry of a shown app: the documents that its frame loads, and the channel to its async task.
#[derive(Debug)]
pub(crate) struct ShownView {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) conversation: Option<String>,
    pub(crate) uri: String,
    pub(crate) documents: FrameDocuments,
    pub(crate) inputs: mpsc::Sender<ViewTaskInput>,
    /// Value to which the app's tools have weak references, so that they can be called only while it exists. `None`
    /// once the app is being closed.
    pub(crate) shown: Option<Arc<()>>,
    /// Total size of the app's messages that wait for its async task, in bytes.
    pub(crate) queued: Arc<AtomicUsize>,
}

impl AppViews {
    /// Returns the response to a request of an app's frame for `path` at the origin of `view`.
    #[must_use]
    pub fn respond_to_frame(&self, view: &str, path: &str) -> AppFrameResponse {
        self.lock_views().get_mut(view).map_or_else(AppFrameResponse::not_found, |shown| shown.documents.respond(path))
    }

    /// Returns the HTML source and the content security policy of a shown app.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Closed`] if the app is not shown.
    pub fn document(&self, view: &str) -> Result<AppDocumentText, AppViewError> {
        let views = self.lock_views();
        let documents = &views.get(view).ok_or(AppViewError::Closed)?.documents;
        let policy = documents.content_security_policy().to_owned();
        Ok(AppDocumentText { html: documents.html().to_owned(), policy })
    }

    /// Returns `true` if a shown app belongs to another conversation than this one, or to none. Returns `false` if the
    /// app is not shown.
    #[must_use]
    pub fn is_outside_conversation(&self, view: &str, conversation: Option<&str>) -> bool {
        let is_own = |shown: &ShownView| {
            conversation.is_some_and(|own| is_in_conversation_window(shown.conversation.as_deref(), own))
        };
        self.lock_views().get(view).is_some_and(|shown| !is_own(shown))
    }

    /// Passes a message that an app's frame has posted to the async task that runs the app.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::Closed`] if the app is not shown, and [`AppViewError::Busy`] if too many messages of the
    /// app wait.
    pub fn receive_message(&self, view: &str, message: String) -> Result<(), AppViewError> {
        let bytes = message.len();
        let queued = self.lock_views().get(view).map(|shown| Arc::clone(&shown.queued)).ok_or(AppViewError::Closed)?;
        if queued.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_QUEUED_MESSAGE_BYTES {
            queued.fetch_sub(bytes, Ordering::Relaxed);
            return Err(AppViewError::Busy);
        }
        let sent = self.send_input(view, ViewTaskInput::Message(message));
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
        self.send_input(view, ViewTaskInput::Context(Box::new(context)))
    }

    /// Passes the user's decision on a request of an app to the app's async task.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`receive_message`](Self::receive_message).
    pub fn answer_request(&self, view: &str, request: u64, answer: AppAnswer) -> Result<(), AppViewError> {
        self.send_input(view, ViewTaskInput::Answer { request, answer })
    }

    /// Lets the model of the app's conversation use the app's tools with this hash, until the app is closed or its tools
    /// change. Turns them off if `hash` is `None`.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::OtherTools`] if the app now offers other tools than those with this hash,
    /// [`AppViewError::Review`] if the decision can't be stored, and the errors of
    /// [`receive_message`](Self::receive_message).
    pub async fn set_enabled_tools(&self, view: &str, hash: Option<String>) -> Result<(), AppViewError> {
        let (reply, replied) = tokio::sync::oneshot::channel();
        self.send_input(view, ViewTaskInput::Tools { hash, reply })?;
        replied.await.map_err(|_| AppViewError::Closed)?
    }

    /// Closes a shown app. The app is notified, and gets a short time to save its state. Closing an app that is not
    /// shown has no effect.
    pub fn close(&self, view: &str) {
        // The model must not call tools while the app saves its state, or before its task receives the input.
        if let Some(closing) = self.lock_views().get_mut(view) {
            closing.shown = None;
        }
        // An app that floods its view is closed without notice.
        if let Err(AppViewError::Busy) = self.send_input(view, ViewTaskInput::Close) {
            self.lock_views().remove(view);
        }
    }

    /// Returns a file that an app offers for saving, with its suggested name.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::NoRequest`] if the app has no such request or file, and the errors of
    /// [`receive_message`](Self::receive_message).
    pub async fn file_offered_by_app(
        &self,
        view: &str,
        request: u64,
        index: u32,
    ) -> Result<(String, Vec<u8>), AppViewError> {
        let (reply, replied) = tokio::sync::oneshot::channel();
        self.send_input(view, ViewTaskInput::File { request, index, reply })?;
        let FileOfferedByApp { name, bytes } = replied.await.ok().flatten().ok_or(AppViewError::NoRequest)?;
        Ok((name, bytes))
    }

    pub(crate) fn lock_views(&self) -> MutexGuard<'_, HashMap<AppViewId, ShownView>> {
        self.shared.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_input(&self, view: &str, input: ViewTaskInput) -> Result<(), AppViewError> {
        let inputs = self.lock_views().get(view).map(|shown| shown.inputs.clone()).ok_or(AppViewError::Closed)?;
        inputs.try_send(input).map_err(|error| match error {
            TrySendError::Full(_) => AppViewError::Busy,
            TrySendError::Closed(_) => AppViewError::Closed,
        })
    }

    /// Ends all apps that show this page, without giving them time to save their state. Their tools are gone at once.
    pub(crate) fn close_views_of_page(&self, server: &str, uri: &str) {
        self.lock_views().retain(|_, view| view.server != server || view.uri != uri);
    }

    /// Returns the apps whose frames are in the page of the main window, each once, in a stable order. `elsewhere` are
    /// the conversations that have windows of their own.
    #[must_use]
    pub fn apps_of_main_window(&self, elsewhere: &[String]) -> Vec<ShownApp> {
        self.shown_apps_where(|shown_in| is_in_main_window(shown_in, elsewhere))
    }

    /// Returns the apps whose frames are in the window of a conversation, each once, in a stable order.
    #[must_use]
    pub fn apps_of_conversation(&self, conversation: &str) -> Vec<ShownApp> {
        self.shown_apps_where(|shown_in| is_in_conversation_window(shown_in, conversation))
    }

    fn shown_apps_where(&self, is_in_window: impl Fn(Option<&str>) -> bool) -> Vec<ShownApp> {
        let views = self.lock_views();
        let found = views.values().filter(|view| is_in_window(view.conversation.as_deref()));
        let apps = found.map(|view| ShownApp { server: view.server.clone(), tool: view.tool.clone() });
        // Several frames may show the app of one tool.
        apps.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Ends the apps whose frames were in the page of the main window, because it is loaded again. `elsewhere` are the
    /// conversations that have windows of their own.
    pub fn remove_views_of_main_window(&self, elsewhere: &[String]) {
        self.lock_views().retain(|_, view| !is_in_main_window(view.conversation.as_deref(), elsewhere));
    }

    /// Ends the apps whose frames were in the window of a conversation, because the window was closed or its page is
    /// loaded again.
    pub fn remove_views_of_conversation(&self, conversation: &str) {
        self.lock_views().retain(|_, view| !is_in_conversation_window(view.conversation.as_deref(), conversation));
    }
}

/// Returns `true` if the main window shows the apps of a conversation. `shown_in` is `None` for apps outside of
/// conversations.
fn is_in_main_window(shown_in: Option<&str>, elsewhere: &[String]) -> bool {
    !elsewhere.iter().any(|conversation| Some(conversation.as_str()) == shown_in)
}

/// Returns `true` if the window of `conversation` shows the apps of the conversation `shown_in`.
fn is_in_conversation_window(shown_in: Option<&str>, conversation: &str) -> bool {
    shown_in == Some(conversation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_or_reloaded_window_loses_only_its_own_apps() {
        let elsewhere = ["a".to_owned(), "b".to_owned()];
        let of_main = |shown_in| is_in_main_window(shown_in, &elsewhere);
        assert!(of_main(None), "apps outside of conversations are in the main window");
        assert!(of_main(Some("c")), "the conversation has no window of its own");
        assert!(!of_main(Some("a")) && !of_main(Some("b")), "the frames of other windows remain");
        assert!(is_in_conversation_window(Some("a"), "a"));
        assert!(!is_in_conversation_window(Some("b"), "a"), "another window shows them");
        assert!(!is_in_conversation_window(None, "a"), "the main window shows them");
    }
}
