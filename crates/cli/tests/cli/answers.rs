//! Tests of decisions by an answers file, and of consent requests that it only approves with an explicit flag.

use serde_json::{Value, json};

use crate::program::{ProgramResult, TestFolder};

const CALL_ADD_TOOL_ARGUMENTS: [&str; 5] = ["call", "demo", "add", "--args", r#"{"a": 2, "b": 40}"#];

/// Returns the reason why the consent request of this kind was denied.
fn denial_reason<'a>(ended: &'a ProgramResult, kind: &str) -> &'a str {
    let refused = |line: &&Value| line["event"] == "question" && line["kind"] == kind && line["decision"] == "denied";
    let line = ended.lines.iter().find(refused).unwrap_or_else(|| panic!("{kind} should be denied: {:?}", ended.lines));
    line["reason"].as_str().expect("with a reason")
}

/// Returns the hash that the message of a denial suggests to add to the answers file.
fn suggested_hash(reason: &str) -> &str {
    let (_, after) = reason.split_once("\"hash\": \"").expect("the hash to write is there");
    after.split_once('"').expect("whole").0
}

fn start_server_answers_entry(more: &Value) -> Value {
    let mut entry = json!({"kind": "start-server", "server": "demo", "answer": {"action": "allow"}});
    entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    entry
}

#[test]
fn s08_start_is_allowed_by_its_printed_hash_until_anything_changes() {
    let folder = TestFolder::new();
    let plain = folder.run_with_answers(&json!([start_server_answers_entry(&json!({}))]), &["tools", "demo"]);
    assert_eq!(plain.error(3).0, "refused", "the command line alone should approve nothing");
    let hash = suggested_hash(denial_reason(&plain, "start-server")).to_owned();
    let named = json!([start_server_answers_entry(&json!({"hash": hash}))]);
    folder.run_with_answers(&named, &["tools", "demo"]).value();
    let settings = std::fs::read_to_string(folder.path("mcp.json")).unwrap();
    let mut settings: Value = serde_json::from_str(&settings).unwrap();
    settings["mcpServers"]["demo"]["env"] = json!({"LD_PRELOAD": "/tmp/evil.so"});
    std::fs::write(folder.path("mcp.json"), settings.to_string()).unwrap();
    let changed = folder.run_with_answers(&named, &["tools", "demo"]);
    assert_eq!(changed.error(3).0, "refused", "another variable should make it another start");
    let reason = denial_reason(&changed, "start-server");
    assert!(
        reason.contains("another hash") && suggested_hash(reason) != hash,
        "the changed hash should be reported: {reason}"
    );
    folder
        .run_with_answers(&json!([start_server_answers_entry(&json!({"commandLineOnly": true}))]), &["tools", "demo"])
        .value();
}

#[test]
fn s30_unreviewed_tool_is_not_allowed_by_a_pattern() {
    let folder = TestFolder::new();
    let with = |entry: Value| json!([start_server_answers_entry(&json!({"commandLineOnly": true})), entry]);
    let any = |more: Value| {
        let mut entry = json!({"kind": "tool", "answer": {"action": "allow"}});
        entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        with(entry)
    };
    let refused = folder.run_with_answers(&any(json!({})), &CALL_ADD_TOOL_ARGUMENTS);
    assert_eq!(refused.error(3).0, "refused", "the tool should not count as reviewed");
    let reason = denial_reason(&refused, "tool");
    assert!(
        reason.contains("\"unreviewed\": true") && reason.contains("drawbridge-cli review demo"),
        "the message should contain the next step: {reason}"
    );
    let hash = suggested_hash(reason).to_owned();
    folder.run_with_answers(&any(json!({"hash": hash})), &CALL_ADD_TOOL_ARGUMENTS).value();
    folder.run_with_answers(&any(json!({"unreviewed": true})), &CALL_ADD_TOOL_ARGUMENTS).value();
    let accept = format!("add@{hash}");
    folder.run_with_answers(&any(json!({})), &["review", "demo", "--accept", &accept]).value();
    folder.run_with_answers(&any(json!({})), &CALL_ADD_TOOL_ARGUMENTS).value();
}

/// Returns settings with the scripted server, whose only tool has this description.
fn settings_with_scripted_tool(description: &str) -> Value {
    let tools = json!({"tools": [{"name": "echo", "description": description, "inputSchema": {"type": "object"}}]});
    json!({"mcpServers": {"demo": {
        "command": testkit::binaries::scripted_server(),
        "args": ["--reply", format!("tools/list={tools}")],
    }}})
}

#[test]
fn s08_changed_definition_is_announced_once() {
    let folder = TestFolder::with_config(&settings_with_scripted_tool("Returns the text").to_string());
    let open = json!([
        start_server_answers_entry(&json!({"commandLineOnly": true})),
        {"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}},
    ]);
    let call = || folder.run_with_answers(&open, &["call", "demo", "echo"]);
    let announced = |ended: &ProgramResult| ended.errors.contains("changed since its last call");
    assert!(!announced(&call()) && !announced(&call()), "an unchanged definition should not be announced");
    std::fs::write(folder.path("mcp.json"), settings_with_scripted_tool("Returns the text, loudly").to_string())
        .unwrap();
    let changed = call();
    changed.value();
    assert!(announced(&changed), "the change should be announced on standard error: {}", changed.errors);
    assert!(!announced(&call()), "the change should be announced once");
}

#[test]
fn s32_refusal_reports_a_tool_changed_since_its_review() {
    let folder = TestFolder::with_config(&settings_with_scripted_tool("Returns the text").to_string());
    let plain = json!([
        start_server_answers_entry(&json!({"commandLineOnly": true})),
        {"kind": "tool", "answer": {"action": "allow"}},
    ]);
    let none = json!([start_server_answers_entry(&json!({"commandLineOnly": true}))]);
    let listed = folder.run_with_answers(&plain, &["review", "demo"]);
    let hash = listed.value()["tools"][0]["hash"].as_str().expect("a hash").to_owned();
    folder.run_with_answers(&plain, &["review", "demo", "--accept", &format!("echo@{hash}")]).value();
    folder.run_with_answers(&plain, &["call", "demo", "echo"]).value();
    let rule = json!({"rules": [{"effect": "allow", "servers": ["demo"]}]});
    std::fs::write(folder.path("mcp.json"), settings_with_scripted_tool("Returns the text, loudly").to_string())
        .unwrap();
    for (what, answers, rules) in
        [("an answer", &plain, None), ("no answer", &none, None), ("a rule", &none, Some(rule))]
    {
        if let Some(rules) = rules {
            std::fs::write(folder.path("data/policy.json"), rules.to_string()).unwrap();
        }
        let refused = folder.run_with_answers(answers, &["call", "demo", "echo"]);
        let (code, message) = refused.error(3);
        assert_eq!(code, "refused", "{what}: the changed tool should be denied");
        for text in [message, denial_reason(&refused, "tool")] {
            assert!(
                text.contains("changed since it was reviewed") && text.contains("drawbridge-cli review demo"),
                "{what}: the message should report the change: {text}"
            );
        }
    }
}
