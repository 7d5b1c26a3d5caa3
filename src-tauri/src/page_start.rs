//! Command with which a page begins to receive the events of the shell.

use tauri::ipc::Channel;
use tauri::{Runtime, State, Webview};

use crate::background::ClosingDialog;
use crate::conversation_windows::ConversationWindows;
use crate::openings::OpenRequests;
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window_labels::MAIN_WINDOW;

/// Starts to send the events of the window and the desktop to the page that occur after this call.
#[tauri::command]
pub(crate) fn listen_shell_events<R: Runtime>(
    webview: Webview<R>,
    events: State<'_, ShellEvents>,
    openings: State<'_, OpenRequests>,
    windows: State<'_, ConversationWindows>,
    closing: State<'_, ClosingDialog>,
    channel: Channel<ShellEvent>,
) {
    events.attach_channel(webview.label(), channel, || windows.changed_event());
    if webview.label() == MAIN_WINDOW {
        closing.on_page_loaded();
        openings.send_current(&events);
    }
}
