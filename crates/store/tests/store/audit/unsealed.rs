//! Tests that entries which other programs wrote are not sealed as entries of Drawbridge, and that a log with unproven
//! entries is not reported as proven.

use std::path::PathBuf;

use aws_lc_rs::digest::{Context, SHA256};
use ports::{AuditQuery, AuditSeal, TamperKind};
use serde_json::value::RawValue;

use super::support::{LogFolder, decision_entry};

const ENTRY_COUNT: u64 = 12;

/// Returns the hashed texts of all entries in the chain.
fn entry_texts(folder: &LogFolder) -> Vec<String> {
    let mut out = Vec::new();
    folder.log().export(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let entries = &lines[1..lines.len() - 1];
    let raw = |line: &&str| {
        let line: std::collections::HashMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
        line["entry"].get().to_owned()
    };
    entries.iter().map(raw).collect()
}

fn next_link(previous: &[u8], text: &str) -> Vec<u8> {
    let mut context = Context::new(&SHA256);
    context.update(previous);
    context.update(text.as_bytes());
    context.finish().as_ref().to_vec()
}

/// Changes one entry, and rewrites the hash chain so that it is valid.
fn rewrite_chain(folder: &LogFolder) {
    let texts = entry_texts(folder);
    let log = folder.open_without_triggers();
    log.execute("UPDATE entry SET subject = 'forged' WHERE number = 5", []).unwrap();
    let mut previous = vec![0; 32];
    for (number, text) in (1_i64..).zip(texts) {
        previous = next_link(&previous, &text.replace("\"number 5\"", "\"forged\""));
        log.execute("UPDATE entry SET link = ?1 WHERE number = ?2", rusqlite::params![previous, number]).unwrap();
    }
}

/// Appends a forged entry with a valid hash chain.
fn add_entry(folder: &LogFolder) {
    let texts = entry_texts(folder);
    let log = folder.open_without_triggers();
    let last: Vec<u8> =
        log.query_row("SELECT link FROM entry ORDER BY number DESC LIMIT 1", [], |row| row.get(0)).unwrap();
    let (old, new) = (format!("\"number\":{ENTRY_COUNT},"), format!("\"number\":{},", ENTRY_COUNT + 1));
    let forged = next_link(&last, &texts[texts.len() - 1].replace(&old, &new));
    let sql =
        "INSERT INTO entry SELECT number + 1, at, asker, server, kind, subject, decision, scope, decided_by, rule,
        conversation, hash, imported, ?1, content_bytes, content FROM entry WHERE number = ?2";
    assert_eq!(log.execute(sql, rusqlite::params![forged, ENTRY_COUNT as i64]).unwrap(), 1, "one entry is added");
}

fn export_to_file(folder: &LogFolder) -> PathBuf {
    let path = folder.folder.path().join("export.jsonl");
    folder.log().export(&mut std::fs::File::create(&path).unwrap()).unwrap();
    path
}

#[test]
fn rewritten_log_is_detected_without_the_key() {
    let forged = || {
        let folder = LogFolder::with_entries(ENTRY_COUNT);
        assert!(folder.log().verify().unwrap().is_proven(), "the log is proved before the change");
        rewrite_chain(&folder);
        folder.open_without_triggers().execute_batch("DELETE FROM seal").unwrap();
        folder.keychain.lose_key();
        folder
    };
    let found = forged().log().verify().unwrap().findings;
    assert_eq!(
        found.first().map(|f| (f.what, f.number)),
        Some((TamperKind::SealBroken, ENTRY_COUNT)),
        "the mark in the keychain must not match the end of the log: {found:?}"
    );
    let folder = forged();
    folder.append(0..1);
    let found = folder.log().verify().unwrap().findings;
    assert_eq!(
        found.first().map(|f| f.what),
        Some(TamperKind::Noted),
        "a log that gets another entry notes it: {found:?}"
    );

    // The keychain never stored a mark.
    let folder = forged();
    folder.keychain.remove_marks();
    folder.append(0..1);
    let verdict = folder.log().verify().unwrap();
    assert_eq!(verdict.unproved, [(1, ENTRY_COUNT)], "a new key does not prove existing entries: {verdict:?}");
    assert!(!verdict.is_proven(), "the log is reported as unproved");
}

#[test]
fn externally_added_entries_are_not_sealed() {
    let folder = LogFolder::with_entries(ENTRY_COUNT);
    add_entry(&folder);
    let verdict = folder.log().verify().unwrap();
    assert!(verdict.is_intact() && !verdict.is_proven(), "valid links must not count as a proof: {verdict:?}");
    assert_eq!(verdict.unproved, [(ENTRY_COUNT + 1, ENTRY_COUNT + 1)], "the added entry is unproved");
    let verdict = folder.log().verify_export(&export_to_file(&folder)).unwrap();
    assert!(!verdict.is_proven(), "the export is not proved: {verdict:?}");

    folder.append(0..2);
    let log = folder.log();
    let verdict = log.verify().unwrap();
    assert_eq!(
        verdict.seal,
        AuditSeal::Holds { number: ENTRY_COUNT + 4 },
        "the log is sealed up to its last entry: {verdict:?}"
    );
    assert_eq!(verdict.unproved, [(ENTRY_COUNT + 1, ENTRY_COUNT + 1)], "the added entry must remain unproven");
    let kinds = log.read(&AuditQuery { kind: Some("log-unsealed".into()), ..AuditQuery::latest(5) }).unwrap();
    assert_eq!(kinds.len(), 1, "the finding is recorded once");
    let verdict = log.verify_export(&export_to_file(&folder)).unwrap();
    assert_eq!(
        verdict.unproved,
        [(ENTRY_COUNT + 1, ENTRY_COUNT + 1)],
        "the verdict of an export is the same: {verdict:?}"
    );

    // The same change while an instance has the log open.
    let folder = LogFolder::with_entries(ENTRY_COUNT - 1);
    let log = folder.log();
    log.append(decision_entry("the last")).unwrap();
    add_entry(&folder);
    log.append(decision_entry("after")).unwrap();
    let verdict = log.verify().unwrap();
    assert_eq!(
        verdict.unproved,
        [(ENTRY_COUNT + 1, ENTRY_COUNT + 1)],
        "the added entry must be reported immediately: {verdict:?}"
    );
}

#[test]
fn restored_older_copy_is_detected() {
    let folder = LogFolder::with_entries(5);
    let (file, copy) = (folder.file(), folder.data().join("copy.db"));
    std::fs::copy(&file, &copy).unwrap();
    folder.append(6..=9);
    std::fs::copy(&copy, &file).unwrap();
    let found = folder.log().verify().unwrap().findings;
    let found: Vec<_> = found.iter().map(|f| (f.what, f.number, f.to)).collect();
    assert_eq!(found, [(TamperKind::CutOff, 6, Some(9))], "the mark in the keychain is of a later entry");
    folder.append(0..1);
    let found = folder.log().verify().unwrap().findings;
    let found: Vec<_> = found.iter().map(|f| (f.what, f.number)).collect();
    assert_eq!(found, [(TamperKind::Missing, 6), (TamperKind::Noted, 10)], "the gap stays");
}

#[test]
fn keychain_unlocked_later_seals_the_entries() {
    let folder = LogFolder::new();
    folder.keychain.set_locked(true);
    let log = folder.log();
    log.append(decision_entry("one")).unwrap();
    let verdict = log.verify().unwrap();
    assert!(verdict.is_intact() && !verdict.is_proven(), "nothing is proved while the keychain is locked: {verdict:?}");
    assert_eq!(
        (verdict.seal, verdict.unproved),
        (AuditSeal::None, vec![(1, 1)]),
        "nothing is sealed while the keychain is locked"
    );
    folder.keychain.set_locked(false);
    let verdict = log.verify().unwrap();
    assert_eq!(verdict.seal, AuditSeal::Holds { number: 1 }, "verification must request the key again");
    assert!(verdict.is_proven(), "entries of this instance are sealed: {verdict:?}");
    assert_eq!(log.read(&AuditQuery::latest(5)).unwrap().len(), 1, "no finding is noted");
}
