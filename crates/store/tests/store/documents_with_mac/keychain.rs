//! A keychain that several instances use in turn, and functions that open a folder. Caller: `documents_with_mac.rs`.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use ports::{Document, Documents, SecretError, SecretPersistence, Secrets};
use serde_json::{Value, json};
use store::FileBackedPlatform;

use super::KEYCHAIN_MARK_NAME;
use crate::common::keychain::TestKeychain;

/// A keychain that can be blocked: while it is blocked, calls that read or store the sequence numbers of documents
/// wait. Names can't be locked.
#[derive(Default)]
pub(super) struct GatedKeychain {
    keychain: TestKeychain,
    pub(super) is_closed: Mutex<bool>,
    pub(super) opened: Condvar,
    /// Time that storing a mark takes, in milliseconds.
    pub(super) delay: AtomicU64,
    /// Number of times that the latest sequence numbers of the documents (the mark) were stored.
    stored_marks: AtomicU64,
    /// Function to run when the sequence numbers of the documents are stored the next time, if any.
    pub(super) run_at_next_mark: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Deref for GatedKeychain {
    type Target = TestKeychain;

    fn deref(&self) -> &Self::Target {
        &self.keychain
    }
}

impl GatedKeychain {
    /// Returns how often the latest sequence numbers of the documents (the mark) were stored.
    pub(super) fn mark_count(&self) -> u64 {
        self.stored_marks.load(Ordering::SeqCst)
    }

    pub(super) fn set_blocked(&self, is_closed: bool) {
        *self.is_closed.lock().unwrap() = is_closed;
        self.opened.notify_all();
    }

    fn wait_while_blocked(&self, name: &str) {
        if name == KEYCHAIN_MARK_NAME {
            drop(self.opened.wait_while(self.is_closed.lock().unwrap(), |is_closed| *is_closed).unwrap());
        }
    }
}

/// Opens the documents of the folder in another instance of the store.
pub(super) fn open_documents(folder: &Path, keychain: &Arc<GatedKeychain>) -> Arc<dyn Documents> {
    let platform = Arc::new(FileBackedPlatform::new(folder.to_owned()));
    store::open_with(&folder.join("mcp.json"), &folder.join("data"), platform, keychain.clone()).unwrap().documents
}

/// Returns a folder in which an earlier instance wrote grants.
pub(super) fn folder_with_stored_grants(keychain: &Arc<GatedKeychain>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let documents = open_documents(folder.path(), keychain);
    documents.request_mac_key(KEY_TIMEOUT);
    documents.write(Document::Grants, &json!(["old"])).unwrap();
    poll_until("the keychain knows of it", || keychain.marks.lock().unwrap().contains_key(KEYCHAIN_MARK_NAME));
    folder
}

pub(super) fn poll_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < KEY_TIMEOUT, "{what}");
        // sleep: polls, since no event reports the change.
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(super) fn stored_grants(folder: &Path) -> Value {
    let text = std::fs::read(folder.join("data/grants.json")).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["document"].clone()
}

pub(super) fn add_grant(documents: &dyn Documents) -> bool {
    let added = documents.update(Document::Grants, &mut |stored| {
        let mut stored = stored.unwrap_or_else(|| json!([]));
        stored.as_array_mut().unwrap().push(json!("new"));
        stored
    });
    added.is_ok()
}

pub(super) const KEY_TIMEOUT: Duration = Duration::from_secs(30);

impl Secrets for GatedKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.keychain.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.keychain.set(key, secret)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.keychain.delete(key)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.keychain.keys(prefix)
    }

    fn read_rollback_mark(&self, name: &str) -> Result<Option<String>, SecretError> {
        self.wait_while_blocked(name);
        self.keychain.read_rollback_mark(name)
    }

    fn set_rollback_mark(&self, name: &str, mark: &str) -> Result<(), SecretError> {
        self.wait_while_blocked(name);
        self.stored_marks.fetch_add(u64::from(name == KEYCHAIN_MARK_NAME), Ordering::SeqCst);
        if let Some(act) = self.run_at_next_mark.lock().unwrap().take_if(|_| name == KEYCHAIN_MARK_NAME) {
            act();
        }
        // sleep: simulates a slow keychain.
        std::thread::sleep(Duration::from_millis(self.delay.load(Ordering::SeqCst)));
        self.keychain.set_rollback_mark(name, mark)
    }
}
