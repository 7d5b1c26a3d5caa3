//! Audit log with a few sealed entries, and a keychain with the key of the seals.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ports::{AuditEntry, AuditLog, AuditQuery, Ports, SecretError, SecretPersistence, Secrets};
use store::FileBackedPlatform;

/// Number of entries in the audit log of the fixture.
pub(crate) const AUDIT_ENTRY_COUNT: u64 = 12;
/// Key that authenticates the audit log, in hexadecimal.
const AUDIT_SEAL_KEY: &str = "5ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea1";

/// Keychain in memory. Its clones share their contents, as processes share the keychain of the system.
#[derive(Default, Clone)]
pub(crate) struct AuditLogKeychain {
    marks: Arc<Mutex<HashMap<String, String>>>,
    /// Time in milliseconds since 1970 at which the key of the audit log was created. If it is long ago, a log that is
    /// not authenticated must have been changed.
    created_at: u64,
}

impl Secrets for AuditLogKeychain {
    fn get(&self, _: &str) -> Result<Option<String>, SecretError> {
        Ok(Some(format!("{AUDIT_SEAL_KEY} {}", self.created_at)))
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

    fn read_rollback_mark(&self, name: &str) -> Result<Option<String>, SecretError> {
        Ok(self.marks.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned())
    }

    fn set_rollback_mark(&self, name: &str, mark: &str) -> Result<(), SecretError> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), mark.to_owned());
        Ok(())
    }
}

/// Audit log as Drawbridge wrote it, before any change by a test.
pub(crate) struct OriginalAuditLog {
    /// Content of the database file.
    pub(crate) file: Vec<u8>,
    /// Entries of the log, oldest first.
    pub(crate) entries: Vec<AuditEntry>,
    /// Content of the file to which the log was exported.
    pub(crate) export: String,
    marks: HashMap<String, String>,
}

impl OriginalAuditLog {
    /// Returns the log, which is created once per process.
    pub(crate) fn get() -> &'static OriginalAuditLog {
        static ORIGINAL: OnceLock<OriginalAuditLog> = OnceLock::new();
        ORIGINAL.get_or_init(OriginalAuditLog::create)
    }

    fn create() -> OriginalAuditLog {
        let folder = crate::scratch::temporary_folder();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let keychain =
            AuditLogKeychain { created_at: u64::try_from(now).unwrap_or_default(), ..AuditLogKeychain::default() };
        let log = open_log(folder.path(), &keychain);
        for number in 1..=AUDIT_ENTRY_COUNT {
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
        assert!(verdict.is_proven(), "the log is intact and sealed: {verdict:?}");
        log.flush().expect("all of it is written");
        // The keychain is updated by another thread.
        let patience = Instant::now() + Duration::from_secs(20);
        let marks = || keychain.marks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        while marks().is_empty() && Instant::now() < patience {
            std::thread::yield_now();
        }
        assert!(!marks().is_empty(), "the keychain has a mark of the log");
        let mut entries = read_all_entries(&*log);
        entries.reverse();
        let mut export = Vec::new();
        log.export(&mut export).expect("it is exported");
        let path = log.path();
        drop(log);
        // Closing the last connection merges the write-ahead log into the file.
        let file = std::fs::read(path).expect("the file is there");
        OriginalAuditLog { file, entries, export: String::from_utf8(export).expect("it is text"), marks: marks() }
    }

    /// Returns the keychain in the state after the last entry was written, with an old key.
    pub(crate) fn keychain(&self) -> AuditLogKeychain {
        AuditLogKeychain { marks: Arc::new(Mutex::new(self.marks.clone())), created_at: 1 }
    }
}

/// Opens the audit log whose database file is in this folder.
pub(crate) fn open_log(folder: &Path, keychain: &AuditLogKeychain) -> Arc<dyn AuditLog> {
    let platform = Arc::new(FileBackedPlatform::new(folder));
    let opened = store::open_with(&folder.join("mcp.json"), folder, platform, Arc::new(keychain.clone()));
    let Ports { audit, .. } = opened.expect("the folder can be used");
    audit
}

/// Returns all entries of a log, newest first.
pub(crate) fn read_all_entries(log: &dyn AuditLog) -> Vec<AuditEntry> {
    log.read(&AuditQuery::latest(1_000)).unwrap_or_default()
}

/// Returns the path of the audit log's database file in a folder.
pub(crate) fn log_path(folder: &Path) -> PathBuf {
    folder.join("audit.db")
}
