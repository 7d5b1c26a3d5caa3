//! What only a shell can do, as far as a terminal can.

use std::path::PathBuf;
use std::sync::Arc;

use host::ports::Platform;
use serde_json::json;

use crate::output::Output;
use crate::visible;

/// A terminal.
pub(crate) struct Terminal {
    pub(crate) output: Arc<Output>,
}

#[async_trait::async_trait]
impl Platform for Terminal {
    /// Gives the address to whoever runs the program, who has a browser or has none.
    async fn open_url(&self, url: &str) -> Result<(), String> {
        self.output.event("open_url", json!({ "url": url }));
        self.output.say(&format!("Open this address in your browser:\n  {}", visible::line(url)));
        Ok(())
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        Err(String::from("there is no dialog in a terminal"))
    }

    async fn pick_save_file(&self, _name: &str) -> Result<Option<PathBuf>, String> {
        Err(String::from("there is no dialog in a terminal"))
    }

    /// A question is printed when it is asked.
    fn announce(&self, _server: &str, _question: &str) {}
}
