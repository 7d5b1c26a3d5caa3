//! Tests of the commands that show, check and print rules.

use serde_json::{Value, json};

use crate::program::{TestFolder, allowing_answers};

/// Creates a folder whose file with the user's rules contains these rules.
fn folder_with_rules(rules: &Value) -> TestFolder {
    let folder = TestFolder::new();
    std::fs::create_dir_all(folder.path("data")).unwrap();
    std::fs::write(folder.path("data/policy.json"), rules.to_string()).unwrap();
    folder
}

fn folder_with_deny_rule() -> TestFolder {
    folder_with_rules(&json!({
        "version": 1,
        "rules": [{"effect": "deny", "tool": "add", "arguments": [{"at": "/b", "glob": "3"}], "note": "no threes"}]
    }))
}

#[test]
fn policy_check_names_the_deciding_rule_and_starts_nothing() {
    let folder = folder_with_deny_rule();
    let denied = folder.run(&["policy", "check", "demo", "add", r#"{"a": 1, "b": 3}"#]);
    assert_eq!(denied.value()["effect"], "deny", "the rule should match");
    let by = json!({"kind": "rule", "rule": {"source": "user", "id": "1"}});
    assert_eq!(denied.value()["by"], by, "the rule should be named");
    assert!(denied.decided_requests().is_empty(), "nothing should be started");
    let checked = folder.run(&["policy", "check", "demo", "add", r#"{"a": 1, "b": 4}"#]);
    assert_eq!(checked.value()["effect"], "ask", "other arguments should require consent");
    assert_eq!(
        checked.value()["considered"][0]["fit"],
        "other-argument",
        "the reason why the rule does not match should be reported"
    );
    let start = folder.run(&["policy", "check", "demo", "--act", "start"]);
    assert_eq!(start.value()["reason"], "new-command", "a dry run of a start should be possible");
    let nothing = folder.run(&["policy", "check", "demo"]);
    assert_eq!(nothing.status, 2, "an act should have to be named");
}

#[test]
fn policy_check_reports_each_condition_with_its_value() {
    let folder = folder_with_rules(&json!({
        "version": 1,
        "rules": [{"effect": "deny", "arguments": [{"at": "/path", "glob": "/secret/*"}]}]
    }));
    let args = ["policy", "check", "demo", "read", r#"{"path": "//secret/x"}"#];
    let output = folder.command().args(args).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    for part in [
        "deny: a rule denies it (rule-denies), by rule 1",
        "This tool has not been reviewed yet; review it with: drawbridge-cli review demo",
        "condition 1: /path glob /secret/*",
        r#"value    "//secret/x""#,
        "read as  /secret/x",
        "holds: another spelling of the value matches",
    ] {
        assert!(words.contains(part), "the text should contain {part:?}: {words}");
    }
}

#[test]
fn deny_rule_overrides_the_answers_file() {
    let folder = folder_with_deny_rule();
    let ended = folder
        .run_with_answers(&allowing_answers(json!([])), &["call", "demo", "add", "--args", r#"{"a": 1, "b": 3}"#]);
    let (code, message) = ended.error(3);
    assert_eq!(code, "refused", "the call should be denied: {message}");
    assert!(message.contains("rule 1"), "the rule should be named: {message}");
}

#[test]
fn all_rules_are_shown_and_printed() {
    let folder = folder_with_deny_rule();
    let output = folder.command().args(["policy", "show"]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    for part in ["Preset: balanced", "rule 1", "deny", "/b glob 3", "no threes"] {
        assert!(words.contains(part), "the text should contain {part:?}: {words}");
    }
    let output = folder.command().args(["policy", "export"]).output().unwrap();
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["policy"]["rules"][0]["note"], "no threes", "rules should be printed as in the file");
    assert_eq!(printed["approvals"], json!([]), "grants should be printed");
}

#[test]
fn unreadable_rules_are_reported_with_their_position() {
    let folder = folder_with_rules(&json!({"version": 1, "rules": [{"effect": "maybe"}]}));
    let shown = folder.run(&["policy", "show"]);
    let problem = shown.value()["user"]["problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem.starts_with("rules[0].effect"), "the problem should contain the position: {problem}");
    let checked = folder.run(&["policy", "check", "demo", "--act", "read"]);
    assert_eq!(checked.value()["reason"], "policy-unusable", "unusable rules should require consent for everything");
}
