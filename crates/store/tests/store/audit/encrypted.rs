//! Tests of encrypted contents (S28): no file contains unencrypted content once the keychain has responded, the chain
//! stays valid, and entries can be appended at any time.

use std::path::Path;
use std::sync::Arc;

use ports::{AuditEntry, AuditFinding, AuditLog, AuditQuery, AuditSeal, TamperKind};
use rusqlite::Connection;

use super::support::{LogFolder, NoPlatform, decision_entry};

const CANARY: &str = "zqkestrel";

fn entry_with_canary(subject: &str) -> AuditEntry {
    AuditEntry { content: Some(format!("{{\"q\":\"{CANARY} {subject}\"}}")), ..decision_entry(subject) }
}

/// Returns the files of the log that contain the text [`CANARY`] or its beginning.
fn files_with_canary(folder: &LogFolder) -> Vec<String> {
    let files =
        std::fs::read_dir(folder.data()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let has = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        // A part of the canary counts, too.
        bytes.windows(6).any(|window| window == &CANARY.as_bytes()[..6])
    };
    files.filter(|path| has(path)).map(|path| path.display().to_string()).collect()
}

fn assert_readable_and_proven(log: &dyn AuditLog, count: usize) {
    let entries = log.read(&AuditQuery { words: vec![CANARY.to_owned()], ..AuditQuery::latest(1_000) }).unwrap();
    assert_eq!(entries.len(), count, "each entry is found by its content");
    let oldest = entries.last().unwrap();
    assert_eq!(oldest.content, entry_with_canary(&oldest.subject).content, "the content is read back");
    let verdict = log.verify().unwrap();
    assert!(verdict.is_proven(), "the chain and the seal hold: {verdict:?}");
}

#[test]
fn s28_log_contents_are_in_no_file() {
    let folder = LogFolder::new();
    let log = folder.log();
    for n in 0..40 {
        log.append(entry_with_canary(&format!("number {n}"))).unwrap();
    }
    assert_readable_and_proven(&*log, 40);
    log.flush().unwrap();
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no file has the canary while the log is open");
    let mut out = Vec::new();
    assert_eq!(log.export(&mut out).unwrap(), 40, "an export has the contents");
    assert!(String::from_utf8(out).unwrap().contains(CANARY), "the export is in plain text");
    drop(log);
    assert_readable_and_proven(&*folder.log(), 40);
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no file has the canary after the log is closed");
}

#[test]
fn s28_entries_written_before_the_keychain_is_available_are_encrypted_later() {
    let folder = LogFolder::new();
    folder.keychain.set_locked(true);
    let log = folder.log();
    for n in 0..700 {
        log.append(entry_with_canary(&format!("number {n}"))).unwrap();
    }
    log.flush().unwrap();
    assert!(!files_with_canary(&folder).is_empty(), "entries are written in plain text without a key");
    let other = folder.log();
    folder.keychain.set_locked(false);
    assert!(log.verify().unwrap().is_intact(), "the key must be requested again");
    log.append(entry_with_canary("with the key")).unwrap();
    assert!(log.is_encrypted().unwrap(), "all contents are encrypted");
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no unencrypted content must remain");
    assert_readable_and_proven(&*log, 701);
    assert_readable_and_proven(&*other, 701);
}

#[test]
fn s28_log_without_a_key_continues_and_omits_contents() {
    let folder = LogFolder::with_entries(3);
    folder.append(0..1);
    folder.keychain.set_locked(true);
    let log = folder.log();
    log.append(entry_with_canary("plain")).unwrap();
    let entries = log.read(&AuditQuery::latest(10)).unwrap();
    assert_eq!(entries[0].content, entry_with_canary("plain").content, "plain content is read without a key");
    let hidden = &entries[1];
    assert_eq!(
        (hidden.content.as_deref(), hidden.content_bytes),
        (None, Some(7)),
        "encrypted content is omitted without a key"
    );
    let verdict = log.verify().unwrap();
    assert!(verdict.is_intact() && !verdict.is_proven(), "no finding and no proof without a key: {verdict:?}");
    assert!(matches!(verdict.seal, AuditSeal::Unchecked { .. }), "{verdict:?}");
    let error = log.export(&mut Vec::new()).unwrap_err();
    assert!(error.cause.contains("encrypted"), "the export is refused without a key: {error}");
    drop(log);
    folder.keychain.set_locked(false);
    assert!(folder.log().verify().unwrap().is_intact(), "the log must be intact with the key");
}

#[test]
fn s28_changed_content_is_reported() {
    let folder = LogFolder::with_entries(12);
    let swap = "UPDATE entry SET content = (SELECT content FROM entry WHERE number = 6) WHERE number = 5";
    folder.append([99].into_iter());
    folder.open_without_triggers().execute_batch(swap).unwrap();
    // Both entries have the same plaintext content.
    assert!(folder.log().verify().unwrap().is_intact(), "the chain covers the plaintext");
    folder.open_without_triggers().execute_batch("UPDATE entry SET content = randomblob(40) WHERE number = 5").unwrap();
    let verdict = folder.log().verify().unwrap();
    let found = &verdict.findings[0];
    assert_eq!(
        (found.what, found.number),
        (TamperKind::Unreadable, 5),
        "content that can't be decrypted is reported: {verdict:?}"
    );
    folder.open_without_triggers().execute_batch("UPDATE entry SET content = '{}' WHERE number = 5").unwrap();
    let verdict = folder.log().verify().unwrap();
    assert_eq!(
        (verdict.findings[0].what, verdict.findings[0].number),
        (TamperKind::Changed, 5),
        "replaced plain content is reported"
    );
}

#[test]
fn s28_log_of_the_previous_version_is_migrated() {
    let folder = LogFolder::new();
    std::fs::create_dir_all(folder.data()).unwrap();
    let none = || {
        let secrets = Arc::new(ports::secrets::SecretsInMemory::default());
        let config = folder.folder.path().join("mcp.json");
        store::open_with(&config, &folder.data(), Arc::new(NoPlatform), secrets).unwrap().audit
    };
    let log = none();
    for n in 0..300 {
        log.append(entry_with_canary(&format!("number {n}"))).unwrap();
    }
    assert!(!log.is_encrypted().unwrap(), "the log must be unencrypted without a keychain");
    log.flush().unwrap();
    drop(log);
    // Restores the tables of schema version 1.
    let file = rusqlite::Connection::open(folder.file()).unwrap();
    file.execute_batch(
        "DROP TRIGGER entry_stays_as_it_is; DROP TABLE encryption; PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'content ANY', 'content TEXT') WHERE name = 'entry';
        PRAGMA writable_schema = RESET;
        CREATE TRIGGER entry_stays_as_it_is BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'an entry of the audit log is never changed'); END;
        PRAGMA user_version = 1;",
    )
    .unwrap();
    drop(file);
    let log = none();
    assert!(log.verify().unwrap().is_intact(), "the migrated log must be intact without a keychain");
    drop(log);
    let log = folder.log();
    log.append(entry_with_canary("new")).unwrap();
    let verdict = log.verify().unwrap();
    assert!(verdict.is_intact(), "the chain and the tables are valid: {verdict:?}");
    assert!(log.is_encrypted().unwrap(), "the log is encrypted with a keychain");
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no unencrypted content must remain");
    let update = "UPDATE entry SET content = 'x' WHERE number = 2";
    let refused = rusqlite::Connection::open(folder.file()).unwrap().execute_batch(update).unwrap_err();
    assert!(refused.to_string().contains("never changed"), "the trigger still prevents changes of entries: {refused}");
}

/// Environment variable with the folder in which a child process encrypts until the test kills it.
#[cfg(unix)]
const ENCRYPT_FOLDER_VARIABLE: &str = "AUDIT_TO_ENCRYPT";

#[cfg(unix)]
#[test]
#[allow(clippy::disallowed_methods, reason = "starts this test, not a server")]
fn s28_encryption_of_the_log_survives_kill_9() {
    let keychain = Arc::new(super::support::TestKeychain::default());
    // The key is as recent as the log, which has no seal yet.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    keychain.put("seal of the audit log", &format!("{} {now}", "07".repeat(32)));
    let open = |folder: &Path| {
        store::open_with(&folder.join("mcp.json"), &folder.join("data"), Arc::new(NoPlatform), keychain.clone())
            .unwrap()
            .audit
    };
    // The child process is this test as well, started with the variable.
    if let Some(folder) = std::env::var_os(ENCRYPT_FOLDER_VARIABLE) {
        let log = open(folder.as_ref());
        log.append(entry_with_canary("while it is encrypted")).unwrap();
        assert!(log.is_encrypted().unwrap());
        return;
    }
    let mut folder = LogFolder::new();
    folder.keychain.set_locked(true);
    let log = folder.log();
    for n in 0..3_000 {
        log.append(entry_with_canary(&format!("number {n}"))).unwrap();
    }
    log.flush().unwrap();
    drop(log);
    folder.keychain = keychain.clone();
    let mut halfway = 0;
    for pause in (0..).map(|n| std::time::Duration::from_millis(30).mul_f64(1.2_f64.powi(n))) {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["audit::encrypted::s28_encryption_of_the_log_survives_kill_9", "--exact"])
            .env(ENCRYPT_FOLDER_VARIABLE, folder.folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // sleep: kills the child process at a different moment in each round.
        std::thread::sleep(pause);
        let has_ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        if has_ended {
            break;
        }
        let file = rusqlite::Connection::open(folder.file()).unwrap();
        let sql = "SELECT count(*) FILTER (WHERE typeof(content) = 'blob' AND number < 3000), \
            count(*) FILTER (WHERE typeof(content) = 'text') FROM entry";
        let (done, left): (i64, i64) = file.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        halfway += usize::from(done > 0 && left > 0);
    }
    assert!(halfway > 0, "at least one round was killed halfway");
    let log = folder.log();
    log.append(entry_with_canary("last")).unwrap();
    assert!(log.is_encrypted().unwrap(), "the encryption is completed");
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no unencrypted content must remain");
    assert!(log.verify().unwrap().is_intact(), "no entry is lost or changed");
    let first = log.read(&AuditQuery { before: Some(2), ..AuditQuery::latest(1) }).unwrap();
    assert_eq!(first[0].content, entry_with_canary("number 0").content, "each content is unchanged");
}

/// SQL statements that replace the record of the encryption's progress with one that claims that all contents are
/// encrypted.
const FAKE_PROGRESS_SQL: &str = "DROP TABLE IF EXISTS encryption;
    CREATE TABLE encryption (id INTEGER PRIMARY KEY CHECK (id = 1), left INTEGER NOT NULL) STRICT;
    INSERT INTO encryption VALUES (1, 3)";

#[test]
fn s28_log_marked_as_plain_is_encrypted_anyway() {
    for is_running in [true, false] {
        let folder = LogFolder::with_entries(3);
        let mut log = folder.log();
        if is_running {
            assert_eq!(log.read(&AuditQuery::latest(10)).unwrap().len(), 3, "the log can be read");
        } else {
            drop(log);
        }
        folder.open_without_triggers().execute_batch("DROP TABLE encryption").unwrap();
        log = folder.log();
        log.append(entry_with_canary("one")).unwrap();
        log.flush().unwrap();
        assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no content is plain");
        let verdict = log.verify().unwrap();
        let noted = |found: &AuditFinding| found.what == TamperKind::Noted;
        assert!(verdict.findings.iter().any(noted), "the log has an entry about the change: {verdict:?}");
        drop(log);
        folder.open_without_triggers().execute_batch(FAKE_PROGRESS_SQL).unwrap();
        assert!(!folder.log().verify().unwrap().is_intact(), "the log must not be intact after the record is restored");
    }
}

#[test]
fn s28_log_with_a_changed_content_type_is_repaired_or_not_written() {
    let folder = LogFolder::with_entries(3);
    let retype = |from: &str, to: &str| {
        let sql = format!(
            "PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE name = 'entry';
            PRAGMA writable_schema = RESET"
        );
        Connection::open(folder.file()).unwrap().execute_batch(&sql).unwrap();
    };
    retype("content ANY", "content TEXT");
    let log = folder.log();
    log.append(entry_with_canary("one")).unwrap();
    log.flush().unwrap();
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "the table is restored");
    drop(log);
    retype("content ANY", "content  TEXT");
    let error =
        folder.log().append(entry_with_canary("two")).expect_err("a content that can't be encrypted is not written");
    assert!(error.path.contains("audit.db"), "the error must name the file: {error}");
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no content is plain");
}

#[test]
fn s28_hidden_plain_contents_are_reported_and_encrypted() {
    let folder = LogFolder::new();
    folder.keychain.set_locked(true);
    let log = folder.log();
    log.append(entry_with_canary("before the keychain answered")).unwrap();
    log.flush().unwrap();
    drop(log);
    folder.keychain.set_locked(false);
    folder.open_without_triggers().execute_batch(FAKE_PROGRESS_SQL).unwrap();
    let log = folder.log();
    let verdict = log.verify().unwrap();
    let named = |found: &AuditFinding| found.detail.as_deref().is_some_and(|detail| detail.contains("plain"));
    assert!(verdict.findings.iter().any(named), "verification must report the content: {verdict:?}");
    assert!(log.is_encrypted().unwrap(), "the log is encrypted afterwards");
    assert_eq!(files_with_canary(&folder), Vec::<String>::new(), "no unencrypted content must remain");
    let verdict = log.verify().unwrap();
    assert!(
        verdict.findings.iter().any(|found| found.what == TamperKind::Noted),
        "the finding stays in the log: {verdict:?}"
    );
}
