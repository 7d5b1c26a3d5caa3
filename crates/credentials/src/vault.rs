//! Where tokens are kept: among the app's secrets, each under all that it belongs to. What one server, or one entry of
//! `mcp.json`, has is never found under another.
//!
//! The keychain can't be called back: it may ask its user long after whoever wanted to write has gone. So the uses of one
//! entry's vault come one after the other, each until it is done, and once an entry was emptied no older vault writes to it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_auth::{Kept, Vault, VaultError, VaultKey, VaultKind, VaultProblem};
use ports::secrets::SecretsInMemory;
use ports::{SecretError, SecretKept, Secrets};
use secrecy::{ExposeSecret as _, SecretSlice};
use serde_json::json;

/// The vaults of all entries of `mcp.json`.
pub struct Vaults {
    secrets: Arc<dyn Secrets>,
    /// Those that are open.
    entries: Mutex<HashMap<String, Weak<Entry>>>,
}

/// What all vaults of one entry have in common.
#[derive(Default)]
struct Entry {
    /// One use at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// How often it was emptied. A vault that was opened before is closed.
    emptied: AtomicU64,
}

/// The tokens of one entry of `mcp.json`. Two entries may lead to the same server with two accounts.
pub struct SecretsVault {
    name: String,
    secrets: Arc<dyn Secrets>,
    entry: Arc<Entry>,
    /// What [`Entry::emptied`] was when it was opened.
    opened: u64,
}

/// A vault that was emptied.
pub struct Emptied {
    /// What was in it, as far as it could be read, in memory. None if nothing.
    pub was: Option<SecretsVault>,
    /// Whether nothing is left.
    pub removed: Result<(), VaultError>,
}

impl Vaults {
    /// Vaults over the secrets of the app.
    pub fn new(secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets, entries: Mutex::default() }
    }

    /// The vault of an entry.
    pub fn open(&self, name: &str) -> SecretsVault {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|_, entry| entry.strong_count() > 0);
        let entry = entries.get(name).and_then(Weak::upgrade).unwrap_or_default();
        entries.insert(name.to_owned(), Arc::downgrade(&entry));
        SecretsVault::over(name, Arc::clone(&self.secrets), entry)
    }

    /// Removes all that is kept of an entry, whatever server it was for. Vaults of it that are open are closed at once,
    /// before the future is polled.
    pub fn empty(&self, name: &str) -> impl Future<Output = Emptied> + Send + use<> {
        let (vault, was) = (self.open(name), Arc::new(SecretsInMemory::default()));
        vault.entry.emptied.fetch_add(1, Ordering::SeqCst);
        async move {
            let (prefix, into) = (vault.prefix(), Arc::clone(&was));
            let removed = vault.blocking(move |secrets| take_all(secrets, &prefix, &into)).await;
            let is_something = was.keys("").is_ok_and(|keys| !keys.is_empty());
            let was = is_something.then(|| SecretsVault::over(&vault.name, was, Arc::default()));
            Emptied { was, removed }
        }
    }
}

/// Moves all secrets whose keys begin with this. What can't be read is only removed.
fn take_all(secrets: &dyn Secrets, prefix: &str, into: &SecretsInMemory) -> Result<(), SecretError> {
    let keys = secrets.keys(prefix)?;
    for key in &keys {
        match secrets.get(key) {
            Ok(Some(secret)) => drop(into.set(key, &secret)?),
            Ok(None) => {}
            // A keychain that refuses may take a minute for each.
            Err(_) => break,
        }
    }
    let mut removed = Ok(());
    for key in keys {
        // The others also if one fails.
        removed = removed.and(secrets.delete(&key));
    }
    removed
}

impl SecretsVault {
    fn over(name: &str, secrets: Arc<dyn Secrets>, entry: Arc<Entry>) -> Self {
        let opened = entry.emptied.load(Ordering::SeqCst);
        Self { name: name.to_owned(), secrets, entry, opened }
    }

    /// What an entry is kept under. As JSON, so that no two keys can be the same text.
    fn key(&self, key: &VaultKey) -> String {
        let kind = match &key.kind {
            VaultKind::Account => json!(["account"]),
            VaultKind::FirstIssuer => json!(["first-issuer"]),
            VaultKind::Client { issuer } => json!(["client", issuer]),
        };
        json!(["sign-in", self.name, key.server, kind]).to_string()
    }

    /// What every key of this entry begins with, and no other.
    fn prefix(&self) -> String {
        let whole = json!(["sign-in", self.name, ""]).to_string();
        whole.trim_end_matches("\"\"]").to_owned()
    }

    /// Runs something that blocks: the keychain may ask the user. It keeps its turn until it is done, also when nobody waits
    /// for it any more.
    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Secrets) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let turn = Arc::clone(&self.entry.turn).lock_owned().await;
        let secrets = Arc::clone(&self.secrets);
        let done = tokio::task::spawn_blocking(move || {
            let done = act(secrets.as_ref());
            drop(turn);
            done
        });
        match done.await {
            Ok(done) => done.map_err(|error| failed(&error)),
            Err(error) => Err(VaultError { kind: VaultProblem::Broken, cause: error.to_string() }),
        }
    }

    /// The same; none if the entry was emptied since this vault was opened.
    async fn while_open<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Secrets) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<Option<T>, VaultError> {
        let (entry, opened) = (Arc::clone(&self.entry), self.opened);
        self.blocking(move |secrets| {
            let is_open = entry.emptied.load(Ordering::SeqCst) == opened;
            is_open.then(|| act(secrets)).transpose()
        })
        .await
    }
}

fn failed(error: &SecretError) -> VaultError {
    let kind = match error {
        SecretError::Locked(_) => VaultProblem::Locked,
        SecretError::Missing(_) => VaultProblem::Missing,
        SecretError::Failed(_) => VaultProblem::Broken,
    };
    VaultError { kind, cause: error.to_string() }
}

/// Why a vault is not used any more.
fn closed() -> VaultError {
    let cause = "this server was removed or has another address now; nothing more is kept of it".to_owned();
    VaultError { kind: VaultProblem::Closed, cause }
}

#[async_trait]
impl Vault for SecretsVault {
    async fn read(&self, key: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError> {
        let key = self.key(key);
        let kept = self.while_open(move |secrets| secrets.get(&key)).await?.ok_or_else(closed)?;
        let Some(kept) = kept else { return Ok(None) };
        let bytes = STANDARD.decode(kept).map_err(|_| VaultError {
            kind: VaultProblem::Broken,
            cause: "what is kept of this sign-in can't be read; sign in again".to_owned(),
        })?;
        Ok(Some(bytes.into()))
    }

    async fn write(&self, key: &VaultKey, entry: SecretSlice<u8>) -> Result<Kept, VaultError> {
        let key = self.key(key);
        let write = move |secrets: &dyn Secrets| secrets.set(&key, &STANDARD.encode(entry.expose_secret()));
        Ok(match self.while_open(write).await?.ok_or_else(closed)? {
            SecretKept::Keychain => Kept::Safely,
            SecretKept::ThisRun { cause } => Kept::ThisRun { cause },
        })
    }

    async fn remove(&self, key: &VaultKey) -> Result<(), VaultError> {
        let key = self.key(key);
        // Of one that was emptied nothing is left.
        self.while_open(move |secrets| secrets.delete(&key)).await.map(|_| ())
    }

    async fn hold(&self, key: &VaultKey) -> Option<Box<dyn Send>> {
        // Without its turn: another program may hold it for a while, and what is read and removed here does not wait for that.
        let (key, secrets) = (self.key(key), Arc::clone(&self.secrets));
        tokio::task::spawn_blocking(move || secrets.hold(&key)).await.ok().flatten()
    }
}

#[cfg(test)]
mod tests;
