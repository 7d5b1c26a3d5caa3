//! Tests of the commands `check_computer` and `check_server_command`.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use api::{Api, CheckInputs, ErrorCode, ProcessEnvironment, WebView, dispatch};
use process::{SearchPath, SearchPathSource};
use serde_json::json;
use testkit::app::{TestApp, local_config};

use crate::run_command;

/// Text contained in all private values, which the report must not contain.
const PRIVATE_VALUE_MARKER: &str = "canary-ann";

/// Creates an API whose search path is the folder `home/bin`.
fn api_with_search_path_in_home(app: &TestApp, home: &std::path::Path) -> Api {
    let ports = app.host.ports();
    let computer = CheckInputs {
        settings: Arc::clone(&ports.servers),
        secrets: Arc::clone(&ports.secrets),
        data_folder: app.folder.path().to_owned(),
        cache_folder: Some(home.join(".cache")),
        environment: ProcessEnvironment::with_variables(
            &[("HTTPS_PROXY", "http://canary-ann@127.0.0.1:9")],
            Some(home.to_owned()),
        ),
        search_path: SearchPath { directories: vec![home.join("bin")], source: SearchPathSource::LoginShell }.into(),
        web_view: Some(WebView { name: "WebKitGTK", version: "2.38.6".to_owned() }),
        clock: Arc::clone(&ports.clock),
    };
    Api::new(app.host.clone()).with_computer_checks(computer)
}

#[tokio::test]
async fn checkup_findings_suggest_a_remedy_and_report_is_redacted() {
    let home = tempfile::Builder::new().prefix(PRIVATE_VALUE_MARKER).tempdir().unwrap();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let node = bin.join("node");
    std::fs::write(&node, "#!/bin/sh\necho v8.0.0\n").unwrap();
    std::fs::set_permissions(&node, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = |program: &str| local_config(program.into(), &["--token", PRIVATE_VALUE_MARKER]);
    let app =
        TestApp::start(vec![(PRIVATE_VALUE_MARKER, server("npx")), ("other", server("canary-ann-program"))]).await;
    let found = run_command(&api_with_search_path_in_home(&app, home.path()), "check_computer", json!({})).await;
    let finding = |id: &str| {
        let all = found["findings"].as_array().unwrap();
        all.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("no finding {id} in {found:#}")).clone()
    };
    assert_eq!(finding("node")["state"], "problem", "an old Node.js without npx should be a problem: {found:#}");
    assert_eq!(finding("node")["servers"], json!([PRIVATE_VALUE_MARKER]), "affected servers");
    assert!(finding("node")["remedy"].is_string(), "a remedy should be suggested");
    assert!(finding("programs").to_string().contains("other"), "the missing program should be reported: {found:#}");
    assert_eq!(finding("web_view")["state"], "warning", "the web view should be checked");
    let report = found["report"].as_str().unwrap();
    assert!(report.contains("Program: Drawbridge ") && report.contains("WebKitGTK 2.38.6"), "{report}");
    assert_eq!(report.matches("1 × local").count(), 2, "the report should count servers by kind: {report}");
    assert!(
        found["findings"].to_string().contains(PRIVATE_VALUE_MARKER),
        "the findings should contain the private values"
    );
    assert!(!report.contains("canary"), "the report should contain no private value: {report}");
}

#[tokio::test]
async fn missing_program_and_folder_of_a_command_are_reported() {
    let home = tempfile::tempdir().unwrap();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("server");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let app = TestApp::start(Vec::new()).await;
    let api = api_with_search_path_in_home(&app, home.path());
    let absent = home.path().join("absent");
    let (home, program, absent) = (home.path(), program.as_path(), absent.as_path());
    for (request, missing) in [
        (json!({"command": "server"}), ""),
        (json!({"command": program, "cwd": home}), ""),
        (json!({"command": "serverr"}), "program"),
        (json!({"command": "server", "path": absent}), "program"),
        (json!({"command": "server", "cwd": absent}), "folder"),
        (json!({"command": "server", "cwd": program}), "folder"),
        (json!({"cwd": absent}), "folder"),
        (json!({"command": "server", "cwd": "."}), "absolute path"),
    ] {
        let found = run_command(&api, "check_server_command", request.clone()).await;
        let expected = json!({
            "isProgramMissing": missing == "program",
            "isFolderMissing": missing == "folder",
            "isFolderRelative": missing == "absolute path",
        });
        assert_eq!(found, expected, "what is missing for {request}");
    }
}

#[tokio::test]
async fn check_computer_returns_not_found_without_check_inputs() {
    let app = TestApp::start(Vec::new()).await;
    let refused = dispatch(&Api::new(app.host.clone()), "check_computer", json!({})).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotFound);
}
