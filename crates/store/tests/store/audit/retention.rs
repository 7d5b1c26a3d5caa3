//! Tests of retention: entries beyond the limits are removed, and the chain still proves the remaining ones.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ports::{AuditEntry, AuditLog, AuditQuery, AuditRetention, AuditSeal, TamperKind};

use super::support::{LogFolder, decision_entry, entry_numbers};

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn entry_at(at: u64) -> AuditEntry {
    AuditEntry { at, content: Some("secret words".repeat(100)), ..decision_entry("x") }
}

fn wait_until(log: &dyn AuditLog, what: &str, holds: impl Fn(&[u64]) -> bool) {
    let start = Instant::now();
    while !holds(&entry_numbers(log)) {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: {:?}", entry_numbers(log));
        // sleep: polls, since no event reports the change.
        std::thread::sleep(Duration::from_millis(20));
    }
}

const ONE_MONTH: AuditRetention = AuditRetention { days: 30, megabytes: 0 };

/// Returns a log whose first five entries were removed because of the limit of age.
fn log_after_retention() -> LogFolder {
    let folder = LogFolder::new();
    let log = folder.log();
    for _ in 0..5 {
        log.append(entry_at(now() - 31 * 24 * 60 * 60 * 1_000)).unwrap();
    }
    for _ in 0..5 {
        log.append(entry_at(now())).unwrap();
    }
    assert!(log.verify().unwrap().is_intact(), "the log must be intact before the removal");
    log.set_retention(ONE_MONTH);
    wait_until(&*log, "what is too old is removed", |numbers| numbers == [11, 10, 9, 8, 7, 6]);
    log.flush().unwrap();
    folder
}

#[test]
fn expired_entries_are_removed_and_the_rest_is_proved() {
    let folder = log_after_retention();
    let log = folder.log();
    let last = &log.read(&AuditQuery::latest(1)).unwrap()[0];
    assert_eq!(
        (last.kind.as_ref(), last.subject.as_str()),
        ("log-shortened", "entries up to 5"),
        "the removal is recorded"
    );
    let verdict = log.verify().unwrap();
    assert!(verdict.is_intact(), "the chain must be intact: {verdict:?}");
    assert_eq!((verdict.removed, verdict.first), (Some(5), Some(6)), "the verdict has the first remaining entry");
    assert_eq!(verdict.seal, AuditSeal::Holds { number: 11 }, "the log is sealed up to its last entry");
    log.append(decision_entry("more")).unwrap();
    assert!(log.verify().unwrap().is_intact(), "further entries extend the chain");
    let mut out = Vec::new();
    log.export(&mut out).unwrap();
    let file = folder.folder.path().join("export.jsonl");
    std::fs::write(&file, out).unwrap();
    let verdict = log.verify_export(&file).unwrap();
    assert!(verdict.is_intact() && verdict.removed == Some(5), "the verdict of an export is the same: {verdict:?}");
    log.set_retention(ONE_MONTH);
    log.append(decision_entry("more")).unwrap();
    assert_eq!(entry_numbers(&*log).len(), 8, "only entries that are too old are removed");
}

#[test]
fn external_removal_of_the_first_entries_is_reported() {
    // More entries are removed than the checkpoint records.
    let folder = log_after_retention();
    folder.open_without_triggers().execute_batch("DELETE FROM entry WHERE number <= 7").unwrap();
    let found = folder.log().verify().unwrap().findings;
    assert_eq!(
        (found[0].what, found[0].number, found[0].to),
        (TamperKind::Missing, 6, Some(7)),
        "the removal is reported: {found:?}"
    );

    // The attacker writes a checkpoint.
    let folder = log_after_retention();
    let own = "INSERT INTO checkpoint SELECT number, link, (SELECT key FROM checkpoint), (SELECT mac FROM checkpoint) FROM entry
        WHERE number = 7; DELETE FROM entry WHERE number <= 7";
    folder.open_without_triggers().execute_batch(own).unwrap();
    let found = folder.log().verify().unwrap().findings;
    assert_eq!(
        found[0].what,
        TamperKind::CheckpointBroken,
        "a checkpoint with another key must be reported: {found:?}"
    );

    // The checkpoint has no seal, as if there had been no keychain.
    let folder = log_after_retention();
    let own = "INSERT INTO checkpoint SELECT number, link, NULL, NULL FROM entry WHERE number = 7; DELETE FROM entry WHERE number <= 7";
    folder.open_without_triggers().execute_batch(own).unwrap();
    let found = folder.log().verify().unwrap().findings;
    assert_eq!(
        found[0].what,
        TamperKind::CheckpointBroken,
        "a checkpoint that no entry confirms must be reported: {found:?}"
    );
}

#[test]
fn entries_beyond_the_size_limit_are_removed() {
    let folder = LogFolder::new();
    let log = folder.log();
    for _ in 0..2_000 {
        log.append_later(entry_at(now()), 0).unwrap();
    }
    log.flush().unwrap();
    log.set_retention(AuditRetention { days: 0, megabytes: 1 });
    wait_until(&*log, "the oldest are removed", |numbers| numbers.len() < 1_000 && numbers[0] == 2_001);
    let left = entry_numbers(&*log);
    assert!(left.len() > 300, "no more entries than necessary are removed: {}", left.len());
    assert!(log.verify().unwrap().is_intact(), "the remaining entries are proved");
}

#[test]
fn nothing_is_removed_without_a_retention_limit() {
    let folder = LogFolder::new();
    let log = folder.log();
    log.append(entry_at(1)).unwrap();
    log.set_retention(AuditRetention::default());
    log.append(entry_at(2)).unwrap();
    assert_eq!(entry_numbers(&*log), [2, 1], "entries are kept without a limit");
}
