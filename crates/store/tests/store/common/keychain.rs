//! A keychain in memory that several instances in a test use in turn. Callers: the tests of the audit log, of the
//! history and of documents with a MAC, each with a different extension.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ports::{SecretError, SecretPersistence, Secrets};

#[derive(Default)]
pub(crate) struct TestKeychain {
    /// Content of `secrets.json`. Any program can remove entries.
    pub(crate) secrets: Mutex<HashMap<String, String>>,
    /// Entries of the keychain that only Drawbridge can write (marks).
    pub(crate) marks: Mutex<HashMap<String, String>>,
    locked: AtomicBool,
    held: Arc<AtomicBool>,
}

/// Lock on a secret's name, released on drop.
struct LockedName(Arc<AtomicBool>);

impl Drop for LockedName {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl TestKeychain {
    pub(crate) fn set_locked(&self, locked: bool) {
        self.locked.store(locked, Ordering::SeqCst);
    }
}

impl Secrets for TestKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        if self.locked.load(Ordering::SeqCst) {
            return Err(SecretError::Locked("it is locked".to_owned()));
        }
        Ok(self.secrets.lock().unwrap().get(key).cloned())
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.secrets.lock().unwrap().insert(key.to_owned(), secret.to_owned());
        Ok(SecretPersistence::Keychain)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.secrets.lock().unwrap().remove(key);
        Ok(())
    }

    fn read_rollback_mark(&self, name: &str) -> Result<Option<String>, SecretError> {
        Ok(self.marks.lock().unwrap().get(name).cloned())
    }

    fn set_rollback_mark(&self, name: &str, mark: &str) -> Result<(), SecretError> {
        self.marks.lock().unwrap().insert(name.to_owned(), mark.to_owned());
        Ok(())
    }

    fn keys(&self, _: &str) -> Result<Vec<String>, SecretError> {
        Ok(Vec::new())
    }

    fn lock_name(&self, _: &str) -> Option<Box<dyn Send>> {
        while self.held.swap(true, Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Some(Box::new(LockedName(Arc::clone(&self.held))))
    }
}
