//! Tests of the vault with keychains that are locked, reject requests, or prompt the user.

#![allow(clippy::unwrap_used)]

use std::sync::Condvar;
use std::sync::atomic::AtomicBool;

use super::*;

/// Secret store that only records the names of secrets that [`Secrets::lock_name`] locks.
#[derive(Default)]
struct LockRecordingSecrets(Mutex<Vec<String>>);

impl Secrets for LockRecordingSecrets {
    fn get(&self, _key: &str) -> Result<Option<String>, SecretError> {
        Ok(None)
    }

    fn set(&self, _key: &str, _secret: &str) -> Result<SecretPersistence, SecretError> {
        Ok(SecretPersistence::Keychain)
    }

    fn delete(&self, _key: &str) -> Result<(), SecretError> {
        Ok(())
    }

    fn keys(&self, _prefix: &str) -> Result<Vec<String>, SecretError> {
        Ok(Vec::new())
    }

    fn lock_name(&self, name: &str) -> Option<Box<dyn Send>> {
        self.0.lock().unwrap().push(name.to_owned());
        Some(Box::new(()))
    }
}

#[tokio::test]
async fn each_vault_key_has_its_own_lock() {
    let holding = Arc::new(LockRecordingSecrets::default());
    let key = VaultKey { server: "https://a.example/mcp".to_owned(), kind: VaultEntryKind::Account };
    for entry in ["work", "home"] {
        let vault = TokenVaults::new(Arc::clone(&holding) as Arc<dyn Secrets>).open(entry);
        assert!(vault.lock_entry(&key).await.is_some(), "the lock of {entry} should be acquired");
    }
    let held = holding.0.lock().unwrap().clone();
    assert_eq!(held.len(), 2, "each entry should be locked: {held:?}");
    assert_ne!(held[0], held[1], "two accounts should have different locks");
}

/// Secret store whose operations all fail with the same error.
struct FailingKeychain(SecretError);

impl Secrets for FailingKeychain {
    fn get(&self, _key: &str) -> Result<Option<String>, SecretError> {
        Err(self.0.clone())
    }

    fn set(&self, _key: &str, _secret: &str) -> Result<SecretPersistence, SecretError> {
        Err(self.0.clone())
    }

    fn delete(&self, _key: &str) -> Result<(), SecretError> {
        Err(self.0.clone())
    }

    fn keys(&self, _prefix: &str) -> Result<Vec<String>, SecretError> {
        Err(self.0.clone())
    }
}

#[tokio::test]
async fn vault_error_advice_matches_its_cause() {
    let next = |error: VaultError| {
        let error =
            mcp_auth::AuthError { phase: mcp_auth::AuthPhase::Storage, cause: mcp_auth::AuthErrorCause::Vault(error) };
        error.next_step()
    };
    for (refusal, expected) in [
        (SecretError::Locked("for this test".to_owned()), "Unlock the keychain"),
        (SecretError::Missing("for this test".to_owned()), "Start a keychain"),
        (SecretError::Failed("mend the file, or move it away".to_owned()), "Fix the problem described here"),
    ] {
        let vault = TokenVaults::new(Arc::new(FailingKeychain(refusal.clone()))).open("far");
        let error = vault.read(&account_key()).await.unwrap_err();
        assert!(next(error).starts_with(expected), "the error should contain the next step after {refusal}");
    }
    let vaults = TokenVaults::new(Arc::new(SecretsInMemory::default()));
    let vault = vaults.open("far");
    vaults.empty_vault("far").await.removed.unwrap();
    let error = vault.read(&account_key()).await.unwrap_err();
    assert!(!next(error).contains("eychain"), "the error of a removed server should not mention the keychain");
}

#[tokio::test]
async fn vault_entry_is_not_found_under_another_key() {
    let secrets: Arc<dyn Secrets> = Arc::new(SecretsInMemory::default());
    let key = |server: &str, kind| VaultKey { server: server.to_owned(), kind };
    let client = |issuer: &str| VaultEntryKind::Client { issuer: issuer.to_owned() };
    let (one, two) = ("https://a.example/mcp", "https://b.example/mcp");
    // Includes names that would result in equal keys without escaping.
    let all = [
        ("work", key(one, VaultEntryKind::Account)),
        ("home", key(one, VaultEntryKind::Account)),
        ("work", key(two, VaultEntryKind::Account)),
        ("work", key(one, client("https://i.example"))),
        ("work", key(one, client("https://i.example/"))),
        ("work\",\"x", key(one, VaultEntryKind::Account)),
        ("work", key("x\",\"https://a.example/mcp", VaultEntryKind::Account)),
    ];
    for (at, (entry, key)) in all.iter().enumerate() {
        let vault = TokenVaults::new(Arc::clone(&secrets)).open(entry);
        assert!(vault.read(key).await.unwrap().is_none(), "the vault should be empty at first: {entry} {key:?}");
        let persistence = vault.write(key, vec![at as u8, 0xff].into()).await.unwrap();
        assert!(
            matches!(persistence, VaultEntryPersistence::ThisRun { .. }),
            "the write should report temporary storage"
        );
    }
    for (at, (entry, key)) in all.iter().enumerate() {
        let vault = TokenVaults::new(Arc::clone(&secrets)).open(entry);
        let found = vault.read(key).await.unwrap().unwrap();
        assert_eq!(
            found.expose_secret(),
            [at as u8, 0xff],
            "the vault should return the written bytes: {entry} {key:?}"
        );
        vault.remove(key).await.unwrap();
        assert!(vault.read(key).await.unwrap().is_none(), "the entry should be removed: {entry} {key:?}");
    }
}

/// Keychain that prompts the user before each write, and waits for the response.
#[derive(Default)]
struct PromptingKeychain {
    inner: SecretsInMemory,
    is_open: Mutex<bool>,
    opened: Condvar,
    is_requested: AtomicBool,
}

impl PromptingKeychain {
    fn answer_prompt(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    async fn wait_until_prompted(&self) {
        while !self.is_requested.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    }
}

impl Secrets for PromptingKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.inner.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.is_requested.store(true, Ordering::SeqCst);
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

/// Yields to the other tasks of the runtime until all runnable ones have run.
async fn yield_until_idle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn account_key() -> VaultKey {
    VaultKey { server: "https://a.example/mcp".to_owned(), kind: VaultEntryKind::Account }
}

/// Starts a write and drops its future while the keychain prompts the user. Returns the keychain, the vaults and the
/// entry's vault.
async fn start_write_and_drop_its_future() -> (Arc<PromptingKeychain>, TokenVaults, SecretsVault) {
    let asking = Arc::new(PromptingKeychain::default());
    let vaults = TokenVaults::new(Arc::clone(&asking) as Arc<dyn Secrets>);
    let vault = vaults.open("work");
    {
        let key = account_key();
        let writing = vault.write(&key, vec![1].into());
        tokio::select! {
            _ = writing => panic!("the write did not wait for the user"),
            () = asking.wait_until_prompted() => {}
        }
    }
    (asking, vaults, vault)
}

#[tokio::test]
async fn delayed_write_does_not_overwrite_a_later_one() {
    let (asking, _vaults, vault) = start_write_and_drop_its_future().await;
    let key = account_key();
    let after = async {
        yield_until_idle().await;
        asking.answer_prompt();
    };
    let (written, ()) = tokio::join!(vault.write(&key, vec![2].into()), after);
    written.unwrap();
    assert_eq!(vault.read(&key).await.unwrap().unwrap().expose_secret(), [2], "the later write should win");

    let (asking, _vaults, vault) = start_write_and_drop_its_future().await;
    let after = async {
        yield_until_idle().await;
        asking.answer_prompt();
    };
    let (removed, ()) = tokio::join!(vault.remove(&key), after);
    removed.unwrap();
    assert!(vault.read(&key).await.unwrap().is_none(), "a removed entry should stay removed");
}

#[tokio::test]
async fn cleared_vault_entry_stays_empty() {
    let (asking, vaults, vault) = start_write_and_drop_its_future().await;
    let key = account_key();
    let other = "[\"sign-in\",\"work\\\",\\\"x\",\"https://a.example/mcp\",[\"account\"]]";
    let registration = "[\"sign-in\",\"work\",\"https://b.example/mcp\",[\"client\",\"https://i.example\"]]";
    for key in [other, registration] {
        asking.inner.set(key, "eA==").unwrap();
    }
    let emptying = vaults.empty_vault("work");
    // The vault is closed although nothing has been removed yet.
    let after = async {
        yield_until_idle().await;
        asking.answer_prompt();
    };
    let (written, emptied, ()) = tokio::join!(vault.write(&key, vec![2].into()), emptying, after);
    assert!(written.is_err(), "a write after emptying should fail");
    emptied.removed.unwrap();
    assert_eq!(asking.inner.keys("").unwrap(), [other], "only the other entry's secrets should remain");
    let was = emptied.was.unwrap();
    let read = was.read(&key).await.unwrap().unwrap();
    assert_eq!(read.expose_secret(), [1], "the removed tokens should be available for revocation");
    assert!(vault.write(&key, vec![3].into()).await.is_err(), "a closed vault should refuse writes");
    assert!(vault.remove(&key).await.is_ok(), "removing from an emptied entry should succeed");
    let anew = vaults.open("work");
    anew.write(&key, vec![4].into()).await.unwrap();
    vault.remove(&key).await.unwrap();
    assert!(anew.read(&key).await.unwrap().is_some(), "an old vault should not remove the tokens of a new one");
}
