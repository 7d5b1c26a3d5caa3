//! Helper that runs the program in a temporary folder.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Temporary folder with Drawbridge's settings and data, in which a test runs the program.
pub(crate) struct TestFolder {
    folder: TempDir,
}

/// Output and exit status of a finished program.
#[derive(Debug)]
pub(crate) struct ProgramResult {
    pub(crate) status: i32,
    /// Lines of standard output, each of which must be JSON.
    pub(crate) lines: Vec<Value>,
    pub(crate) errors: String,
}

impl ProgramResult {
    /// Returns the last line of the output, which is the result of the command.
    pub(crate) fn result(&self) -> &Value {
        let last = self.lines.last().unwrap_or_else(|| panic!("there should be a last line: {self:?}"));
        assert_eq!(last["event"], "result", "the last line should be the result");
        let results = self.lines.iter().filter(|line| line["event"] == "result").count();
        assert_eq!(results, 1, "there should be one result");
        last
    }

    /// Returns the member `value` of the line with the command's result. Panics if the command has failed.
    pub(crate) fn value(&self) -> &Value {
        let result = self.result();
        assert_eq!(result["ok"], true, "the command should succeed: {result}\n{}", self.errors);
        assert_eq!(self.status, 0, "the exit status should be 0");
        &result["value"]
    }

    /// Returns the code and the message of the failure. Panics if the command has not failed with this exit status.
    pub(crate) fn error(&self, status: i32) -> (&str, &str) {
        let result = self.result();
        assert_eq!(result["ok"], false, "the command should fail: {result}");
        assert_eq!(self.status, status, "the exit status for {result}");
        let text = |key: &str| {
            result["error"][key].as_str().unwrap_or_else(|| panic!("the error should have a {key}: {result}"))
        };
        (text("code"), text("message"))
    }

    /// Returns the kind, the decision, and the source of the decision for each consent request in the output.
    pub(crate) fn decided_requests(&self) -> Vec<(&str, &str, &str)> {
        let requests = self.lines.iter().filter(|line| line["event"] == "question");
        requests
            .map(|line| {
                assert!(line["question"]["hash"].is_string(), "the consent request should be included: {line}");
                let text = |key: &str| line[key].as_str().unwrap_or_default();
                (text("kind"), text("decision"), text("by"))
            })
            .collect()
    }
}

/// Returns the content of an answers file that approves the start of the demo server and all calls of its tools, and
/// also contains the entries `others`.
pub(crate) fn allowing_answers(others: Value) -> Value {
    let mut answers = vec![
        json!({"kind": "start-server", "server": "demo", "commandLineOnly": true, "answer": {"action": "allow"}}),
        json!({"kind": "tool", "server": "demo", "unreviewed": true, "answer": {"action": "allow"}}),
    ];
    answers.extend(others.as_array().cloned().unwrap_or_default());
    Value::Array(answers)
}

impl TestFolder {
    /// Creates a folder with the demo server in the settings.
    pub(crate) fn new() -> Self {
        Self::with_arguments(&[])
    }

    /// Creates a folder whose settings contain the demo server with these command-line arguments.
    pub(crate) fn with_arguments(arguments: &[&str]) -> Self {
        let demo = testkit::binaries::demo_server();
        Self::with_config(&json!({"mcpServers": {"demo": {"command": demo, "args": arguments}}}).to_string())
    }

    pub(crate) fn with_config(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder to test in");
        fs::write(folder.path().join("mcp.json"), text).expect("the settings are written");
        // Sampling is enabled, so that sampling requests lead to consent requests. The default has a separate test.
        fs::create_dir(folder.path().join("data")).expect("the folder for data");
        fs::write(folder.path().join("data/sampling.json"), r#"{"demo": {"on": true}}"#).expect("sampling is on");
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes an answers file, and returns the two command-line arguments that make the program use it.
    pub(crate) fn answers_option(&self, answers: &Value) -> [String; 2] {
        let path = self.path("answers.json");
        fs::write(&path, format!("{answers:#}")).expect("the answers are written");
        [String::from("--answers"), path.display().to_string()]
    }

    /// Returns a command that runs the program with the folder's settings.
    #[allow(clippy::disallowed_methods, reason = "starts the program under test, not a server")]
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_drawbridge-cli"));
        command.arg("--config").arg(self.path("mcp.json")).arg("--data-dir").arg(self.path("data"));
        // Tests must not use the keychain of the user who runs them.
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        command.stdin(Stdio::null());
        command
    }

    /// Runs the program with JSON output, an empty registry cache, and this standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> ProgramResult {
        let mut command = self.command();
        command.env("XDG_CACHE_HOME", self.path("cache")).arg("--json").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let mut keys = child.stdin.take().expect("it reads standard input");
        // A program that fails early does not read its input.
        let _ = keys.write_all(input.as_bytes());
        drop(keys);
        parse_output(child.wait_with_output().expect("the program ends"))
    }

    /// Returns the servers in the settings file of the folder.
    pub(crate) fn settings(&self) -> Value {
        let text = fs::read_to_string(self.path("mcp.json")).expect("there are settings");
        serde_json::from_str::<Value>(&text).expect("they are JSON")["mcpServers"].clone()
    }

    /// Runs the program with JSON output and an answers file that has this content.
    pub(crate) fn run_with_answers(&self, answers: &Value, arguments: &[&str]) -> ProgramResult {
        let options = self.answers_option(answers);
        parse_output(self.command().arg("--json").args(options).args(arguments).output().expect("the program runs"))
    }

    /// Runs the program with JSON output and without an answers file.
    pub(crate) fn run(&self, arguments: &[&str]) -> ProgramResult {
        parse_output(self.command().arg("--json").args(arguments).output().expect("the program runs"))
    }

    /// Returns the entries of the folder's audit log, oldest first.
    pub(crate) fn audit_entries(&self) -> Vec<Value> {
        let listed = self.run(&["audit"]);
        let mut entries = listed.value().as_array().cloned().expect("a list of decisions");
        entries.reverse();
        entries
    }
}

pub(crate) fn parse_output(output: Output) -> ProgramResult {
    let text = String::from_utf8(output.stdout).expect("standard output is text");
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?} is not JSON"));
    ProgramResult {
        status: output.status.code().expect("the program exited by itself"),
        lines: text.lines().map(parse).collect(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
