//! Ports: what the host needs from outside, as traits. `store` and the shells implement them.

mod audit;
mod cache;
mod documents;
pub mod secrets;
pub mod server_config;
pub mod time;
pub mod url_parts;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

use domain::question::QuestionId;
use domain::{StoreError, history};
use tokio::sync::mpsc;

use crate::server_config::{ConfigProblem, Imported, ServerConfig, ServerEntry};
pub use audit::*;
pub use cache::CacheFiles;
pub use documents::*;

/// The servers in `mcp.json`.
pub trait ServerSettings: Send + Sync {
    /// The file's path, to show.
    fn path(&self) -> PathBuf;
    /// Reads the servers, in the file's order. A missing file has none.
    ///
    /// # Errors
    /// With the line and what was expected, if the file can't be used.
    fn load(&self) -> Result<Vec<ServerEntry>, ConfigProblem>;
    /// Adds a server at the end, or replaces the one with that name (or with `was`, to rename it), keeping its unknown keys
    /// and all else in the file. Written atomically.
    ///
    /// # Errors
    /// If the file as it is now can't be read, or can't be written; it is then unchanged.
    fn put(&self, entry: &ServerEntry, was: Option<&str>) -> Result<(), ConfigProblem>;
    /// As [`put`](Self::put) under the same name, but only if the file has exactly `before` under it, or no server of this name if that is none.
    /// Compared and written under one lock between the programs of ours. Returns false if the file has something else; it is then unchanged.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    fn put_over(&self, entry: &ServerEntry, before: Option<&ServerConfig>) -> Result<bool, ConfigProblem>;
    /// Takes a server out.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    fn remove(&self, name: &str) -> Result<(), ConfigProblem>;
    /// Reads the servers in pasted text, in any of the shapes that READMEs print. `taken` are names that are in use.
    ///
    /// # Errors
    /// With line and column where known, if no server can be read from it.
    fn import(&self, text: &str, taken: &[String]) -> Result<Vec<Imported>, ConfigProblem>;
    /// Starts watching the file; each change from outside sends one message (own writes may, too).
    fn watch(&self, changed: mpsc::Sender<()>);
}

/// Conversations, what was said in them, and the search through it. Calls block for as long as the disk takes.
///
/// Several programs may have the same history open (the app and a terminal). An item is written in one transaction: after a
/// crash of the program what was written last is there.
pub trait History: Send + Sync {
    /// The file's path, to show.
    fn path(&self) -> PathBuf;
    /// Id, title and time of change (milliseconds since 1970) of each conversation, the latest first.
    ///
    /// # Errors
    /// If it can't be read.
    fn list(&self) -> Result<Vec<(String, String, u64)>, StoreError>;
    /// Begins a conversation; its items and head are none, whatever is said of them.
    ///
    /// # Errors
    /// If there is one with this id, the id has another form, or it can't be written.
    fn create(&self, conversation: &history::Conversation) -> Result<(), StoreError>;
    /// One conversation, without its items.
    ///
    /// # Errors
    /// If it can't be read.
    fn conversation(&self, id: &str) -> Result<Option<history::Conversation>, StoreError>;
    /// Changes a conversation. Whether there is one.
    ///
    /// # Errors
    /// If it can't be written.
    fn change(&self, id: &str, change: &history::ConversationChange) -> Result<bool, StoreError>;
    /// Deletes a conversation and all that is in it, so that nothing of it is left in the files. Fine if there is none. If that is interrupted,
    /// it is no conversation any more, and what is left goes when the history is next opened.
    ///
    /// # Errors
    /// If it can't be deleted.
    fn delete(&self, id: &str) -> Result<(), StoreError>;
    /// Writes items in order, all or none. The last one that is new becomes the head. Whether there is such a conversation.
    ///
    /// A reply that is coming in is written again and again with more of its text, as [`ItemState::Streaming`], and at its end
    /// as [`ItemState::Whole`]; if this program ends before, it comes back as [`ItemState::Cut`].
    ///
    /// [`ItemState::Streaming`]: domain::item::ItemState::Streaming
    /// [`ItemState::Whole`]: domain::item::ItemState::Whole
    /// [`ItemState::Cut`]: domain::item::ItemState::Cut
    ///
    /// # Errors
    /// If they can't be written, an item comes after one that is not there, or the conversation would have too many.
    fn write(&self, conversation: &str, items: &[history::NewItem]) -> Result<bool, StoreError>;
    /// Some items of the branch that is shown, or of the one before an item.
    ///
    /// # Errors
    /// If they can't be read. None where there is no such conversation or item.
    fn items(&self, range: &history::ItemRange) -> Result<Option<history::ItemPage>, StoreError>;
    /// Some items of all branches, in the order in which they were first written, beginning after the item `after`.
    ///
    /// # Errors
    /// If they can't be read. None where there is no such conversation or item.
    fn all(
        &self,
        conversation: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Option<history::ItemPage>, StoreError>;
    /// One item, whole.
    ///
    /// # Errors
    /// If it can't be read.
    fn item(&self, conversation: &str, item: &str) -> Result<Option<history::Item>, StoreError>;
    /// One item without what is large in it, as pages of them have it.
    ///
    /// # Errors
    /// If it can't be read.
    fn outline(&self, conversation: &str, item: &str) -> Result<Option<history::Item>, StoreError>;
    /// What the answers of models took. None where there is no such conversation.
    ///
    /// # Errors
    /// If it can't be read.
    fn taken(&self, conversation: &str) -> Result<Option<history::Taken>, StoreError>;
    /// Shows a branch that goes through an item: the latest end of those becomes the head, unless the head is the end of one
    /// already. Gives the head; none where there is no such item.
    ///
    /// # Errors
    /// If it can't be written.
    fn show(&self, conversation: &str, item: &str) -> Result<Option<String>, StoreError>;
    /// Items that fit, the latest first.
    ///
    /// # Errors
    /// If they can't be read.
    fn search(&self, search: &history::HistorySearch) -> Result<Vec<history::FoundItem>, StoreError>;
    /// The bytes that were [left out](history::Item::left_out) of an item.
    ///
    /// # Errors
    /// If they can't be read.
    fn blob(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Whether what is said is encrypted on the disk, under the keychain's key.
    ///
    /// # Errors
    /// If it can't be read; also if it is encrypted and the key can't be had.
    fn is_encrypted(&self) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// What only a shell can do. Each may take as long as the user does.
#[async_trait::async_trait]
pub trait Platform: Send + Sync {
    /// Opens a URL in the system's browser. Only called with http and https URLs that the user has seen whole.
    async fn open_url(&self, url: &str) -> Result<(), String>;
    /// Lets the user pick a folder.
    async fn pick_folder(&self) -> Result<Option<PathBuf>, String>;
    /// Lets the user pick a file to read: one whose name ends in one of these ways, or any if there are none.
    async fn pick_file(&self, extensions: &[&str]) -> Result<Option<PathBuf>, String>;
    /// Lets the user pick a file to write, with a proposed name.
    async fn pick_save_file(&self, name: &str) -> Result<Option<PathBuf>, String>;
    /// Tells the user that a server's question waits, if the window is in the background. `kind` is the question's, as the audit log
    /// names it; without a `question` the server waits for the user to begin, as with a sign-in.
    fn announce(&self, server: &str, kind: &str, question: Option<QuestionId>);
}

/// Secrets, encrypted with a key in the system's keychain. Calls block, and may take as long as the user takes to unlock it, up
/// to a minute or two.
pub trait Secrets: Send + Sync {
    /// Reads a secret. None does not prove that it was never kept: some keychains say the same while they are locked.
    ///
    /// # Errors
    /// If the keychain can't be read.
    fn get(&self, key: &str) -> Result<Option<String>, SecretError>;
    /// Keeps a secret, in the keychain or, where there is none, in memory until the program ends.
    ///
    /// # Errors
    /// If it can't be kept at all.
    fn set(&self, key: &str, secret: &str) -> Result<SecretKept, SecretError>;
    /// Forgets a secret; fine if there is none.
    ///
    /// # Errors
    /// If the keychain can't be changed.
    fn delete(&self, key: &str) -> Result<(), SecretError>;
    /// The keys of all secrets that begin with this, in any order. The keychain is not asked for it.
    ///
    /// # Errors
    /// If it can't be told which there are.
    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError>;
    /// Keeps other programs that have the same secrets from holding this name, until what it gives is dropped. None where no
    /// other program has them, or where one holds it for too long.
    fn hold(&self, _name: &str) -> Option<Box<dyn Send>> {
        None
    }
    /// A short text that the keychain itself has under this name, so that nobody who can only write files can take it back.
    /// None where there is no keychain.
    ///
    /// # Errors
    /// If the keychain can't be read.
    fn mark(&self, _name: &str) -> Result<Option<String>, SecretError> {
        Ok(None)
    }
    /// Has the keychain itself keep a short text. Nothing is kept where there is none.
    ///
    /// # Errors
    /// If the keychain can't be changed.
    fn set_mark(&self, _name: &str, _mark: &str) -> Result<(), SecretError> {
        Ok(())
    }
    /// Whether secrets outlast the program, and if not, why.
    fn status(&self) -> SecretsStatus {
        SecretsStatus::Keychain
    }
}

/// Whether secrets outlast the program. In words, with what can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SecretsStatus {
    /// They do: the keychain works.
    #[error("secrets are kept encrypted, with a key in the system's keychain")]
    Keychain,
    /// The keychain is locked, or the user did not let Drawbridge in.
    #[error(
        "secrets are kept until Drawbridge is closed: the keychain is locked or refuses ({cause}); unlock it and try again"
    )]
    Locked {
        /// What it said.
        cause: String,
    },
    /// There is no keychain.
    #[error(
        "secrets are kept until Drawbridge is closed: this system has no keychain that answers ({cause}); on Linux, start one such as \
         GNOME Keyring or KWallet and try again"
    )]
    Missing {
        /// What was found instead.
        cause: String,
    },
    /// The keychain, or what was encrypted with its key, can't be used. The cause says what to do.
    #[error("secrets are kept until Drawbridge is closed: {cause}")]
    Broken {
        /// What is broken, and what to do.
        cause: String,
    },
}

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretKept {
    /// In the system's keychain.
    Keychain,
    /// In memory, until the program ends: there is no keychain, or it is locked.
    ThisRun {
        /// Why it is not in the keychain.
        cause: String,
    },
}

/// Why the keychain can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// It is locked, or the user did not let Drawbridge in.
    #[error("the keychain is locked or refuses ({0}); unlock it and try again")]
    Locked(String),
    /// There is none.
    #[error(
        "there is no keychain that answers ({0}); on Linux, start one such as GNOME Keyring or KWallet and try again"
    )]
    Missing(String),
    /// It, or what was encrypted with its key, can't be used. The cause says what to do.
    #[error("the keychain can't be used: {0}")]
    Failed(String),
}

/// All ports.
#[derive(Clone)]
pub struct Ports {
    /// The servers.
    pub servers: std::sync::Arc<dyn ServerSettings>,
    /// Documents.
    pub documents: std::sync::Arc<dyn Documents>,
    /// The system-wide rules.
    pub managed: std::sync::Arc<dyn ManagedPolicy>,
    /// The audit log.
    pub audit: std::sync::Arc<dyn AuditLog>,
    /// The history.
    pub history: std::sync::Arc<dyn History>,
    /// The keychain.
    pub secrets: std::sync::Arc<dyn Secrets>,
    /// The shell.
    pub platform: std::sync::Arc<dyn Platform>,
    /// The time of day.
    pub clock: time::SharedClock,
}

/// Names in order with values; what `roots.json` holds.
pub type ByServer<T> = BTreeMap<String, T>;
