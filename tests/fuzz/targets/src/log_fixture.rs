//! An audit log with a few sealed entries, and a keychain that has its key.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ports::{AuditEntry, AuditLog, AuditQuery, Ports, SecretError, SecretPersistence, Secrets};
use store::PlatformInFolder;

/// Number of entries in the log.
pub(crate) const ENTRIES: u64 = 12;
/// The key of the seals.
const KEY: &str = "5ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea1";

/// A keychain in memory that outlasts the programs that use it, as the system's own does.
#[derive(Default, Clone)]
pub(crate) struct Keychain {
    marks: Arc<Mutex<HashMap<String, String>>>,
    /// When the key was made, in milliseconds since 1970. A log without a seal has lost it if the key is old.
    made: u64,
}

impl Secrets for Keychain {
    fn get(&self, _: &str) -> Result<Option<String>, SecretError> {
        Ok(Some(format!("{KEY} {}", self.made)))
    }

    fn set(&self, _: &str, _: &str) -> Result<SecretPersistence, SecretError> {
        Ok(SecretPersistence::Keychain)
    }

    fn delete(&self, _: &str) -> Result<(), SecretError> {
        Ok(())
    }

    fn keys(&self, _: &str) -> Result<Vec<String>, SecretError> {
        Ok(Vec::new())
    }

    fn read_mark(&self, name: &str) -> Result<Option<String>, SecretError> {
        Ok(self.marks.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned())
    }

    fn set_mark(&self, name: &str, mark: &str) -> Result<(), SecretError> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), mark.to_owned());
        Ok(())
    }
}

/// The log as Drawbridge left it.
pub(crate) struct OriginalLog {
    /// The bytes of its file.
    pub(crate) file: Vec<u8>,
    /// Entries of the log, oldest first.
    pub(crate) entries: Vec<AuditEntry>,
    /// The log as an exported file.
    pub(crate) export: String,
    marks: HashMap<String, String>,
}

impl OriginalLog {
    /// The log, made once for the process.
    pub(crate) fn get() -> &'static OriginalLog {
        static ORIGINAL: OnceLock<OriginalLog> = OnceLock::new();
        ORIGINAL.get_or_init(OriginalLog::make)
    }

    fn make() -> OriginalLog {
        let folder = crate::scratch::folder();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let keychain = Keychain { made: u64::try_from(now).unwrap_or_default(), ..Keychain::default() };
        let log = open(folder.path(), &keychain);
        for number in 1..=ENTRIES {
            let entry = AuditEntry {
                at: 1_790_000_000_000 + number,
                asker: Cow::Borrowed("model"),
                server: "files".to_owned(),
                kind: Cow::Borrowed("tool"),
                subject: format!("call {number}"),
                content: Some(format!("{{\"path\":\"/home/ann/{number}\"}}")),
                decision: Cow::Borrowed("allowed"),
                scope: Some(Cow::Borrowed("once")),
                by: Cow::Borrowed("user"),
                hash: format!("{number:064x}"),
                ..AuditEntry::default()
            };
            log.append(entry).expect("an entry is written");
        }
        let verdict = log.verify().expect("the log can be read");
        assert!(verdict.is_proven(), "the log is whole and sealed: {verdict:?}");
        log.flush().expect("all of it is written");
        // The keychain is told in a thread of its own.
        let patience = Instant::now() + Duration::from_secs(20);
        let told = || keychain.marks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        while told().is_empty() && Instant::now() < patience {
            std::thread::yield_now();
        }
        assert!(!told().is_empty(), "the keychain knows of the log");
        let mut entries = all(&*log);
        entries.reverse();
        let mut export = Vec::new();
        log.export(&mut export).expect("it is exported");
        let path = log.path();
        drop(log);
        // With the last connection the journal goes into the file.
        let file = std::fs::read(path).expect("the file is there");
        OriginalLog { file, entries, export: String::from_utf8(export).expect("it is text"), marks: told() }
    }

    /// The keychain as it was when the log was left, with a key that is old by now.
    pub(crate) fn keychain(&self) -> Keychain {
        Keychain { marks: Arc::new(Mutex::new(self.marks.clone())), made: 1 }
    }
}

/// The log in a folder.
pub(crate) fn open(folder: &Path, keychain: &Keychain) -> Arc<dyn AuditLog> {
    let platform = Arc::new(PlatformInFolder::new(folder));
    let opened = store::open_with(&folder.join("mcp.json"), folder, platform, Arc::new(keychain.clone()));
    let Ports { audit, .. } = opened.expect("the folder can be used");
    audit
}

/// Entries of the log, newest first.
pub(crate) fn all(log: &dyn AuditLog) -> Vec<AuditEntry> {
    log.read(&AuditQuery::latest(1_000)).unwrap_or_default()
}

/// Returns the path of the log in a folder.
pub(crate) fn file(folder: &Path) -> PathBuf {
    folder.join("audit.db")
}
