//! Implementation of the host's [`Platform`] by the desktop: dialogs, the browser and notifications.

use std::env;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use domain::consent_request::ConsentRequestId;
use ports::{Document, Documents, Platform};
use store::FileBackedPlatform;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, FilePath};
use tauri_plugin_opener::OpenerExt as _;
use tokio::sync::oneshot;

use crate::announcements::{self, Announcements};
use crate::{system_language, window_labels};

/// Environment variable with the path of a folder that contains the responses to dialogs in tests. See
/// [`FileBackedPlatform`].
const TEST_PLATFORM_VARIABLE: &str = "DRAWBRIDGE_TEST_PLATFORM";

/// Returns the platform for tests, if an environment variable selects it. Always returns `None` in release builds, so
/// that no other program can replace their dialogs.
pub(crate) fn test_platform() -> Option<FileBackedPlatform> {
    if !cfg!(debug_assertions) {
        return None;
    }
    env::var_os(TEST_PLATFORM_VARIABLE).filter(|folder| !folder.is_empty()).map(FileBackedPlatform::new)
}

/// Implementation of the host's platform with Tauri's dialogs, opener and notifications.
#[derive(Default)]
pub(crate) struct DesktopPlatform {
    app: OnceLock<AppHandle>,
    documents: OnceLock<Arc<dyn Documents>>,
}

impl DesktopPlatform {
    /// Sets the Tauri app that shows dialogs and notifications. Must be called once, before the host starts.
    pub(crate) fn attach(&self, app: &AppHandle) {
        // Fails only if it was called before.
        let _ = self.app.set(app.clone());
    }

    /// Sets the documents from which the language of notifications is read. Must be called once.
    pub(crate) fn read_settings_from(&self, documents: Arc<dyn Documents>) {
        // Fails only if it was called before.
        let _ = self.documents.set(documents);
    }

    fn app(&self) -> Result<&AppHandle, String> {
        self.app.get().ok_or_else(|| String::from("the app is still starting"))
    }
}

#[async_trait::async_trait]
impl Platform for DesktopPlatform {
    async fn open_url(&self, url: &str) -> Result<(), String> {
        let (app, url) = (self.app()?.clone(), url.to_owned());
        // The opener of the operating system may block.
        let opened = tauri::async_runtime::spawn_blocking(move || app.opener().open_url(url, None::<&str>));
        opened.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        let (picked, answer) = oneshot::channel();
        self.file_dialog()?.pick_folder(move |folder| drop(picked.send(folder)));
        selected_path(answer).await
    }

    async fn pick_file(&self, extensions: &[&str]) -> Result<Option<PathBuf>, String> {
        let (picked, answer) = oneshot::channel();
        let mut dialog = self.file_dialog()?;
        if !extensions.is_empty() {
            let shown: Vec<_> = extensions.iter().map(|extension| format!("*.{extension}")).collect();
            dialog = dialog.add_filter(shown.join(", "), extensions);
        }
        dialog.pick_file(move |file| drop(picked.send(file)));
        selected_path(answer).await
    }

    async fn pick_save_file(&self, name: &str) -> Result<Option<PathBuf>, String> {
        let (picked, answer) = oneshot::channel();
        self.file_dialog()?.set_file_name(name).save_file(move |file| drop(picked.send(file)));
        selected_path(answer).await
    }

    fn announce(&self, server: &str, kind: &str, request: Option<ConsentRequestId>) {
        let Ok(app) = self.app().cloned() else { return };
        let documents = self.documents.get().cloned();
        let (server, kind) = (server.to_owned(), kind.to_owned());
        // The check if the window is in front blocks on the main thread, and the host must not wait for it.
        tauri::async_runtime::spawn_blocking(move || {
            let text = announcements::notification_text(is_chinese(documents.as_deref()), &server, &kind);
            app.state::<Announcements>().show(&app, request, &kind, text);
        });
    }
}

impl DesktopPlatform {
    fn file_dialog(&self) -> Result<tauri_plugin_dialog::FileDialogBuilder<tauri::Wry>, String> {
        let app = self.app()?;
        let dialog = app.dialog().file();
        Ok(match app.get_webview_window(window_labels::MAIN_WINDOW_LABEL) {
            Some(window) => dialog.set_parent(&window),
            None => dialog,
        })
    }
}

async fn selected_path(answer: oneshot::Receiver<Option<FilePath>>) -> Result<Option<PathBuf>, String> {
    let picked = answer.await.map_err(|_| String::from("the dialog could not be shown"))?;
    picked.map(|path| path.into_path().map_err(|error| error.to_string())).transpose()
}

/// Returns `true` if Drawbridge's language is Chinese, according to the settings in `documents`.
fn is_chinese(documents: Option<&dyn Documents>) -> bool {
    let settings = documents.and_then(|d| d.read(Document::Settings).ok().flatten());
    system_language::is_chinese(settings.as_ref().and_then(|s| s.get("language")?.as_str()).unwrap_or("system"))
}
