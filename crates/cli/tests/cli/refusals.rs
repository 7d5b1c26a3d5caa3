//! Tests of denied consent requests, invalid command lines and unusable files.

use serde_json::json;

use crate::program::{TestFolder, allowing_answers, parse_output};

#[test]
fn server_is_not_started_without_consent() {
    let folder = TestFolder::new();
    let ended = folder.run(&["tools", "demo"]);
    assert_eq!(ended.error(3).0, "refused", "the start should be denied");
    assert_eq!(ended.decided_requests(), [("start-server", "denied", "policy")], "the denial should be an event");
    let request = ended.lines.iter().find(|line| line["event"] == "question").unwrap();
    assert!(
        request["reason"].as_str().unwrap().contains("--answers"),
        "the event should contain the next step: {request}"
    );
    assert!(request["question"]["body"]["command"].is_string(), "the event should contain the command");
    let log = folder.audit_entries();
    assert_eq!(log.len(), 1, "the denial should be in the audit log");
    assert_eq!(
        (&log[0]["decision"], &log[0]["by"]),
        (&json!("denied"), &json!("policy")),
        "the entry should contain the decision"
    );
    let states: Vec<_> = ended.lines.iter().filter_map(|line| line["server"]["pid"].as_u64()).collect();
    assert!(states.is_empty(), "no process should be started");
}

#[test]
fn servers_whose_start_was_denied_are_listed_as_refused() {
    let ended = TestFolder::new().run(&["servers"]);
    let servers = ended.value();
    assert_eq!(servers[0]["name"], "demo", "the server should be listed");
    assert_ne!(servers[0]["state"]["is"], "ready", "the server should not be started");
    assert_eq!(ended.decided_requests(), [("start-server", "denied", "policy")], "the denial should be an event");
}

#[test]
fn tool_is_not_called_without_consent() {
    let folder = TestFolder::new();
    let start = json!([
        {"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}},
        {"kind": "tool", "name": "other_*", "unreviewed": true, "answer": {"action": "allow"}},
    ]);
    let ended = folder.run_with_answers(&start, &["call", "demo", "add", "--args", r#"{"a": 1, "b": 2}"#]);
    assert_eq!(ended.error(3).0, "refused", "the call should be denied");
    let expected = [("start-server", "allowed", "answers"), ("tool", "denied", "answers")];
    assert_eq!(ended.decided_requests(), expected, "a consent request without an entry should be denied");

    let cancel = json!([
        {"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}},
        {"kind": "tool", "answer": {"action": "cancel"}},
    ]);
    let ended = folder.run_with_answers(&cancel, &["call", "demo", "add"]);
    assert_eq!(ended.error(3).0, "cancelled", "cancelling should have its own code");

    let deny = json!([{"kind": "start-server", "answer": {"action": "deny"}}, {"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}}]);
    assert_eq!(
        folder.run_with_answers(&deny, &["tools", "demo"]).error(3).0,
        "refused",
        "the first matching entry should decide"
    );
}

#[test]
fn approval_by_the_answers_file_applies_to_one_run_only() {
    let folder = TestFolder::new();
    folder
        .run_with_answers(&allowing_answers(json!([])), &["call", "demo", "add", "--args", r#"{"a": 1, "b": 2}"#])
        .value();
    assert_eq!(folder.run(&["tools", "demo"]).error(3).0, "refused", "the next run should request consent again");
}

#[test]
fn usage_errors_are_explained() {
    let folder = TestFolder::new();
    let cases: &[(&[&str], &str)] = &[
        (&["call", "demo", "add", "--args", "{"], "--args: expected a JSON object: EOF while parsing an object"),
        (&["call", "demo", "add", "--args", "[1]"], "--args: expected a JSON object such as {\"a\": 1}"),
        (&["prompt", "demo", "x", "--args", r#"{"a": 1}"#], "--args: \"a\" must be a text in double quotes"),
        (
            &["complete", "demo", "--prompt", "x", "--argument", "a", "--context", "1"],
            "--context: expected a JSON object",
        ),
        (&["complete", "demo", "--argument", "a"], "the following required arguments were not provided:"),
        (
            &["complete", "demo", "--prompt", "x", "--template", "y", "--argument", "a"],
            "the argument '--prompt <NAME>' cannot",
        ),
        (&["dance"], "unrecognized subcommand 'dance'"),
        (&["call", "demo"], "the following required arguments were not provided:"),
    ];
    for (arguments, message) in cases {
        let ended = folder.run(arguments);
        let (code, words) = ended.error(2);
        assert_eq!(code, "bad_request", "the code for {arguments:?}");
        assert!(words.starts_with(message), "the message for {arguments:?}: {words}");
        assert_eq!(ended.lines.len(), 1, "nothing should be started for {arguments:?}");
    }
}

#[test]
fn unusable_files_are_named_in_the_error() {
    let folder = TestFolder::new();
    std::fs::write(folder.path("bad.json"), "[\n  {\"kind\": \"tool\", \"answer\": {\"action\": \"maybe\"}}\n]")
        .unwrap();
    let path = folder.path("bad.json").display().to_string();
    let ended = folder.run(&["--answers", &path, "tools"]);
    let (_, message) = ended.error(2);
    assert!(
        message.starts_with(&format!("{path}: line 2, column ")),
        "the message should contain file, line and column: {message}"
    );
    assert!(
        message.contains("unknown variant `maybe`, expected one of `allow`"),
        "the message should contain the expected values: {message}"
    );

    let nowhere = folder.path("nowhere.json").display().to_string();
    let missing = folder.run(&["--answers", &nowhere, "tools"]);
    assert!(missing.error(2).1.starts_with(&nowhere), "a missing answers file should be named");
    let output = folder.command().args(["--json", "--config", &nowhere, "tools"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a repeated option should be rejected");

    let broken = TestFolder::with_config("{\n  \"mcpServers\": {\n    \"a\": {\"command\": 7}\n  }\n}");
    let ended = broken.run(&["tools"]);
    let (code, message) = ended.error(1);
    assert_eq!(code, "config", "the settings should be rejected");
    assert!(
        message.contains("mcp.json: line 3: ") && message.contains("found a number"),
        "the message should contain position and cause: {message}"
    );
}

#[test]
fn missing_settings_are_empty_only_at_the_default_path() {
    let folder = TestFolder::new();
    std::fs::remove_file(folder.path("mcp.json")).unwrap();
    assert!(
        folder.run(&["servers"]).error(2).1.ends_with("there is no such file"),
        "a file named on the command line should have to exist"
    );
    let mut command = folder.command();
    let program = command.get_program().to_owned();
    command = {
        #[allow(clippy::disallowed_methods, reason = "starts the program under test, not a server")]
        let mut plain = std::process::Command::new(program);
        plain.stdin(std::process::Stdio::null());
        plain
    };
    command.env("XDG_CONFIG_HOME", folder.path("config")).env("XDG_DATA_HOME", folder.path("share"));
    command.env("HOME", folder.path("home")).env("APPDATA", folder.path("appdata"));
    let ended = parse_output(command.args(["--json", "servers"]).output().unwrap());
    assert_eq!(ended.value(), &json!([]), "there should be no servers at first");
}
