//! The history: a database of conversations and their items, with a full-text index.
//!
//! One connection writes and another one reads, so that a search does not wait for writers. The database is opened on
//! first use.

mod delete;
mod encryption;
mod extracted_content;
mod history_tables;
mod import;
mod index_words;
mod item_text;
mod query;
mod read;
mod read_contents;
mod read_contents_mac;
mod schema;
mod search;
mod usage;
mod write;
mod writers;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use domain::StoreError;
use domain::history::{
    Conversation, ConversationChange, ConversationUsage, FoundItem, HistorySearch, ItemPage, ItemRange, NewHistoryItem,
    StoredHistoryItem,
};
use domain::item::ItemState;
use ports::History;
use rusqlite::{Connection, params};
use serde_json::Value;

use delete::DeletionProgress;
use history_tables::{database_error, u64_to_sql_integer};
use schema::SchemaCheckedConnection;
use write::WriteRefusal;
use writers::HistoryWriter;

use crate::audit::{MacKey, MacKeyHolder};
use crate::content_key::{ContentKey, ContentKeySlot};

/// Name of the database file in the data folder.
const DATABASE_FILE: &str = "history.db";
/// Name of the folder with conversations of older versions, in the data folder.
const OLD_CONVERSATIONS_FOLDER: &str = "conversations";
/// Name of a folder with lock files, in the data folder. Each process holds the lock on its own file until it ends.
const HISTORY_LOCKS_FOLDER: &str = "held";
/// Maximum time that opening an unencrypted history waits for the key from the keychain. If the key arrives later, the
/// history is encrypted then.
const KEY_TIMEOUT_FOR_UNENCRYPTED_HISTORY: Duration = Duration::from_millis(500);
/// Maximum time that opening an encrypted history waits for the key from the keychain. The user may have to unlock the
/// keychain.
const KEY_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum interval between requests for the key, if the keychain has returned none.
const KEY_RETRY_INTERVAL: Duration = Duration::from_secs(15);
/// Maximum length of a conversation ID, in bytes.
const MAX_CONVERSATION_ID_BYTES: usize = 64;

/// The history database in a data folder. Implements [`History`].
pub(crate) struct HistoryDatabase {
    path: PathBuf,
    old_folder: PathBuf,
    locks_folder: PathBuf,
    writer_connection: Mutex<Option<SchemaCheckedConnection>>,
    reader_connection: Mutex<Option<SchemaCheckedConnection>>,
    /// Name and lock of this process as the writer of streaming replies. Set once this process has written such a
    /// reply.
    writer: OnceLock<HistoryWriter>,
    /// Set while content of deleted conversations remains in the files.
    has_deleted: AtomicBool,
    keys: Arc<MacKeyHolder>,
    /// Key with which the history database is encrypted, or an empty slot if no key is known or the database is not
    /// encrypted.
    key: ContentKeySlot,
    /// Time at which the key of an encrypted history was last requested from the keychain.
    key_requested_at: Mutex<Option<Instant>>,
    /// Set if this process could not remove all unencrypted content from the history's file.
    has_unencrypted_remains: AtomicBool,
}

/// Returns `true` if this is a valid conversation ID. A valid ID contains no path separator.
fn is_valid_conversation_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= MAX_CONVERSATION_ID_BYTES
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

impl HistoryDatabase {
    pub(crate) fn new(data_dir: &Path, keys: Arc<MacKeyHolder>) -> Self {
        Self {
            path: data_dir.join(DATABASE_FILE),
            old_folder: data_dir.join(OLD_CONVERSATIONS_FOLDER),
            locks_folder: data_dir.join(HISTORY_LOCKS_FOLDER),
            writer_connection: Mutex::default(),
            reader_connection: Mutex::default(),
            writer: OnceLock::new(),
            has_deleted: AtomicBool::new(false),
            keys,
            key: ContentKeySlot::default(),
            key_requested_at: Mutex::default(),
            has_unencrypted_remains: AtomicBool::new(false),
        }
    }

    fn error(&self, cause: String) -> StoreError {
        StoreError { path: self.path.display().to_string(), cause }
    }

    fn check_conversation_id(&self, id: &str) -> Result<(), StoreError> {
        let form = format!("1 to {MAX_CONVERSATION_ID_BYTES} letters, digits and dashes were expected");
        if is_valid_conversation_id(id) {
            Ok(())
        } else {
            Err(self.error(format!("{id:?} is not the id of a conversation: {form}")))
        }
    }

    /// Opens the database for the first time in this process, and completes earlier work: continues pending deletions,
    /// imports conversations of older versions, and marks replies as interrupted if their process has ended.
    fn open_first_time(&self) -> Result<SchemaCheckedConnection, StoreError> {
        let mut opened = history_tables::open(&self.path, &self.key)?;
        let connection = &mut opened;
        self.keys.request_key(false);
        let _ = self.keys.wait_for_key(KEY_TIMEOUT_FOR_UNENCRYPTED_HISTORY);
        self.ensure_encryption(connection, delete::JOURNAL_EMPTYING_TIMEOUT)?;
        while self.deletion_step(connection, delete::JOURNAL_EMPTYING_TIMEOUT) {
            thread::sleep(delete::DELETION_STEP_PAUSE);
        }
        import::import_old_conversations(connection, &self.old_folder, self.key.get().as_deref())?;
        let cut = writers::mark_interrupted_items(connection, &self.locks_folder, None);
        cut.map_err(|error| database_error(&self.path, "mark what was cut", &error))?;
        Ok(opened)
    }

    /// Calls `act` with the database connection for writing, which is opened on first use.
    fn with_write_db<T>(
        &self,
        act: impl FnOnce(&mut SchemaCheckedConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer_connection = lock(&self.writer_connection);
        match writer_connection.as_mut() {
            Some(opened) => {
                self.ensure_encryption(opened, Duration::ZERO)?;
                act(opened)
            }
            None => act(writer_connection.insert(self.open_first_time()?)),
        }
    }

    /// Calls `act` in one write transaction of the database connection for writing.
    fn write_transaction<T>(
        &self,
        tried: &str,
        act: impl FnOnce(&Connection) -> Result<T, WriteRefusal>,
    ) -> Result<T, StoreError> {
        self.write_in_steps(tried, |connection| connection.write(act))
    }

    fn write_in_steps<T>(
        &self,
        tried: &str,
        act: impl FnOnce(&mut SchemaCheckedConnection) -> Result<T, WriteRefusal>,
    ) -> Result<T, StoreError> {
        self.with_write_db(|connection| {
            let done = act(connection).map_err(|error| self.refusal_error(tried, &error))?;
            if self.has_deleted.load(Ordering::Relaxed) {
                self.deletion_step(connection, Duration::ZERO);
            }
            Ok(done)
        })
    }

    fn refusal_error(&self, tried: &str, error: &WriteRefusal) -> StoreError {
        match error {
            WriteRefusal::Sql(error) => database_error(&self.path, tried, error),
            other => self.error(other.to_string()),
        }
    }

    fn with_read_db<T>(
        &self,
        tried: &str,
        act: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut reader_connection = lock(&self.reader_connection);
        if reader_connection.is_none() {
            // Opening the writing connection first creates the tables and imports older conversations.
            self.with_write_db(|_| Ok(()))?;
            *reader_connection = Some(history_tables::open(&self.path, &self.key)?);
        }
        let Some(opened) = reader_connection.as_mut() else { return Err(self.error("it is not open".to_owned())) };
        let protection =
            opened.read(encryption::read_record).map_err(|error| database_error(&self.path, tried, &error))?;
        let is_behind = match protection {
            Some(protection) => self.key.get().is_none_or(|key| key.id != protection.key),
            None => self.keys.cached_key().is_some(),
        };
        if is_behind {
            self.with_write_db(|_| Ok(()))?;
        }
        opened.read(act).map_err(|error| database_error(&self.path, tried, &error))
    }

    /// Loads the key if the history is encrypted, possibly by another process. If the history is not encrypted and
    /// there is a key, begins to encrypt it. Content that remains after `wait` is encrypted later.
    ///
    /// # Errors
    /// Returns [`StoreError`] if there is a key and the file does not accept encryption, or if the file is encrypted
    /// and there is no key. No content is then written unencrypted.
    fn ensure_encryption(&self, connection: &mut SchemaCheckedConnection, wait: Duration) -> Result<(), StoreError> {
        let read = |connection: &mut SchemaCheckedConnection| {
            connection.read(encryption::read_record).map_err(|error| database_error(&self.path, "read it", &error))
        };
        let mut protection = read(connection)?;
        if protection.is_none() {
            let key = match self.keys.cached_key() {
                Some(key) => key,
                None if connection
                    .read(encryption::has_encrypted_rows)
                    .map_err(|error| database_error(&self.path, "read it", &error))? =>
                {
                    self.wait_for_key()?
                }
                None => return Ok(()),
            };
            encryption::begin_encryption(connection, &key.content)
                .map_err(|error| database_error(&self.path, "encrypt it", &error))?;
            protection = read(connection)?;
        }
        let Some(protection) = protection else {
            let cause = "it does not record that it is encrypted: copy it and move it away, and a new one is created";
            return Err(self.error(cause.to_owned()));
        };
        if self.key.get().is_none_or(|key| key.id != protection.key) {
            self.key.set(Some(self.key_by_id(&protection.key)?));
        }
        if protection.is_in_progress() && !self.has_unencrypted_remains.load(Ordering::Relaxed) {
            self.encrypt_remaining(connection, wait);
        }
        Ok(())
    }

    fn encrypt_remaining(&self, connection: &mut SchemaCheckedConnection, wait: Duration) {
        let done = encryption::continue_encryption(connection, &self.key, wait).map_err(|error| error.to_string());
        let done = done.and_then(|is_done| {
            if is_done {
                import::remove_old_conversation_files(&self.old_folder).map_err(|error| error.to_string())?;
            }
            Ok(())
        });
        if let Err(error) = done {
            tracing::warn!(error, path = %self.path.display(), "older conversations could not be encrypted yet");
            self.has_unencrypted_remains.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the history's key with this ID. Waits for at most [`KEY_TIMEOUT`], while the user unlocks the keychain.
    fn key_by_id(&self, id: &str) -> Result<Arc<ContentKey>, StoreError> {
        let key = self.wait_for_key()?;
        if key.id != id {
            let cause = "it is encrypted with another key than the one in secrets.json; put back the secrets.json that belongs \
                to it, or move it away to create a new one";
            return Err(self.error(cause.to_owned()));
        }
        Ok(Arc::clone(&key.content))
    }

    /// Waits for the key of an encrypted history for at most [`KEY_TIMEOUT`].
    fn wait_for_key(&self) -> Result<Arc<MacKey>, StoreError> {
        if self.keys.cached_key().is_none()
            && lock(&self.key_requested_at).is_none_or(|at| at.elapsed() > KEY_RETRY_INTERVAL)
        {
            *lock(&self.key_requested_at) = Some(Instant::now());
            self.keys.request_key(true);
        }
        self.keys.wait_for_key(KEY_TIMEOUT).map_err(|cause| {
            self.error(format!("it is encrypted, and its key is not available in the keychain: {cause}"))
        })
    }

    /// Performs the next step of deleting conversations. Returns `true` if the next step can follow immediately.
    /// Returns `false` if no step remains, or if the next step must wait until another process stops reading.
    fn deletion_step(&self, connection: &mut SchemaCheckedConnection, wait: Duration) -> bool {
        let left = delete::deletion_step(connection, wait).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %self.path.display(), "deleted content could not be removed from the file yet");
            DeletionProgress::JournalNotEmptied
        });
        self.has_deleted.store(left != DeletionProgress::Complete, Ordering::Relaxed);
        left == DeletionProgress::MoreSteps
    }

    /// Completes pending deletions of conversations as far as other processes permit. Other processes can write between
    /// the steps.
    fn finish_deleting(&self) -> Result<(), StoreError> {
        loop {
            let goes_on =
                self.with_write_db(|connection| Ok(self.deletion_step(connection, delete::JOURNAL_EMPTYING_TIMEOUT)))?;
            if !goes_on {
                return Ok(());
            }
            thread::sleep(delete::DELETION_STEP_PAUSE);
        }
    }

    /// Returns the name that identifies this process as the writer of streaming replies.
    fn writer_name(&self) -> Result<&str, StoreError> {
        if let Some(writer) = self.writer.get() {
            return Ok(writer.name());
        }
        let made = HistoryWriter::new(&self.locks_folder)?;
        Ok(self.writer.get_or_init(|| made).name())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for HistoryDatabase {
    fn drop(&mut self) {
        if self.has_deleted.load(Ordering::Relaxed)
            && let Some(opened) = lock(&self.writer_connection).as_mut()
        {
            self.deletion_step(opened, delete::JOURNAL_EMPTYING_TIMEOUT);
        }
    }
}

impl History for HistoryDatabase {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn list(&self) -> Result<Vec<(String, String, u64)>, StoreError> {
        self.with_read_db("read it", read::list_conversations)
    }

    fn create(&self, conversation: &Conversation) -> Result<(), StoreError> {
        self.check_conversation_id(&conversation.id)?;
        let is_new = self.write_transaction("begin a conversation", |connection| {
            Ok(write::insert_conversation(connection, conversation)?)
        })?;
        if is_new { Ok(()) } else { Err(self.error(format!("there is a conversation {:?} already", conversation.id))) }
    }

    fn conversation(&self, id: &str) -> Result<Option<Conversation>, StoreError> {
        self.check_conversation_id(id)?;
        self.with_read_db("read it", |connection| read::read_conversation(connection, id, self.key.get().as_deref()))
    }

    fn change(&self, id: &str, change: &ConversationChange) -> Result<bool, StoreError> {
        self.check_conversation_id(id)?;
        let sql = "UPDATE conversation SET title = coalesce(encrypted('title', ?2), title), \
            settings = coalesce(encrypted('settings', ?3), settings), updated_at = max(updated_at, ?4) WHERE id = ?1";
        let settings = change.settings.as_ref().map(Value::to_string);
        self.write_transaction("change a conversation", |connection| {
            let values = params![id, change.title, settings, u64_to_sql_integer(change.at)];
            Ok(connection.prepare_cached(sql)?.execute(values)? == 1)
        })
    }

    fn delete(&self, id: &str) -> Result<(), StoreError> {
        self.check_conversation_id(id)?;
        import::remove_old_conversation_file(&self.old_folder, id)?;
        if self.write_transaction("delete a conversation", |connection| {
            Ok(delete::mark_conversation_deleted(connection, id)?)
        })? {
            self.finish_deleting()?;
        }
        Ok(())
    }

    fn write(&self, conversation: &str, items: &[NewHistoryItem]) -> Result<bool, StoreError> {
        self.check_conversation_id(conversation)?;
        let is_streaming = items.iter().any(|item| item.state == ItemState::Streaming);
        let writer = if is_streaming { Some(self.writer_name()?) } else { None };
        let tried = "write to a conversation";
        let bodies = write::encode_bodies(items).map_err(|error| self.refusal_error(tried, &error))?;
        self.write_transaction(tried, |connection| {
            write::write_items(connection, conversation, (items, &bodies), writer, self.key.get().as_deref())
        })
    }

    fn items(&self, range: &ItemRange) -> Result<Option<ItemPage>, StoreError> {
        self.check_conversation_id(&range.conversation)?;
        let page = self.with_read_db("read it", |connection| read::read_branch_page(connection, range, &self.key))?;
        let is_streaming = |page: &ItemPage| page.items.iter().any(|item| item.state == ItemState::Streaming);
        if !page.as_ref().is_some_and(is_streaming) {
            return Ok(page);
        }
        // The reply may have been written by another process, and that process may have ended.
        let own = self.writer.get().map(HistoryWriter::name);
        let cut = self.write_in_steps("mark what was cut", |connection| {
            Ok(writers::mark_interrupted_items(connection, &self.locks_folder, own)?)
        })?;
        if cut == 0 {
            Ok(page)
        } else {
            self.with_read_db("read it", |connection| read::read_branch_page(connection, range, &self.key))
        }
    }

    fn all_items(&self, conversation: &str, after: Option<&str>, limit: usize) -> Result<Option<ItemPage>, StoreError> {
        self.check_conversation_id(conversation)?;
        self.with_read_db("read it", |connection| {
            read::read_all_items(connection, conversation, after, limit, &self.key)
        })
    }

    fn item(&self, conversation: &str, item: &str) -> Result<Option<StoredHistoryItem>, StoreError> {
        self.check_conversation_id(conversation)?;
        self.with_read_db("read it", |connection| read::read_item(connection, conversation, item, true, &self.key))
    }

    fn item_outline(&self, conversation: &str, item: &str) -> Result<Option<StoredHistoryItem>, StoreError> {
        self.check_conversation_id(conversation)?;
        self.with_read_db("read it", |connection| read::read_item(connection, conversation, item, false, &self.key))
    }

    fn usage(&self, conversation: &str) -> Result<Option<ConversationUsage>, StoreError> {
        self.check_conversation_id(conversation)?;
        self.with_read_db("add up what it took", |connection| usage::conversation_usage(connection, conversation))
    }

    fn show_branch(&self, conversation: &str, item: &str) -> Result<Option<String>, StoreError> {
        self.check_conversation_id(conversation)?;
        self.write_transaction("show a branch", |connection| Ok(read::show_branch(connection, conversation, item)?))
    }

    fn search(&self, search: &HistorySearch) -> Result<Vec<FoundItem>, StoreError> {
        self.with_read_db("search it", |connection| search::search(connection, search))
    }

    fn blob(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(hash) = crate::hex::from_hex(hash) else { return Ok(None) };
        self.with_read_db("read it", |connection| read::read_blob(connection, &hash, &self.key))
    }

    fn is_encrypted(&self) -> Result<bool, StoreError> {
        self.with_read_db("read it", encryption::is_encrypted)
    }
}
