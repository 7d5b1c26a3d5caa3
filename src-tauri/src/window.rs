//! Windows, which show the app's page and never navigate to another one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager as _, Runtime, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_window_state::StateFlags;

use crate::app_frames;
use crate::drawing;
use crate::page_sandbox::PageSandbox;
#[cfg(target_os = "linux")]
use crate::stalled_apps;
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Parameters for opening windows, and the state of the main window.
struct WindowSetup {
    /// Folder for the positions of windows and the storage of web views, in the data folder.
    folder: PathBuf,
    on_open: WindowOpenedHook,
    /// `true` while the main window is hidden because the user closed it. The system also reports windows as invisible
    /// that the user has minimized, or hidden together with the app.
    is_main_window_hidden: AtomicBool,
}

/// Function that is called with the main window after it was opened.
pub(crate) type WindowOpenedHook = fn(&WebviewWindow) -> tauri::Result<()>;

/// Registers the plugin that restores the positions and sizes of windows from their last use, and stores the parameters
/// for [`open_main_window`]. Must be called before the first window is opened.
///
/// # Errors
/// Returns an error if the plugin for the window state can't be initialized.
pub(crate) fn prepare_windows(app: &AppHandle, data_dir: &Path, on_open: WindowOpenedHook) -> tauri::Result<()> {
    let place = tauri_plugin_window_state::Builder::new()
        .with_filename(data_dir.join("window.json").display().to_string())
        .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN);
    app.plugin(place.build())?;
    app.manage(WindowSetup { folder: data_dir.to_path_buf(), on_open, is_main_window_hidden: AtomicBool::new(false) });
    Ok(())
}

/// Opens the main window. Must be called on the main thread.
///
/// # Errors
/// Returns an error if the system can't open a window.
pub(crate) fn open_main_window(app: &AppHandle) -> tauri::Result<()> {
    let setup = app.state::<WindowSetup>();
    let builder = page_window_builder(app, MAIN_WINDOW_LABEL, "index.html".into())
        .inner_size(1180.0, 780.0)
        .min_inner_size(640.0, 480.0);
    PageSandbox::on_window_opening(app);
    let window = builder.build()?;
    let ready = isolate_and_watch_page(&window).and_then(|()| (setup.on_open)(&window));
    if ready.is_err() {
        // The host could not start. The window is hidden because closing it would exit the app before the user has read
        // the message.
        let _ = window.hide();
    }
    ready
}

/// Opens a window with the label `label` that shows only the conversation with the identifier `conversation`, which
/// must be usable in a URL unchanged. Must be called on the main thread.
///
/// # Errors
/// Returns an error if the system can't open a window.
pub(crate) fn open_conversation<R: Runtime>(app: &AppHandle<R>, label: &str, conversation: &str) -> tauri::Result<()> {
    let page = format!("index.html?conversation={conversation}#/conversation/{conversation}");
    let window = page_window_builder(app, label, page.into())
        .inner_size(760.0, 780.0)
        .min_inner_size(480.0, 400.0)
        // The page sets the title of the conversation.
        .on_document_title_changed(|window, title| {
            if let Err(error) = window.set_title(&title) {
                tracing::warn!("failed to set the title of a window: {error}");
            }
        })
        .build()?;
    let ready = isolate_and_watch_page(&window);
    if ready.is_err() {
        // Nothing may be drawn without isolated frames.
        let _ = window.destroy();
    }
    ready
}

/// Returns the builder of a window with Drawbridge's page.
fn page_window_builder<'a, R: Runtime>(
    app: &'a AppHandle<R>,
    label: &str,
    page: PathBuf,
) -> WebviewWindowBuilder<'a, R, AppHandle<R>> {
    WebviewWindowBuilder::new(app, label, WebviewUrl::App(page))
        .title("Drawbridge")
        .data_directory(app.state::<WindowSetup>().folder.join("webview"))
        // Dropped files are passed to the page, which attaches them and can't navigate to them. Tauri's drop handler
        // would not pass them on. `dropped_bundles` handles bundles.
        .disable_drag_drop_handler()
        .on_navigation(|url| is_drawbridge_page_url(url) || app_frames::is_mcp_app_document_url(url))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        // Downloads are refused. Only the host writes files, to a path that the user selects.
        .on_download(|_, _| false)
}

/// Isolates the app frames in a new window's page, watches the page's process, and selects the method by which the page
/// is drawn.
fn isolate_and_watch_page<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    PageSandbox::watch_web_process(window)?;
    #[cfg(target_os = "linux")]
    stalled_apps::watch_web_process(window)?;
    app_frames::isolate_mcp_app_frames(window).and_then(|()| drawing::select_rendering_method(window))
}

/// Brings a window to the front. Most systems highlight it in the task bar instead if it can't be raised.
///
/// # Errors
/// Returns an error if the window is already closed.
pub(crate) fn bring_window_to_front<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    if window.label() == MAIN_WINDOW_LABEL {
        set_main_window_hidden(window.app_handle(), false);
    }
    window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus())
}

/// Hides the main window until [`bring_window_to_front`] shows it again. Returns `false` if it can't be hidden.
pub(crate) fn hide_main_window<R: Runtime>(app: &AppHandle<R>) -> bool {
    let hidden = app.get_webview_window(MAIN_WINDOW_LABEL).map(|window| window.hide());
    if let Some(Err(error)) = &hidden {
        tracing::warn!("failed to hide the window: {error}");
    }
    let is_hidden = matches!(hidden, Some(Ok(())));
    if is_hidden {
        set_main_window_hidden(app, true);
    }
    is_hidden
}

/// Returns `true` if [`hide_main_window`] has hidden the main window.
pub(crate) fn is_main_window_hidden<R: Runtime>(app: &AppHandle<R>) -> bool {
    app.try_state::<WindowSetup>().is_some_and(|setup| setup.is_main_window_hidden.load(Ordering::Relaxed))
}

fn set_main_window_hidden<R: Runtime>(app: &AppHandle<R>, is_hidden: bool) {
    if let Some(setup) = app.try_state::<WindowSetup>() {
        setup.is_main_window_hidden.store(is_hidden, Ordering::Relaxed);
    }
}

/// Brings the main window to the front, or opens it if Drawbridge started in the background.
pub(crate) fn show_or_open_main_window(app: &AppHandle) {
    let shown = app.clone();
    if let Err(error) = app.run_on_main_thread(move || show_or_open_on_main_thread(&shown)) {
        tracing::warn!("failed to show the window: {error}");
    }
}

fn show_or_open_on_main_thread(app: &AppHandle) {
    let Some(window) = app.get_webview_window(MAIN_WINDOW_LABEL) else {
        // Before the setup the app is still starting, and will open its window later.
        if app.try_state::<WindowSetup>().is_some()
            && let Err(error) = open_main_window(app)
        {
            tracing::error!("failed to open the window: {error}");
        }
        return;
    };
    if let Err(error) = bring_window_to_front(&window) {
        tracing::warn!("failed to bring the window to the front: {error}");
    }
}

/// Returns `true` for the URL of Drawbridge's page as served by Tauri, or in development builds by the development
/// server.
fn is_drawbridge_page_url(url: &Url) -> bool {
    let own = match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" => url.host_str() == Some("tauri.localhost") && url.port().is_none(),
        _ => false,
    };
    own || (tauri::is_dev()
        && url.scheme() == "http"
        && url.host_str() == Some("localhost")
        && url.port() == Some(1420))
}

#[cfg(test)]
mod tests {
    use tauri::test::{mock_builder, mock_context, noop_assets};

    use super::*;
    use crate::conversation_windows;

    #[test]
    fn hidden_main_window_is_shown_when_the_window_of_a_conversation_crashes() {
        let setup =
            WindowSetup { folder: PathBuf::new(), on_open: |_| Ok(()), is_main_window_hidden: AtomicBool::new(false) };
        let app = mock_builder().manage(setup).build(mock_context(noop_assets())).expect("an app without a window");
        WebviewWindowBuilder::new(&app, MAIN_WINDOW_LABEL, WebviewUrl::default()).build().expect("a window");
        assert!(hide_main_window(app.handle()), "the window can be hidden");
        conversation_windows::close_crashed_window(app.handle(), MAIN_WINDOW_LABEL);
        assert!(
            is_main_window_hidden(app.handle()),
            "the page of the main window is loaded again, and shows nothing new"
        );
        conversation_windows::close_crashed_window(app.handle(), "conversation-0");
        assert!(
            !is_main_window_hidden(app.handle()),
            "the setting for closing should not apply, which could quit Drawbridge"
        );
    }

    #[test]
    fn only_urls_of_the_bundled_page_are_recognized_as_drawbridges_page() {
        for own in ["tauri://localhost/index.html", "http://tauri.localhost/", "https://tauri.localhost/#/settings"] {
            assert!(is_drawbridge_page_url(&own.parse().expect("a URL")), "{own} should be the page");
        }
        let others = [
            "https://example.com/",
            "tauri://example.com/",
            "http://tauri.localhost:8080/",
            "http://tauri.localhost.example.com/",
            "file:///etc/passwd",
            "data:text/html,x",
            "about:blank",
        ];
        for other in others {
            assert!(!is_drawbridge_page_url(&other.parse().expect("a URL")), "{other} should not be the page");
        }
    }
}
