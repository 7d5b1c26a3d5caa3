//! Tests of folders whose displayed name is misleading (X29).

use std::path::PathBuf;

use host::DecisionError;
use host::view::{ConsentRequestBody, UserDecision};
use policy::ApprovalScope;
use serde_json::{Value, json};
use testkit::app::scripted_config;
use testkit::time::advance_time;

use crate::pair::{GoodAndBadServers, PendingCall};

/// Starts a call during which the hostile server requests the roots. Returns the servers, the folder that contains the
/// messages the hostile server received, and the call.
async fn pair_requesting_roots(what: &str) -> (GoodAndBadServers, tempfile::TempDir, PendingCall) {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let raw = r#"tools/call={"jsonrpc":"2.0","id":"folders","method":"roots/list"}"#;
    let pair =
        GoodAndBadServers::with_undecided_tools(scripted_config(&["--raw", raw, "--record", record.to_str().unwrap()]))
            .await;
    let call = pair.spawn_call("1", "echo", json!({"text": "x"}));
    let request = pair.wait_for_tool_consent_request(what, |_| true).await;
    pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    (pair, folder, call)
}

/// Waits until the hostile server has received the response to its request for the roots, and returns the response.
async fn roots_response(what: &str, folder: &tempfile::TempDir) -> Value {
    let record = folder.path().join("record");
    let answer = || {
        let lines = std::fs::read_to_string(&record).unwrap();
        lines.lines().find(|line| line.contains(r#""id":"folders""#)).map(str::to_owned)
    };
    let is_answered = testkit::deadline::poll_until(testkit::app::EVENT_TIMEOUT, || answer().is_some()).await;
    assert!(is_answered, "{what}: the request gets a response");
    serde_json::from_str(&answer().unwrap()).unwrap()
}

#[tokio::test]
async fn x29_no_folder_is_sent_before_the_decision() {
    let what = "X29, roots/list before consent";
    let (pair, folder, call) = pair_requesting_roots(what).await;
    let request = pair.next_server_request(what).await;
    assert_eq!(request.body, ConsentRequestBody::Roots, "{what}: the user receives a consent request");
    pair.while_good_server_responds(what, advance_time(std::time::Duration::from_secs(1))).await;
    pair.wait_until_bad_server_has_read(what).await;
    let record = std::fs::read_to_string(folder.path().join("record")).unwrap();
    assert!(!record.contains(r#""id":"folders""#), "{what}: nothing is sent before the decision");
    pair.app.decide(&request, UserDecision::Deny).await;
    assert_eq!(
        roots_response(what, &folder).await["result"]["roots"],
        json!([]),
        "{what}: after a denial the list is empty"
    );
    call.abort();
    pair.close(what).await;
}

#[tokio::test]
async fn x29_folders_are_sent_canonicalized() {
    let what = "X29, a link, a name with %2f, a sibling";
    let (pair, folder, call) = pair_requesting_roots(what).await;
    let base = std::fs::canonicalize(folder.path()).unwrap();
    let [real, tricky, sibling] = ["real", "..%2fcanary", "realX"].map(|name| base.join(name));
    for path in [&real, &tricky, &sibling] {
        std::fs::create_dir(path).unwrap();
    }
    let link = base.join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let request = pair.next_server_request(what).await;
    for (path, about) in [
        (base.join("absent"), "what is not there"),
        (PathBuf::from(r"\\server\share"), "a UNC path"),
        (PathBuf::from("real"), "a path that is not whole"),
        (base.join("record"), "a file"),
    ] {
        let share = UserDecision::Share(vec![path]);
        let answered = pair.app.host.decide(request.id, request.hash.to_string(), share).await;
        assert!(matches!(answered, Err(DecisionError::Folder { .. })), "{what}: {about} is rejected: {answered:?}");
    }
    pair.app.decide(&request, UserDecision::Share(vec![link, tricky.clone()])).await;
    let roots = roots_response(what, &folder).await["result"]["roots"].to_string();
    assert!(roots.contains(&format!("file://{}", real.display())), "{what}: the target of the link is sent: {roots}");
    assert!(!roots.contains("link"), "{what}: the link itself is not sent: {roots}");
    assert!(roots.contains("..%252fcanary"), "{what}: the name can't lead to the parent folder: {roots}");
    assert!(!roots.contains("realX"), "{what}: a folder with the same prefix is not shared: {roots}");
    let shown = pair.app.server("bad").await.roots.expect("the folders are shared");
    assert_eq!(shown, [real, tricky], "{what}: the user sees the same folders");
    call.abort();
    pair.close(what).await;
}
