//! What only the system can do: dialogs, the browser, notifications.

use std::env;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use domain::question::QuestionId;
use ports::{Document, Documents, Platform};
use store::PlatformInFolder;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, FilePath};
use tauri_plugin_opener::OpenerExt as _;
use tokio::sync::oneshot;

use crate::announcements::{self, Announcements};
use crate::{window, words};

/// Names a folder with the answers of the system, for tests; see [`PlatformInFolder`].
const TEST_PLATFORM: &str = "DRAWBRIDGE_TEST_PLATFORM";

/// The platform for tests, if the environment names one. The product knows none: nothing may stand in for its dialogs.
pub(crate) fn for_tests() -> Option<PlatformInFolder> {
    if !cfg!(debug_assertions) {
        return None;
    }
    env::var_os(TEST_PLATFORM).filter(|folder| !folder.is_empty()).map(PlatformInFolder::new)
}

/// The system the app runs on.
#[derive(Default)]
pub(crate) struct Desktop {
    app: OnceLock<AppHandle>,
    documents: OnceLock<Arc<dyn Documents>>,
}

impl Desktop {
    /// Gives it the app to show dialogs and notifications with, before the host starts.
    pub(crate) fn attach(&self, app: &AppHandle) {
        // Set once, at the start.
        let _ = self.app.set(app.clone());
    }

    /// From now on announcements are in the language of the app's settings.
    pub(crate) fn read_settings_from(&self, documents: Arc<dyn Documents>) {
        // Set once, at the start.
        let _ = self.documents.set(documents);
    }

    fn app(&self) -> Result<&AppHandle, String> {
        self.app.get().ok_or_else(|| String::from("the app is still starting"))
    }
}

#[async_trait::async_trait]
impl Platform for Desktop {
    async fn open_url(&self, url: &str) -> Result<(), String> {
        let (app, url) = (self.app()?.clone(), url.to_owned());
        // The system's opener may take its time.
        let opened = tauri::async_runtime::spawn_blocking(move || app.opener().open_url(url, None::<&str>));
        opened.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        let (picked, answer) = oneshot::channel();
        self.file_dialog()?.pick_folder(move |folder| drop(picked.send(folder)));
        path_of(answer).await
    }

    async fn pick_file(&self, extensions: &[&str]) -> Result<Option<PathBuf>, String> {
        let (picked, answer) = oneshot::channel();
        let mut dialog = self.file_dialog()?;
        if !extensions.is_empty() {
            let shown: Vec<_> = extensions.iter().map(|extension| format!("*.{extension}")).collect();
            dialog = dialog.add_filter(shown.join(", "), extensions);
        }
        dialog.pick_file(move |file| drop(picked.send(file)));
        path_of(answer).await
    }

    async fn pick_save_file(&self, name: &str) -> Result<Option<PathBuf>, String> {
        let (picked, answer) = oneshot::channel();
        self.file_dialog()?.set_file_name(name).save_file(move |file| drop(picked.send(file)));
        path_of(answer).await
    }

    fn announce(&self, server: &str, kind: &str, question: Option<QuestionId>) {
        let Ok(app) = self.app().cloned() else { return };
        let documents = self.documents.get().cloned();
        let (server, kind) = (server.to_owned(), kind.to_owned());
        // Asking for the focus waits for the main thread, and the host must not.
        tauri::async_runtime::spawn_blocking(move || {
            let text = announcements::text(is_chinese(documents.as_deref()), &server, &kind);
            app.state::<Announcements>().show(&app, question, &kind, text);
        });
    }
}

impl Desktop {
    fn file_dialog(&self) -> Result<tauri_plugin_dialog::FileDialogBuilder<tauri::Wry>, String> {
        let app = self.app()?;
        let dialog = app.dialog().file();
        Ok(match app.get_webview_window(window::MAIN) {
            Some(window) => dialog.set_parent(&window),
            None => dialog,
        })
    }
}

async fn path_of(answer: oneshot::Receiver<Option<FilePath>>) -> Result<Option<PathBuf>, String> {
    let picked = answer.await.map_err(|_| String::from("the dialog could not be shown"))?;
    picked.map(|path| path.into_path().map_err(|error| error.to_string())).transpose()
}

/// Whether the app's language is Chinese, by its settings.
fn is_chinese(documents: Option<&dyn Documents>) -> bool {
    let settings = documents.and_then(|d| d.read(Document::Settings).ok().flatten());
    words::is_chinese(settings.as_ref().and_then(|s| s.get("language")?.as_str()).unwrap_or("system"))
}
