//! Keychain of a test, stored in a file next to the prepared answers of the system dialogs. Like a real keychain it
//! outlives the host. The keychain of the person who runs the tests is not used.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ports::{SecretError, SecretPersistence, Secrets, SecretsStatus};

pub(crate) struct KeychainInFile {
    file: PathBuf,
    /// Lock that makes each read of the file and the write that follows it one atomic operation.
    update_lock: Mutex<()>,
}

type KeychainEntries = BTreeMap<String, String>;

impl KeychainInFile {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self { file, update_lock: Mutex::default() }
    }

    fn update_entries<T>(&self, act: impl FnOnce(&mut KeychainEntries) -> T) -> Result<T, SecretError> {
        let _one = self.update_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let broken = |error: String| SecretError::Failed(format!("{}: {error}", self.file.display()));
        let mut entries: KeychainEntries = match std::fs::read(&self.file) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => KeychainEntries::new(),
            Err(error) => return Err(broken(error.to_string())),
        };
        let before = entries.clone();
        let done = act(&mut entries);
        if entries != before {
            let text = serde_json::to_vec(&entries).map_err(|error| broken(error.to_string()))?;
            std::fs::write(&self.file, text).map_err(|error| broken(error.to_string()))?;
        }
        Ok(done)
    }
}

impl Secrets for KeychainInFile {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.update_entries(|entries| entries.get(key).cloned())
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.update_entries(|entries| entries.insert(key.to_owned(), secret.to_owned()))?;
        Ok(SecretPersistence::Keychain)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.update_entries(|entries| entries.remove(key)).map(|_| ())
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.update_entries(|entries| entries.keys().filter(|key| key.starts_with(prefix)).cloned().collect())
    }

    /// A test damages the file to simulate a keychain that can't be used.
    fn status(&self) -> SecretsStatus {
        match self.update_entries(|_| ()) {
            Ok(()) => SecretsStatus::Keychain,
            Err(error) => SecretsStatus::Missing { cause: error.to_string() },
        }
    }
}
