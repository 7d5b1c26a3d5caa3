//! Behavior when the window is closed while servers run.
//!
//! The user is prompted each time, or chooses an action permanently in the settings (`onClose`). Termination signals
//! and the end of the user's session always quit the app and are handled in `closing.rs`.

use std::env;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use api::Api;
use api::data::CloseAction;
use host::view::{ServerState, Snapshot};
use tauri::{AppHandle, Manager as _, Runtime, State, Webview};

use crate::conversation_windows::ConversationWindows;
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::{quitting, window, window_labels};

/// Command-line option that starts Drawbridge without opening its window. It is used at login.
pub(crate) const BACKGROUND_OPTION: &str = "--background";

/// Time within which Drawbridge's page must show the dialog in which the user chooses to quit or to continue in the
/// background. After it, the page counts as unresponsive, and closing the window again quits Drawbridge.
const CLOSING_DIALOG_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns `true` if this process was started with [`BACKGROUND_OPTION`].
pub(crate) fn starts_in_background() -> bool {
    contains_background_option(env::args_os().filter_map(|argument| argument.into_string().ok()))
}

/// Returns `true` if a command line contains [`BACKGROUND_OPTION`].
pub(crate) fn contains_background_option(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.any(|argument| argument == BACKGROUND_OPTION)
}

/// Returns the number of servers that have a process or a connection, or are starting.
pub(crate) fn count_running_servers(snapshot: &Snapshot) -> usize {
    let runs = |state: &ServerState| {
        matches!(state, ServerState::Starting | ServerState::Ready | ServerState::Reconnecting(_))
    };
    snapshot.servers.iter().filter(|server| runs(&server.state)).count()
}

/// Returns the action to take when the user closes the last window, for this value of the setting `onClose` and this
/// number of running servers.
fn action_on_closing_last_window(on_close: &str, running: usize) -> CloseAction {
    match (running, on_close) {
        (0, _) | (_, "quit") => CloseAction::Quit,
        (_, "background") => CloseAction::Background,
        _ => CloseAction::Ask,
    }
}

/// State of the dialog in which the user chooses to quit or to continue in the background.
#[derive(Default)]
pub(crate) struct ClosingDialog(Mutex<ClosingDialogState>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ClosingDialogState {
    /// No request to show the dialog is open: none was sent to Drawbridge's page, or the page has shown the dialog.
    #[default]
    Quiet,
    /// The page was requested at this time to show the dialog, and has not reported yet that it shows it.
    Requested(Instant),
}

impl ClosingDialog {
    /// Requests Drawbridge's page to show the dialog, by calling `notify`. Returns `false`, so that Drawbridge quits
    /// without it, if the request can't be sent, or the page has not shown the dialog within [`CLOSING_DIALOG_TIMEOUT`]
    /// of an earlier request.
    fn request_closing_dialog(&self, now: Instant, notify: impl FnOnce() -> bool) -> bool {
        let mut choice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *choice {
            ClosingDialogState::Requested(at) if now.duration_since(at) >= CLOSING_DIALOG_TIMEOUT => false,
            ClosingDialogState::Requested(_) => notify(),
            ClosingDialogState::Quiet => {
                let is_notified = notify();
                if is_notified {
                    *choice = ClosingDialogState::Requested(now);
                }
                is_notified
            }
        }
    }

    /// Forgets a request to a page that was loaded again, and does not show the dialog. The next request to close the
    /// window would otherwise quit Drawbridge.
    pub(crate) fn on_page_loaded(&self) {
        self.mark_dialog_shown();
    }

    fn mark_dialog_shown(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = ClosingDialogState::Quiet;
    }
}

/// Returns `true` if the closed window of a conversation was the last visible window, so that the setting `onClose`
/// applies.
const fn was_last_visible_window(is_main_window_hidden: bool, has_conversation_windows: bool) -> bool {
    is_main_window_hidden && !has_conversation_windows
}

/// Handles the user's request to close the main window according to the setting `onClose`. Returns `true` if the window
/// may close, which quits Drawbridge, and `false` if the window was hidden, the page shows the dialog, or Drawbridge
/// quits once the pages have stored their drafts.
///
/// While conversations are open in other windows, the main window is only hidden. The setting applies to the last
/// window.
pub(crate) fn handle_close_request(app: &AppHandle) -> bool {
    if has_conversation_windows(app) && window::hide_main_window(app) {
        return false;
    }
    let Some(api) = app.try_state::<Api>() else { return true };
    let Ok(snapshot) = tauri::async_runtime::block_on(api.host().snapshot()) else { return true };
    let running = count_running_servers(&snapshot);
    match action_on_closing_last_window(&snapshot.settings.on_close, running) {
        CloseAction::Quit => {
            quitting::quit(app);
            false
        }
        // If the window can't be hidden, Drawbridge quits, since it would otherwise stay visible after the user has
        // closed it.
        CloseAction::Background => !window::hide_main_window(app),
        CloseAction::Ask => {
            let notify = || app.state::<ShellEvents>().send(ShellEvent::ClosingAsked { servers: running });
            !app.state::<ClosingDialog>().request_closing_dialog(Instant::now(), notify)
        }
    }
}

fn has_conversation_windows(app: &AppHandle) -> bool {
    app.try_state::<ConversationWindows>().is_some_and(|windows| !windows.conversations().is_empty())
}

/// Applies the setting `onClose` after the user closed the window of a conversation, if the main window is hidden and
/// no other window is open.
pub(crate) fn on_conversation_window_closed_with_hidden_main(app: &AppHandle) {
    if !was_last_visible_window(window::is_main_window_hidden(app), has_conversation_windows(app)) {
        return;
    }
    let Some(api) = app.try_state::<Api>() else { return };
    let Ok(snapshot) = tauri::async_runtime::block_on(api.host().snapshot()) else { return };
    let running = count_running_servers(&snapshot);
    match action_on_closing_last_window(&snapshot.settings.on_close, running) {
        CloseAction::Quit => quitting::quit(app),
        CloseAction::Background => {}
        CloseAction::Ask => {
            window::show_or_open_main_window(app);
            app.state::<ShellEvents>().send(ShellEvent::ClosingAsked { servers: running });
        }
    }
}

/// Command by which a page reports that it shows a dialog before its window closes, or that the window can't close yet.
#[tauri::command]
pub(crate) fn confirm_closing_dialog<R: Runtime>(
    webview: Webview<R>,
    choice: State<'_, ClosingDialog>,
    windows: State<'_, ConversationWindows>,
) {
    if webview.label() == window_labels::MAIN_WINDOW_LABEL {
        choice.mark_dialog_shown();
    } else {
        windows.keep_open(webview.label());
    }
}

/// Command that executes the action that the user has chosen in the dialog for closing the window.
#[tauri::command]
pub(crate) fn finish_closing<R: Runtime>(app: AppHandle<R>, choice: CloseAction) {
    match choice {
        CloseAction::Background if window::hide_main_window(&app) => {}
        CloseAction::Quit | CloseAction::Background => quitting::quit(&app),
        CloseAction::Ask => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_last_window_quits_without_servers_or_follows_the_setting() {
        for (setting, running, expected) in [
            ("ask", 0, CloseAction::Quit),
            ("background", 0, CloseAction::Quit),
            ("ask", 1, CloseAction::Ask),
            ("unheard of", 1, CloseAction::Ask),
            ("background", 3, CloseAction::Background),
            ("quit", 3, CloseAction::Quit),
        ] {
            assert_eq!(action_on_closing_last_window(setting, running), expected, "{setting} with {running} servers");
        }
    }

    #[test]
    fn closing_setting_applies_when_the_last_visible_window_closes() {
        for (is_main_window_hidden, has_others, expected) in
            [(true, false, true), (true, true, false), (false, false, false), (false, true, false)]
        {
            assert_eq!(
                was_last_visible_window(is_main_window_hidden, has_others),
                expected,
                "main window hidden: {is_main_window_hidden}, conversations in other windows: {has_others}"
            );
        }
    }

    #[test]
    fn page_that_never_shows_the_closing_dialog_does_not_block_closing() {
        let choice = ClosingDialog::default();
        let start = Instant::now();
        assert!(!choice.request_closing_dialog(start, || false), "without a page the choice can't be shown");
        assert!(choice.request_closing_dialog(start, || true), "the page should be notified");
        assert!(
            choice.request_closing_dialog(start + CLOSING_DIALOG_TIMEOUT / 2, || true),
            "the page should be notified again before the timeout"
        );
        assert!(
            !choice.request_closing_dialog(start + CLOSING_DIALOG_TIMEOUT, || true),
            "the window should close after the timeout"
        );
    }

    #[test]
    fn page_that_showed_the_closing_dialog_is_asked_again_each_time() {
        let choice = ClosingDialog::default();
        let start = Instant::now();
        assert!(choice.request_closing_dialog(start, || true), "the page should be notified");
        choice.mark_dialog_shown();
        assert!(
            choice.request_closing_dialog(start + CLOSING_DIALOG_TIMEOUT * 9, || true),
            "the page should be notified again after the user cancelled"
        );
    }

    #[test]
    fn reloaded_page_is_asked_for_the_closing_dialog_again() {
        let choice = ClosingDialog::default();
        let start = Instant::now();
        assert!(choice.request_closing_dialog(start, || true), "the page should be notified, but does not respond");
        choice.on_page_loaded();
        assert!(
            choice.request_closing_dialog(start + CLOSING_DIALOG_TIMEOUT * 9, || true),
            "the new page should be notified, because it was not requested to show the dialog before"
        );
    }

    #[test]
    fn only_the_background_option_starts_without_showing_a_window() {
        let is_background = |line: &str| contains_background_option(line.split(' ').map(str::to_owned));
        assert!(is_background("drawbridge --background"), "the flag should be recognized");
        assert!(
            !is_background("drawbridge") && !is_background("drawbridge --background=no"),
            "nothing else should be recognized"
        );
    }
}
