//! What only the system can do: dialogs, the browser, notifications.

use std::env;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ports::{Document, Documents, Platform};
use store::PlatformInFolder;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, FilePath};
use tauri_plugin_notification::NotificationExt as _;
use tauri_plugin_opener::OpenerExt as _;
use tokio::sync::oneshot;

use crate::window;

/// Names a folder with the answers of the system, for tests; see [`PlatformInFolder`].
const TEST_PLATFORM: &str = "DRAWBRIDGE_TEST_PLATFORM";

/// One announcement brings the user back; more in this time would only pile up.
const BETWEEN_ANNOUNCEMENTS: Duration = Duration::from_secs(5);

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
    announced: Mutex<Option<Instant>>,
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

    fn may_announce(&self) -> bool {
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        let may = announced.is_none_or(|at| at.elapsed() >= BETWEEN_ANNOUNCEMENTS);
        if may {
            *announced = Some(Instant::now());
        }
        may
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

    async fn pick_save_file(&self, name: &str) -> Result<Option<PathBuf>, String> {
        let (picked, answer) = oneshot::channel();
        self.file_dialog()?.set_file_name(name).save_file(move |file| drop(picked.send(file)));
        path_of(answer).await
    }

    fn announce(&self, server: &str, question: &str) {
        let Ok(app) = self.app().cloned() else { return };
        if !self.may_announce() {
            return;
        }
        let documents = self.documents.get().cloned();
        let (server, question) = (server.to_owned(), question.to_owned());
        // Asking for the focus waits for the main thread, and the host must not.
        tauri::async_runtime::spawn_blocking(move || {
            if window::is_in_front(&app) {
                return;
            }
            let text = announcement(is_chinese(documents.as_deref()), &server, &question);
            if let Err(error) = app.notification().builder().title("Drawbridge").body(text).show() {
                tracing::warn!("the system did not show a notification: {error}");
            }
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

/// The app's language: that of its settings, or the system's.
fn is_chinese(documents: Option<&dyn Documents>) -> bool {
    let settings = documents.and_then(|d| d.read(Document::Settings).ok().flatten());
    let language = settings.as_ref().and_then(|s| s.get("language")?.as_str()).unwrap_or("system");
    match language {
        "zh" => true,
        "en" => false,
        _ => ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .filter_map(|name| env::var(name).ok())
            .find(|value| !value.is_empty())
            .is_some_and(|value| value.starts_with("zh")),
    }
}

/// What the system says. `kind` is the question's, as the audit log names it.
fn announcement(chinese: bool, server: &str, kind: &str) -> String {
    let what = match (kind, chinese) {
        ("start-server", false) => "needs your approval to start",
        ("start-server", true) => "需要您批准才能启动",
        ("tool", false) => "needs your approval to run a tool",
        ("tool", true) => "需要您批准才能运行工具",
        ("sampling" | "sampling-answer", false) => "asks a model",
        ("sampling" | "sampling-answer", true) => "向模型提问",
        ("elicitation", false) => "asks you to fill in a form",
        ("elicitation", true) => "请您填写表单",
        ("url", false) => "asks you to open a web page",
        ("url", true) => "请您打开网页",
        ("sign-in" | "client-id", false) => "wants you to sign in",
        ("sign-in" | "client-id", true) => "请您登录",
        ("roots", false) => "asks for your folders",
        ("roots", true) => "请求访问您的文件夹",
        ("result", false) => "answered: let the model read the result?",
        ("result", true) => "返回了结果：让模型读取吗？",
        (_, false) => "has a question",
        (_, true) => "有一个问题",
    };
    format!("{server} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_names_the_server_and_what_it_wants() {
        assert_eq!(announcement(false, "files", "roots"), "files asks for your folders", "in English");
        assert_eq!(announcement(true, "files", "roots"), "files 请求访问您的文件夹", "in Chinese");
        assert_eq!(announcement(false, "files", "new"), "files has a question", "also for a kind not known here");
    }
}
