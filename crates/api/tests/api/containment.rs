//! Tests of commands for sandboxes and limits.

use api::{Api, ErrorCode, dispatch};
use host::view::ServerState;
use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::run_command;

fn config_with_sandbox(sandbox: Value) -> Value {
    let program = testkit::binaries::scripted_server();
    json!({"type": "stdio", "command": program, "sandbox": sandbox})
}

#[tokio::test]
async fn sandbox_folders_are_stored_canonicalized() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let base = app.folder.path().canonicalize().unwrap();
    std::fs::create_dir(base.join("real")).unwrap();
    std::os::unix::fs::symlink(base.join("real"), base.join("link")).unwrap();
    let sandbox =
        json!({"folders": [{"path": base.join("link"), "access": "read"}], "network": {"preset": "files_only"}});
    run_command(&api, "add_server", json!({"name": "held", "config": config_with_sandbox(sandbox)})).await;
    let shown = run_command(&api, "read_snapshot", json!({})).await["servers"][0]["config"]["sandbox"].clone();
    let real = json!({"folders": [{"path": base.join("real"), "access": "read"}], "network": {"preset": "files_only"}});
    assert_eq!(shown, real, "X29: folders should be stored canonicalized");

    let report = run_command(&api, "describe_sandbox", json!({"server": "held"})).await;
    if cfg!(target_os = "linux") {
        assert_eq!(report["problem"], Value::Null, "the sandbox should be available");
        assert_eq!(report["plan"]["folders"], real["folders"], "the plan should contain the folders: {report}");
        assert_eq!(report["plan"]["network"]["preset"], "files_only", "network of the plan");
    }
    std::fs::remove_dir(base.join("real")).unwrap();
    let report = run_command(&api, "describe_sandbox", json!({"server": "held"})).await;
    let problem = report["problem"].as_str().unwrap_or_default();
    assert!(
        problem.contains("real") && problem.contains("create it"),
        "the problem should contain the cause and the remedy: {report}"
    );
    assert_eq!(report["cause"], "no_folder", "the report should contain the code: {report}");
    run_command(&api, "start_server", json!({"server": "held"})).await;
    app.until("held", "failed", |server| matches!(server.state, ServerState::Failed(_))).await;
    let state = run_command(&api, "read_snapshot", json!({})).await["servers"][0]["state"].clone();
    assert_eq!(state["reason"], "could_not_start", "the server should not start: {state}");
    assert_eq!(state["sandbox"], "no_folder", "the state should contain the same code: {state}");
}

#[tokio::test]
async fn invalid_sandbox_is_rejected() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let link = app.folder.path().join("all");
    std::os::unix::fs::symlink("/", &link).unwrap();
    for path in ["src", "/", link.to_str().unwrap()] {
        let sandbox = json!({"folders": [{"path": path, "access": "read"}], "network": {"preset": "full"}});
        let request = json!({"name": "held", "config": config_with_sandbox(sandbox)});
        let error = dispatch(&api, "add_server", request).await.expect_err("the folder should be rejected");
        assert_eq!(error.code, ErrorCode::Invalid, "{path}: {error:?}");
    }
    run_command(&api, "add_server", json!({"name": "free", "config": config_with_sandbox(Value::Null)})).await;
    let report = run_command(&api, "describe_sandbox", json!({"server": "free"})).await;
    assert_eq!(report, json!({"plan": null, "problem": null}), "a server without a sandbox has no plan and no problem");
}

#[tokio::test]
async fn server_resource_limits_are_configurable_and_reported_with_usage() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    run_command(&api, "add_server", json!({"name": "near", "config": config_with_sandbox(Value::Null)})).await;
    let mut settings = run_command(&api, "read_snapshot", json!({})).await["settings"].clone();
    assert_eq!(settings["limits"]["calls"], 256, "default limits: {settings}");
    settings["limits"]["calls"] = json!(7);
    settings["limits"]["messageBytes"] = json!(1);
    run_command(&api, "set_settings", settings.clone()).await;
    let used = run_command(&api, "read_limits_usage", json!({"server": "near"})).await;
    assert_eq!(used["calls"], json!({"current": 0, "limit": 7, "excess": 0}), "configured limit");
    assert_eq!(used["largestMessage"]["limit"], 64 * 1024, "the minimum should apply");
    settings.as_object_mut().unwrap().remove("limits");
    run_command(&api, "set_settings", settings).await;
    let used = run_command(&api, "read_limits_usage", json!({"server": "near"})).await;
    assert_eq!(used["calls"]["limit"], 256, "an omitted setting should select the default");
    let error = dispatch(&api, "read_limits_usage", json!({"server": "nobody"}))
        .await
        .expect_err("the server should be unknown");
    assert_eq!(error.code, ErrorCode::NotFound, "error code: {error:?}");
}

#[tokio::test]
async fn window_settings_leave_all_other_settings_unchanged() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let mut settings = run_command(&api, "read_snapshot", json!({})).await["settings"].clone();
    settings["announce"] = json!(false);
    run_command(&api, "set_settings", settings.clone()).await;
    run_command(&api, "set_window_settings", json!({"zoom": 9_999, "menuBar": true, "announce": true})).await;
    settings["zoom"] = json!(api::data::MAX_ZOOM);
    settings["menuBar"] = json!(true);
    let after = run_command(&api, "read_snapshot", json!({})).await["settings"].clone();
    assert_eq!(after, settings, "only the zoom and the menu bar should change");
}
