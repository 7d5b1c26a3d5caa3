//! Implementation of the host's `Platform` on a terminal.

use std::path::PathBuf;
use std::sync::Arc;

use domain::consent_request::ConsentRequestId;
use ports::Platform;
use serde_json::json;

use crate::output::Output;
use crate::terminal_escape;

/// Returns `true` if a browser can be opened on a display.
pub(crate) fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Opens a URL in the system's browser. Returns `false` on failure.
async fn open_in_browser(url: &str) -> bool {
    let url = url.to_owned();
    tokio::task::spawn_blocking(move || open::that_detached(url)).await.is_ok_and(|opened| opened.is_ok())
}

/// Platform of the command line, without dialogs.
pub(crate) struct TerminalPlatform {
    /// `true` to open URLs in the browser of this computer, `false` to only print them.
    pub(crate) opens_browser: bool,
    pub(crate) output: Arc<Output>,
}

#[async_trait::async_trait]
impl Platform for TerminalPlatform {
    /// Opens the URL in the browser if that is enabled and possible, and prints it in any case.
    async fn open_url(&self, url: &str) -> Result<(), String> {
        let opened = self.opens_browser && open_in_browser(url).await;
        self.output.print_event("open_url", json!({ "url": url, "opened": opened }));
        if opened {
            self.output
                .print_message(&format!("Your browser opens this address:\n  {}", terminal_escape::escape_line(url)));
            return Ok(());
        }
        self.output
            .print_message(&format!("Open this address in your browser:\n  {}", terminal_escape::escape_line(url)));
        Ok(())
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        Err(String::from("there is no dialog in a terminal"))
    }

    async fn pick_file(&self, _extensions: &[&str]) -> Result<Option<PathBuf>, String> {
        Err(String::from("there is no dialog in a terminal"))
    }

    async fn pick_save_file(&self, _name: &str) -> Result<Option<PathBuf>, String> {
        Err(String::from("there is no dialog in a terminal"))
    }

    /// Does nothing, because the program prints a consent request when it prompts the user.
    fn announce(&self, _server: &str, _kind: &str, _request: Option<ConsentRequestId>) {}
}
