//! Tests that the API never returns secret environment variables of local servers.

use api::{Api, ErrorCode, dispatch};
use host::view::ServerState;
use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::run_command;

const SECRET: &str = "t0psecret-of-mine";

/// Returns a configuration that starts the demo server by a shell script. The script writes its environment variables
/// to a file, and prints the secret.
fn environment_recording_server_config(app: &TestApp, env: Value) -> Value {
    let script = r#"env > "$SEEN"; printf '%s\n' "{\"jsonrpc\":\"2.0\",\"method\":\"x/$TOKEN\"}"; exec "$0""#;
    let mut env = env;
    env["SEEN"] = json!(app.folder.path().join("seen"));
    let demo = testkit::binaries::demo_server();
    json!({"type": "stdio", "command": "sh", "args": ["-c", script, demo], "env": env, "secretEnv": ["TOKEN"]})
}

fn recorded_environment(app: &TestApp) -> String {
    std::fs::read_to_string(app.folder.path().join("seen")).unwrap_or_default()
}

/// Starts a server that must fail, and returns the message of the failure.
async fn start_failure_message(app: &TestApp) -> String {
    app.approve_start("near").await;
    match app.until("near", "failed", |s| matches!(s.state, ServerState::Failed(_))).await.state {
        ServerState::Failed(failure) => failure.message,
        other => panic!("the server should have failed: {other:?}"),
    }
}

async fn settings_file_and_displayed_config(app: &TestApp, api: &Api) -> (String, Value) {
    let file = std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    (file, run_command(api, "read_snapshot", json!({})).await["servers"][0]["config"].clone())
}

#[tokio::test]
async fn secret_is_passed_in_the_environment_and_appears_nowhere_else() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let mut events = api.events();
    let config = environment_recording_server_config(&app, json!({"TOKEN": SECRET, "LEVEL": "debug"}));
    let response = run_command(&api, "add_server", json!({"name": "near", "config": config})).await;
    assert!(response["onlyThisRun"].is_string(), "the missing keychain should be reported: {response}");
    let (file, shown) = settings_file_and_displayed_config(&app, &api).await;
    assert!(
        file.contains("${secret:near.TOKEN}") && !file.contains(SECRET),
        "the file should contain no secret: {file}"
    );
    assert!(file.contains("debug"), "plain values should be in the file");
    assert_eq!(shown["env"]["TOKEN"], "${secret:near.TOKEN}", "the page should receive the reference");
    assert_eq!(shown["secretEnv"], json!(["TOKEN"]), "the secret variables should be listed");

    app.ready("near").await;
    assert!(recorded_environment(&app).contains(&format!("TOKEN={SECRET}\n")), "the server should receive the secret");
    let activity = app.activity("near").await;
    assert!(
        activity.contains("x/[redacted]") && !activity.contains(SECRET),
        "the secret should be redacted in the activity log: {activity}"
    );
    let page = run_command(&api, "read_activity", json!({"server": "near", "limit": 100})).await;
    let entries = page["entries"].as_array().unwrap();
    let is_redacted = |e: &&Value| e["preview"].as_str().is_some_and(|text| text.contains("x/[redacted]"));
    let sent = |e: &&Value| e["sent"] == json!(true);
    for (entry, redacted) in [(entries.iter().find(is_redacted), true), (entries.iter().find(sent), false)] {
        let entry = entry.expect("the message should be in the activity log");
        let body = run_command(&api, "read_activity_message", json!({"server": "near", "seq": entry["seq"]})).await;
        assert_eq!(body["redacted"], json!(redacted), "a redaction should be reported: {body}");
    }
    let mut audit = std::fs::read(app.folder.path().join("data/audit.db")).unwrap();
    audit.extend(std::fs::read(app.folder.path().join("data/audit.db-wal")).unwrap_or_default());
    assert!(!String::from_utf8_lossy(&audit).contains(SECRET), "the secret should not be in the audit log");

    // An update with the reference keeps the secret, and a new value replaces it.
    let (_, shown) = settings_file_and_displayed_config(&app, &api).await;
    run_command(&api, "update_server", json!({"server": "near", "name": "near", "config": shown})).await;
    run_command(&api, "set_secret", json!({"server": "near", "header": "TOKEN", "value": "an0ther-secret"})).await;
    run_command(&api, "stop_server", json!({"server": "near"})).await;
    app.until("near", "stopped", |s| s.state == ServerState::Stopped).await;
    app.ready("near").await;
    assert!(recorded_environment(&app).contains("TOKEN=an0ther-secret\n"), "the new secret should be used");
    let mut plain = shown;
    plain["env"]["TOKEN"] = json!("a-th1rd-secret");
    plain["secretEnv"] = Value::Null;
    run_command(&api, "update_server", json!({"server": "near", "name": "near", "config": plain})).await;
    let (file, _) = settings_file_and_displayed_config(&app, &api).await;
    assert!(!file.contains("a-th1rd-secret"), "a secret variable should stay secret: {file}");

    // Events are ordered, so all events that could contain a secret precede the event of this command.
    run_command(&api, "add_server", json!({"name": "fence", "config": {"type": "stdio", "command": "true"}})).await;
    let mut events_text = String::new();
    while !events_text.contains("fence") {
        let batch = events.next().await.expect("the stream should not end");
        events_text.push_str(&serde_json::to_string(&batch).unwrap());
    }
    assert!(
        events_text.contains("start_server") && events_text.contains("${secret:near.TOKEN}"),
        "the consent request should show the reference"
    );
    for secret in [SECRET, "an0ther-secret"] {
        assert!(!events_text.contains(secret), "no event should contain the secret");
    }
    app.host.close().await;
}

#[tokio::test]
async fn secret_is_bound_to_the_command_it_was_entered_for() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let config = environment_recording_server_config(&app, json!({"TOKEN": SECRET}));
    run_command(&api, "add_server", json!({"name": "near", "config": config})).await;
    let (file, shown) = settings_file_and_displayed_config(&app, &api).await;
    let mut other = shown.clone();
    other["args"].as_array_mut().unwrap().push(json!("--more"));
    let refused = dispatch(&api, "update_server", json!({"server": "near", "name": "near", "config": other})).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::Invalid, "another command should require the secret again");
    // Changes the file as another program would.
    std::fs::write(app.folder.path().join("mcp.json"), file.replace("exec ", "exec  ")).unwrap();
    app.until("near", "reloaded from the file", |s| s.config.command_line().contains("exec  ")).await;
    let failure = start_failure_message(&app).await;
    assert!(
        failure.contains("near.TOKEN") && failure.contains("enter it again"),
        "the message should contain the cause: {failure}"
    );
    assert!(recorded_environment(&app).is_empty(), "no process should be started");
}

#[tokio::test]
async fn secret_of_a_remote_server_is_not_passed_to_a_process() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let header = json!({"name": "Authorization", "value": SECRET, "secret": true});
    let remote = json!({"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": [header]});
    run_command(&api, "add_server", json!({"name": "far", "config": remote})).await;
    let mut config = environment_recording_server_config(&app, json!({"TOKEN": "${secret:far.Authorization}"}));
    config["secretEnv"] = Value::Null;
    run_command(&api, "add_server", json!({"name": "near", "config": config})).await;
    let failure = start_failure_message(&app).await;
    assert!(failure.contains("far.Authorization"), "the secret should not be found: {failure}");
    assert!(recorded_environment(&app).is_empty(), "no process should be started");
}
