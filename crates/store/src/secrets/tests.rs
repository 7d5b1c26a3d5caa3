//! Tests of the secrets with a scripted keychain in different states.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use super::*;

/// Behavior of the scripted keychain when it is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum KeychainMode {
    #[default]
    Works,
    /// Behaves like a locked GNOME Keyring: reports that nothing exists, and rejects writes.
    Locked,
    Missing,
}

#[derive(Default, Clone)]
struct ScriptedKeychain(Arc<Mutex<KeychainEntries>>);

#[derive(Default)]
struct KeychainEntries {
    mode: KeychainMode,
    entries: HashMap<String, Vec<u8>>,
}

impl ScriptedKeychain {
    fn set_mode(&self, mode: KeychainMode) {
        self.0.lock().unwrap().mode = mode;
    }

    fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().entries.keys().cloned().collect()
    }

    fn with_entries<T>(
        &self,
        act: impl FnOnce(&mut HashMap<String, Vec<u8>>) -> T,
        locked: Option<T>,
    ) -> Result<T, KeychainError> {
        let mut inner = self.0.lock().unwrap();
        match inner.mode {
            KeychainMode::Works => Ok(act(&mut inner.entries)),
            KeychainMode::Locked => locked.map_or_else(|| Err(KeychainError::Locked("it is locked".to_owned())), Ok),
            KeychainMode::Missing => Err(KeychainError::Missing("nobody answers".to_owned())),
        }
    }
}

impl Keychain for ScriptedKeychain {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, KeychainError> {
        self.with_entries(|entries| entries.get(name).cloned(), Some(None))
    }

    fn write(&self, name: &str, secret: &[u8]) -> Result<(), KeychainError> {
        self.with_entries(|entries| drop(entries.insert(name.to_owned(), secret.to_vec())), None)
    }

    fn remove(&self, name: &str) -> Result<(), KeychainError> {
        self.with_entries(|entries| drop(entries.remove(name)), None)
    }
}

struct SecretsFolder {
    folder: tempfile::TempDir,
    keychain: ScriptedKeychain,
}

impl SecretsFolder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), keychain: ScriptedKeychain::default() }
    }

    /// Opens the secrets of the folder in another instance, as another process does.
    fn open_secrets(&self) -> SecretsFile {
        let lock = FolderLock::new(self.folder.path().join("lock"));
        SecretsFile::with_keychain(self.folder.path(), lock, Box::new(self.keychain.clone()))
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(SECRETS_FILE)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }
}

fn is_persistent(persistence: &SecretPersistence) -> bool {
    *persistence == SecretPersistence::Keychain
}

fn temporary_cause(persistence: SecretPersistence) -> String {
    match persistence {
        SecretPersistence::ThisRun { cause } => cause,
        SecretPersistence::Keychain => panic!("the secret must be stored in memory only"),
    }
}

#[test]
fn keychain_contains_one_key_and_no_secret() {
    let folder = SecretsFolder::new();
    let secrets = folder.open_secrets();
    assert_eq!(secrets.status(), SecretsStatus::Keychain, "the keychain must be available");
    assert!(folder.keychain.names().is_empty(), "the status check must leave no entry");
    for number in 0..5 {
        assert!(
            is_persistent(&secrets.set(&format!("n{number}"), &format!("top-secret-{number}")).unwrap()),
            "the secret must be persistent"
        );
    }
    assert_eq!(
        folder.keychain.names().len(),
        1,
        "the keychain must have one entry for all secrets: {:?}",
        folder.keychain.names()
    );
    assert!(!folder.text().contains("top-secret"), "the file must not contain a secret in plain text");
    let other = folder.open_secrets();
    for number in 0..5 {
        let found = other.get(&format!("n{number}")).unwrap();
        assert_eq!(found, Some(format!("top-secret-{number}")), "another process must read the secrets");
    }
    assert_eq!(other.get("n9").unwrap(), None, "an unknown secret must not exist");
    other.delete("n0").unwrap();
    assert_eq!(secrets.get("n0").unwrap(), None, "a deletion must apply to all processes");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = || folder.file().metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600, "only the owner may read the file");
        std::fs::set_permissions(folder.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
        secrets.set("n1", "x").unwrap();
        assert_eq!(mode(), 0o600, "permissions must be restored");
    }
}

#[test]
fn locked_keychain_that_seems_empty_loses_nothing() {
    let folder = SecretsFolder::new();
    folder.open_secrets().set("a", "old").unwrap();
    let (file, names) = (folder.text(), folder.keychain.names());
    folder.keychain.set_mode(KeychainMode::Locked);
    let secrets = folder.open_secrets();
    let refused = secrets.get("a");
    assert!(matches!(refused, Err(SecretError::Locked(_))), "the lock must be reported: {refused:?}");
    assert!(
        matches!(secrets.status(), SecretsStatus::Locked { .. }),
        "the status must report the lock: {:?}",
        secrets.status()
    );
    let cause = temporary_cause(secrets.set("a", "new").unwrap());
    assert!(
        cause.contains("locked") && cause.contains("an older value"),
        "the message must mention the older value: {cause}"
    );
    assert_eq!(secrets.get("a").unwrap().as_deref(), Some("new"), "the new value must be used in this run");
    secrets.set("b", "also").unwrap();
    assert_eq!((folder.text(), folder.keychain.names()), (file, names), "nothing must be overwritten");
    folder.keychain.set_mode(KeychainMode::Works);
    assert_eq!(folder.open_secrets().get("a").unwrap().as_deref(), Some("old"), "the old value must be readable");
    assert!(
        is_persistent(&secrets.set("c", "later").unwrap()),
        "a secret must be persistent once the keychain is unlocked"
    );
    let next = folder.open_secrets();
    for (name, secret) in [("a", "new"), ("b", "also"), ("c", "later")] {
        assert_eq!(next.get(name).unwrap().as_deref(), Some(secret), "earlier secrets must be stored as well: {name}");
    }
}

#[test]
fn secrets_without_a_keychain_last_for_the_run_and_are_reported() {
    let folder = SecretsFolder::new();
    folder.keychain.set_mode(KeychainMode::Missing);
    let secrets = folder.open_secrets();
    assert!(
        matches!(secrets.status(), SecretsStatus::Missing { .. }),
        "the missing keychain must be reported: {:?}",
        secrets.status()
    );
    let cause = temporary_cause(secrets.set("a", "top-secret").unwrap());
    assert!(cause.contains("nobody answers") && !cause.contains("older"), "the reason must be reported: {cause}");
    assert_eq!(secrets.get("a").unwrap().as_deref(), Some("top-secret"), "the secret must be available in this run");
    assert!(!folder.file().exists(), "no file must be written");
    assert_eq!(folder.open_secrets().get("a").unwrap(), None, "the secret must not be available in the next run");
    let refused = folder.open_secrets().get("a @ https://a.example");
    assert!(
        matches!(refused, Err(SecretError::Missing(_))),
        "a missing keychain must not be reported as broken: {refused:?}"
    );
    secrets.delete("a").unwrap();
    assert_eq!(secrets.get("a").unwrap(), None, "the secret must be deletable");
}

#[test]
fn lost_key_is_reported_and_nothing_is_overwritten() {
    let folder = SecretsFolder::new();
    folder.open_secrets().set("a", "old").unwrap();
    folder.keychain.0.lock().unwrap().entries.clear();
    let text = folder.text();
    let secrets = folder.open_secrets();
    let SecretsStatus::Broken { cause } = secrets.status() else { panic!("the error must be that the key is missing") };
    assert!(cause.contains("move that file away"), "the message must give advice: {cause}");
    assert!(secrets.get("a").is_err(), "the secret must not be readable");
    assert!(!is_persistent(&secrets.set("a", "new").unwrap()), "a secret must not be stored");
    assert_eq!(folder.text(), text, "the file must be unchanged");
    // The user moves the file to another name.
    std::fs::rename(folder.file(), folder.folder.path().join("aside")).unwrap();
    assert!(is_persistent(&secrets.set("a", "new").unwrap()), "a new file must be created");
    assert_eq!(folder.open_secrets().get("a").unwrap().as_deref(), Some("new"), "the new file must be readable");
}

#[test]
fn damaged_secrets_file_is_unchanged() {
    for text in ["{", "{}", "", r#"{"version":9,"key":"x","check":{"nonce":"","sealed":""},"entries":{}}"#] {
        let folder = SecretsFolder::new();
        std::fs::write(folder.file(), text).unwrap();
        let secrets = folder.open_secrets();
        assert!(matches!(secrets.status(), SecretsStatus::Broken { .. }), "{text:?}: {:?}", secrets.status());
        assert!(secrets.get("a").is_err(), "{text:?}: the damage must be reported");
        assert!(!is_persistent(&secrets.set("a", "x").unwrap()), "{text:?}: a new secret must be in memory only");
        assert_eq!(secrets.get("a").unwrap().as_deref(), Some("x"), "{text:?}: the secret must be available");
        assert!(secrets.delete("b").is_err(), "{text:?}: a deletion must fail");
        assert_eq!(folder.text(), text, "{text:?}: the file must be unchanged");
    }
}

#[test]
fn entries_of_older_versions_are_migrated_once() {
    let folder = SecretsFolder::new();
    let old = "github.Authorization @ https://api.example";
    folder.keychain.write(old, b"old-token").unwrap();
    let secrets = folder.open_secrets();
    assert_eq!(secrets.get(old).unwrap().as_deref(), Some("old-token"), "the old entry must be found");
    assert!(!folder.keychain.names().iter().any(|name| name == old), "the separate entry must be removed");
    assert_eq!(folder.open_secrets().get(old).unwrap().as_deref(), Some("old-token"), "the secret must be in the file");

    let other = "x.Y @ https://api.example";
    folder.keychain.write(other, b"older").unwrap();
    secrets.set(other, "newer").unwrap();
    assert_eq!(folder.open_secrets().get(other).unwrap().as_deref(), Some("newer"), "a new value must take precedence");
    let third = "z.Y @ https://api.example";
    folder.keychain.write(third, b"older").unwrap();
    secrets.delete(third).unwrap();
    assert_eq!(folder.open_secrets().get(third).unwrap(), None, "a deleted secret must not exist any more");

    // While the file can't be written, the separate keychain entry must not be removed.
    let folder = SecretsFolder::new();
    folder.keychain.write(old, b"old-token").unwrap();
    std::fs::create_dir(folder.file()).unwrap();
    assert!(folder.open_secrets().get(old).is_err(), "a folder in place of the file must be reported");
    assert_eq!(folder.keychain.names(), [old], "the old entry must remain");
}

#[test]
fn concurrently_started_processes_share_one_key() {
    for _ in 0..10 {
        let folder = SecretsFolder::new();
        std::thread::scope(|scope| {
            for program in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    let secrets = folder.open_secrets();
                    for number in 0..5 {
                        let name = format!("p{program}-{number}");
                        assert!(
                            is_persistent(&secrets.set(&name, &name).unwrap()),
                            "each secret must be persistent: {name}"
                        );
                    }
                });
            }
        });
        let reader = folder.open_secrets();
        for (program, number) in (0..4).flat_map(|program| (0..5).map(move |number| (program, number))) {
            let name = format!("p{program}-{number}");
            assert_eq!(reader.get(&name).unwrap(), Some(name.clone()), "no secret must be lost: {name}");
        }
        assert_eq!(folder.keychain.names().len(), 1, "unused keys must be removed");
    }
}

#[test]
fn name_lock_is_exclusive_between_processes() {
    let folder = SecretsFolder::new();
    let (one, two) = (folder.open_secrets(), folder.open_secrets());
    let held = one.lock_name("a").unwrap();
    assert!(two.lock_name("b").is_some(), "another name must not be locked");
    // The first process releases the name after the second one has found it locked.
    let (mut held, mut pauses) = (Some(held), 0);
    let next = two.acquire_name_lock("a", || {
        pauses += 1;
        drop(held.take());
    });
    assert!(next.is_some(), "the second process must acquire the lock");
    assert_eq!(pauses, 1, "the second process must have waited once");
}

#[test]
fn s21_held_mark_name_does_not_block_the_keychain() {
    let folder = SecretsFolder::new();
    for name in [crate::document_mac::DOCUMENTS_KEYCHAIN_MARK_NAME, crate::audit::AUDIT_KEYCHAIN_MARK_NAME] {
        let held = folder.open_secrets().lock_name(name);
        assert!(held.is_some(), "the first process must acquire the lock");
        assert!(max_name_lock_wait(name) < Duration::from_secs(2), "the wait must be short: {name}");
        assert!(folder.open_secrets().lock_name(name).is_none(), "the second process must not acquire the lock");
    }
}

#[test]
fn keys_by_prefix_include_the_file_and_memory() {
    let folder = SecretsFolder::new();
    let secrets = folder.open_secrets();
    for name in ["a,1", "a,2", "ab,1"] {
        secrets.set(name, "x").unwrap();
    }
    folder.keychain.set_mode(KeychainMode::Locked);
    let secrets = folder.open_secrets();
    for name in ["a,2", "a,3"] {
        assert!(!is_persistent(&secrets.set(name, "y").unwrap()), "the secret must be stored in memory only");
    }
    assert_eq!(
        secrets.keys("a,").unwrap(),
        ["a,1", "a,2", "a,3"],
        "each name must be listed once, while the keychain is locked"
    );
    for name in secrets.keys("a,").unwrap() {
        secrets.delete(&name).unwrap();
    }
    assert_eq!(secrets.keys("a").unwrap(), ["ab,1"], "all secrets must be deletable");
}

/// Action that a slow keychain runs during its next read.
type ConcurrentAction = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// A keychain that runs an action during a read, such as a write by another process.
struct SlowKeychain {
    keychain: ScriptedKeychain,
    meanwhile: ConcurrentAction,
}

impl Keychain for SlowKeychain {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, KeychainError> {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        self.keychain.read(name)
    }

    fn write(&self, name: &str, secret: &[u8]) -> Result<(), KeychainError> {
        self.keychain.write(name, secret)
    }

    fn remove(&self, name: &str) -> Result<(), KeychainError> {
        self.keychain.remove(name)
    }
}

#[test]
fn secret_removed_during_a_keychain_request_is_not_restored() {
    let folder = SecretsFolder::new();
    folder.open_secrets().set("first", "x").unwrap();
    let meanwhile = ConcurrentAction::default();
    let slow = SlowKeychain { keychain: folder.keychain.clone(), meanwhile: Arc::clone(&meanwhile) };
    let lock = FolderLock::new(folder.folder.path().join("lock"));
    let secrets = Arc::new(SecretsFile::with_keychain(folder.folder.path(), lock, Box::new(slow)));
    folder.keychain.set_mode(KeychainMode::Locked);
    assert!(!is_persistent(&secrets.set("token", "top-secret").unwrap()), "the secret must be stored in memory only");
    folder.keychain.set_mode(KeychainMode::Works);
    let forgetting = Arc::clone(&secrets);
    *meanwhile.lock().unwrap() = Some(Box::new(move || forgetting.delete("token").unwrap()));
    assert!(is_persistent(&secrets.set("other", "y").unwrap()), "the written secret must be persistent");
    assert!(meanwhile.lock().unwrap().is_none(), "the other secret must be deleted during the keychain call");
    assert_eq!(
        folder.open_secrets().keys("").unwrap(),
        ["first", "other"],
        "the deleted secret must not be in the file"
    );
}

#[test]
fn mark_is_stored_in_the_keychain_and_bound_to_its_folder() {
    let folder = SecretsFolder::new();
    assert_eq!(folder.open_secrets().read_rollback_mark("end"), Ok(None), "there must be no mark at first");
    folder.open_secrets().set("a", "secret").unwrap();
    folder.open_secrets().set_rollback_mark("end", "5 abc").unwrap();
    std::fs::remove_file(folder.file()).unwrap();
    assert_eq!(
        folder.open_secrets().read_rollback_mark("end").unwrap().as_deref(),
        Some("5 abc"),
        "the mark must be independent of the file"
    );
    let other = SecretsFolder { folder: tempfile::tempdir().unwrap(), keychain: folder.keychain.clone() };
    assert_eq!(other.open_secrets().read_rollback_mark("end"), Ok(None), "another folder must have another mark");
    folder.keychain.set_mode(KeychainMode::Missing);
    assert!(
        folder.open_secrets().set_rollback_mark("end", "6").is_err(),
        "storing a mark without a keychain must fail"
    );
    assert!(folder.open_secrets().read_rollback_mark("end").is_err(), "reading without a keychain must fail as well");
}
