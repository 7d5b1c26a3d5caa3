//! Windows that show one conversation each, next to the main window.
//!
//! A conversation is open in one window only, so that its draft has one editor. All windows are notified of these
//! conversations ([`ShellEvent::ConversationWindowsChanged`]), and the main window opens them again at the next start.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tauri::{AppHandle, Manager as _, Runtime, State, WebviewWindow};
use tokio::sync::oneshot;

use crate::quitting::PendingQuit;
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window;
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Maximum number of windows of conversations, in addition to the main window. Each has a web process.
const MAX_CONVERSATION_WINDOWS: usize = 8;
/// Prefix of the labels of these windows, as used in the capability. The number of the window follows. Its position is
/// stored by this label and restored at the next start.
const CONVERSATION_WINDOW_LABEL_PREFIX: &str = "conversation-";
/// Maximum length of a conversation's identifier in bytes.
const MAX_CONVERSATION_ID_BYTES: usize = 64;

/// The open windows of conversations.
#[derive(Default)]
pub(crate) struct ConversationWindows(Mutex<ConversationWindowSlots>);

/// The open windows of conversations. A window's index is the number in its label.
#[derive(Debug, Default)]
struct ConversationWindowSlots([Option<ConversationWindowSlot>; MAX_CONVERSATION_WINDOWS]);

#[derive(Debug, PartialEq, Eq)]
struct ConversationWindowSlot {
    conversation: String,
    /// `true` while the window waits for its page to store the draft, after which the window closes.
    is_closing: bool,
}

impl ConversationWindowSlots {
    /// Returns the number of the window that shows a conversation.
    fn find(&self, conversation: &str) -> Option<usize> {
        self.0.iter().position(|slot| slot.as_ref().is_some_and(|slot| slot.conversation == conversation))
    }

    /// Reserves a number for the window of a conversation and returns it. Returns `None` if all numbers are in use.
    fn add(&mut self, conversation: String) -> Option<usize> {
        let free = self.0.iter().position(Option::is_none)?;
        self.0[free] = Some(ConversationWindowSlot { conversation, is_closing: false });
        Some(free)
    }

    fn remove(&mut self, number: usize) -> Option<String> {
        self.0.get_mut(number)?.take().map(|slot| slot.conversation)
    }

    /// Marks a window as closing. Returns `false` if it is marked already, in which case it closes without waiting for
    /// its page.
    fn begin_closing(&mut self, number: usize) -> bool {
        let slot = self.0.get_mut(number).and_then(Option::as_mut);
        slot.is_some_and(|slot| !std::mem::replace(&mut slot.is_closing, true))
    }

    /// Marks a window as no longer closing, after its page has reported that it asks the user first.
    fn keep_open(&mut self, number: usize) {
        if let Some(slot) = self.0.get_mut(number).and_then(Option::as_mut) {
            slot.is_closing = false;
        }
    }

    fn conversations(&self) -> Vec<String> {
        self.0.iter().flatten().map(|slot| slot.conversation.clone()).collect()
    }
}

impl ConversationWindows {
    /// Returns the identifiers of the conversations that are open in windows of their own.
    pub(crate) fn conversations(&self) -> Vec<String> {
        self.lock().conversations()
    }

    /// Returns the identifier of the conversation in the window with this label, or `None` if it shows no single
    /// conversation.
    pub(crate) fn conversation_in_window(&self, label: &str) -> Option<String> {
        let number = conversation_window_number(label)?;
        self.lock().0.get(number)?.as_ref().map(|slot| slot.conversation.clone())
    }

    /// Returns the label of the window that shows a conversation and its consent requests: its own window if it has
    /// one, or else the main window.
    pub(crate) fn label_of_window_showing(&self, conversation: Option<&str>) -> String {
        let number = conversation.and_then(|conversation| self.lock().find(conversation));
        number.map_or_else(|| MAIN_WINDOW_LABEL.to_owned(), conversation_window_label)
    }

    /// Returns an event with the identifiers of the conversations that are open in windows of their own.
    pub(crate) fn conversation_windows_changed_event(&self) -> ShellEvent {
        ShellEvent::ConversationWindowsChanged { conversations: self.conversations() }
    }

    /// Sends that event to the pages of all windows.
    fn send_conversation_windows_changed(&self, events: &ShellEvents) {
        events.send_to_all(|| self.conversation_windows_changed_event());
    }

    /// Handles the user's request to close the window of a conversation. Returns `true` if the window may close now.
    /// Otherwise its page first stores the draft and then closes the window.
    pub(crate) fn handle_close_request(&self, label: &str, events: &ShellEvents) -> bool {
        let is_first = conversation_window_number(label).is_some_and(|number| self.lock().begin_closing(number));
        !(is_first && events.send_to(label, ShellEvent::WindowClosing))
    }

    /// Records that a page, which was requested to close its window, keeps it open because it asks the user or could
    /// not store the draft. The next request to close the window waits for the page again.
    pub(crate) fn keep_open(&self, label: &str) {
        if let Some(number) = conversation_window_number(label) {
            self.lock().keep_open(number);
        }
    }

    /// Removes a closed window from the list and notifies the other windows. Returns the identifier of its
    /// conversation, or `None` if the label is not that of a conversation's window.
    pub(crate) fn remove_closed_window(&self, label: &str, events: &ShellEvents) -> Option<String> {
        let conversation = self.lock().remove(conversation_window_number(label)?)?;
        self.send_conversation_windows_changed(events);
        Some(conversation)
    }

    fn lock(&self) -> MutexGuard<'_, ConversationWindowSlots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn conversation_window_label(number: usize) -> String {
    format!("{CONVERSATION_WINDOW_LABEL_PREFIX}{number}")
}

fn conversation_window_number(label: &str) -> Option<usize> {
    label
        .strip_prefix(CONVERSATION_WINDOW_LABEL_PREFIX)?
        .parse()
        .ok()
        .filter(|number| *number < MAX_CONVERSATION_WINDOWS)
}

/// Returns `true` if a text can be the identifier of a conversation, which can be used in a URL unchanged.
fn is_well_formed_conversation_id(id: &str) -> bool {
    (1..=MAX_CONVERSATION_ID_BYTES).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Command that opens the window of a conversation, or brings it to the front if it is open.
///
/// # Errors
/// Returns an error if the system can't open a window, or too many are open.
#[tauri::command]
pub(crate) async fn open_conversation_window<R: Runtime>(
    app: AppHandle<R>,
    conversation: String,
) -> Result<(), WindowProblem> {
    if !is_well_formed_conversation_id(&conversation) {
        return Err(WindowProblem::failed("this is not the identifier of a conversation"));
    }
    let windows = app.state::<ConversationWindows>();
    let (number, is_open) = {
        let mut slots = windows.lock();
        match slots.find(&conversation) {
            Some(number) => (number, true),
            None => {
                let added = slots.add(conversation.clone());
                (added.ok_or(WindowProblem::TooMany { maximum: MAX_CONVERSATION_WINDOWS })?, false)
            }
        }
    };
    let label = conversation_window_label(number);
    if is_open {
        return app.get_webview_window(&label).map_or(Ok(()), |window| {
            window::bring_window_to_front(&window).map_err(|error| WindowProblem::failed(tauri_error_text(error)))
        });
    }
    windows.send_conversation_windows_changed(&app.state::<ShellEvents>());
    open_on_main_thread(&app, label, conversation).await.map_err(WindowProblem::failed)
}

/// Opens a window on the main thread, and confines its page before the page is loaded. Releases the window's number if
/// it can't be opened.
async fn open_on_main_thread<R: Runtime>(
    app: &AppHandle<R>,
    label: String,
    conversation: String,
) -> Result<(), String> {
    let (sender, opened) = oneshot::channel();
    let handle = app.clone();
    let open = move || {
        let opened = window::open_conversation(&handle, &label, &conversation);
        // A window that was created and then closed is forgotten when it is destroyed, which happens later on this
        // thread. Until then its number must not be used again.
        if opened.is_err() && handle.get_webview_window(&label).is_none() {
            handle.state::<ConversationWindows>().remove_closed_window(&label, &handle.state::<ShellEvents>());
        }
        // The receiver exists until the command ends.
        let _ = sender.send(opened.map_err(tauri_error_text));
    };
    app.run_on_main_thread(open).map_err(tauri_error_text)?;
    opened.await.unwrap_or_else(|_| Err("the app is quitting".to_owned()))
}

/// Reason why the window of a conversation can't be opened.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub(crate) enum WindowProblem {
    /// The maximum number of windows is open. The page describes this in the user's language.
    TooMany {
        /// Maximum number of windows of conversations.
        maximum: usize,
    },
    /// The window can't be opened for another reason.
    Failed {
        /// Description of the reason in English.
        cause: String,
    },
}

impl WindowProblem {
    fn failed(cause: impl Into<String>) -> Self {
        Self::Failed { cause: cause.into() }
    }
}

fn tauri_error_text(error: tauri::Error) -> String {
    error.to_string()
}

/// Closes the window of a conversation whose web process has ended, so that other windows show the conversation and its
/// consent requests again. Shows the main window if it is hidden, because the user has not closed the last window. Does
/// nothing for the main window.
#[cfg(any(not(windows), test))]
pub(crate) fn close_crashed_window<R: Runtime>(app: &AppHandle<R>, label: &str) {
    if conversation_window_number(label).is_none() {
        return;
    }
    tracing::error!("the process of a conversation's page ended, closing its window");
    // Shown before the window is closed, after which the setting `onClose` applies if the main window is hidden.
    if window::is_main_window_hidden(app)
        && let Some(main) = app.get_webview_window(MAIN_WINDOW_LABEL)
        && let Err(error) = window::bring_window_to_front(&main)
    {
        tracing::warn!("failed to show the main window: {error}");
    }
    if let Some(window) = app.get_webview_window(label)
        && let Err(error) = window.destroy()
    {
        tracing::warn!("failed to close a window: {error}");
    }
}

/// Command by which a page reports that its drafts are stored. Closes the window if it is that of a conversation,
/// except while Drawbridge quits, which closes all windows together.
///
/// # Errors
/// Returns a message if the window is already closed.
#[tauri::command]
pub(crate) fn finish_closing_window<R: Runtime>(
    window: WebviewWindow<R>,
    quitting: State<'_, PendingQuit>,
) -> Result<(), String> {
    if quitting.mark_drafts_stored(window.label()) {
        return Ok(());
    }
    if conversation_window_number(window.label()).is_none() {
        return Err("only windows of conversations close this way".to_owned());
    }
    window.destroy().map_err(tauri_error_text)
}

/// Command that brings the main window to the front. `view` is the hash of a location, at which the main window's page
/// then shows a view.
#[tauri::command]
pub(crate) fn show_main_window<R: Runtime>(app: AppHandle<R>, view: Option<String>) {
    if let Some(view) = view {
        app.state::<ShellEvents>().send(ShellEvent::ViewChosen { view });
    }
    if let Some(window) = app.get_webview_window(MAIN_WINDOW_LABEL)
        && let Err(error) = window::bring_window_to_front(&window)
    {
        tracing::warn!("failed to bring the window to the front: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversation_has_one_window_and_conversation_windows_are_limited() {
        let mut slots = ConversationWindowSlots::default();
        for number in 0..MAX_CONVERSATION_WINDOWS {
            assert_eq!(slots.add(format!("c{number}")), Some(number), "each window should have a number");
        }
        assert_eq!(slots.add("one more".to_owned()), None, "the number of windows should be bounded");
        assert_eq!(slots.find("c3"), Some(3), "the window of a conversation should be found");
        assert_eq!(slots.remove(3).as_deref(), Some("c3"), "a closed window should be forgotten");
        assert_eq!((slots.find("c3"), slots.remove(3)), (None, None), "it should be forgotten once");
        assert_eq!(slots.add("new".to_owned()), Some(3), "a free number should be used again");
        assert_eq!(slots.conversations().len(), MAX_CONVERSATION_WINDOWS, "all conversations should be listed");
        let windows = ConversationWindows(Mutex::new(slots));
        assert_eq!(
            windows.label_of_window_showing(Some("new")),
            "conversation-3",
            "its window should show its requests"
        );
        for other in [Some("c3"), None] {
            assert_eq!(
                windows.label_of_window_showing(other),
                MAIN_WINDOW_LABEL,
                "the main window should show all other requests"
            );
        }
    }

    #[test]
    fn conversation_window_closes_at_second_request_without_page_response() {
        let mut slots = ConversationWindowSlots::default();
        let number = slots.add("c1".to_owned()).expect("a free number");
        assert!(slots.begin_closing(number), "the page should store its draft first");
        assert!(!slots.begin_closing(number), "the window should close at the second request");
        assert!(!slots.begin_closing(number + 1), "there is no such window");
        slots.keep_open(number);
        assert!(slots.begin_closing(number), "the page should be requested again after it has asked the user");
        let number = slots.add("c2".to_owned()).expect("a free number");
        let windows = ConversationWindows(Mutex::new(slots));
        assert!(
            windows.handle_close_request(&conversation_window_label(number), &ShellEvents::default()),
            "a window whose page receives no events should close at the first request"
        );
    }

    #[test]
    fn only_conversation_window_labels_and_plain_ids_are_accepted() {
        assert_eq!(
            conversation_window_number(&conversation_window_label(2)),
            Some(2),
            "the number should be part of the label"
        );
        for label in ["main", "conversation-", "conversation-8", "conversation-x"] {
            assert_eq!(conversation_window_number(label), None, "{label}");
        }
        assert!(is_well_formed_conversation_id("0191f3a2-7b1c-7d1e-8a55-3c2f4b5a6d7e"), "a UUID");
        let long = "a".repeat(MAX_CONVERSATION_ID_BYTES + 1);
        for id in ["", "a/b", "a#b", "a?b", "a b", "é", long.as_str()] {
            assert!(!is_well_formed_conversation_id(id), "{id:?} should be rejected");
        }
    }
}
