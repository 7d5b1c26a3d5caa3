//! Bundle files that the user drops on the window.
//!
//! Their paths come from the window system, because a page never receives the paths of dropped files. All other drops
//! are passed to the page, which attaches the files to a conversation.
//!
//! Tauri's drop handler is disabled, since it would not pass any drop to the page. On Linux this module connects to the
//! GTK signals of the web view, as wry does. Other systems have no such signals, so there the user opens a bundle from
//! the file manager or selects it in a dialog.

use tauri::WebviewWindow;

/// Opens bundles that the user drops on this window.
///
/// # Errors
/// Returns an error if the window is already closed.
#[cfg(target_os = "linux")]
pub(crate) fn open_dropped_bundles(window: &WebviewWindow) -> tauri::Result<()> {
    let app = tauri::Manager::app_handle(window).clone();
    window.with_webview(move |webview| linux::open_dropped_bundles(&webview.inner(), app))
}

/// Does nothing, because all drops are passed to the page on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_dropped_bundles(_: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::cell::RefCell;
    use std::path::PathBuf;
    use std::rc::Rc;

    use gtk::prelude::WidgetExt as _;
    use tauri::{AppHandle, Manager as _};
    use webkit2gtk::{WebView, glib};

    use crate::openings;
    use crate::openings::arguments::{OpenArgument, has_bundle_name};
    use crate::shell_events::{ShellEvent, ShellEvents};

    /// Identifier that WebKitGTK assigns to drag data in the form of a URI list (`DropTargetGtk3.cpp`).
    const URI_LIST_INFO: u32 = 2;

    /// Paths of the bundles that the user drags over the window.
    #[derive(Default)]
    struct DraggedBundles(RefCell<Vec<PathBuf>>);

    pub(super) fn open_dropped_bundles(view: &WebView, app: AppHandle) {
        let dragged = Rc::new(DraggedBundles::default());
        let over = Rc::clone(&dragged);
        let shown = app.clone();
        view.connect_drag_data_received(move |_, _, _, _, data, form, _| {
            if form == URI_LIST_INFO {
                let uris = data.uris();
                let bundles = paths_of_mcp_bundles(uris.iter().map(glib::GString::as_str));
                notify_bundles_dragged_over(&shown, bundles.len());
                over.0.replace(bundles);
            }
        });
        let taken = Rc::clone(&dragged);
        let opened = app.clone();
        view.connect_drag_drop(move |_, context, _, _, time| {
            let bundles = taken.0.take();
            if bundles.is_empty() {
                return false;
            }
            context.drop_finish(true, time);
            notify_bundles_dragged_over(&opened, 0);
            openings::show_window_and_queue_openings(&opened, bundles.into_iter().map(OpenArgument::File).collect());
            true
        });
        view.connect_drag_leave(move |_, _, _| {
            let (left, app) = (Rc::clone(&dragged), app.clone());
            // GTK emits the leave signal directly before the drop signal, so the paths are cleared later.
            glib::idle_add_local_once(move || {
                if !left.0.take().is_empty() {
                    notify_bundles_dragged_over(&app, 0);
                }
            });
        });
    }

    fn notify_bundles_dragged_over(app: &AppHandle, count: usize) {
        app.state::<ShellEvents>().send(ShellEvent::BundlesOver { count });
    }

    /// Returns the paths of the files in a URI list, or an empty list unless all of them have the extension of a
    /// bundle.
    fn paths_of_mcp_bundles<'u>(uris: impl Iterator<Item = &'u str>) -> Vec<PathBuf> {
        let files = uris.map(|uri| {
            let (path, host) = glib::filename_from_uri(uri).ok()?;
            (host.is_none() && has_bundle_name(&path)).then_some(path)
        });
        files.collect::<Option<_>>().unwrap_or_default()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn bundle_paths_in_uris(uris: &[&str]) -> Vec<PathBuf> {
            paths_of_mcp_bundles(uris.iter().copied())
        }

        #[test]
        fn dropped_bundles_are_accepted_and_other_uris_left_to_the_page() {
            let both = bundle_paths_in_uris(&["file:///home/ann/My%20notes.mcpb", "file:///b.DXT"]);
            assert_eq!(
                both,
                [PathBuf::from("/home/ann/My notes.mcpb"), "/b.DXT".into()],
                "all files should be recognized as bundles"
            );
            for others in [
                &["file:///a.txt"][..],
                &["file:///a.mcpb", "file:///a.txt"],
                &["https://example.com/a.mcpb"],
                &["file://elsewhere/a.mcpb"],
                &["a.mcpb"],
                &[],
            ] {
                assert!(bundle_paths_in_uris(others).is_empty(), "{others:?}");
            }
        }
    }
}
