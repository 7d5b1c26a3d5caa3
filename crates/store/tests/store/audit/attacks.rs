//! Attacks by an attacker who knows the format and the code but does not have the key. `verify` reports every removal
//! or change of sealed entries, and Drawbridge never removes evidence of an attack.

mod edits;

use edits::{any_log_edit, apply_log_edit, saved_seal_of_log};

use std::time::{Duration, Instant};

use aws_lc_rs::digest::{Context, SHA256};
use ports::{AuditLog, AuditQuery, AuditRetention, AuditSeal, AuditVerdict, TamperKind};
use proptest::prelude::*;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::support::{LogFolder, decision_entry, entry_numbers};

const ENTRY_COUNT: u64 = 12;

fn log_folder_with_sealed_entries() -> LogFolder {
    let folder = LogFolder::with_entries(ENTRY_COUNT);
    folder.keychain.make_keys_old();
    folder
}

fn chain_link_at(log: &Connection, number: u64) -> Option<Vec<u8>> {
    let found = log.query_row("SELECT link FROM entry WHERE number = ?1", [number as i64], |row| row.get(0));
    found.optional().ok().flatten()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Appends a forged entry of a kind that only the log itself writes, with a valid hash chain.
fn append_log_entry(log: &Connection, kind: &str, subject: &str, hash: &str) {
    let last = log.query_row("SELECT number, link FROM entry ORDER BY number DESC LIMIT 1", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
    });
    let Ok((last, previous)) = last else { return };
    let number = last + 1;
    let text = format!(
        r#"{{"number":{number},"at":1795000000000,"asker":"host","server":"","kind":"{kind}","subject":"{subject}","decision":"noted","by":"policy","hash":"{hash}"}}"#
    );
    let mut context = Context::new(&SHA256);
    context.update(&previous);
    context.update(text.as_bytes());
    let link = context.finish().as_ref().to_vec();
    log.execute(
        "INSERT INTO entry (number, at, asker, server, kind, subject, decision, scope, decided_by, rule, conversation, hash,
            imported, content_bytes, content, link)
            VALUES (?1, 1795000000000, 'host', '', ?2, ?3, 'noted', NULL, 'policy', '', NULL, ?4, 0, NULL, NULL, ?5)",
        params![number, kind, subject, hash, link],
    )
    .unwrap();
}

/// Removes the entries up to number `upto` in the way in which old entries are removed, and writes a checkpoint with
/// this key ID and MAC. With `confirm`, also appends an entry that records the removal.
fn remove_first_entries(log: &Connection, upto: u64, key: Option<&str>, mac: Option<&[u8]>, confirm: bool) {
    let Some(link) = chain_link_at(log, upto) else { return };
    if confirm {
        append_log_entry(log, "log-shortened", &format!("entries up to {upto}"), &hex(&link));
    }
    log.execute("INSERT OR REPLACE INTO checkpoint VALUES (?1, ?2, ?3, ?4)", params![upto as i64, link, key, mac])
        .unwrap();
    log.execute("DELETE FROM entry WHERE number <= ?1", [upto as i64]).unwrap();
}

/// Verifies the log, which was tampered with. Returns `Ok` if the verification reports a finding or fails, and
/// otherwise its result as the error.
fn expect_reported_tampering(log: &dyn AuditLog) -> Result<(), Box<AuditVerdict>> {
    match log.verify() {
        Ok(verdict) if verdict.is_intact() => Err(Box::new(verdict)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Asserts that verification reports a change of the log, both immediately and after Drawbridge has appended another
/// entry.
fn assert_stays_reported(folder: &LogFolder, what: &str) {
    if let Err(verdict) = expect_reported_tampering(&*folder.log()) {
        panic!("{what}: verification must report the change: {verdict:?}");
    }
    let log = folder.log();
    if log.append(decision_entry("later")).is_ok() {
        let _ = log.verify();
        let _ = log.flush();
        drop(log);
        if let Err(verdict) = expect_reported_tampering(&*folder.log()) {
            panic!("{what}: verification must still report the change after another append: {verdict:?}");
        }
    }
}

#[test]
fn s04_forged_removal_does_not_pass_for_retention() {
    let foreign = LogFolder::with_entries(ENTRY_COUNT);
    let (key, mac): (String, Vec<u8>) = foreign
        .open_without_triggers()
        .query_row("SELECT key, mac FROM seal", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    for upto in [1, 8, ENTRY_COUNT] {
        for confirm in [true, false] {
            let folder = log_folder_with_sealed_entries();
            remove_first_entries(&folder.open_without_triggers(), upto, None, None, confirm);
            assert_stays_reported(&folder, &format!("a checkpoint at {upto} without a seal, confirmed: {confirm}"));
            let folder = log_folder_with_sealed_entries();
            remove_first_entries(
                &folder.open_without_triggers(),
                upto,
                Some("0123456789abcdef"),
                Some(&[7; 32]),
                confirm,
            );
            assert_stays_reported(&folder, &format!("a checkpoint at {upto} of an unknown key, confirmed: {confirm}"));
            let folder = log_folder_with_sealed_entries();
            remove_first_entries(&folder.open_without_triggers(), upto, Some(&key), Some(&mac), confirm);
            assert_stays_reported(
                &folder,
                &format!("a checkpoint at {upto} with another log's seal, confirmed: {confirm}"),
            );
            let folder = log_folder_with_sealed_entries();
            {
                let log = folder.open_without_triggers();
                let (own, seal): (String, Vec<u8>) =
                    log.query_row("SELECT key, mac FROM seal", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
                remove_first_entries(&log, upto, Some(&own), Some(&seal), confirm);
            }
            assert_stays_reported(
                &folder,
                &format!("a checkpoint at {upto} with the seal of the end, confirmed: {confirm}"),
            );
        }
    }
}

#[test]
fn s04_confirming_entry_forged_before_the_key_exists_has_no_effect() {
    let folder = log_folder_with_sealed_entries();
    // The forged entry is after the sealed part. Drawbridge reports it as unproved and seals the entries that follow.
    {
        let log = folder.open_without_triggers();
        let link = chain_link_at(&log, 8).unwrap();
        append_log_entry(&log, "log-shortened", "entries up to 8", &hex(&link));
    }
    folder.append(0..2);
    let verdict = folder.log().verify().unwrap();
    assert!(verdict.is_intact() && !verdict.is_proven(), "nothing is removed yet: {verdict:?}");
    remove_first_entries(&folder.open_without_triggers(), 8, None, None, false);
    assert_stays_reported(&folder, "the entry is at or below the seal now");
}

/// Asserts that the keychain soon records the number of the last entry although nothing is flushed and no further entry
/// is appended, as before `kill -9`.
#[test]
fn s04_last_entry_is_soon_marked_in_the_keychain() {
    let folder = LogFolder::new();
    let log = folder.log();
    for subject in ["first", "second", "third"] {
        let _ = log.append(decision_entry(subject)).unwrap();
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while folder.keychain.marked_entry() != Some(3) {
        assert!(
            Instant::now() < deadline,
            "the keychain has the mark of entry {:?} only",
            folder.keychain.marked_entry()
        );
        // sleep: polls, since no event reports the change.
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn s04_other_removals_and_changes_are_reported() {
    let attacks: [(&str, &str); 19] = [
        ("entries go", "DELETE FROM entry WHERE number IN (3, 4)"),
        ("the first ones go", "DELETE FROM entry WHERE number <= 4"),
        ("all go", "DELETE FROM entry"),
        ("all go, and the seal", "DELETE FROM entry; DELETE FROM seal"),
        ("all goes but a seal of nothing", "DELETE FROM entry; UPDATE seal SET number = 0, link = zeroblob(32)"),
        ("entries go, then it is vacuumed", "DELETE FROM entry WHERE number IN (3, 4); VACUUM"),
        (
            "two are swapped",
            "UPDATE entry SET number = 99 WHERE number = 5; UPDATE entry SET number = 5 WHERE number = 6;
            UPDATE entry SET number = 6 WHERE number = 99",
        ),
        ("one is changed", "UPDATE entry SET subject = 'x' WHERE number = 5"),
        ("one is put before all", "UPDATE entry SET number = -5 WHERE number = 5"),
        ("the end goes, with its seal", "DELETE FROM entry WHERE number > 8; DELETE FROM seal"),
        (
            "a checkpoint beyond the seal",
            "INSERT INTO checkpoint SELECT 500, link, NULL, NULL FROM entry WHERE number = 12",
        ),
        ("a checkpoint of nothing", "INSERT INTO checkpoint VALUES (0, zeroblob(32), NULL, NULL)"),
        ("another version", "PRAGMA user_version = 0"),
        ("a later version", "PRAGMA user_version = 99"),
        ("a version below all", "PRAGMA user_version = -1"),
        (
            "repeated numbers",
            "CREATE TABLE other AS SELECT * FROM entry; INSERT INTO other SELECT * FROM other WHERE number = 5;
            DROP TABLE entry; ALTER TABLE other RENAME TO entry",
        ),
        (
            "a view that shows what it likes",
            "ALTER TABLE entry RENAME TO other;
            CREATE VIEW entry AS SELECT * FROM other",
        ),
        (
            "a trigger that keeps entries out",
            "CREATE TRIGGER strange BEFORE INSERT ON entry WHEN NEW.kind = 'tool'
            BEGIN SELECT RAISE(IGNORE); END",
        ),
        ("a foreign table", "CREATE TABLE junk (bytes BLOB)"),
    ];
    for (what, sql) in attacks {
        let folder = log_folder_with_sealed_entries();
        folder.open_without_triggers().execute_batch(sql).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_stays_reported(&folder, what);
    }
    let folder = log_folder_with_sealed_entries();
    for file in ["audit.db-wal", "audit.db-shm"] {
        let _ = std::fs::remove_file(folder.data().join(file));
    }
    std::fs::write(folder.file(), b"").unwrap();
    assert_stays_reported(&folder, "an empty file in its place");
    let folder = log_folder_with_sealed_entries();
    for file in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let _ = std::fs::remove_file(folder.data().join(file));
    }
    assert_stays_reported(&folder, "no file in its place");
    let folder = log_folder_with_sealed_entries();
    let other = LogFolder::with_entries(ENTRY_COUNT);
    {
        let (key, mac): (String, Vec<u8>) = other
            .open_without_triggers()
            .query_row("SELECT key, mac FROM seal", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        folder.open_without_triggers().execute("UPDATE seal SET key = ?1, mac = ?2", params![key, mac]).unwrap();
    }
    assert_stays_reported(&folder, "the seal of another log");
}

#[test]
fn s04_old_seal_with_changed_newer_entries_is_reported() {
    let folder = LogFolder::with_entries(8);
    let old: (i64, Vec<u8>, String, Vec<u8>) = folder
        .open_without_triggers()
        .query_row("SELECT number, link, key, mac FROM seal", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .unwrap();
    folder.append(9..=ENTRY_COUNT);
    {
        let log = folder.open_without_triggers();
        log.execute_batch("DELETE FROM entry WHERE number > 8").unwrap();
        log.execute("UPDATE seal SET number = ?1, link = ?2, key = ?3, mac = ?4", params![old.0, old.1, old.2, old.3])
            .unwrap();
        append_log_entry(&log, "tool", "forged", "abc");
    }
    assert_stays_reported(&folder, "an old seal, and another entry in the place of those that followed");
}

#[test]
fn s04_destroyed_key_does_not_hide_a_rewritten_log() {
    let folder = log_folder_with_sealed_entries();
    folder.open_without_triggers().execute_batch("DELETE FROM entry WHERE number > 8; DELETE FROM seal").unwrap();
    folder.keychain.set_locked(true);
    let found = folder.log().verify().unwrap().findings;
    assert_eq!(
        found.first().map(|f| (f.what, f.number)),
        Some((TamperKind::CutOff, 9)),
        "the mark in the keychain shows the removal: {found:?}"
    );
}

/// Applies these retention limits to the log, waits for the removal, and returns the numbers of the remaining entries.
fn apply_retention(folder: &LogFolder, keep: AuditRetention) -> Vec<u64> {
    let log = folder.log();
    log.append(decision_entry("a start")).unwrap();
    log.verify().unwrap();
    log.set_retention(keep);
    // The log processes commands in order, so a verification after `set_retention` runs after the removal.
    log.verify().unwrap();
    log.flush().unwrap();
    entry_numbers(&*log)
}

#[test]
fn s04_entries_made_to_look_old_or_large_are_not_removed() {
    let month = AuditRetention { days: 30_000, megabytes: 0 };
    let folder = log_folder_with_sealed_entries();
    folder.open_without_triggers().execute_batch("UPDATE entry SET at = 1 WHERE number <= 9").unwrap();
    let left = apply_retention(&folder, month);
    assert!(left.contains(&1), "entries with a changed date must remain: {left:?}");
    assert_stays_reported(&folder, "entries that were made to look old");

    let one = AuditRetention { days: 0, megabytes: 1 };
    let folder = log_folder_with_sealed_entries();
    folder
        .open_without_triggers()
        .execute_batch("UPDATE entry SET content = hex(zeroblob(2000000)) WHERE number = 12")
        .unwrap();
    let left = apply_retention(&folder, one);
    assert!(left.contains(&1), "an enlarged entry must displace no other entry: {left:?}");
    folder.open_without_triggers().execute("UPDATE entry SET content = '{\"a\":1}' WHERE number = 12", []).unwrap();
    let left = entry_numbers(&*folder.log());
    assert!(left.contains(&1), "no entry is removed after the size is restored: {left:?}");

    let folder = log_folder_with_sealed_entries();
    folder
        .open_without_triggers()
        .execute_batch("CREATE TABLE junk AS SELECT hex(zeroblob(2000000)) AS bytes")
        .unwrap();
    let left = apply_retention(&folder, one);
    assert!(left.contains(&1), "a foreign table displaces no entry: {left:?}");

    let folder = log_folder_with_sealed_entries();
    append_log_entry(&folder.open_without_triggers(), "tool", &"x".repeat(3_000_000), "abc");
    let left = apply_retention(&folder, one);
    assert!(left.contains(&1), "an unsealed entry displaces no other entry: {left:?}");

    // The next checkpoint must not seal a checkpoint that was forged while the log is open.
    let folder = log_folder_with_sealed_entries();
    remove_first_entries(&folder.open_without_triggers(), 4, None, None, true);
    folder.open_without_triggers().execute_batch("UPDATE entry SET at = at").unwrap();
    let left = apply_retention(&folder, AuditRetention { days: 1, megabytes: 0 });
    assert!(left.contains(&5), "entries after a forged checkpoint stay: {left:?}");
    assert_stays_reported(&folder, "a forged checkpoint before a removal");
}

#[test]
fn s04_retention_without_a_keychain_is_unproved() {
    let folder = LogFolder::new();
    folder.keychain.set_locked(true);
    let log = folder.log();
    for _ in 0..5 {
        log.append(ports::AuditEntry { at: 1, ..decision_entry("old") }).unwrap();
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    log.append(ports::AuditEntry { at: now, ..decision_entry("new") }).unwrap();
    log.verify().unwrap();
    log.set_retention(AuditRetention { days: 30, megabytes: 0 });
    log.verify().unwrap();
    let verdict = log.verify().unwrap();
    assert_eq!((verdict.removed, verdict.is_intact()), (Some(5), true), "the old entries are removed: {verdict:?}");
    assert!(!verdict.is_proven(), "nothing is proved without a key: {verdict:?}");
    drop(log);
    folder.keychain.set_locked(false);
    folder.append(0..1);
    let verdict = folder.log().verify().unwrap();
    assert!(verdict.is_intact() && !verdict.is_proven(), "the chain must be intact once there is a key: {verdict:?}");
    assert!(matches!(verdict.seal, AuditSeal::Holds { .. }), "the log is sealed once there is a key: {verdict:?}");
}

/// Returns number, time, subject and decision of the first [`ENTRY_COUNT`] entries, which were sealed before the
/// attack.
fn sealed_entries(log: &dyn AuditLog) -> Vec<(u64, u64, String, String)> {
    let entries = log.read(&AuditQuery::latest(1_000)).unwrap_or_default();
    let of_run = entries.into_iter().filter(|entry| entry.number <= ENTRY_COUNT);
    of_run.map(|entry| (entry.number, entry.at, entry.subject, entry.decision.into_owned())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn s04_edits_without_the_key_are_reported_or_change_nothing_sealed(
        edits in prop::collection::vec(any_log_edit(), 1..6),
    ) {
        let folder = LogFolder::with_entries(7);
        let old = saved_seal_of_log(&folder.open_without_triggers()).unwrap();
        folder.append(8..=ENTRY_COUNT);
        folder.keychain.make_keys_old();
        let before = sealed_entries(&*folder.log());
        for edit in &edits {
            apply_log_edit(&folder, edit, &old);
        }
        let log = folder.log();
        if let Err(verdict) = expect_reported_tampering(&*log) {
            prop_assert_eq!(sealed_entries(&*log), before, "{:?} is not reported: {:?}", edits, verdict);
        }
    }
}
