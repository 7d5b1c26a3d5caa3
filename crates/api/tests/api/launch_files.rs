//! Tests of the files in the consent request for a server's start.

use api::{Api, dispatch};
use host::view::{ServerState, UserDecision};
use policy::{ApprovalScope, Hash};
use serde_json::{Value, json};
use testkit::app::TestApp;

/// Starts the server, and returns the files listed in the consent request.
async fn start_and_list_launch_files(app: &TestApp, api: &Api) -> Vec<Value> {
    let request = app.consent_request("near", "its start", |_| true).await;
    let requests = dispatch(api, "read_snapshot", json!({})).await.unwrap();
    let id = request.id.0.to_string();
    let own = requests["consentRequests"]
        .as_array()
        .unwrap()
        .iter()
        .find(|q| q["id"] == id.as_str())
        .expect("the consent request should be in the snapshot");
    own["body"]["files"].as_array().cloned().unwrap_or_default()
}

#[tokio::test]
async fn s06_every_hashed_launch_file_is_shown() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let script = app.folder.path().join("server.sh");
    let begin = format!("exec {}\n", testkit::binaries::demo_server().display());
    std::fs::write(&script, &begin).unwrap();
    let config = json!({"type": "stdio", "command": "sh", "args": [script]});
    dispatch(&api, "add_server", json!({"name": "near", "config": config})).await.unwrap();
    app.host.start_server("near".into()).await.unwrap();
    let files = start_and_list_launch_files(&app, &api).await;
    let [program, own] = &files[..] else { panic!("expected the program and its script: {files:?}") };
    assert_eq!((&program["role"], &own["role"]), (&json!("program"), &json!("argument")), "roles of the files");
    assert!(program["path"].as_str().unwrap().ends_with("/sh"), "{program}");
    assert_eq!(own["path"].as_str().map(std::path::Path::new), Some(script.as_path()), "path of the script");
    assert_eq!(own["bytes"], json!(begin.len()), "size of the script");
    assert_eq!(own["hash"], json!(Hash::of_bytes(begin.as_bytes()).as_str()), "hash of the script");
    assert!(
        files.iter().all(|file| file["changed"] == false),
        "no file should be marked without an earlier approval: {files:?}"
    );

    let request = app.consent_request("near", "its start", |_| true).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until("near", "ready", |s| s.state == ServerState::Ready).await;
    app.host.stop_server("near".into()).await.unwrap();
    app.until("near", "stopped", |s| s.state == ServerState::Stopped).await;
    std::fs::write(&script, format!("# another\n{begin}")).unwrap();
    app.host.start_server("near".into()).await.unwrap();
    let files = start_and_list_launch_files(&app, &api).await;
    let changed: Vec<&Value> = files.iter().map(|file| &file["changed"]).collect();
    assert_eq!(changed, [false, true], "only the script should be marked as changed: {files:?}");
    app.host.close().await;
}
