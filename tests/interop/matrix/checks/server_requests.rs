//! Checks of the requests that a server sends during a call.

use serde_json::json;

use super::super::user::CAPTAIN_NAME;
use super::{FeatureCheckResult, RowCheck, require};

impl RowCheck<'_> {
    /// Checks that the server's tool receives the values that the user entered in a form.
    pub(super) async fn check_form(&self) -> FeatureCheckResult {
        let result = self.call("ask_user", json!({})).await?;
        let given = serde_json::to_string(&result).unwrap_or_default();
        require(!result.is_error && given.contains("accept") && given.contains(CAPTAIN_NAME), given)
    }

    pub(super) async fn check_url(&self) -> FeatureCheckResult {
        let result = self.call("ask_url", json!({})).await?;
        let opened = self.app.platform.opened.lock().unwrap().clone();
        require(
            !result.is_error && opened.iter().any(|url| url.starts_with("https://permits.example.com/")),
            (opened, result),
        )
    }

    pub(super) fn shared_folder(&self) -> String {
        let folder = self.app.folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("/{folder}")
    }
}
