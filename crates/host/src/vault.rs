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
use mcp_auth::{Kept, Vault, VaultError, VaultKey, VaultKind};
use secrecy::{ExposeSecret as _, SecretSlice};
use serde_json::json;

use crate::ports::{SecretError, SecretKept, Secrets};
use crate::secrets::SecretsInMemory;

/// The vaults of all entries of `mcp.json`.
pub(crate) struct Vaults {
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
pub(crate) struct SecretsVault {
    name: String,
    secrets: Arc<dyn Secrets>,
    entry: Arc<Entry>,
    /// What [`Entry::emptied`] was when it was opened.
    opened: u64,
}

/// A vault that was emptied.
pub(crate) struct Emptied {
    /// What was in it, as far as it could be read, in memory. None if nothing.
    pub(crate) was: Option<SecretsVault>,
    /// Whether nothing is left.
    pub(crate) removed: Result<(), VaultError>,
}

impl Vaults {
    pub(crate) fn new(secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets, entries: Mutex::default() }
    }

    /// The vault of an entry.
    pub(crate) fn open(&self, name: &str) -> SecretsVault {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|_, entry| entry.strong_count() > 0);
        let entry = entries.get(name).and_then(Weak::upgrade).unwrap_or_default();
        entries.insert(name.to_owned(), Arc::downgrade(&entry));
        SecretsVault::over(name, Arc::clone(&self.secrets), entry)
    }

    /// Removes all that is kept of an entry, whatever server it was for. Vaults of it that are open are closed at once,
    /// before the future is polled.
    pub(crate) fn empty(&self, name: &str) -> impl Future<Output = Emptied> + Send + use<> {
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
        done.await
            .map_err(|error| error.to_string())
            .and_then(|done| done.map_err(|error| error.to_string()))
            .map_err(|cause| VaultError { cause })
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

/// Why a vault is not used any more.
fn closed() -> VaultError {
    VaultError { cause: "this server was removed or has another address now; nothing more is kept of it".to_owned() }
}

#[async_trait]
impl Vault for SecretsVault {
    async fn read(&self, key: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError> {
        let key = self.key(key);
        let kept = self.while_open(move |secrets| secrets.get(&key)).await?.ok_or_else(closed)?;
        let Some(kept) = kept else { return Ok(None) };
        let bytes = STANDARD.decode(kept).map_err(|_| VaultError {
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
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Condvar;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;

    /// Keeps nothing but the names that were held.
    #[derive(Default)]
    struct Holding(Mutex<Vec<String>>);

    impl Secrets for Holding {
        fn get(&self, _key: &str) -> Result<Option<String>, SecretError> {
            Ok(None)
        }

        fn set(&self, _key: &str, _secret: &str) -> Result<SecretKept, SecretError> {
            Ok(SecretKept::Keychain)
        }

        fn delete(&self, _key: &str) -> Result<(), SecretError> {
            Ok(())
        }

        fn keys(&self, _prefix: &str) -> Result<Vec<String>, SecretError> {
            Ok(Vec::new())
        }

        fn hold(&self, name: &str) -> Option<Box<dyn Send>> {
            self.0.lock().unwrap().push(name.to_owned());
            Some(Box::new(()))
        }
    }

    #[tokio::test]
    async fn each_sign_in_is_held_by_itself() {
        let holding = Arc::new(Holding::default());
        let key = VaultKey { server: "https://a.example/mcp".to_owned(), kind: VaultKind::Account };
        for entry in ["work", "home"] {
            let vault = Vaults::new(Arc::clone(&holding) as Arc<dyn Secrets>).open(entry);
            assert!(vault.hold(&key).await.is_some(), "{entry} is held");
        }
        let held = holding.0.lock().unwrap().clone();
        assert_eq!(held.len(), 2, "each was held: {held:?}");
        assert_ne!(held[0], held[1], "two accounts do not wait for each other");
    }

    #[tokio::test]
    async fn nothing_is_found_under_another_key() {
        let secrets: Arc<dyn Secrets> = Arc::new(SecretsInMemory::default());
        let key = |server: &str, kind| VaultKey { server: server.to_owned(), kind };
        let client = |issuer: &str| VaultKind::Client { issuer: issuer.to_owned() };
        let (one, two) = ("https://a.example/mcp", "https://b.example/mcp");
        // Texts that would be the same without their bounds are among them.
        let all = [
            ("work", key(one, VaultKind::Account)),
            ("home", key(one, VaultKind::Account)),
            ("work", key(two, VaultKind::Account)),
            ("work", key(one, client("https://i.example"))),
            ("work", key(one, client("https://i.example/"))),
            ("work\",\"x", key(one, VaultKind::Account)),
            ("work", key("x\",\"https://a.example/mcp", VaultKind::Account)),
        ];
        for (at, (entry, key)) in all.iter().enumerate() {
            let vault = Vaults::new(Arc::clone(&secrets)).open(entry);
            assert!(vault.read(key).await.unwrap().is_none(), "nothing is there before: {entry} {key:?}");
            let kept = vault.write(key, vec![at as u8, 0xff].into()).await.unwrap();
            assert!(matches!(kept, Kept::ThisRun { .. }), "that it does not last is told");
        }
        for (at, (entry, key)) in all.iter().enumerate() {
            let vault = Vaults::new(Arc::clone(&secrets)).open(entry);
            let found = vault.read(key).await.unwrap().unwrap();
            assert_eq!(found.expose_secret(), [at as u8, 0xff], "its own is there, byte for byte: {entry} {key:?}");
            vault.remove(key).await.unwrap();
            assert!(vault.read(key).await.unwrap().is_none(), "and gone: {entry} {key:?}");
        }
    }

    /// A keychain that asks its user before it takes anything, and waits for the answer.
    #[derive(Default)]
    struct Asking {
        inner: SecretsInMemory,
        is_open: Mutex<bool>,
        opened: Condvar,
        is_asked: AtomicBool,
    }

    impl Asking {
        fn answers(&self) {
            *self.is_open.lock().unwrap() = true;
            self.opened.notify_all();
        }

        async fn until_asked(&self) {
            while !self.is_asked.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    impl Secrets for Asking {
        fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
            self.inner.get(key)
        }

        fn set(&self, key: &str, secret: &str) -> Result<SecretKept, SecretError> {
            self.is_asked.store(true, Ordering::SeqCst);
            drop(self.opened.wait_while(self.is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
            self.inner.set(key, secret)
        }

        fn delete(&self, key: &str) -> Result<(), SecretError> {
            self.inner.delete(key)
        }

        fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
            self.inner.keys(prefix)
        }
    }

    fn account() -> VaultKey {
        VaultKey { server: "https://a.example/mcp".to_owned(), kind: VaultKind::Account }
    }

    /// A keychain that asks its user about a write which nobody waits for any more, and the vault that it is of.
    async fn given_up_write() -> (Arc<Asking>, Vaults, SecretsVault) {
        let asking = Arc::new(Asking::default());
        let vaults = Vaults::new(Arc::clone(&asking) as Arc<dyn Secrets>);
        let vault = vaults.open("work");
        {
            let key = account();
            let writing = vault.write(&key, vec![1].into());
            tokio::select! {
                _ = writing => panic!("it waits for the user"),
                () = asking.until_asked() => {}
            }
        }
        (asking, vaults, vault)
    }

    #[tokio::test]
    async fn what_is_written_late_is_not_written_after_what_came_later() {
        let (asking, _vaults, vault) = given_up_write().await;
        let key = account();
        let after = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            asking.answers();
        };
        let (written, ()) = tokio::join!(vault.write(&key, vec![2].into()), after);
        written.unwrap();
        assert_eq!(vault.read(&key).await.unwrap().unwrap().expose_secret(), [2], "the later one counts");

        let (asking, _vaults, vault) = given_up_write().await;
        let after = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            asking.answers();
        };
        let (removed, ()) = tokio::join!(vault.remove(&key), after);
        removed.unwrap();
        assert!(vault.read(&key).await.unwrap().is_none(), "what was removed does not come back");
    }

    #[tokio::test]
    async fn an_entry_that_was_emptied_stays_empty() {
        let (asking, vaults, vault) = given_up_write().await;
        let key = account();
        let other = "[\"sign-in\",\"work\\\",\\\"x\",\"https://a.example/mcp\",[\"account\"]]";
        let registration = "[\"sign-in\",\"work\",\"https://b.example/mcp\",[\"client\",\"https://i.example\"]]";
        for key in [other, registration] {
            asking.inner.set(key, "eA==").unwrap();
        }
        let emptying = vaults.empty("work");
        // Closed from now on, though nothing was removed yet.
        let after = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            asking.answers();
        };
        let (written, emptied, ()) = tokio::join!(vault.write(&key, vec![2].into()), emptying, after);
        assert!(written.is_err(), "who comes too late is told");
        emptied.removed.unwrap();
        assert_eq!(asking.inner.keys("").unwrap(), [other], "nothing is left of it, and all of another entry");
        let was = emptied.was.unwrap();
        let read = was.read(&key).await.unwrap().unwrap();
        assert_eq!(read.expose_secret(), [1], "what there was can be revoked");
        assert!(vault.write(&key, vec![3].into()).await.is_err(), "nothing is written any more");
        assert!(vault.remove(&key).await.is_ok(), "nothing is there to be removed");
        let anew = vaults.open("work");
        anew.write(&key, vec![4].into()).await.unwrap();
        vault.remove(&key).await.unwrap();
        assert!(anew.read(&key).await.unwrap().is_some(), "who signs in anew is not disturbed by the old one");
    }
}
