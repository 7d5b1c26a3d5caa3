//! Command with which a page begins to receive the events of the shell.

use tauri::ipc::Channel;
use tauri::{Runtime, State, Webview};

use crate::background::ClosingDialog;
use crate::conversation_windows::ConversationWindows;
use crate::openings::OpeningRequests;
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Command by which a page subscribes to the events of the window and the desktop: sends it all that occur after this
/// call, and those that were stored for it.
#[tauri::command]
pub(crate) fn listen_shell_events<R: Runtime>(
    webview: Webview<R>,
    events: State<'_, ShellEvents>,
    openings: State<'_, OpeningRequests>,
    windows: State<'_, ConversationWindows>,
    closing: State<'_, ClosingDialog>,
    channel: Channel<ShellEvent>,
) {
    events.attach_channel(webview.label(), channel, || windows.conversation_windows_changed_event());
    if webview.label() == MAIN_WINDOW_LABEL {
        closing.on_page_loaded();
        openings.resend_current_request(&events);
    }
}
