//! Ports: traits for the services that the host requires from outside. `store` and the shells implement them.

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

use domain::consent_request::ConsentRequestId;
use domain::{StoreError, history};
use tokio::sync::mpsc;

use crate::server_config::{ConfigProblem, PastedServer, ServerConfig, ServerEntry};
pub use audit::*;
pub use cache::CacheFiles;
pub use documents::*;

/// The servers that are configured in `mcp.json`.
pub trait ServerSettings: Send + Sync {
    /// Returns the path of `mcp.json`, for display.
    fn path(&self) -> PathBuf;
    /// Reads the servers in file order. A missing file contains none.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigProblem`] with the line and the expected content if the file is invalid.
    fn load(&self) -> Result<Vec<ServerEntry>, ConfigProblem>;
    /// Adds a server at the end of `mcp.json`, or replaces the one with this name (or with its `former_name`, to rename
    /// it). Unknown keys of the entry and other parts of the file are preserved. Writes atomically.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigProblem`] if the current file can't be read or written. It is then unchanged.
    fn put(&self, entry: &ServerEntry, former_name: Option<&str>) -> Result<(), ConfigProblem>;
    /// Does the same as [`put`](Self::put) without renaming, but only if the current entry of the server equals
    /// `before`, or is missing if `before` is `None`. Comparison and write happen under one lock between Drawbridge's
    /// processes. Returns `false` if the current entry differs. The file is then unchanged.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigProblem`] under the same conditions as [`put`](Self::put).
    fn put_if_unchanged(&self, entry: &ServerEntry, before: Option<&ServerConfig>) -> Result<bool, ConfigProblem>;
    /// Removes the server with this name.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigProblem`] under the same conditions as [`put`](Self::put).
    fn remove(&self, name: &str) -> Result<(), ConfigProblem>;
    /// Parses servers from pasted text, in any format that READMEs commonly contain. `taken` are names that can't be
    /// suggested.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigProblem`], with line and column where known, if the text contains no server.
    fn parse_pasted(&self, text: &str, taken: &[String]) -> Result<Vec<PastedServer>, ConfigProblem>;
    /// Starts watching `mcp.json`. Each change by another process sends one message. A change by this process may send
    /// one as well.
    fn watch(&self, changed: mpsc::Sender<()>);
}

/// Persisted conversations and their full-text search. Calls block during disk access.
///
/// Several processes may have the same history open (the app and `drawbridge-cli`). Each item is written in one
/// transaction, so that the last written item survives a crash of the process.
pub trait History: Send + Sync {
    /// Returns the path of the history file, for display.
    fn path(&self) -> PathBuf;
    /// Returns identifier, title and modification time (milliseconds since 1970) of each conversation, latest first.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the history can't be read.
    fn list(&self) -> Result<Vec<(String, String, u64)>, StoreError>;
    /// Creates a conversation without items. Items and head in `conversation` are ignored.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the identifier exists or is malformed, or the history can't be written.
    fn create(&self, conversation: &history::Conversation) -> Result<(), StoreError>;
    /// Returns a conversation without its items, or `None` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the history can't be read.
    fn conversation(&self, id: &str) -> Result<Option<history::Conversation>, StoreError>;
    /// Changes a conversation. Returns `false` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the history can't be written.
    fn change(&self, id: &str, change: &history::ConversationChange) -> Result<bool, StoreError>;
    /// Deletes a conversation with all of its content, so that no part of it remains in the files. Succeeds if it
    /// doesn't exist. If the deletion is interrupted, the conversation is already hidden, and its content is removed
    /// when the history is next opened.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the conversation can't be deleted.
    fn delete(&self, id: &str) -> Result<(), StoreError>;
    /// Writes items in order, all or none. The last new item becomes the head. Returns `false` if the conversation
    /// doesn't exist.
    ///
    /// A streamed reply is written repeatedly with more of its text, as [`ItemState::Streaming`], and finally as
    /// [`ItemState::Whole`]. If the process ends before that, the reply is read as [`ItemState::Cut`].
    ///
    /// [`ItemState::Streaming`]: domain::item::ItemState::Streaming
    /// [`ItemState::Whole`]: domain::item::ItemState::Whole
    /// [`ItemState::Cut`]: domain::item::ItemState::Cut
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the items can't be written, an item's parent is missing, or the conversation would
    /// have too many items.
    fn write(&self, conversation: &str, items: &[history::NewHistoryItem]) -> Result<bool, StoreError>;
    /// Returns consecutive items: the last ones of the visible branch, or those that precede the item
    /// [`before`](history::ItemRange::before) in its branch. Returns `None` if the conversation or item doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the items can't be read.
    fn items(&self, range: &history::ItemRange) -> Result<Option<history::ItemPage>, StoreError>;
    /// Returns items of all branches in the order of their first write, starting after the item `after`. Returns `None`
    /// if the conversation or item doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the items can't be read.
    fn all_items(
        &self,
        conversation: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Option<history::ItemPage>, StoreError>;
    /// Returns an item with all of its content, or `None` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the item can't be read.
    fn item(&self, conversation: &str, item: &str) -> Result<Option<history::StoredHistoryItem>, StoreError>;
    /// Returns an item without its large content, as in a page of items.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the item can't be read.
    fn item_outline(&self, conversation: &str, item: &str) -> Result<Option<history::StoredHistoryItem>, StoreError>;
    /// Returns the total token usage and cost of the replies in a conversation, or `None` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the history can't be read.
    fn usage(&self, conversation: &str) -> Result<Option<history::ConversationUsage>, StoreError>;
    /// Makes an item visible. Unless the visible branch contains it already, the newest branch that contains it becomes
    /// the visible one. Returns the identifier of the head, or `None` if the item doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the history can't be written.
    fn show_branch(&self, conversation: &str, item: &str) -> Result<Option<String>, StoreError>;
    /// Returns the items that match a search, latest first.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the items can't be read.
    fn search(&self, search: &history::HistorySearch) -> Result<Vec<history::FoundItem>, StoreError>;
    /// Returns the content with this hash that was [omitted](history::StoredHistoryItem::omitted) from an item.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the content can't be read.
    fn blob(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Returns `true` if messages are encrypted on disk with the key in the keychain.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the history can't be read, or is encrypted and the key is unavailable.
    fn is_encrypted(&self) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// Functions of the operating system's desktop that only the desktop app or the command line can provide. Calls that
/// show a dialog return after the user has closed it.
#[async_trait::async_trait]
pub trait Platform: Send + Sync {
    /// Opens a URL in the system's browser. Only called with `http` and `https` URLs that were displayed to the user in
    /// full.
    async fn open_url(&self, url: &str) -> Result<(), String>;
    /// Prompts the user to choose a folder on this computer. Returns `None` if the user cancels.
    async fn pick_folder(&self) -> Result<Option<PathBuf>, String>;
    /// Prompts the user to choose a file to read. `extensions` limits the choice, unless it is empty. Returns `None` if
    /// the user cancels.
    async fn pick_file(&self, extensions: &[&str]) -> Result<Option<PathBuf>, String>;
    /// Prompts the user to choose a file to write, with a suggested name. Returns `None` if the user cancels.
    async fn pick_save_file(&self, name: &str) -> Result<Option<PathBuf>, String>;
    /// Notifies the user that a server waits for a decision, if the window is in the background. `kind` is the kind of
    /// the consent request, as in the audit log. Without a `request`, the server waits for another action of the user,
    /// such as a sign-in.
    fn announce(&self, server: &str, kind: &str, request: Option<ConsentRequestId>);
}

/// Secrets, encrypted with a key in the system's keychain. Calls block, for up to two minutes while the user unlocks
/// the keychain.
pub trait Secrets: Send + Sync {
    /// Reads a secret. `None` doesn't prove that it was never stored: some keychains report the same while they are
    /// locked.
    ///
    /// # Errors
    ///
    /// Returns [`SecretError`] if the keychain can't be read.
    fn get(&self, key: &str) -> Result<Option<String>, SecretError>;
    /// Stores a secret, encrypted with the keychain's key. Without a keychain, stores it in memory until the process
    /// ends.
    ///
    /// # Errors
    ///
    /// Returns [`SecretError`] if the secret can't be stored.
    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError>;
    /// Deletes a secret. Succeeds if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`SecretError`] if the keychain can't be changed.
    fn delete(&self, key: &str) -> Result<(), SecretError>;
    /// Returns the keys of all secrets with this prefix, in any order. Doesn't access the keychain.
    ///
    /// # Errors
    ///
    /// Returns [`SecretError`] if the list of secrets can't be read.
    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError>;
    /// Acquires a lock of this name, which excludes other processes with the same secrets until the returned value is
    /// dropped. Returns `None` if no other process shares the secrets, or another process holds the lock for too long.
    fn lock_name(&self, _name: &str) -> Option<Box<dyn Send>> {
        None
    }
    /// Reads the rollback mark of this name: a short text that is stored in the keychain itself, so that a program
    /// which can only write files can't restore an older version of it. Returns `None` if there is no keychain.
    ///
    /// # Errors
    /// Returns [`SecretError`] if the keychain can't be read.
    fn read_rollback_mark(&self, _name: &str) -> Result<Option<String>, SecretError> {
        Ok(None)
    }
    /// Stores the rollback mark of this name, a short text, in the keychain itself. Does nothing if there is no
    /// keychain.
    ///
    /// # Errors
    /// Returns [`SecretError`] if the keychain can't be changed.
    fn set_rollback_mark(&self, _name: &str, _mark: &str) -> Result<(), SecretError> {
        Ok(())
    }
    /// Returns how long secrets are stored, with the reason if they are stored only in memory.
    fn status(&self) -> SecretsStatus {
        SecretsStatus::Keychain
    }
}

/// The place where secrets are currently stored. The error messages suggest a remedy to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SecretsStatus {
    /// Secrets are stored permanently in the keychain, which is usable.
    #[error("secrets are encrypted with a key in the system's keychain")]
    Keychain,
    /// The keychain is locked, or the user denied access.
    #[error(
        "secrets are stored only until Drawbridge is closed: the keychain is locked or refuses access ({cause}); unlock it and try again"
    )]
    Locked {
        /// Error message of the keychain.
        cause: String,
    },
    /// The system has no keychain.
    #[error(
        "secrets are stored only until Drawbridge is closed: this system has no keychain that responds ({cause}); on Linux, start one such as \
         GNOME Keyring or KWallet and try again"
    )]
    Missing {
        /// Error message that explains why there is no keychain.
        cause: String,
    },
    /// The keychain, or the data encrypted with its key, is unusable. The cause contains advice for the user.
    #[error("secrets are stored only until Drawbridge closes: {cause}")]
    Broken {
        /// Error message, with advice for the user.
        cause: String,
    },
}

/// The place where [`Secrets::set`] stored a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPersistence {
    /// The file of secrets, encrypted with the keychain's key.
    Keychain,
    /// Memory, until the process ends, because the keychain is missing or locked.
    ThisRun {
        /// The reason why the secret could not be stored in the keychain.
        cause: String,
    },
}

/// The reason why a secret can't be read or stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The keychain is locked, or the user denied access.
    #[error("the keychain is locked or refuses access ({0}); unlock it and try again")]
    Locked(String),
    /// The system has no keychain.
    #[error(
        "there is no keychain that responds ({0}); on Linux, start one such as GNOME Keyring or KWallet and try again"
    )]
    Missing(String),
    /// The keychain, or the data encrypted with its key, is unusable. The message contains advice for the user.
    #[error("the keychain can't be used: {0}")]
    Failed(String),
}

/// Implementations of all ports that the host requires.
#[derive(Clone)]
pub struct Ports {
    /// Servers that are configured in `mcp.json`.
    pub servers: std::sync::Arc<dyn ServerSettings>,
    /// Documents that the host persists.
    pub documents: std::sync::Arc<dyn Documents>,
    /// System-wide policy file of the administrator.
    pub managed: std::sync::Arc<dyn ManagedPolicy>,
    /// Audit log of all decisions.
    pub audit: std::sync::Arc<dyn AuditLog>,
    /// Persisted history of conversations.
    pub history: std::sync::Arc<dyn History>,
    /// Secrets, encrypted with a key in the keychain.
    pub secrets: std::sync::Arc<dyn Secrets>,
    /// Functions that the desktop app or the command line provides.
    pub platform: std::sync::Arc<dyn Platform>,
    /// Source of the current time for decisions, such as the expiry of approvals.
    pub clock: time::SharedClock,
}

/// One value for each server, by the server's name and sorted by it. The format of `roots.json`.
pub type ServerMap<T> = BTreeMap<String, T>;
