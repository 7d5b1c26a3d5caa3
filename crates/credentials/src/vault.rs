//! Stores tokens in Drawbridge's secret store. The storage key contains the entry of `mcp.json` and the server, so that
//! tokens are never used for another entry or server.
//!
//! A keychain operation can't be cancelled, because the keychain may prompt the user after the caller has stopped
//! waiting. Therefore the operations on the vault of one entry are serialized, and each runs until it completes. After
//! the vault of an entry was emptied, earlier opened vaults of the entry can't write to it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_auth::{Vault, VaultEntryKind, VaultEntryPersistence, VaultError, VaultKey, VaultProblem};
use ports::secrets::SecretsInMemory;
use ports::{SecretError, SecretPersistence, Secrets};
use secrecy::{ExposeSecret as _, SecretSlice};
use serde_json::json;

/// Opens and empties vaults. A vault contains the OAuth tokens of one server entry in `mcp.json`.
pub struct TokenVaults {
    secrets: Arc<dyn Secrets>,
    /// Shared state of the entries with open vaults, by name of the entry.
    entries: Mutex<HashMap<String, Weak<ServerVaultState>>>,
}

/// State that all open vaults of one server in `mcp.json` share.
#[derive(Default)]
struct ServerVaultState {
    /// Lock that serializes the operations on the entry, also across its open vaults.
    lock: Arc<tokio::sync::Mutex<()>>,
    /// Number of times that the entry was emptied. A vault that was opened before the entry was last emptied is closed.
    emptied_count: AtomicU64,
}

/// Vault with the tokens of one entry in `mcp.json`. Several entries may refer to the same server, each with another
/// account.
pub struct SecretsVault {
    name: String,
    secrets: Arc<dyn Secrets>,
    entry: Arc<ServerVaultState>,
    /// Value of [`ServerVaultState::emptied_count`] when this vault was opened.
    emptied_count_at_open: u64,
}

/// Result of emptying the vault of an entry.
pub struct EmptiedVault {
    /// Vault in memory with a copy of the removed tokens, as far as they could be read. `None` if the entry had no
    /// tokens.
    pub was: Option<SecretsVault>,
    /// `Ok` if all secrets of the entry were removed from the secret store.
    pub removed: Result<(), VaultError>,
}

impl TokenVaults {
    /// Creates vaults that store their contents in this secret store.
    pub fn new(secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets, entries: Mutex::default() }
    }

    /// Opens the vault of the entry with this name.
    pub fn open(&self, name: &str) -> SecretsVault {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|_, entry| entry.strong_count() > 0);
        let entry = entries.get(name).and_then(Weak::upgrade).unwrap_or_default();
        entries.insert(name.to_owned(), Arc::downgrade(&entry));
        SecretsVault::new(name, Arc::clone(&self.secrets), entry)
    }

    /// Removes all tokens of an entry, for all servers. Open vaults of the entry are closed by the call itself, before
    /// the returned future is polled.
    pub fn empty_vault(&self, name: &str) -> impl Future<Output = EmptiedVault> + Send + use<> {
        let (vault, was) = (self.open(name), Arc::new(SecretsInMemory::default()));
        vault.entry.emptied_count.fetch_add(1, Ordering::SeqCst);
        async move {
            let (prefix, into) = (vault.storage_key_prefix(), Arc::clone(&was));
            let removed =
                vault.run_blocking(move |secrets| move_secrets_with_prefix_to_memory(secrets, &prefix, &into)).await;
            let is_something = was.keys("").is_ok_and(|keys| !keys.is_empty());
            let was = is_something.then(|| SecretsVault::new(&vault.name, was, Arc::default()));
            EmptiedVault { was, removed }
        }
    }
}

/// Moves all secrets whose keys have this prefix to `into`. Secrets that can't be read are only removed.
fn move_secrets_with_prefix_to_memory(
    secrets: &dyn Secrets,
    prefix: &str,
    into: &SecretsInMemory,
) -> Result<(), SecretError> {
    let keys = secrets.keys(prefix)?;
    for key in &keys {
        match secrets.get(key) {
            Ok(Some(secret)) => drop(into.set(key, &secret)?),
            Ok(None) => {}
            // Reading stops at the first error, because a keychain that rejects requests may take a minute for each
            // secret.
            Err(_) => break,
        }
    }
    let mut removed = Ok(());
    for key in keys {
        // A failed removal does not prevent the removal of further secrets.
        removed = removed.and(secrets.delete(&key));
    }
    removed
}

impl SecretsVault {
    fn new(name: &str, secrets: Arc<dyn Secrets>, entry: Arc<ServerVaultState>) -> Self {
        let emptied_count_at_open = entry.emptied_count.load(Ordering::SeqCst);
        Self { name: name.to_owned(), secrets, entry, emptied_count_at_open }
    }

    /// Returns the key under which the secret store contains a vault entry. It is JSON, so that different components
    /// never result in the same key.
    fn storage_key(&self, key: &VaultKey) -> String {
        let kind = match &key.kind {
            VaultEntryKind::Account => json!(["account"]),
            VaultEntryKind::FirstIssuer => json!(["first-issuer"]),
            VaultEntryKind::Client { issuer } => json!(["client", issuer]),
        };
        json!(["sign-in", self.name, key.server, kind]).to_string()
    }

    /// Returns the common prefix of all storage keys of this entry. No storage key of another entry has this prefix.
    fn storage_key_prefix(&self) -> String {
        let whole = json!(["sign-in", self.name, ""]).to_string();
        whole.trim_end_matches("\"\"]").to_owned()
    }

    /// Runs a blocking operation on the secret store. Holds the entry's lock until the operation completes, even if the
    /// returned future is dropped, because the keychain may still prompt the user.
    async fn run_blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Secrets) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let lock = Arc::clone(&self.entry.lock).lock_owned().await;
        let secrets = Arc::clone(&self.secrets);
        let done = tokio::task::spawn_blocking(move || {
            let done = act(secrets.as_ref());
            drop(lock);
            done
        });
        match done.await {
            Ok(done) => done.map_err(|error| to_vault_error(&error)),
            Err(error) => Err(VaultError { kind: VaultProblem::Broken, cause: error.to_string() }),
        }
    }

    /// Runs an operation like [`Self::run_blocking`]. Returns `None` without running it if the entry was emptied since
    /// this vault was opened.
    async fn run_blocking_if_open<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Secrets) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<Option<T>, VaultError> {
        let (entry, opened) = (Arc::clone(&self.entry), self.emptied_count_at_open);
        self.run_blocking(move |secrets| {
            let is_open = entry.emptied_count.load(Ordering::SeqCst) == opened;
            is_open.then(|| act(secrets)).transpose()
        })
        .await
    }
}

fn to_vault_error(error: &SecretError) -> VaultError {
    let kind = match error {
        SecretError::Locked(_) => VaultProblem::Locked,
        SecretError::Missing(_) => VaultProblem::Missing,
        SecretError::Failed(_) => VaultProblem::Broken,
    };
    VaultError { kind, cause: error.to_string() }
}

/// Returns the error of operations on a vault that is closed because its entry was emptied.
fn closed_vault_error() -> VaultError {
    let cause = "this server was removed or its address has changed; its tokens are no longer stored".to_owned();
    VaultError { kind: VaultProblem::Closed, cause }
}

#[async_trait]
impl Vault for SecretsVault {
    async fn read(&self, key: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError> {
        let key = self.storage_key(key);
        let stored =
            self.run_blocking_if_open(move |secrets| secrets.get(&key)).await?.ok_or_else(closed_vault_error)?;
        let Some(stored) = stored else { return Ok(None) };
        let bytes = STANDARD.decode(stored).map_err(|_| VaultError {
            kind: VaultProblem::Broken,
            cause: "the stored tokens of this sign-in can't be read; sign in again".to_owned(),
        })?;
        Ok(Some(bytes.into()))
    }

    async fn write(&self, key: &VaultKey, entry: SecretSlice<u8>) -> Result<VaultEntryPersistence, VaultError> {
        let key = self.storage_key(key);
        let write = move |secrets: &dyn Secrets| secrets.set(&key, &STANDARD.encode(entry.expose_secret()));
        Ok(match self.run_blocking_if_open(write).await?.ok_or_else(closed_vault_error)? {
            SecretPersistence::Keychain => VaultEntryPersistence::Safely,
            SecretPersistence::ThisRun { cause } => VaultEntryPersistence::ThisRun { cause },
        })
    }

    async fn remove(&self, key: &VaultKey) -> Result<(), VaultError> {
        let key = self.storage_key(key);
        // After the entry was emptied, there is nothing to remove.
        self.run_blocking_if_open(move |secrets| secrets.delete(&key)).await.map(|_| ())
    }

    /// Locks the name of the secret in the secret store, against other processes.
    async fn lock_entry(&self, key: &VaultKey) -> Option<Box<dyn Send>> {
        // Does not take the entry's lock: another process may have locked the secret's name for a long time, and reads
        // and removals must not wait for that.
        let (key, secrets) = (self.storage_key(key), Arc::clone(&self.secrets));
        tokio::task::spawn_blocking(move || secrets.lock_name(&key)).await.ok().flatten()
    }
}

#[cfg(test)]
mod tests;
