//! Tests of listing, verifying and exporting the audit log.

use serde_json::json;

use crate::program::TestFolder;

fn allowing_answers() -> serde_json::Value {
    json!([
        {"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}},
        {"kind": "tool", "name": "add", "unreviewed": true, "answer": {"action": "allow"}},
    ])
}

/// Creates a folder whose audit log contains the approval of a server's start, an approved call and a denied call.
fn folder_with_audit_log() -> TestFolder {
    let folder = TestFolder::new();
    folder.run_with_answers(&allowing_answers(), &["call", "demo", "add", "--args", r#"{"a": 40, "b": 2}"#]).value();
    folder.run_with_answers(&allowing_answers(), &["call", "demo", "fail"]).error(3);
    folder
}

#[test]
fn audited_decisions_are_filtered_and_searched() {
    let folder = folder_with_audit_log();
    let subjects = |arguments: &[&str]| -> Vec<String> {
        let ended = folder.run(&[&["audit"], arguments].concat());
        let entries = ended.value().as_array().expect("a list").clone();
        entries.iter().map(|entry| entry["subject"].as_str().expect("a subject").to_owned()).collect()
    };
    assert_eq!(
        subjects(&["--kind", "tool"]),
        ["fail", "add"],
        "the filter by kind should return the newest entries first"
    );
    assert_eq!(
        subjects(&["list", "--kind", "tool", "--decision", "allowed"]),
        ["add"],
        "the filter by decision should apply"
    );
    assert_eq!(subjects(&["--search", "\"B\":2 ADD"]), ["add"], "words of the payload should match, ignoring case");
    assert_eq!(
        subjects(&["--server", "demo", "--since", "1h"]).len(),
        4,
        "the filters by server and time should apply"
    );
    assert!(subjects(&["--until", "2026-01-01"]).is_empty(), "no decision should be that old");
    assert!(subjects(&["--server", "other"]).is_empty(), "no decision on another server should be listed");
    let wrong = folder.run(&["audit", "--since", "yesterday"]);
    let (code, message) = wrong.error(2);
    assert_eq!(code, "bad_request", "an invalid time should be a usage error: {message}");
}

#[test]
fn audit_log_is_verified_and_a_change_is_detected() {
    let folder = folder_with_audit_log();
    let ended = folder.run(&["audit", "verify"]);
    let (code, message) = ended.error(4);
    assert_eq!(code, "unproved", "without a keychain the author should be unproved: {message}");
    assert!(
        message.starts_with("The links are valid, but nothing proves who wrote the log"),
        "the message should start with the result: {message}"
    );
    let verdict = &ended.result()["value"];
    assert_eq!(
        (&verdict["whole"], &verdict["entries"]),
        (&json!(true), &json!(4)),
        "the log should be intact: {verdict}"
    );
    assert_eq!(verdict["seal"]["state"], "none", "the log should not be sealed");

    let path = folder.path("export.jsonl");
    let shown = path.display().to_string();
    let ended = folder.run(&["audit", "export", &shown]);
    assert_eq!(ended.value()["entries"], 4, "all entries should be exported");
    folder.run(&["audit", "export", &shown]).error(1);
    let ended = folder.run(&["audit", "verify", &shown]);
    assert_eq!(ended.error(4).0, "unproved", "an export should prove no more than the log");
    assert_eq!(ended.result()["value"]["whole"], true, "the export should be intact");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(r#""subject":"fail""#, r#""subject":"echo""#)).unwrap();
    let changed = folder.run(&["audit", "verify", &shown]);
    let (code, message) = changed.error(1);
    assert_eq!(code, "audit", "a change should be a failure: {message}");
    assert!(message.contains("entry 4 was changed"), "the message should contain the place: {message}");
    assert_eq!(changed.result()["value"]["findings"][0]["what"], "changed", "the finding should be in the JSON output");
    let other = folder.run(&["audit", "verify", &folder.path("mcp.json").display().to_string()]);
    let (code, message) = other.error(1);
    assert!(message.contains("no exported audit log"), "another file should not be an export ({code}): {message}");

    let log = rusqlite::Connection::open(folder.path("data/audit.db")).unwrap();
    log.execute_batch("DROP TRIGGER entry_stays; DELETE FROM entry WHERE number = 2").unwrap();
    drop(log);
    let ended = folder.run(&["audit", "verify"]);
    assert!(ended.error(1).1.contains("entry 2 missing"), "a removed entry should be detected: {}", ended.error(1).1);
}

#[test]
fn audit_log_is_exported_to_standard_output() {
    let folder = folder_with_audit_log();
    let output = folder.command().args(["audit", "export"]).output().unwrap();
    assert!(output.status.success(), "the export should succeed");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text.lines().count(),
        1 + 4 + 1,
        "there should be one line for each entry, one before and one after them"
    );
    assert!(text.starts_with(r#"{"format":"drawbridge audit log""#), "the first line should name the format: {text}");
    folder.run(&["audit", "export"]).error(2);
    let output = folder.command().args(["audit", "verify"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let words = "The links are valid, but nothing proves who wrote the log: 4 entries, 1 to 4.";
    assert!(text.contains(words), "the result should be described in text: {text}");
}
