//! The one window. It shows the app's own page and never leaves it.

use std::path::{Path, PathBuf};

use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager as _, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_window_state::StateFlags;

use crate::drawing;
use crate::page_sandbox::PageSandbox;

/// Its label, which the capability names.
pub(crate) const MAIN: &str = "main";

/// What each window is opened with.
struct WindowSetup {
    /// The data folder, where the window's place and what its web view stores lie.
    folder: PathBuf,
    on_open: OnOpen,
}

/// What is done with a window when it is opened.
pub(crate) type OnOpen = fn(&WebviewWindow) -> tauri::Result<()>;

/// Has windows come where and as large as they were last time. To be called before the window is opened.
///
/// # Errors
/// If the place can't be followed.
pub(crate) fn prepare(app: &AppHandle, data_dir: &Path, on_open: OnOpen) -> tauri::Result<()> {
    let place = tauri_plugin_window_state::Builder::new()
        .with_filename(data_dir.join("window.json").display().to_string())
        .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN);
    app.plugin(place.build())?;
    app.manage(WindowSetup { folder: data_dir.to_path_buf(), on_open });
    Ok(())
}

/// Opens the window, on the main thread.
///
/// # Errors
/// If the system can't open a window.
pub(crate) fn open(app: &AppHandle) -> tauri::Result<()> {
    let setup = app.state::<WindowSetup>();
    let builder = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App("index.html".into()))
        .title("Drawbridge")
        .inner_size(1180.0, 780.0)
        .min_inner_size(640.0, 480.0)
        .data_directory(setup.folder.join("webview"))
        // Files that are dropped go to the page, which attaches them; else nothing happens, as it is led to no other address. Tauri's
        // handler would keep all of them from it. `dropping` takes out the bundles.
        .disable_drag_drop_handler()
        .on_navigation(is_own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        // Files are written by the host, where the user chose to.
        .on_download(|_, _| false);
    PageSandbox::open(app);
    let window = builder.build()?;
    let ready = PageSandbox::watch(&window)
        .and_then(|()| drawing::suit_the_machine(&window))
        .and_then(|()| (setup.on_open)(&window));
    if ready.is_err() {
        // Its page has nothing to talk to. Closed, it would end the app before the message is read.
        let _ = window.hide();
    }
    ready
}

/// Brings the window to the front. An app that started in the background opens it.
pub(crate) fn show(app: &AppHandle) {
    let shown = app.clone();
    if let Err(error) = app.run_on_main_thread(move || show_now(&shown)) {
        tracing::warn!("the window can't be shown: {error}");
    }
}

fn show_now(app: &AppHandle) {
    let Some(window) = app.get_webview_window(MAIN) else {
        // Before the files are there the app is still starting, and opens its window itself.
        if app.try_state::<WindowSetup>().is_some()
            && let Err(error) = open(app)
        {
            tracing::error!("the window could not be opened: {error}");
        }
        return;
    };
    // A window that can't be raised is at least marked by the system.
    let raised = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
    if let Err(error) = raised {
        tracing::warn!("the window can't be brought to the front: {error}");
    }
}

/// Whether the user has the window in front. Waits for the main thread.
pub(crate) fn is_in_front(app: &AppHandle) -> bool {
    app.get_webview_window(MAIN).is_some_and(|window| window.is_focused().unwrap_or(false))
}

/// The page as Tauri serves it, or the development server's where that is what is built.
fn is_own_page(url: &Url) -> bool {
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
    use super::*;

    #[test]
    fn the_window_stays_with_its_page() {
        for own in ["tauri://localhost/index.html", "http://tauri.localhost/", "https://tauri.localhost/#/settings"] {
            assert!(is_own_page(&own.parse().expect("a URL")), "{own} is the page");
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
            assert!(!is_own_page(&other.parse().expect("a URL")), "{other} is not the page");
        }
    }
}
