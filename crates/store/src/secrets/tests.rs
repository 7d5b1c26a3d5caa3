//! The secrets with a scripted keychain, in every mood of it.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use super::*;

/// What a scripted keychain does at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mood {
    #[default]
    Works,
    /// As GNOME Keyring does: it says that nothing is there, and takes nothing.
    Locked,
    Missing,
}

#[derive(Default, Clone)]
struct Scripted(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    mood: Mood,
    entries: HashMap<String, Vec<u8>>,
}

impl Scripted {
    fn is(&self, mood: Mood) {
        self.0.lock().unwrap().mood = mood;
    }

    fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().entries.keys().cloned().collect()
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<String, Vec<u8>>) -> T, locked: Option<T>) -> Result<T, Refusal> {
        let mut inner = self.0.lock().unwrap();
        match inner.mood {
            Mood::Works => Ok(act(&mut inner.entries)),
            Mood::Locked => locked.map_or_else(|| Err(Refusal::Locked("it is locked".to_owned())), Ok),
            Mood::Missing => Err(Refusal::Missing("nobody answers".to_owned())),
        }
    }
}

impl Keychain for Scripted {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        self.with(|entries| entries.get(name).cloned(), Some(None))
    }

    fn write(&self, name: &str, secret: &[u8]) -> Result<(), Refusal> {
        self.with(|entries| drop(entries.insert(name.to_owned(), secret.to_vec())), None)
    }

    fn remove(&self, name: &str) -> Result<(), Refusal> {
        self.with(|entries| drop(entries.remove(name)), None)
    }
}

struct Folder {
    folder: tempfile::TempDir,
    keychain: Scripted,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), keychain: Scripted::default() }
    }

    /// The secrets as one program has them.
    fn program(&self) -> SecretsFile {
        let lock = Lock::new(self.folder.path().join("lock"));
        SecretsFile::with(self.folder.path(), lock, Box::new(self.keychain.clone()))
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }
}

fn lasts(kept: &SecretKept) -> bool {
    *kept == SecretKept::Keychain
}

fn cause(kept: SecretKept) -> String {
    match kept {
        SecretKept::ThisRun { cause } => cause,
        SecretKept::Keychain => panic!("it should be kept for this run only"),
    }
}

#[test]
fn one_key_lies_in_the_keychain_and_no_secret() {
    let folder = Folder::new();
    let secrets = folder.program();
    assert_eq!(secrets.status(), SecretsStatus::Keychain, "the keychain works");
    assert!(folder.keychain.names().is_empty(), "asking leaves nothing behind");
    for number in 0..5 {
        assert!(lasts(&secrets.set(&format!("n{number}"), &format!("top-secret-{number}")).unwrap()), "it is kept");
    }
    assert_eq!(folder.keychain.names().len(), 1, "one entry for all: {:?}", folder.keychain.names());
    assert!(!folder.text().contains("top-secret"), "in the file, nothing can be read");
    let other = folder.program();
    for number in 0..5 {
        let found = other.get(&format!("n{number}")).unwrap();
        assert_eq!(found, Some(format!("top-secret-{number}")), "another program reads them");
    }
    assert_eq!(other.get("n9").unwrap(), None, "what was never kept is not there");
    other.delete("n0").unwrap();
    assert_eq!(secrets.get("n0").unwrap(), None, "what one forgets is forgotten for all");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = || folder.file().metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600, "only its owner may read the file");
        std::fs::set_permissions(folder.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
        secrets.set("n1", "x").unwrap();
        assert_eq!(mode(), 0o600, "also after somebody opened it up");
    }
}

#[test]
fn a_locked_keychain_that_seems_empty_loses_nothing() {
    let folder = Folder::new();
    folder.program().set("a", "old").unwrap();
    let (file, names) = (folder.text(), folder.keychain.names());
    folder.keychain.is(Mood::Locked);
    let secrets = folder.program();
    let refused = secrets.get("a");
    assert!(matches!(refused, Err(SecretError::Locked(_))), "it is told that it is locked: {refused:?}");
    assert!(matches!(secrets.status(), SecretsStatus::Locked { .. }), "here, too: {:?}", secrets.status());
    let told = cause(secrets.set("a", "new").unwrap());
    assert!(told.contains("locked") && told.contains("an older value"), "the user learns what comes: {told}");
    assert_eq!(secrets.get("a").unwrap().as_deref(), Some("new"), "the new one counts in this run");
    secrets.set("b", "also").unwrap();
    assert_eq!((folder.text(), folder.keychain.names()), (file, names), "nothing was written over");
    folder.keychain.is(Mood::Works);
    assert_eq!(folder.program().get("a").unwrap().as_deref(), Some("old"), "the old one can still be opened");
    assert!(lasts(&secrets.set("c", "later").unwrap()), "when it is unlocked, secrets are kept");
    let next = folder.program();
    for (name, secret) in [("a", "new"), ("b", "also"), ("c", "later")] {
        assert_eq!(next.get(name).unwrap().as_deref(), Some(secret), "also those from before: {name}");
    }
}

#[test]
fn without_a_keychain_they_live_for_the_run_and_that_is_said() {
    let folder = Folder::new();
    folder.keychain.is(Mood::Missing);
    let secrets = folder.program();
    assert!(matches!(secrets.status(), SecretsStatus::Missing { .. }), "it is told: {:?}", secrets.status());
    let told = cause(secrets.set("a", "top-secret").unwrap());
    assert!(told.contains("nobody answers") && !told.contains("older"), "with the reason: {told}");
    assert_eq!(secrets.get("a").unwrap().as_deref(), Some("top-secret"), "in this run it is there");
    assert!(!folder.file().exists(), "nothing is written");
    assert_eq!(folder.program().get("a").unwrap(), None, "in the next it is not");
    let refused = folder.program().get("a @ https://a.example");
    assert!(matches!(refused, Err(SecretError::Missing(_))), "a missing one is no broken one: {refused:?}");
    secrets.delete("a").unwrap();
    assert_eq!(secrets.get("a").unwrap(), None, "it can be forgotten");
}

#[test]
fn a_lost_key_is_said_and_nothing_is_overwritten() {
    let folder = Folder::new();
    folder.program().set("a", "old").unwrap();
    folder.keychain.0.lock().unwrap().entries.clear();
    let text = folder.text();
    let secrets = folder.program();
    let SecretsStatus::Broken { cause: told } = secrets.status() else { panic!("the keychain works, the key is gone") };
    assert!(told.contains("move that file away"), "with the next step: {told}");
    assert!(secrets.get("a").is_err(), "it can't be read");
    assert!(!lasts(&secrets.set("a", "new").unwrap()), "nor kept");
    assert_eq!(folder.text(), text, "the file stays as it was");
    // The user's word.
    std::fs::rename(folder.file(), folder.folder.path().join("aside")).unwrap();
    assert!(lasts(&secrets.set("a", "new").unwrap()), "then it begins anew");
    assert_eq!(folder.program().get("a").unwrap().as_deref(), Some("new"), "and works");
}

#[test]
fn a_damaged_file_is_left_alone() {
    for text in ["{", "{}", "", r#"{"version":9,"key":"x","check":{"nonce":"","sealed":""},"entries":{}}"#] {
        let folder = Folder::new();
        std::fs::write(folder.file(), text).unwrap();
        let secrets = folder.program();
        assert!(matches!(secrets.status(), SecretsStatus::Broken { .. }), "{text:?}: {:?}", secrets.status());
        assert!(secrets.get("a").is_err(), "{text:?}: it is told");
        assert!(!lasts(&secrets.set("a", "x").unwrap()), "{text:?}: a new one lives for the run");
        assert_eq!(secrets.get("a").unwrap().as_deref(), Some("x"), "{text:?}: where it counts");
        assert!(secrets.delete("b").is_err(), "{text:?}: nothing can be taken out");
        assert_eq!(folder.text(), text, "{text:?}: and the file stays");
    }
}

#[test]
fn entries_of_older_versions_are_moved_once() {
    let folder = Folder::new();
    let old = "github.Authorization @ https://api.example";
    folder.keychain.write(old, b"old-token").unwrap();
    let secrets = folder.program();
    assert_eq!(secrets.get(old).unwrap().as_deref(), Some("old-token"), "it is found");
    assert!(!folder.keychain.names().iter().any(|name| name == old), "and no longer an entry of its own");
    assert_eq!(folder.program().get(old).unwrap().as_deref(), Some("old-token"), "but with the others");

    let other = "x.Y @ https://api.example";
    folder.keychain.write(other, b"older").unwrap();
    secrets.set(other, "newer").unwrap();
    assert_eq!(folder.program().get(other).unwrap().as_deref(), Some("newer"), "what is entered anew counts");
    let third = "z.Y @ https://api.example";
    folder.keychain.write(third, b"older").unwrap();
    secrets.delete(third).unwrap();
    assert_eq!(folder.program().get(third).unwrap(), None, "what is forgotten does not come back");

    // While nothing can be written, it stays where it is.
    let folder = Folder::new();
    folder.keychain.write(old, b"old-token").unwrap();
    std::fs::create_dir(folder.file()).unwrap();
    assert!(folder.program().get(old).is_err(), "a folder in its place is told");
    assert_eq!(folder.keychain.names(), [old], "and the old entry stays");
}

#[test]
fn programs_that_begin_at_once_share_one_key() {
    for _ in 0..10 {
        let folder = Folder::new();
        std::thread::scope(|scope| {
            for program in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    let secrets = folder.program();
                    for number in 0..5 {
                        let name = format!("p{program}-{number}");
                        assert!(lasts(&secrets.set(&name, &name).unwrap()), "each is kept: {name}");
                    }
                });
            }
        });
        let reader = folder.program();
        for (program, number) in (0..4).flat_map(|program| (0..5).map(move |number| (program, number))) {
            let name = format!("p{program}-{number}");
            assert_eq!(reader.get(&name).unwrap(), Some(name.clone()), "none was lost: {name}");
        }
        assert_eq!(folder.keychain.names().len(), 1, "the keys of the others are gone");
    }
}

#[test]
fn a_name_is_held_by_one_program_at_a_time() {
    let folder = Folder::new();
    let (one, two) = (folder.program(), folder.program());
    let held = one.hold("a").unwrap();
    assert!(two.hold("b").is_some(), "another name is free");
    // The first one lets go when the second has found it held.
    let (mut held, mut pauses) = (Some(held), 0);
    let next = two.hold_name("a", || {
        pauses += 1;
        drop(held.take());
    });
    assert!(next.is_some(), "the other program has it then");
    assert_eq!(pauses, 1, "and not while the first one holds it");
}

#[test]
fn s21_who_holds_the_name_of_a_mark_does_not_keep_it_from_the_keychain() {
    let folder = Folder::new();
    for name in [crate::sealed_document::MARK, crate::audit::MARK] {
        let held = folder.program().hold(name);
        assert!(held.is_some(), "another program holds it");
        assert!(patience_for(name) < Duration::from_secs(2), "which is waited for only shortly: {name}");
        assert!(folder.program().hold(name).is_none(), "it is not had");
    }
}

#[test]
fn what_begins_alike_is_found_in_the_file_and_in_memory() {
    let folder = Folder::new();
    let secrets = folder.program();
    for name in ["a,1", "a,2", "ab,1"] {
        secrets.set(name, "x").unwrap();
    }
    folder.keychain.is(Mood::Locked);
    let secrets = folder.program();
    for name in ["a,2", "a,3"] {
        assert!(!lasts(&secrets.set(name, "y").unwrap()), "it is in memory only");
    }
    assert_eq!(secrets.keys("a,").unwrap(), ["a,1", "a,2", "a,3"], "each once, while nothing can be read");
    for name in secrets.keys("a,").unwrap() {
        secrets.delete(&name).unwrap();
    }
    assert_eq!(secrets.keys("a").unwrap(), ["ab,1"], "all of them can be removed");
}

/// What happens while a keychain is asked.
type Meanwhile = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// A keychain that takes so long to give its key that something else happens.
struct Slow {
    keychain: Scripted,
    meanwhile: Meanwhile,
}

impl Keychain for Slow {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        self.keychain.read(name)
    }

    fn write(&self, name: &str, secret: &[u8]) -> Result<(), Refusal> {
        self.keychain.write(name, secret)
    }

    fn remove(&self, name: &str) -> Result<(), Refusal> {
        self.keychain.remove(name)
    }
}

#[test]
fn what_is_forgotten_while_the_keychain_is_asked_does_not_come_back() {
    let folder = Folder::new();
    folder.program().set("first", "x").unwrap();
    let meanwhile = Meanwhile::default();
    let slow = Slow { keychain: folder.keychain.clone(), meanwhile: Arc::clone(&meanwhile) };
    let lock = Lock::new(folder.folder.path().join("lock"));
    let secrets = Arc::new(SecretsFile::with(folder.folder.path(), lock, Box::new(slow)));
    folder.keychain.is(Mood::Locked);
    assert!(!lasts(&secrets.set("token", "top-secret").unwrap()), "it is in memory only");
    folder.keychain.is(Mood::Works);
    let forgetting = Arc::clone(&secrets);
    *meanwhile.lock().unwrap() = Some(Box::new(move || forgetting.delete("token").unwrap()));
    assert!(lasts(&secrets.set("other", "y").unwrap()), "what is set is kept");
    assert!(meanwhile.lock().unwrap().is_none(), "the other was removed while the keychain was asked");
    assert_eq!(folder.program().keys("").unwrap(), ["first", "other"], "and is not in the file");
}

#[test]
fn a_mark_lies_in_the_keychain_and_goes_with_no_file() {
    let folder = Folder::new();
    assert_eq!(folder.program().mark("end"), Ok(None), "there is none at first");
    folder.program().set("a", "secret").unwrap();
    folder.program().set_mark("end", "5 abc").unwrap();
    std::fs::remove_file(folder.file()).unwrap();
    assert_eq!(
        folder.program().mark("end").unwrap().as_deref(),
        Some("5 abc"),
        "it stays, whatever becomes of the file"
    );
    let other = Folder { folder: tempfile::tempdir().unwrap(), keychain: folder.keychain.clone() };
    assert_eq!(other.program().mark("end"), Ok(None), "another folder has another one");
    folder.keychain.is(Mood::Missing);
    assert!(folder.program().set_mark("end", "6").is_err(), "without a keychain it is an error");
    assert!(folder.program().mark("end").is_err(), "to read it as well");
}
