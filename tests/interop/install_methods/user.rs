//! New user with an empty home folder, who uses `drawbridge-cli`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::registry::{TestRegistry, active_registry_metadata};
use tokio::process::Command;

use crate::installed;

/// Invalid address of the D-Bus session bus, so that the tests do not use the keychain of the person who runs them.
const UNREACHABLE_SESSION_BUS_ADDRESS: &str = "unix:path=/nonexistent";

/// Simulated new user with a home folder, settings and data, which remain during all steps of a test.
pub(super) struct NewUser {
    folder: TempDir,
    way: &'static str,
    /// Path of the settings file, relative to the folder of this user.
    config: &'static str,
    registry: Option<TestRegistry>,
    times: Vec<(&'static str, f64)>,
}

impl NewUser {
    /// Creates a user whose login shell finds Node.js and uv, as after their installation. `way` names the way of
    /// installation in the printed durations.
    pub(super) fn new(way: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let user = Self { folder, way, config: "mcp.json", registry: None, times: Vec::new() };
        for folder in ["home", "data"] {
            std::fs::create_dir(user.path(folder)).unwrap();
        }
        let (node, uv) = (installed::node_path(), installed::uvx_path());
        let folders = [&node, &uv].map(|program| program.parent().unwrap().display().to_string());
        let profile = format!("PATH=\"{}:$PATH\"\nexport PATH\n", folders.join(":"));
        std::fs::write(user.path("home/.profile"), profile).unwrap();
        std::fs::write(user.path("mcp.json"), "{}").unwrap();
        let answers = json!([
            { "kind": "start-server", "commandLineOnly": true, "answer": { "action": "allow" } },
            { "kind": "tool", "unreviewed": true, "answer": { "action": "allow" } },
        ]);
        std::fs::write(user.path("answers.json"), answers.to_string()).unwrap();
        user
    }

    /// Creates a user whose settings file is in a folder of its own, because a sandbox hides the folder that contains
    /// the settings.
    pub(super) fn with_separate_settings(way: &'static str) -> Self {
        let user = Self { config: "settings/mcp.json", ..Self::new(way) };
        std::fs::create_dir(user.path("settings")).unwrap();
        user
    }

    /// Returns the path of the settings file.
    pub(super) fn settings_path(&self) -> PathBuf {
        self.path(self.config)
    }

    /// Creates a user of a registry on the loopback interface that lists one server. `server` is its entry without the
    /// fields that a registry adds.
    pub(super) async fn with_registry(way: &'static str, server: Value) -> Self {
        let entry = json!({ "server": server, "_meta": { "io.modelcontextprotocol.registry/official": active_registry_metadata() } });
        Self { registry: Some(TestRegistry::start(vec![entry]).await), ..Self::new(way) }
    }

    /// Returns the path of the file or folder `name` in the folder of this user.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Returns the object with the servers from the settings file.
    pub(super) fn settings(&self) -> Value {
        let text = std::fs::read_to_string(self.settings_path()).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["mcpServers"].clone()
    }

    /// Installs a server from a registry entry or a bundle, and asserts that nothing is started.
    pub(super) async fn install(&mut self, what: &str, options: &[&str]) -> Value {
        let begun = Instant::now();
        let address = self.registry.as_ref().map(|registry| registry.server.url(""));
        let registry: Vec<&str> = address.iter().flat_map(|address| ["--registry", address.as_str()]).collect();
        let (done, lines) = self.run_cli(&[&["install", what, "--yes"], options, &registry].concat()).await;
        let done = done.unwrap_or_else(|error| panic!("{what} should be installed: {error}"));
        assert_eq!(done["added"], true, "{done}");
        let is_stopped = |line: &Value| line["server"]["state"]["is"] == "stopped";
        let is_quiet =
            |line: &Value| line["event"] == "result" || line["event"] == "server_changed" && is_stopped(line);
        assert!(lines.iter().all(is_quiet), "nothing was started and no consent was required: {lines:?}");
        self.record_duration("install", begun);
        done
    }

    /// Asserts that the start of a server requires consent, then starts it and returns the names of its tools.
    pub(super) async fn list_tools(&mut self, server: &str) -> Vec<String> {
        let (refused, _) = self.run_cli(&["tools", server]).await;
        assert_eq!(refused.unwrap_err()["code"], "refused", "nothing runs without an approval");
        let begun = Instant::now();
        let listed = self.run_with_approval(&["tools", server]).await;
        self.record_duration("first start and its tools", begun);
        let tools = listed.as_array().unwrap_or_else(|| panic!("the output should be a list of tools: {listed}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Calls a tool with approval, and returns the text of its result.
    pub(super) async fn call_tool(&mut self, server: &str, tool: &str, arguments: &Value) -> String {
        let begun = Instant::now();
        let called = self.run_with_approval(&["call", server, tool, "--args", &arguments.to_string()]).await;
        self.record_duration("start and a call", begun);
        assert_ne!(called["isError"], true, "{tool} of {server} should succeed: {called}");
        called["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{tool} should return a text: {called}"))
            .to_owned()
    }

    async fn run_with_approval(&self, arguments: &[&str]) -> Value {
        let answers = self.path("answers.json").display().to_string();
        let (done, lines) = self.run_cli(&[&["--answers", &answers], arguments].concat()).await;
        done.unwrap_or_else(|error| panic!("{arguments:?} should succeed: {error}\n{lines:#?}"))
    }

    /// Runs `drawbridge-cli`. Returns the value or the error of its result, and all lines of its output.
    pub(super) async fn run_cli(&self, arguments: &[&str]) -> (Result<Value, Value>, Vec<Value>) {
        let mut command = self.command(&installed::drawbridge_cli_path());
        command.arg("--config").arg(self.settings_path()).arg("--data-dir").arg(self.path("data")).arg("--json");
        let output = command.args(arguments).output().await.unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let parse = |line| {
            serde_json::from_str::<Value>(line)
                .unwrap_or_else(|error| panic!("each line should be JSON: {error}: {line:?}"))
        };
        let mut lines: Vec<Value> = stdout.lines().map(parse).collect();
        let last = lines
            .last_mut()
            .unwrap_or_else(|| panic!("the output should contain a line: {}", String::from_utf8_lossy(&output.stderr)));
        let done = if last["ok"] == true { Ok(last["value"].take()) } else { Err(last["error"].take()) };
        (done, lines)
    }

    /// Returns a command that runs a program with the user's home folder and environment.
    #[allow(clippy::disallowed_methods, reason = "starts a program as a user would in a terminal, not a server")]
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, folder) in [("HOME", "home"), ("XDG_CACHE_HOME", "home/.cache"), ("XDG_CONFIG_HOME", "home/.config")]
        {
            command.env(name, self.path(folder));
        }
        command
            .env("SHELL", "/bin/sh")
            .env("DBUS_SESSION_BUS_ADDRESS", UNREACHABLE_SESSION_BUS_ADDRESS)
            .env_remove("XDG_DATA_HOME");
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Records the duration of a step that began at `begun` and has just ended.
    pub(super) fn record_duration(&mut self, step: &'static str, begun: Instant) {
        self.times.push((step, begun.elapsed().as_secs_f64()));
    }

    /// Prints the durations of all steps, and returns the folder of this user.
    #[allow(clippy::print_stdout, reason = "the durations are a result of the test")]
    pub(super) fn print_durations(self) -> TempDir {
        let steps: Vec<String> = self.times.iter().map(|(step, seconds)| format!("{step} {seconds:.1} s")).collect();
        println!("{}: {}", self.way, steps.join(", "));
        self.folder
    }
}
