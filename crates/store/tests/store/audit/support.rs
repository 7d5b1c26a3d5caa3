//! An audit log in a temporary folder, with a keychain in memory that several instances use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use crate::common::keychain::TestKeychain;
use ports::{AuditEntry, AuditLog, AuditQuery, Platform};
use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) struct LogFolder {
    pub(crate) folder: TempDir,
    pub(crate) keychain: Arc<TestKeychain>,
}

impl LogFolder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), keychain: Arc::default() }
    }

    /// Opens the log in another instance of the store.
    pub(crate) fn log(&self) -> Arc<dyn AuditLog> {
        let (config, data) = (self.folder.path().join("mcp.json"), self.data());
        store::open_with(&config, &data, Arc::new(NoPlatform), self.keychain.clone()).unwrap().audit
    }

    /// Returns a log with this number of entries, all on disk and sealed.
    pub(crate) fn with_entries(entries: u64) -> Self {
        let folder = Self::new();
        folder.append(1..=entries);
        folder
    }

    /// Appends one entry for each of these numbers, which its subject contains, through another instance of the store.
    /// That instance is then closed.
    pub(crate) fn append(&self, numbers: impl Iterator<Item = u64>) {
        let log = self.log();
        for number in numbers {
            log.append(decision_entry(&format!("number {number}"))).unwrap();
        }
        // Entries are sealed only once the keychain has responded.
        log.verify().unwrap();
        log.flush().unwrap();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.data().join("audit.db")
    }

    /// Opens the database file directly and without its triggers, as an attacker who knows the format does.
    pub(crate) fn open_without_triggers(&self) -> UnprotectedLog {
        open_file_without_triggers(&self.file())
    }
}

/// The database file without its triggers, which are restored on drop.
pub(crate) struct UnprotectedLog {
    connection: Connection,
    triggers: Vec<String>,
}

impl std::ops::Deref for UnprotectedLog {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for UnprotectedLog {
    fn drop(&mut self) {
        for trigger in &self.triggers {
            // An attack may have removed the tables.
            let _ = self.connection.execute_batch(trigger);
        }
    }
}

pub(crate) fn open_file_without_triggers(file: &Path) -> UnprotectedLog {
    let connection = Connection::open(file).unwrap();
    let mut found = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let found_triggers: Vec<(String, String)> =
        found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    drop(found);
    for (name, _) in &found_triggers {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    UnprotectedLog { connection, triggers: found_triggers.into_iter().map(|(_, sql)| sql).collect() }
}

pub(crate) fn decision_entry(subject: &str) -> AuditEntry {
    AuditEntry {
        at: 1_795_000_000_000,
        asker: "user".into(),
        server: "demo".into(),
        kind: "tool".into(),
        subject: subject.into(),
        content: Some("{\"a\":1}".into()),
        decision: "allowed".into(),
        scope: Some("once".into()),
        by: "user".into(),
        rule: "tools-ask".into(),
        conversation: Some("c-1".into()),
        hash: "abc".into(),
        ..AuditEntry::default()
    }
}

pub(crate) fn entry_numbers(log: &dyn AuditLog) -> Vec<u64> {
    log.read(&AuditQuery::latest(100_000)).unwrap().iter().map(|entry| entry.number).collect()
}

impl TestKeychain {
    /// Makes all keys in the keychain older than any log.
    pub(crate) fn make_keys_old(&self) {
        for secret in self.secrets.lock().unwrap().values_mut() {
            let (key, _) = secret.split_once(' ').expect("a secret consists of a key and its time");
            *secret = format!("{key} 1");
        }
    }

    /// Stores a secret under this name, without going through the store.
    #[cfg(unix)]
    pub(crate) fn put(&self, name: &str, secret: &str) {
        self.secrets.lock().unwrap().insert(name.to_owned(), secret.to_owned());
    }

    /// Removes all secrets from the keychain, including the key of the seal.
    pub(crate) fn lose_key(&self) {
        self.secrets.lock().unwrap().clear();
    }

    /// Returns the number of the log entry that the keychain records (the mark), or `None` if it records none.
    pub(crate) fn marked_entry(&self) -> Option<u64> {
        let marks = self.marks.lock().unwrap();
        marks.values().filter_map(|mark| mark.split_once(' ')?.0.parse().ok()).max()
    }

    /// Removes from the keychain the record of the log's last entry (the mark).
    pub(crate) fn remove_marks(&self) {
        self.marks.lock().unwrap().clear();
    }
}

pub(crate) struct NoPlatform;

#[async_trait::async_trait]
impl Platform for NoPlatform {
    async fn open_url(&self, _: &str) -> Result<(), String> {
        Err(String::from("there is no browser"))
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    async fn pick_file(&self, _: &[&str]) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    async fn pick_save_file(&self, _: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn announce(&self, _: &str, _: &str, _: Option<domain::consent_request::ConsentRequestId>) {}
}
