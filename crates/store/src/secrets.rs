//! Secrets: encrypted in `secrets.json`, with one key in the system's keychain. Without a keychain, secrets stay in
//! memory until the process ends.
//!
//! The key is never replaced. Each file has a separate key, whose ID is in the file. So a file can't become unreadable
//! when two processes start simultaneously, or when a locked keychain reports no entries.

mod encrypted_secrets_file;
mod keychain;
mod timed_keychain;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest;
use domain::StoreError;
use ports::secrets::SecretsInMemory;
use ports::{SecretError, SecretPersistence, Secrets, SecretsStatus};
use zeroize::Zeroizing;

use crate::files::{self, ExistingFileAction};
use crate::folder_lock::{self, FolderLock, FolderLockGuard};
use encrypted_secrets_file::{EncryptedSecretsFile, SecretsKey};
use keychain::{Keychain, KeychainError, SystemKeychain};
use timed_keychain::TimedKeychain;

const SECRETS_FILE: &str = "secrets.json";
/// Name of the folder with one lock file for each locked secret name. A process holds the lock on that file while no
/// other process may use the secret.
const SECRET_LOCKS_FOLDER: &str = "held";
/// Maximum time to wait for the lock on a secret's name. The process that holds it may be sending several requests to a
/// server that does not respond.
const MAX_SECRET_LOCK_WAIT: Duration = Duration::from_secs(65);
/// Maximum time to wait for the lock on the name of a mark (a keychain entry with the latest state of a file). A mark
/// is written in milliseconds. If another process holds the lock longer, the mark is written without the lock, so that
/// a hanging process can't prevent it.
const MAX_KEYCHAIN_MARK_LOCK_WAIT: Duration = Duration::from_millis(500);
/// Maximum size of `secrets.json`, in bytes.
const MAX_SECRETS_FILE_BYTES: u64 = 16 << 20;
/// Maximum duration of a keychain call, during which the user may have to enter a password.
const KEYCHAIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Name of the keychain entry that is written to test whether the keychain is locked, because a locked keychain may
/// report that an entry does not exist.
const KEYCHAIN_PROBE_ENTRY_NAME: &str = "probe";
/// Maximum number of attempts to create `secrets.json`, if other processes create it at the same moment.
const MAX_SECRETS_FILE_CREATE_ATTEMPTS: usize = 3;

/// The secrets in a data folder's `secrets.json`. Implements [`Secrets`].
pub(crate) struct SecretsFile {
    path: PathBuf,
    lock: FolderLock,
    keychain: Box<dyn Keychain>,
    /// Secrets that are only in memory, because they could not be stored in `secrets.json`.
    memory: SecretsInMemory,
    state: Mutex<SecretsState>,
}

#[derive(Default)]
struct SecretsState {
    /// The key of `secrets.json` that was used last. It is kept in memory, so that the keychain is not read again.
    key: Option<Arc<SecretsKey>>,
    /// Names of the secrets that are only in `memory`.
    names_in_memory: HashSet<String>,
    /// Names of secrets for which a search has found no separate keychain entry of an older version, so that the search
    /// is not repeated.
    names_without_old_entry: HashSet<String>,
}

impl SecretsFile {
    pub(crate) fn new(data_dir: &Path, lock: FolderLock) -> Self {
        Self::with_keychain(data_dir, lock, Box::new(TimedKeychain::new(Arc::new(SystemKeychain), KEYCHAIN_TIMEOUT)))
    }

    fn with_keychain(data_dir: &Path, lock: FolderLock, keychain: Box<dyn Keychain>) -> Self {
        Self {
            path: data_dir.join(SECRETS_FILE),
            lock,
            keychain,
            memory: SecretsInMemory::default(),
            state: Mutex::default(),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, SecretsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads `secrets.json`, or returns `None` if the file does not exist.
    fn read(&self) -> Result<Option<EncryptedSecretsFile>, KeychainError> {
        let broken = |error: StoreError| KeychainError::Broken(error.to_string());
        let Some(bytes) = files::read(&self.path, MAX_SECRETS_FILE_BYTES).map_err(broken)? else { return Ok(None) };
        let file = EncryptedSecretsFile::read(&bytes).map_err(|cause| {
            let path = self.path.display();
            KeychainError::Broken(format!(
                "{path} can't be read ({cause}); mend it, or move it away to create a new one"
            ))
        })?;
        Ok(Some(file))
    }

    /// Changes the content of `secrets.json` while holding the folder lock. The file is unchanged if `change` returns
    /// an error.
    fn update<T>(
        &self,
        change: impl FnOnce(Option<EncryptedSecretsFile>) -> Result<(T, Option<EncryptedSecretsFile>), KeychainError>,
    ) -> Result<T, KeychainError> {
        let broken = |error: StoreError| KeychainError::Broken(error.to_string());
        let _held = self.lock.acquire().map_err(broken)?;
        let (result, file) = change(self.read()?)?;
        let Some(file) = file else { return Ok(result) };
        let text = serde_json::to_vec_pretty(&file).map_err(|error| KeychainError::Broken(error.to_string()))?;
        if text.len() as u64 > MAX_SECRETS_FILE_BYTES {
            return Err(KeychainError::Broken(format!("{} has no room for more", self.path.display())));
        }
        crate::private_files::make_private(&self.path).map_err(broken)?;
        files::write(&self.path, &text, ExistingFileAction::Replace).map_err(broken)?;
        Ok(result)
    }

    /// Returns the key that encrypts `secrets.json`, from memory or from the keychain.
    fn file_key(&self, file: &EncryptedSecretsFile) -> Result<Arc<SecretsKey>, KeychainError> {
        if let Some(key) = self.lock_state().key.clone().filter(|key| file.is_encrypted_with(key)) {
            return Ok(key);
        }
        let path = self.path.display();
        let lost = |what: &str| {
            KeychainError::Broken(format!(
                "{what}, so {path} can't be opened; if it is lost permanently, move that file away to create a new one"
            ))
        };
        let Some(bytes) = self.keychain.read(&keychain_entry_name(&file.key))?.map(Zeroizing::new) else {
            // A locked keychain may report that the entry does not exist. It then rejects writes as well, which the
            // probe detects.
            self.probe()?;
            return Err(lost("the keychain does not have the key of your secrets"));
        };
        let key = SecretsKey::new(&file.key, &bytes).ok().filter(|key| file.is_encrypted_with(key));
        let key = Arc::new(key.ok_or_else(|| lost("the keychain has another key than that of your secrets"))?);
        self.lock_state().key = Some(Arc::clone(&key));
        Ok(key)
    }

    /// Writes a test entry to the keychain, to check that the keychain accepts writes.
    fn probe(&self) -> Result<(), KeychainError> {
        self.keychain.write(KEYCHAIN_PROBE_ENTRY_NAME, KEYCHAIN_PROBE_ENTRY_NAME.as_bytes())?;
        self.keychain.remove(KEYCHAIN_PROBE_ENTRY_NAME)
    }

    /// Returns the encryption key for a new `secrets.json`: the key that was used last, or else a new key that is
    /// stored in the keychain.
    fn key_for_new_file(&self) -> Result<Arc<SecretsKey>, KeychainError> {
        if let Some(key) = self.lock_state().key.clone() {
            return Ok(key);
        }
        let cipher_error = |_| KeychainError::Broken("this system provides no random numbers".to_owned());
        let (id, bytes) = SecretsKey::generate().map_err(cipher_error)?;
        let key = Arc::new(SecretsKey::new(&id, bytes.as_slice()).map_err(cipher_error)?);
        let name = keychain_entry_name(&id);
        self.keychain.write(&name, bytes.as_slice())?;
        let stored = self.keychain.read(&name)?.map(Zeroizing::new);
        if stored.as_deref().map(Vec::as_slice) != Some(bytes.as_slice()) {
            return Err(KeychainError::Broken("the keychain does not return the stored value".to_owned()));
        }
        Ok(key)
    }

    /// Stores a secret in `secrets.json`, together with all secrets that are only in memory. Creates the file if it
    /// does not exist.
    fn store_secret(&self, name: &str, secret: &str) -> Result<(), KeychainError> {
        let broken = |error: SecretError| KeychainError::Broken(error.to_string());
        for _ in 0..MAX_SECRETS_FILE_CREATE_ATTEMPTS {
            let found = self.read()?;
            let key = match &found {
                Some(file) => self.file_key(file)?,
                None => self.key_for_new_file()?,
            };
            let stored = self.update(|file| {
                let cipher_error = |_| KeychainError::Broken("the secret could not be encrypted".to_owned());
                let mut file = match file {
                    Some(file) if file.is_encrypted_with(&key) => file,
                    None => EncryptedSecretsFile::new(&key).map_err(cipher_error)?,
                    Some(_) => return Ok((None, None)),
                };
                // Read after the keychain call, because secrets may have been deleted meanwhile.
                let all = self.secrets_to_store(name, secret).map_err(broken)?;
                for (name, secret) in &all {
                    file.entries.insert(name.clone(), key.encrypt(name, secret).map_err(cipher_error)?);
                }
                Ok((Some(all), Some(file)))
            })?;
            if let Some(stored) = stored {
                self.lock_state().key = Some(key);
                for (name, _) in stored {
                    self.memory.delete(&name).map_err(broken)?;
                    self.lock_state().names_in_memory.remove(&name);
                }
                return Ok(());
            }
            if found.is_none() {
                // Another process created the file with its own key.
                self.lock_state().key = None;
                self.keychain.remove(&keychain_entry_name(&key.id))?;
            }
        }
        Err(KeychainError::Broken(format!("{} is changed by others all the time", self.path.display())))
    }

    /// Returns the given secret and all secrets that are only in memory, to store them together.
    fn secrets_to_store(&self, name: &str, secret: &str) -> Result<Vec<(String, String)>, SecretError> {
        let names: Vec<String> =
            self.lock_state().names_in_memory.iter().filter(|other| *other != name).cloned().collect();
        let mut all = vec![(name.to_owned(), secret.to_owned())];
        for name in names {
            all.extend(self.memory.get(&name)?.map(|secret| (name, secret)));
        }
        Ok(all)
    }

    /// Looks for a separate keychain entry in which an older version stored this secret. If there is one, moves the
    /// secret into `secrets.json` and returns it.
    fn migrate_old_entry(&self, name: &str) -> Result<Option<String>, SecretError> {
        if !may_be_stored_in_old_keychain_entry(name) || self.lock_state().names_without_old_entry.contains(name) {
            return Ok(None);
        }
        let old = self.keychain.read(name)?;
        let Some(secret) = old.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            self.lock_state().names_without_old_entry.insert(name.to_owned());
            return Ok(None);
        };
        match self.store_secret(name, &secret) {
            Ok(()) => self.remove_old_entry(name),
            Err(refusal) => tracing::warn!(?refusal, "a secret could not be moved from its separate keychain entry"),
        }
        Ok(Some(secret))
    }

    /// Removes the separate keychain entry that an older version created for this secret.
    fn remove_old_entry(&self, name: &str) {
        if !may_be_stored_in_old_keychain_entry(name) {
            return;
        }
        match self.keychain.remove(name) {
            Ok(()) => {
                self.lock_state().names_without_old_entry.insert(name.to_owned());
            }
            Err(refusal) => tracing::warn!(?refusal, "an old entry of the keychain could not be removed"),
        }
    }

    /// Acquires the lock on the name of a secret or mark (a keychain entry with the latest state of a file). Calls
    /// `pause` each time another process holds the lock. Returns `None` if the lock is not free in time.
    fn acquire_name_lock(&self, name: &str, pause: impl FnMut()) -> Option<FolderLockGuard> {
        let file = short_hash(name.as_bytes());
        FolderLock::new(self.path.with_file_name(SECRET_LOCKS_FOLDER).join(file))
            .acquire_within(max_name_lock_wait(name), pause)
            .ok()
    }

    /// Returns the name of the keychain entry for a mark (the latest state of a file). The name depends on the path of
    /// `secrets.json` and not on its content, because the content is not trusted.
    fn keychain_mark_name(&self, name: &str) -> String {
        format!("{name} {}", short_hash(self.path.as_os_str().as_encoded_bytes()))
    }

    /// Returns the message for a secret that could not be stored and stays in memory. If `secrets.json` contains an
    /// older value, the message says that this value becomes valid again when the process ends. A locked keychain does
    /// not reveal if the file contains one.
    fn secret_not_stored_message(&self, name: &str, refusal: KeychainError) -> String {
        let in_file = self.read().is_ok_and(|file| file.is_some_and(|file| file.entries.contains_key(name)));
        let may_have_one = in_file || matches!(refusal, KeychainError::Locked(_));
        let cause = SecretError::from(refusal);
        if !may_have_one {
            return cause.to_string();
        }
        format!(
            "{cause}. If an older value of this secret is stored, it is used again after the next start. Enter the new one again then"
        )
    }
}

impl Secrets for SecretsFile {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        if let Some(secret) = self.memory.get(key)? {
            return Ok(Some(secret));
        }
        let file = self.read()?;
        let Some((file, entry)) = file.as_ref().and_then(|file| Some((file, file.entries.get(key)?))) else {
            return self.migrate_old_entry(key);
        };
        let opened = self.file_key(file)?.decrypt(key, entry);
        opened.map(Some).map_err(|_| SecretError::Failed("the stored secret is damaged; enter it again".into()))
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        match self.store_secret(key, secret) {
            Ok(()) => {
                self.remove_old_entry(key);
                Ok(SecretPersistence::Keychain)
            }
            Err(refusal) => {
                self.memory.set(key, secret)?;
                self.lock_state().names_in_memory.insert(key.to_owned());
                Ok(SecretPersistence::ThisRun { cause: self.secret_not_stored_message(key, refusal) })
            }
        }
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.memory.delete(key)?;
        self.lock_state().names_in_memory.remove(key);
        self.update(|file| {
            let changed = file.and_then(|mut file| file.entries.remove(key).map(|_| file));
            Ok(((), changed))
        })?;
        // Without a keychain there is no old entry to remove.
        self.remove_old_entry(key);
        Ok(())
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        let mut keys = self.memory.keys(prefix)?;
        let in_file = self.read()?.map(|file| file.entries).unwrap_or_default();
        keys.extend(in_file.into_keys().filter(|key| key.starts_with(prefix)));
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    fn lock_name(&self, name: &str) -> Option<Box<dyn Send>> {
        self.acquire_name_lock(name, folder_lock::sleep_before_retry).map(|held| Box::new(held) as Box<dyn Send>)
    }

    fn read_rollback_mark(&self, name: &str) -> Result<Option<String>, SecretError> {
        let mark = self.keychain.read(&self.keychain_mark_name(name))?;
        let damaged = |_| SecretError::Failed("an entry of the keychain is damaged".to_owned());
        mark.map(String::from_utf8).transpose().map_err(damaged)
    }

    fn set_rollback_mark(&self, name: &str, mark: &str) -> Result<(), SecretError> {
        Ok(self.keychain.write(&self.keychain_mark_name(name), mark.as_bytes())?)
    }

    fn status(&self) -> SecretsStatus {
        let works = match self.read() {
            Ok(Some(file)) => self.file_key(&file).map(|_| ()),
            Ok(None) => self.probe(),
            Err(refusal) => Err(refusal),
        };
        works.map_or_else(SecretsStatus::from, |()| SecretsStatus::Keychain)
    }
}

/// Returns the maximum time to wait for the lock on the name of a secret or mark (a keychain entry with the latest
/// state of a file).
fn max_name_lock_wait(name: &str) -> Duration {
    let is_mark =
        [crate::document_mac::DOCUMENTS_KEYCHAIN_MARK_NAME, crate::audit::AUDIT_KEYCHAIN_MARK_NAME].contains(&name);
    if is_mark { MAX_KEYCHAIN_MARK_LOCK_WAIT } else { MAX_SECRET_LOCK_WAIT }
}

fn short_hash(bytes: &[u8]) -> String {
    let hash = digest::digest(&digest::SHA256, bytes);
    hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn keychain_entry_name(id: &str) -> String {
    format!("key of secrets {id}")
}

/// Returns `true` if older versions may have stored a secret of this name in a separate keychain entry. They did so for
/// secrets in HTTP headers, which have names of the form `NAME @ ORIGIN`.
fn may_be_stored_in_old_keychain_entry(name: &str) -> bool {
    name.split_once(" @ ").is_some_and(|(_, origin)| origin.starts_with("http"))
}

#[cfg(test)]
mod tests;
