//! A [`Platform`](ports::Platform) for tests of the whole app: the results of its dialogs are read from files, and it
//! opens no URLs, dialogs or windows.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use domain::consent_request::ConsentRequestId;
use ports::Platform;

use crate::files;

/// Maximum size, in bytes, of a file with the result of a dialog. It contains one path.
const MAX_DIALOG_RESULT_BYTES: u64 = 64 << 10;

/// Results of system dialogs as files in a folder:
///
/// - `pick-folder`: path that the next folder dialog returns. The dialog is cancelled if the file is missing or empty.
/// - `pick-file`: path that the next file dialog returns, like `pick-folder`.
/// - `save-file`: path that the next save dialog returns, like `pick-folder`.
/// - `opened-urls`: receives one line for each URL that would have been opened.
/// - `announced`: receives one line for each announcement: the server, a tab, the kind of consent request.
#[derive(Debug)]
pub struct FileBackedPlatform {
    folder: PathBuf,
}

impl FileBackedPlatform {
    /// Creates a platform that uses the files in this folder, which must exist.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn read_dialog_result(&self, name: &str) -> Result<Option<PathBuf>, String> {
        let bytes = files::read(&self.folder.join(name), MAX_DIALOG_RESULT_BYTES).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes.unwrap_or_default()).map_err(|_| format!("{name} is not UTF-8 text"))?;
        let path = text.trim();
        Ok((!path.is_empty()).then(|| PathBuf::from(path)))
    }

    fn append_line(&self, name: &str, line: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(|error| error.to_string())?;
        writeln!(file, "{line}").map_err(|error| error.to_string())
    }
}

#[async_trait::async_trait]
impl Platform for FileBackedPlatform {
    async fn open_url(&self, url: &str) -> Result<(), String> {
        self.append_line("opened-urls", url)
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        self.read_dialog_result("pick-folder")
    }

    async fn pick_file(&self, _: &[&str]) -> Result<Option<PathBuf>, String> {
        self.read_dialog_result("pick-file")
    }

    async fn pick_save_file(&self, _: &str) -> Result<Option<PathBuf>, String> {
        self.read_dialog_result("save-file")
    }

    fn announce(&self, server: &str, kind: &str, _: Option<ConsentRequestId>) {
        if let Err(error) = self.append_line("announced", &format!("{server}\t{kind}")) {
            tracing::warn!("an announcement was not written: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn dialog_responses_are_read_and_actions_written() {
        let folder = tempfile::tempdir().expect("the temporary folder is created");
        let platform = FileBackedPlatform::new(folder.path());
        assert_eq!(platform.pick_folder().await, Ok(None), "a missing file must cancel the dialog");
        std::fs::write(folder.path().join("pick-folder"), "/home/ann\n").expect("the file is written");
        assert_eq!(
            platform.pick_folder().await,
            Ok(Some("/home/ann".into())),
            "the path must be returned without line terminator"
        );
        platform.open_url("https://a.example/").await.expect("the file is written");
        platform.open_url("https://b.example/").await.expect("the file is written");
        let opened = std::fs::read_to_string(folder.path().join("opened-urls")).expect("the file exists");
        assert_eq!(opened, "https://a.example/\nhttps://b.example/\n", "every URL must have a line");
    }
}
