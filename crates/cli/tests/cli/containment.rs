//! Tests of the text that describes a sandbox on a terminal.

use serde_json::json;

use crate::program::{TestFolder, allowing_answers};

fn folder_with_sandboxed_server(sandbox: serde_json::Value) -> TestFolder {
    let demo = testkit::binaries::demo_server();
    TestFolder::with_config(&json!({"mcpServers": {"demo": {"command": demo, "sandbox": sandbox}}}).to_string())
}

#[test]
fn sandbox_plan_is_shown_without_starting_anything() {
    let inside = tempfile::tempdir().unwrap();
    let path = inside.path().canonicalize().unwrap();
    let folder = folder_with_sandboxed_server(json!({"folders": [{"path": path, "access": "write"}]}));
    let plan = folder.run(&["sandbox", "demo"]);
    assert_eq!(
        plan.value()["plan"]["folders"],
        json!([{"path": path, "access": "write"}]),
        "the configured folders and hosts should be listed"
    );
    assert!(plan.decided_requests().is_empty(), "nothing should be started, so no consent should be requested");
    let output = folder.command().args(["sandbox", "demo"]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    for part in [format!("may change  {}", path.display()), "network     none".to_owned()] {
        assert!(words.contains(&part), "expected {part:?} in the text: {words}");
    }
}

#[test]
fn sandboxed_server_is_used_like_any_other() {
    let folder = folder_with_sandboxed_server(json!({"network": false}));
    let ended = folder
        .run_with_answers(&allowing_answers(json!([])), &["call", "demo", "add", "--args", r#"{"a": 2, "b": 40}"#]);
    assert_eq!(ended.value()["content"][0]["text"], "2 + 40 = 42", "the server should respond");
    let by = ended.lines.iter().find_map(|line| line["server"]["heldBy"].as_str());
    assert!(matches!(by, Some("bubblewrap" | "Landlock")), "the mechanism should be reported: {by:?}");
}

#[test]
fn unavailable_sandbox_is_reported_with_its_cause() {
    let folder = folder_with_sandboxed_server(json!({"folders": [{"path": "/nowhere/at/all"}]}));
    let (code, message) = (folder.run(&["sandbox", "demo"]), "/nowhere/at/all");
    assert_ne!(code.status, 0, "the server should not be started");
    let error = code.result()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(error.contains(message), "the folder should be named: {error}");
}

#[test]
fn s24_reachable_hosts_are_listed() {
    let folder = folder_with_sandboxed_server(json!({"network": ["API.example.com", "*.example.org:8443"]}));
    let plan = folder.run(&["sandbox", "demo"]);
    if plan.status != 0 {
        let error = plan.result()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains("Install bubblewrap"), "S24: without bubblewrap it should be rejected: {error}");
        return;
    }
    let hosts = json!({"preset": "named_hosts", "hosts": ["api.example.com", "*.example.org:8443"]});
    assert_eq!(plan.value()["plan"]["network"], hosts, "S24: the host should be in the JSON output");
    let output = folder.command().args(["sandbox", "demo"]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    for host in ["host        api.example.com\n", "host        *.example.org:8443\n"] {
        assert!(words.contains(host), "S24: expected {host:?} in the text: {words}");
    }
}
