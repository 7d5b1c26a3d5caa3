//! Tests all servers in one host at the same time.

use host::view::{ConsentRequestBody, ServerState, UserDecision};
use policy::ApprovalScope;
use serde_json::{Value, json};
use testkit::app::{TestApp, demo_config};

use crate::installed;
use crate::user::{await_call, result_text, spawn_call, wait_for_complete_catalog};

#[tokio::test]
async fn six_servers_start_respond_and_end_concurrently() {
    let folder = tempfile::tempdir().unwrap();
    let folder = std::fs::canonicalize(folder.path()).unwrap();
    let repository = folder.join("repository");
    installed::create_git_repository(&repository);
    let app = TestApp::start(vec![
        ("everything", installed::everything_server()),
        ("memory", installed::memory_server(&folder)),
        ("files", installed::filesystem_server(&repository)),
        ("time", installed::time_server()),
        ("git", installed::git_server(&repository)),
        ("demo", demo_config(&[])),
    ])
    .await;
    let calls: [(&str, &str, Value, &str); 6] = [
        ("everything", "get-sum", json!({ "a": 2, "b": 3 }), "5"),
        ("memory", "read_graph", json!({}), "entities"),
        ("files", "read_text_file", json!({ "path": repository.join("new.txt") }), "new"),
        ("time", "get_current_time", json!({ "timezone": "UTC" }), "UTC"),
        ("git", "git_status", json!({ "repo_path": repository }), "new.txt"),
        ("demo", "add", json!({ "a": 2, "b": 3 }), "2 + 3 = 5"),
    ];
    let user = app.decide_automatically(|request| match &request.body {
        ConsentRequestBody::StartServer { .. } | ConsentRequestBody::Tool { .. } => {
            Some(UserDecision::Allow(ApprovalScope::Once))
        }
        _ => None,
    });
    for (name, ..) in &calls {
        app.host.start_server((*name).into()).await.unwrap();
    }
    let mut processes = Vec::new();
    for (name, ..) in &calls {
        let view = app.until(name, "ready", |s| s.state == ServerState::Ready).await;
        processes.push(view.pid.expect("a ready server has a process"));
        wait_for_complete_catalog(&app, name).await;
    }
    let under_way: Vec<_> =
        calls.iter().map(|(name, tool, given, _)| spawn_call(&app, name, name, tool, given)).collect();
    for (call, (name, _, _, expected)) in under_way.into_iter().zip(&calls) {
        let result = await_call(call).await.unwrap_or_else(|error| panic!("{name} should return a result: {error}"));
        assert!(
            !result.is_error && result_text(&result).contains(expected),
            "{name} should return the result of its call: {result:?}"
        );
    }
    user.abort();
    app.host.close().await;
    for (process, (name, ..)) in processes.into_iter().zip(&calls) {
        let left = testkit::processes::living_processes_in_group(process);
        assert!(left.is_empty(), "[security-client-per-server]: no process of {name} remains: {left:?}");
    }
}
