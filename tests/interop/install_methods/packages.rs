//! Tests of packages that a launcher loads: from npm by npx, and from PyPI by uvx.

use serde_json::{Value, json};

use super::user::NewUser;

/// Time in the registry entries that excludes versions of dependencies published after it, so that each run uses the
/// same versions.
const NEWEST_DEPENDENCY_DATE: &str = "2026-11-01T00:00:00Z";

/// Asserts that the server's settings have a sandbox with a private home folder, which is deleted together with the
/// server.
fn assert_sandboxed(user: &NewUser, server: &str) {
    let sandbox = &user.settings()[server]["sandbox"];
    assert_eq!(sandbox, &json!({ "folders": [], "network": true }), "the sandbox allows the network and no folders");
    let homes: Vec<_> = std::fs::read_dir(user.path("data/sandbox")).unwrap().collect();
    assert_eq!(homes.len(), 1, "downloaded packages are in a private home folder: {homes:?}");
    let mut own: Vec<_> = std::fs::read_dir(user.path("home")).unwrap().map(|e| e.unwrap().file_name()).collect();
    own.retain(|name| name != ".profile" && name != ".cache");
    assert!(own.is_empty(), "nothing was written to the user's home folder: {own:?}");
}

#[tokio::test]
async fn npm_package_is_installed_and_called() {
    let name = "io.github.modelcontextprotocol/everything";
    let entry = json!({
        "name": name, "version": "2026.8.31", "description": "Shows what a server can do",
        "packages": [{
            "registryType": "npm", "identifier": "@modelcontextprotocol/server-everything", "version": "2026.8.31",
            "transport": { "type": "stdio" },
            "environmentVariables": [{ "name": "npm_config_before", "value": NEWEST_DEPENDENCY_DATE }],
        }],
    });
    let mut user = NewUser::with_registry("npm by npx", entry).await;
    let done = user.install(name, &["--network", "all"]).await;
    let notes = done["plan"]["notes"].to_string();
    assert!(notes.contains("npm_config_before"), "the notes name the inputs that decide which code runs: {notes}");
    let args = &user.settings()["everything"]["args"];
    assert_eq!(args, &json!(["-y", "@modelcontextprotocol/server-everything@2026.8.31"]), "the version is pinned");
    assert!(user.list_tools("everything").await.contains(&"get-sum".to_owned()));
    let sum = user.call_tool("everything", "get-sum", &json!({ "a": 2, "b": 40 })).await;
    assert_eq!(sum, "The sum of 2 and 40 is 42.");
    assert_sandboxed(&user, "everything");
    user.print_durations();
}

#[tokio::test]
async fn pypi_package_is_installed_and_called() {
    let name = "io.github.modelcontextprotocol/time";
    let entry = json!({
        "name": name, "version": "2026.10.19", "description": "Tells the time",
        "packages": [{
            "registryType": "pypi", "identifier": "mcp-server-time", "version": "2026.10.19", "transport": { "type": "stdio" },
            "packageArguments": [{ "type": "named", "name": "--local-timezone", "value": "{zone}", "variables": {
                "zone": { "description": "Where you are", "isRequired": true },
            } }],
            "environmentVariables": [
                { "name": "UV_EXCLUDE_NEWER", "value": NEWEST_DEPENDENCY_DATE },
                // Certificates of an organization are only in the certificate store of the system.
                { "name": "UV_SYSTEM_CERTS", "value": "true" },
            ],
        }],
    });
    let mut user = NewUser::with_registry("PyPI by uvx", entry).await;
    let done = user.install(name, &["--network", "all", "--set", "zone=Europe/Oslo"]).await;
    assert_eq!(done["server"]["command"], "uvx");
    let args = &user.settings()["time"]["args"];
    assert_eq!(
        args,
        &json!(["mcp-server-time==2026.10.19", "--local-timezone", "Europe/Oslo"]),
        "the version is pinned"
    );
    assert_eq!(user.list_tools("time").await, ["get_current_time", "convert_time"]);
    let now = user.call_tool("time", "get_current_time", &json!({ "timezone": "Europe/Oslo" })).await;
    assert_eq!(serde_json::from_str::<Value>(&now).unwrap()["timezone"], "Europe/Oslo");
    assert_sandboxed(&user, "time");
    user.print_durations();
}
