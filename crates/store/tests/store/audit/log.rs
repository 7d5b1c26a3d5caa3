//! Tests of appending, durability, searching and exporting.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::secrets::SecretsInMemory;
use ports::{AuditAppendStatus, AuditEntry, AuditQuery, AuditReceipts, AuditSeal, Secrets as _};

use super::support::{LogFolder, NoPlatform, decision_entry, entry_numbers};

#[test]
fn entry_numbers_are_consecutive() {
    let folder = LogFolder::new();
    let log = folder.log();
    assert_eq!(log.read(&AuditQuery::latest(10)).unwrap(), [], "an empty log has no entries");
    assert!(!folder.file().exists(), "an empty log has no file");
    assert_eq!(log.append(decision_entry("first")).unwrap().number, 1, "entries must be numbered from 1");
    assert_eq!(log.append(decision_entry("second")).unwrap().number, 2, "the numbers must be consecutive");
    let again = folder.log();
    assert_eq!(again.append(decision_entry("third")).unwrap().number, 3, "another instance continues the numbering");
    assert_eq!(
        log.append(decision_entry("fourth")).unwrap().number,
        4,
        "the first instance must continue the numbering"
    );
    let entries = log.read(&AuditQuery::latest(3)).unwrap();
    assert_eq!(
        entries.iter().map(|e| e.number).collect::<Vec<_>>(),
        [4, 3, 2],
        "newest first, limited to the requested count"
    );
    assert_eq!(entries[0], AuditEntry { number: 4, ..decision_entry("fourth") }, "an entry is read back unchanged");
    let before = AuditQuery { before: Some(3), ..AuditQuery::latest(10) };
    assert_eq!(log.read(&before).unwrap().len(), 2, "entries before a number");
    let verdict = log.verify().unwrap();
    assert!(verdict.is_intact(), "two instances write one chain: {verdict:?}");
    assert_eq!(verdict.seal, AuditSeal::Holds { number: 4 }, "the log is sealed up to its last entry");
}

#[test]
fn s04_first_entry_is_marked_in_the_keychain_immediately() {
    let folder = LogFolder::new();
    let log = folder.log();
    log.append(decision_entry("first")).unwrap();
    // The log is not called again: a process that is killed now has already stored the mark.
    let start = Instant::now();
    let marked = loop {
        let mark = folder.keychain.read_rollback_mark("end of the audit log").unwrap();
        match mark {
            Some(mark) => break mark,
            None => {
                assert!(start.elapsed() < Duration::from_secs(20), "the keychain gets the mark without further entries")
            }
        }
        // sleep: polls, since no event reports the change.
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(marked.starts_with("1 "), "the mark has the number of the last entry: {marked}");
    drop(log);
}

#[test]
fn concurrent_writers_form_one_chain() {
    let folder = LogFolder::new();
    let receipts = Arc::new(AuditReceipts::default());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (log, receipts) = (folder.log(), Arc::clone(&receipts));
            scope.spawn(move || {
                log.set_receipts(receipts);
                for ticket in 0..100 {
                    match ticket % 3 {
                        0 => drop(log.append(decision_entry(&"x".repeat(1_500))).unwrap()),
                        _ => assert_eq!(
                            log.append_later(decision_entry("y"), writer * 1_000 + ticket),
                            Ok(AuditAppendStatus::Later)
                        ),
                    }
                }
                log.flush().unwrap();
            });
        }
    });
    let log = folder.log();
    assert_eq!(
        entry_numbers(&*log),
        (1..=400).rev().collect::<Vec<_>>(),
        "every entry is stored, numbered without a gap"
    );
    let verdict = log.verify().unwrap();
    assert!(verdict.is_intact(), "the entries form one chain: {verdict:?}");
}

#[test]
fn entries_appended_later_are_reported_once_durable() {
    let folder = LogFolder::new();
    let log = folder.log();
    let receipts = Arc::new(AuditReceipts::default());
    log.set_receipts(Arc::clone(&receipts));
    for ticket in 0..50 {
        assert_eq!(
            log.append_later(decision_entry("x"), ticket),
            Ok(AuditAppendStatus::Later),
            "append_later must return immediately"
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let reported = runtime.block_on(async {
        let mut reported = Vec::new();
        while reported.len() < 50 || log.durable_position().unwrap() < 50 {
            let next = tokio::time::timeout(Duration::from_secs(20), receipts.wait_for_outcomes()).await;
            reported.extend(next.expect("the log reports every entry once it is durable"));
        }
        reported
    });
    for (at, (ticket, written)) in (0..).zip(&reported) {
        let written = written.as_ref().unwrap();
        assert_eq!(
            (*ticket, written.number, written.position),
            (at, at + 1, at + 1),
            "entries must be reported in order, each with its ticket"
        );
    }
}

#[test]
fn audit_fields_are_bounded_and_exports_contain_no_terminal_escapes() {
    let folder = LogFolder::new();
    let log = folder.log();
    // Escape sequences and text with direction controls (X11, X12).
    let subject = "\u{1b}[2J \u{9b}31m \u{202e}gpj.exe \u{200b} \u{e0041} 漢 🦀 \0";
    log.append(decision_entry(subject)).unwrap();
    let mut long = decision_entry(&"ä".repeat(5_000));
    long.content = Some("€".repeat(10_000));
    long.truncate_fields();
    log.append(long).unwrap();
    let entries = log.read(&AuditQuery::latest(2)).unwrap();
    assert_eq!(entries[1].subject, subject, "special characters are read back unchanged");
    assert_eq!(entries[0].subject.chars().count(), 2_000, "a subject is truncated at its limit");
    let content = entries[0].content.as_ref().unwrap();
    assert!(content.len() <= 16 * 1024 && content.ends_with('€'), "content is truncated between two characters");
    assert_eq!(entries[0].content_bytes, Some(30_000), "the original size is recorded");
    let mut out = Vec::new();
    log.export(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let acting = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0041}');
    assert!(!text.contains(acting), "the export escapes control characters");
}

#[test]
fn e26_hash_of_a_request_finds_its_entry() {
    let folder = LogFolder::new();
    let log = folder.log();
    for hash in ["3f2a9c1b".to_owned() + &"0".repeat(56), "0".repeat(56) + "3f2a9c1b"] {
        log.append(AuditEntry { hash, ..decision_entry("read_file") }).unwrap();
    }
    let found = |word: &str| {
        let query = AuditQuery { words: vec![word.to_owned()], ..AuditQuery::latest(10) };
        log.read(&query).unwrap().iter().map(|entry| entry.number).collect::<Vec<_>>()
    };
    assert_eq!(found("3F2A9C1B"), [1], "the digits that a request shows find its entry");
    assert_eq!(found(&("3f2a9c1b".to_owned() + &"0".repeat(56))), [1], "the whole hash finds it");
    assert!(found("3f2a9c1").is_empty(), "fewer digits are a word, which hashes must not contain");
}

#[test]
fn query_filters_entries() {
    let folder = LogFolder::new();
    let log = folder.log();
    let entry = |at, server: &str, kind: &'static str, decision_: &'static str, subject: &str| AuditEntry {
        at,
        server: server.into(),
        kind: kind.into(),
        decision: decision_.into(),
        content: Some("{\"path\":\"/home/Ann/taxes\"}".into()),
        ..decision_entry(subject)
    };
    log.append(entry(100, "files", "tool", "allowed", "read_file")).unwrap();
    log.append(entry(200, "files", "tool", "denied", "delete_file")).unwrap();
    log.append(entry(300, "mail", "url", "allowed", "https://example.com/100%_done")).unwrap();
    let found = |query: AuditQuery| {
        let found = log.read(&AuditQuery { limit: 10, ..query }).unwrap();
        found.iter().map(|entry| entry.number).collect::<Vec<_>>()
    };
    let words =
        |words: &[&str]| AuditQuery { words: words.iter().map(|&w| w.into()).collect(), ..AuditQuery::default() };
    assert_eq!(
        found(AuditQuery { server: Some("files".into()), ..AuditQuery::default() }),
        [2, 1],
        "entries must be filtered by server"
    );
    assert_eq!(
        found(AuditQuery { kind: Some("url".into()), ..AuditQuery::default() }),
        [3],
        "entries must be filtered by kind"
    );
    assert_eq!(
        found(AuditQuery { decision: Some("denied".into()), ..AuditQuery::default() }),
        [2],
        "entries must be filtered by decision"
    );
    let between = AuditQuery { since: Some(200), until: Some(300), ..AuditQuery::default() };
    assert_eq!(
        found(between),
        [2],
        "entries must be filtered by time, with the first bound included and the second excluded"
    );
    assert_eq!(found(words(&["FILE", "delete"])), [2], "all words must match, ignoring case");
    assert_eq!(found(words(&["taxes"])), [3, 2, 1], "words are found in contents");
    assert_eq!(found(words(&["100%_"])), [3], "no character must be a wildcard");
    assert!(found(words(&["' OR 1=1 --"])).is_empty(), "search words are not part of the SQL");
    assert!(found(words(&["subject"])).is_empty(), "field names are not searched");
}

#[test]
fn write_to_an_unwritable_log_is_an_error() {
    let folder = LogFolder::new();
    fs::create_dir_all(folder.file()).unwrap();
    let error = folder.log().append(decision_entry("x")).unwrap_err();
    assert!(error.cause.starts_with("could not open it: "), "the error names the failed step: {error}");
    fs::remove_dir(folder.file()).unwrap();
    fs::write(folder.file(), "this was never a database, but it is long enough to look like a page of one".repeat(100))
        .unwrap();
    let error = folder.log().append(decision_entry("x")).unwrap_err();
    assert!(error.cause.contains("move it away"), "the error names the next step: {error}");
}

#[test]
fn log_moved_away_is_not_written_to() {
    let folder = LogFolder::with_entries(3);
    let log = folder.log();
    log.append(decision_entry("four")).unwrap();
    log.flush().unwrap();
    fs::rename(folder.file(), folder.data().join("kept.db")).unwrap();
    for rest in ["audit.db-wal", "audit.db-shm"] {
        fs::rename(folder.data().join(rest), folder.data().join(rest.replace("audit", "kept"))).unwrap();
    }
    let written = log.append(decision_entry("five")).unwrap();
    assert_eq!(written.number, 5, "a new log continues the numbering");
    log.flush().unwrap();
    assert!(log.durable_position().unwrap() >= written.position, "the entry is durable in the new file");
    assert_eq!(entry_numbers(&*log), [5, 4], "the new log has the entry and a note that the other log is gone");
}

#[test]
fn log_without_a_keychain_is_chained_but_unproved() {
    let folder = LogFolder::new();
    let open = || {
        let (config, data) = (folder.folder.path().join("mcp.json"), folder.data());
        store::open_with(&config, &data, Arc::new(NoPlatform), Arc::new(SecretsInMemory::default())).unwrap().audit
    };
    for subject in ["one", "two"] {
        let log = open();
        log.append(decision_entry(subject)).unwrap();
        let verdict = log.verify().unwrap();
        assert!(verdict.is_intact() && !verdict.is_proven(), "the chain must be intact but not proven: {verdict:?}");
        assert_eq!(verdict.seal, AuditSeal::None, "the log is not sealed");
    }
    // A keychain becomes available later: the entries that were written without it are sealed together with new ones.
    let log = folder.log();
    log.append(decision_entry("three")).unwrap();
    log.verify().unwrap();
    log.flush().unwrap();
    let verdict = log.verify().unwrap();
    assert_eq!(
        (verdict.is_intact(), verdict.seal),
        (true, AuditSeal::Holds { number: 4 }),
        "the log is sealed up to its last entry"
    );
    assert_eq!(verdict.unproved, [(1, 2)], "entries that were found unsealed are reported as unproved");
}

/// Measures the duration of an append and prints it. The asserted limits are far above the usual duration, for
/// computers with slow disks.
#[test]
fn entry_takes_microseconds_and_many_share_a_sync() {
    let folder = LogFolder::with_entries(1);
    let log = folder.log();
    log.append(decision_entry("opens it")).unwrap();
    let per = |start: Instant, count: u32| start.elapsed().as_secs_f64() * 1e6 / f64::from(count);
    let start = Instant::now();
    for _ in 0..1_000 {
        log.append(decision_entry("x")).unwrap();
    }
    let one_by_one = per(start, 1_000);
    let receipts = Arc::new(AuditReceipts::default());
    log.set_receipts(receipts);
    let start = Instant::now();
    for ticket in 0..1_000 {
        log.append_later(decision_entry("x"), ticket).unwrap();
    }
    let handed_over = per(start, 1_000);
    log.flush().unwrap();
    let durable = per(start, 1_000);
    let start = Instant::now();
    for _ in 0..20 {
        log.append(decision_entry("x")).unwrap();
        log.flush().unwrap();
    }
    let synced = per(start, 20);
    println!(
        "microseconds an entry: {one_by_one:.0} individually, {handed_over:.1} handed over, {durable:.0} until 1,000 are durable, \
         {synced:.0} alone until it is durable"
    );
    assert!(one_by_one < 20_000.0, "an entry is written without a sync: {one_by_one} µs");
    assert!(durable < 20_000.0, "1,000 entries do not take 1,000 syncs: {durable} µs each");
}
