//! Tests of conversations with a model of an independent fake provider, and with the tools of a real server.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::program::{TestFolder, allowing_answers};

/// The fake provider `@copilotkit/aimock`, which implements OpenAI's API.
pub(crate) struct Aimock {
    process: Child,
    pub(crate) url: String,
}

impl Drop for Aimock {
    fn drop(&mut self) {
        // The process may already have exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Creates a folder whose settings contain the demo server, with the reviewed tool `add`, and a model provider that
/// replies as these fixtures define.
fn folder_with_mock_model(fixtures: &Value) -> (TestFolder, Aimock) {
    let folder = TestFolder::new();
    let aimock = start_aimock(&folder, fixtures);
    let provider = json!({"id": "fake", "name": "Fake", "kind": "openai", "url": format!("{}/v1", aimock.url)});
    let settings = json!({"providers": [provider], "default": {"provider": "fake", "model": "gpt-4o"}});
    std::fs::create_dir_all(folder.path("data")).expect("a folder for the data");
    std::fs::write(folder.path("data").join("models.json"), settings.to_string()).expect("the provider is set up");
    let listed = folder.run_with_answers(&allowing_answers(json!([])), &["review", "demo"]);
    let value = listed.value();
    let add = value["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == "add").expect("add");
    let reviewed = format!("add@{}", add["hash"].as_str().expect("a hash"));
    folder.run_with_answers(&allowing_answers(json!([])), &["review", "demo", "--accept", &reviewed]).value();
    (folder, aimock)
}

#[allow(clippy::disallowed_methods, reason = "starts a fake provider, not a server")]
pub(crate) fn start_aimock(folder: &TestFolder, fixtures: &Value) -> Aimock {
    let file = folder.path("fixtures.json");
    std::fs::write(&file, json!({ "fixtures": fixtures }).to_string()).expect("the fixtures are written");
    let program =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/node_modules/@copilotkit/aimock/dist/cli.js");
    assert!(program.exists(), "{}: run npm ci in tests first", program.display());
    let mut process = Command::new("node")
        .arg(program)
        .args(["-p", "0", "--strict", "--chunk-size", "4", "-f"])
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("Node.js runs");
    let output = process.stdout.take().expect("its output is piped");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.split_once("listening on ").map(|(_, url)| url.trim().to_owned()));
    // Reads the output of the process, so that it never blocks on a full pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Aimock { process, url: url.expect("it says where it listens") }
}

#[test]
fn model_calls_a_tool_and_replies_with_its_result() {
    let (folder, _aimock) = folder_with_mock_model(&json!([
        {
            "match": {"userMessage": "Add", "hasToolResult": false},
            "response": {"content": "I add.", "toolCalls": [{"name": "demo__add", "arguments": {"a": 2, "b": 40}}]},
        },
        {"match": {"userMessage": "Add", "toolResultContains": "2 + 40 = 42"}, "response": {"content": "It is 42."}},
    ]));
    let ended = folder
        .run_with_answers(&allowing_answers(json!([])), &["chat", "--server", "demo", "--message", "Add 2 and 40"]);
    assert_eq!(ended.value()["text"], "I add.It is 42.", "the text before and after the call should be returned");
    let decisions: Vec<_> = ended.decided_requests().into_iter().filter(|(kind, ..)| *kind == "tool").collect();
    assert_eq!(decisions, [("tool", "allowed", "answers")], "the call should be decided like every other call");
    let pieces = ended.lines.iter().filter(|line| line["event"] == "reply_delta").count();
    assert!(pieces >= 2, "the reply should be streamed in several pieces: {pieces}");
    let calls: Vec<_> = ended.lines.iter().filter(|line| line["item"]["body"]["kind"] == "tool_call").collect();
    let last = calls.last().expect("the call is an item");
    assert_eq!(
        last["item"]["body"]["result"]["content"][0]["text"], "2 + 40 = 42",
        "the call should be stored with its result: {last}"
    );
    let by: Vec<_> = folder.audit_entries().into_iter().filter(|entry| entry["kind"] == "tool").collect();
    assert_eq!(by[0]["asker"], "model", "the audit log should name the model as the originator: {by:?}");
}

#[test]
fn call_without_an_entry_is_denied_and_the_model_is_informed() {
    let (folder, _aimock) = folder_with_mock_model(&json!([
        {
            "match": {"userMessage": "Add", "hasToolResult": false},
            "response": {"toolCalls": [{"name": "demo__add", "arguments": {"a": 2, "b": 40}}]},
        },
        {"match": {"userMessage": "Add", "toolResultContains": "The user declined"}, "response": {"content": "I may not."}},
    ]));
    let answers =
        json!([{"kind": "start-server", "server": "demo", "commandLineOnly": true, "answer": {"action": "allow"}}]);
    let ended = folder.run_with_answers(&answers, &["chat", "--server", "demo", "--message", "Add 2 and 40"]);
    assert_eq!(ended.value()["text"], "I may not.", "X09: the model should continue without the call");
    assert!(
        ended.decided_requests().contains(&("tool", "denied", "answers")),
        "nothing should be sent: {:?}",
        ended.decided_requests()
    );
}

#[test]
fn provider_errors_are_reported_with_advice() {
    let (folder, _aimock) = folder_with_mock_model(&json!([
        {"match": {"userMessage": "busy"}, "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429}},
    ]));
    let ended = folder.run_with_answers(&allowing_answers(json!([])), &["chat", "--message", "busy"]);
    let (code, message) = ended.error(1);
    assert_eq!(code, "rateLimited", "the error code should be reported: {message}");
    assert!(message.contains("try again"), "the message should contain advice: {message}");
    let ended =
        folder.run_with_answers(&allowing_answers(json!([])), &["chat", "--model", "gone/model", "--message", "x"]);
    assert!(ended.error(1).1.contains("fake"), "the message should name the providers");
}

#[test]
fn each_input_line_is_a_message_of_one_conversation() {
    let (folder, _aimock) = folder_with_mock_model(&json!([
        {"match": {"userMessage": "second", "turnIndex": 1}, "response": {"content": "Two."}},
        {"match": {"userMessage": "first"}, "response": {"content": "One."}},
    ]));
    let input = folder.path("input");
    std::fs::write(&input, "first\n\nsecond\n").expect("the input is written");
    let output = folder
        .command()
        .args(["chat", "--model", "fake/gpt-4o"])
        .stdin(std::fs::File::open(input).expect("the input is read"))
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        text,
        "One.\nTwo.\n",
        "both replies should be printed in order: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn failed_reply_does_not_end_an_interactive_conversation() {
    let (folder, _aimock) = folder_with_mock_model(&json!([
        // The provider uses the first matching fixture. A message without a reply is sent again together with the next
        // one.
        {"match": {"userMessage": "second"}, "response": {"content": "Two."}},
        {"match": {"userMessage": "busy"}, "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429}},
    ]));
    let typed = |lines: &str| {
        let input = folder.path("input");
        std::fs::write(&input, lines).expect("the input is written");
        let input = std::fs::File::open(input).expect("the input is read");
        folder.command().args(["chat"]).stdin(input).output().expect("the program runs")
    };
    let output = typed("busy\nsecond\n");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Two.\n", "the next line should be replied to: {stderr}");
    assert!(stderr.contains("try again"), "the first failure should be reported: {stderr}");
    assert!(output.status.success(), "the last reply should be printed: {stderr}");
    assert_eq!(typed("second\nbusy\n").status.code(), Some(1), "a failed last message should result in exit status 1");
}

#[test]
fn endless_tool_calls_are_stopped_with_a_failure_status() {
    let (folder, _aimock) = folder_with_mock_model(&json!([
        {"match": {"userMessage": "Add"}, "response": {"toolCalls": [{"name": "demo__add", "arguments": {"a": 2, "b": 40}}]}},
    ]));
    let settings = json!({"chat": {"rounds": 1}});
    std::fs::write(folder.path("data").join("settings.json"), settings.to_string()).expect("the settings are written");
    let ended = folder
        .run_with_answers(&allowing_answers(json!([])), &["chat", "--server", "demo", "--message", "Add 2 and 40"]);
    let (_, message) = ended.error(1);
    assert!(message.contains("1 times in a row"), "the reached limit should be a failure: {message}");
}

#[test]
fn s27_results_are_reviewed_as_configured_and_withheld_by_default() {
    let (folder, _aimock) = folder_with_mock_model(&json!([
        {
            "match": {"userMessage": "Add", "hasToolResult": false},
            "response": {"toolCalls": [{"name": "demo__add", "arguments": {"a": 2, "b": 40}}]},
        },
        {"match": {"userMessage": "Add", "toolResultContains": "withheld"}, "response": {"content": "It was withheld."}},
        {"match": {"userMessage": "Add", "toolResultContains": "= 42"}, "response": {"content": "It is 42."}},
    ]));
    let flow = |arguments: &[&str]| folder.run(&[&["flow", "demo"], arguments].concat()).value().clone();
    assert_eq!(flow(&[])["review"], "suspicious", "S27: the default should be shown");
    let set = flow(&["--review", "always", "--tool", "add"]);
    assert_eq!(
        (&set["review"], &set["tools"]),
        (&json!("suspicious"), &json!({"add": "always"})),
        "S27: the setting of one tool should be shown"
    );

    let chat = ["chat", "--server", "demo", "--message", "Add 2 and 40"];
    let ended = folder.run_with_answers(&allowing_answers(json!([])), &chat);
    assert_eq!(ended.value()["text"], "It was withheld.", "S27: a result without an entry should be withheld");
    assert!(ended.decided_requests().contains(&("result", "denied", "answers")), "{:?}", ended.decided_requests());
    let entry = json!([{"kind": "result", "server": "demo", "name": "add", "answer": {"action": "allow"}}]);
    let ended = folder.run_with_answers(&allowing_answers(entry), &chat);
    assert_eq!(ended.value()["text"], "It is 42.", "S27: a result with an entry should be sent to the model");

    assert_eq!(
        flow(&["--review", "server", "--tool", "add"])["tools"],
        json!({}),
        "S27: the tool should use the setting of the server again"
    );
    assert_eq!(flow(&["--review", "off"])["review"], "off", "S27: the setting of the server should be shown");
    let ended = folder.run_with_answers(&allowing_answers(json!([])), &chat);
    assert_eq!(ended.value()["text"], "It is 42.", "S27: no review should be required when it is off");
}
