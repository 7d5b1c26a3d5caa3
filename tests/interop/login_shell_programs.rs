//! Tests of programs that are only in the search path of the login shell, as installed by nvm, pyenv or Homebrew.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use host::view::{ConsentRequestBody, UserDecision};
use policy::ApprovalScope;
use ports::server_config::StdioConfig;
use serde_json::{Value, json};
use testkit::app::{TestApp, local_config};

use crate::installed;
use crate::user::{call_tool, result_text};

const DESKTOP_SESSION_VARIABLE: &str = "INTEROP_DESKTOP_SESSION";

/// A desktop launcher starts apps with a short PATH, and only the profile in the home folder adds the folder of a
/// version manager. The test runs itself in a separate process with such an environment.
#[tokio::test]
async fn programs_of_a_version_manager_are_found() {
    if std::env::var_os(DESKTOP_SESSION_VARIABLE).is_some() {
        return check_programs_in_session().await;
    }
    let home = tempfile::tempdir().unwrap();
    let programs = home.path().join(".versions/bin");
    std::fs::create_dir_all(&programs).unwrap();
    let node = installed::node_path();
    let wrapper = format!("#!/bin/sh\nSTARTED_BY=version-manager exec '{}' \"$@\"\n", node.display());
    std::fs::write(programs.join("node"), wrapper).unwrap();
    std::fs::set_permissions(programs.join("node"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(home.path().join(".profile"), "echo Welcome!\nPATH=\"$HOME/.versions/bin:$PATH\"\nexport PATH\n")
        .unwrap();
    run_test_in_desktop_session(home.path());
}

#[allow(clippy::disallowed_methods, reason = "starts this test again, not a server")]
fn run_test_in_desktop_session(home: &Path) {
    let own = std::env::current_exe().unwrap();
    let output = Command::new(own)
        .args(["--exact", "login_shell_programs::programs_of_a_version_manager_are_found", "--nocapture"])
        .env(DESKTOP_SESSION_VARIABLE, "yes")
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("SHELL", "/bin/sh")
        // If this variable is set, shells replace its value with the last word of a command.
        .env("_", "set")
        .env("SECRET_OF_THE_SESSION", "never passed on")
        .output()
        .unwrap();
    let (stdout_text, stderr_text) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && stdout_text.contains("1 passed"),
        "the test passes in the separate process:\n{stdout_text}\n{stderr_text}"
    );
}

async fn check_programs_in_session() {
    let home = std::env::home_dir().unwrap();
    let node = home.join(".versions/bin/node");
    let by_name = StdioConfig {
        command: "node".into(),
        args: vec![installed::npm_package_script_path("server-everything")],
        ..StdioConfig::default()
    };
    // The script begins with `#!/usr/bin/env node`.
    let script = installed::node_modules_folder().join(".bin/mcp-server-everything");
    let by_script = local_config(script.clone(), &[]);
    let app = TestApp::start(vec![("name", by_name.into()), ("script", by_script)]).await;
    for (server, expected) in [("name", &node), ("script", &script)] {
        app.host.start_server(server.into()).await.unwrap();
        let request = app.consent_request(server, "its command", |_| true).await;
        let ConsentRequestBody::StartServer { resolved, .. } = &request.body else {
            panic!("the consent request should be for the command: {request:?}")
        };
        assert_eq!(resolved, expected, "the executable is shown");
        app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        app.until(server, "ready", |s| s.counts[0] > 0).await;
        let environment = call_tool(&app, server, "get-env", json!({})).await;
        let environment: Value = serde_json::from_str(&result_text(&environment)).unwrap();
        assert_eq!(environment["STARTED_BY"], "version-manager", "{server}: the Node.js of the login shell is used");
        let path = environment["PATH"].as_str().unwrap_or_default();
        assert!(
            path.starts_with(&home.join(".versions/bin").display().to_string()),
            "{server}: the server gets the PATH of the login shell: {path}"
        );
        assert_eq!(
            environment["SECRET_OF_THE_SESSION"],
            Value::Null,
            "X33, {server}: only listed variables are passed on"
        );
    }
    app.host.close().await;
}
