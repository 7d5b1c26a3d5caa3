//! What only a shell can do, as far as a terminal can.

use std::path::PathBuf;
use std::sync::Arc;

use domain::question::QuestionId;
use ports::Platform;
use serde_json::json;

use crate::output::Output;
use crate::visible;

/// Whether there is a display that a browser could be on.
pub(crate) fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Has the system open an address. One that it does not open is printed, so why is of no use.
async fn open(url: &str) -> bool {
    let url = url.to_owned();
    tokio::task::spawn_blocking(move || open::that_detached(url)).await.is_ok_and(|opened| opened.is_ok())
}

/// A terminal.
pub(crate) struct Terminal {
    /// Whether addresses are opened, and not only printed.
    pub(crate) opens: bool,
    pub(crate) output: Arc<Output>,
}

#[async_trait::async_trait]
impl Platform for Terminal {
    /// Opens the address, or gives it to whoever runs the program, who has a browser or has none.
    async fn open_url(&self, url: &str) -> Result<(), String> {
        let opened = self.opens && open(url).await;
        self.output.event("open_url", json!({ "url": url, "opened": opened }));
        if opened {
            self.output.say(&format!("Your browser opens this address:\n  {}", visible::line(url)));
            return Ok(());
        }
        self.output.say(&format!("Open this address in your browser:\n  {}", visible::line(url)));
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

    /// A question is printed when it is asked.
    fn announce(&self, _server: &str, _kind: &str, _question: Option<QuestionId>) {}
}
