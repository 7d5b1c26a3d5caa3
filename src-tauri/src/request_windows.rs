//! Windows of consent requests. Each request is shown in one window: those of a conversation in the window of its own,
//! if it has one, and all others in the main window. Pages use the same rule (`ui/src/consent/request-place.ts`).

use api::Api;
use domain::consent_request::ConsentRequestId;
use tauri::{AppHandle, Manager as _, Runtime, WebviewWindow};

use crate::conversation_windows::ConversationWindows;
use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window;
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Returns the label of the window that shows a consent request.
async fn window_label_of_request<R: Runtime>(app: &AppHandle<R>, request: ConsentRequestId) -> String {
    let Some(api) = app.try_state::<Api>() else { return MAIN_WINDOW_LABEL.to_owned() };
    let Ok(snapshot) = api.host().snapshot().await else { return MAIN_WINDOW_LABEL.to_owned() };
    let shown = snapshot.consent_requests.iter().find(|one| one.id == request);
    let conversation = shown.and_then(|request| request.origin.conversation());
    app.state::<ConversationWindows>().label_of_window_showing(conversation)
}

/// Returns `true` if the window that shows a consent request has the focus. If `request` is `None`, that is the main
/// window. Blocks until the host and the main thread have responded.
pub(crate) fn is_request_window_focused(app: &AppHandle, request: Option<ConsentRequestId>) -> bool {
    let label = match request {
        Some(id) => tauri::async_runtime::block_on(window_label_of_request(app, id)),
        None => MAIN_WINDOW_LABEL.to_owned(),
    };
    app.get_webview_window(&label).is_some_and(|window| window.is_focused().unwrap_or(false))
}

/// Brings the window of the consent request `id` to the front and shows the request there. If `id` is `None`, shows the
/// list of pending requests in the main window.
pub(crate) fn show_consent_request(app: &AppHandle, id: Option<ConsentRequestId>) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let label = match id {
            Some(id) => window_label_of_request(&app, id).await,
            None => MAIN_WINDOW_LABEL.to_owned(),
        };
        let id = id.map(|id| id.0.to_string());
        app.state::<ShellEvents>().send_or_store(&label, ShellEvent::ShowConsentRequest { id });
        // The main window may not exist yet.
        if label == MAIN_WINDOW_LABEL {
            window::show_or_open_main_window(&app);
        } else if let Some(window) = app.get_webview_window(&label)
            && let Err(error) = window::bring_window_to_front(&window)
        {
            tracing::warn!("failed to bring a window to the front: {error}");
        }
    });
}

/// Command by which a page asks to show a consent request that belongs to another window. Brings that window to the
/// front.
///
/// # Errors
/// Returns a message if the window of the command shows the request itself, or the other window is closed.
#[tauri::command]
pub(crate) async fn show_request_elsewhere<R: Runtime>(window: WebviewWindow<R>, id: String) -> Result<(), String> {
    let request = id.parse().map(ConsentRequestId).map_err(|_| "this is not the identifier of a request".to_owned())?;
    let app = window.app_handle();
    let label = window_label_of_request(app, request).await;
    // Both pages would otherwise refer to each other.
    if label == window.label() {
        return Err("this window shows the request itself".to_owned());
    }
    let other = app.get_webview_window(&label).ok_or_else(|| "the window of the request is closed".to_owned())?;
    app.state::<ShellEvents>().send_or_store(&label, ShellEvent::ShowConsentRequest { id: Some(id) });
    window::bring_window_to_front(&other).map_err(|error| error.to_string())
}
