//! Tests of commands that list, call, read and complete, including calls that fail.

use serde_json::{Value, json};

use crate::program::{TestFolder, allowing_answers};

fn item_names(list: &Value, key: &str) -> Vec<String> {
    let items = list.as_array().expect("the value is a list");
    for item in items {
        assert_eq!(item["server"], "demo", "each item should name its server: {item}");
    }
    items.iter().filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
}

#[test]
fn servers_are_listed_with_state_and_capabilities() {
    let folder = TestFolder::new();
    let ended = folder.run_with_answers(&allowing_answers(json!([])), &["servers"]);
    let servers = ended.value();
    assert_eq!(servers[0]["name"], "demo", "the user's name for the server should be listed");
    assert_eq!(servers[0]["state"]["is"], "ready", "the server should be started");
    assert_eq!(servers[0]["revision"], "2026-07-28", "the newest common revision should be used");
    let capabilities = servers[0]["capabilities"].as_array().expect("capabilities are a list");
    assert!(
        capabilities.iter().any(|c| c.as_str().is_some_and(|c| c.starts_with("tools"))),
        "{capabilities:?} should contain tools"
    );
    assert_eq!(ended.decided_requests(), [("start-server", "allowed", "answers")], "the start should require consent");
}

#[test]
fn listed_tools_prompts_and_resources_are_complete() {
    let folder = TestFolder::new();
    let answers = allowing_answers(json!([]));
    let tools = folder.run_with_answers(&answers, &["tools"]);
    let tools = item_names(tools.value(), "name");
    for tool in ["add", "fail", "ask_user", "change_tool"] {
        assert!(tools.iter().any(|name| name == tool), "{tool} should be in {tools:?}");
    }
    let prompts = folder.run_with_answers(&answers, &["prompts", "demo"]);
    assert!(item_names(prompts.value(), "name").contains(&String::from("greet_ship")), "prompts should be listed");
    let resources = folder.run_with_answers(&answers, &["resources", "demo"]);
    assert!(
        item_names(resources.value(), "uri").contains(&String::from("harbour:///guide.md")),
        "resources should be listed"
    );
    let templates = folder.run_with_answers(&answers, &["templates", "demo"]);
    assert!(!item_names(templates.value(), "uriTemplate").is_empty(), "templates should be listed");
}

#[test]
fn tool_is_called_in_every_revision() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let folder = TestFolder::with_arguments(&["--revision", revision]);
        let ended = folder
            .run_with_answers(&allowing_answers(json!([])), &["call", "demo", "add", "--args", r#"{"a": 2, "b": 40}"#]);
        let value = ended.value();
        assert_eq!(value["content"][0]["text"], "2 + 40 = 42", "the tool's text should be returned in {revision}");
        assert_eq!(value["arguments"], json!({"a": 2, "b": 40}), "the sent arguments should be returned in {revision}");
        let used = ended.lines.iter().any(|line| line["server"]["revision"] == revision);
        assert!(used, "an event should contain the revision {revision}");
        let expected = [("start-server", "allowed", "answers"), ("tool", "allowed", "answers")];
        assert_eq!(ended.decided_requests(), expected, "both acts should require consent in {revision}");
        let states: Vec<_> = ended.lines.iter().filter_map(|line| line["call"]["state"].as_str()).collect();
        assert_eq!(states.last(), Some(&"done"), "the end of the call should be an event in {revision}: {states:?}");
    }
}

#[test]
fn tool_error_is_a_failure() {
    let folder = TestFolder::new();
    let ended = folder.run_with_answers(&allowing_answers(json!([])), &["call", "demo", "fail"]);
    let (code, message) = ended.error(1);
    assert_eq!(code, "tool", "the failure should be that of the tool");
    assert!(!message.is_empty(), "the message should be that of the tool");
    assert_eq!(ended.result()["value"]["isError"], true, "the result should be included");
}

#[test]
fn prompts_resources_and_completions_are_read() {
    let folder = TestFolder::new();
    let answers = allowing_answers(json!([]));
    let prompt =
        folder.run_with_answers(&answers, &["prompt", "demo", "tide_report", "--args", r#"{"harbour": "Bergen"}"#]);
    let text = prompt.value()["messages"][0]["content"][0]["text"].as_str().expect("the message is text").to_owned();
    assert!(text.contains("Bergen"), "the argument should be in {text:?}");

    let resource = folder.run_with_answers(&answers, &["read", "demo", "harbour:///guide.md"]);
    assert_eq!(resource.value()["contents"][0]["mimeType"], "text/markdown", "the resource should be read");

    let complete = ["complete", "demo", "--prompt", "tide_report", "--argument", "day", "--value", "s"];
    let days = folder.run_with_answers(&answers, &complete);
    assert_eq!(days.value()["values"], json!(["saturday", "sunday"]), "values with this prefix should be returned");
    let all = ["complete", "demo", "--prompt", "greet_ship", "--argument", "ship"];
    let all = folder.run_with_answers(&answers, &all).value()["values"].as_array().map_or(0, Vec::len);
    let some =
        ["complete", "demo", "--prompt", "greet_ship", "--argument", "ship", "--context", r#"{"harbour":"Bergen"}"#];
    let some = folder.run_with_answers(&answers, &some).value()["values"].as_array().map_or(0, Vec::len);
    assert!(0 < some && some < all, "earlier arguments should narrow the values: {some} of {all}");
    let template =
        ["complete", "demo", "--template", "tide:///{harbour}/{day}", "--argument", "harbour", "--value", "ber"];
    assert_eq!(
        folder.run_with_answers(&answers, &template).value()["values"],
        json!(["Bergen"]),
        "a variable of a template should be completed"
    );
}

#[test]
fn skills_are_listed_and_read() {
    let folder = TestFolder::new();
    let answers = allowing_answers(json!([]));
    let listed = folder.run_with_answers(&answers, &["skills", "list", "demo"]);
    assert_eq!(item_names(listed.value(), "name"), ["plan-passage"], "the skills of a server should be listed");
    let all = folder.run_with_answers(&answers, &["skills", "list"]);
    assert_eq!(all.value(), listed.value(), "the skills of all servers should be listed");
    assert_eq!(
        listed.value()[0]["files"].as_array().map(Vec::len),
        Some(2),
        "skills should include their files: {}",
        listed.value()
    );
    let uri = listed.value()[0]["uri"].as_str().expect("a skill has a URI").to_owned();
    for name in ["plan-passage", &uri] {
        let read = folder.run_with_answers(&answers, &["skills", "read", "demo", name]);
        assert_eq!(read.value()["skill"]["name"], "plan-passage", "the skill should be named");
        let text = read.value()["contents"]["text"].as_str().expect("instructions are text").to_owned();
        assert!(text.contains("# Plan a passage"), "the instructions should be returned: {text}");
    }
    let file = ["skills", "read", "demo", "plan-passage", "--file", "references/rules-of-thumb.md"];
    let file = folder.run_with_answers(&answers, &file);
    assert!(
        file.value()["contents"]["text"].as_str().is_some_and(|text| text.contains("Knots")),
        "a file of the skill should be returned"
    );
    let crossed: Vec<_> = folder.audit_entries().into_iter().filter(|entry| entry["kind"] == "resource").collect();
    assert_eq!(crossed.len(), 3, "each read should be in the audit log: {crossed:?}");

    let unknown = folder.run_with_answers(&answers, &["skills", "read", "demo", "nothing"]);
    assert_eq!(unknown.error(1).0, "not_found", "a missing skill should be a failure");
    let outside = ["skills", "read", "demo", "plan-passage", "--file", "../../guide.md"];
    let (code, message) = (folder.run_with_answers(&answers, &outside), "not one of the files");
    assert!(code.error(1).1.starts_with("demo: ") && code.error(1).1.contains(message), "{:?}", code.error(1));
}

#[test]
fn progress_of_a_call_is_printed_as_an_event() {
    let folder = TestFolder::new();
    let tools = folder.run_with_answers(&allowing_answers(json!([])), &["tools"]);
    let slow = tools
        .value()
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "slow_report")
        .expect("it is there")
        .clone();
    let properties = slow["inputSchema"]["properties"].as_object().expect("it has arguments").clone();
    assert!(properties.contains_key("seconds"), "the tool should have an argument for its duration: {properties:?}");
    let ended = folder.run_with_answers(
        &allowing_answers(json!([])),
        &["call", "demo", "slow_report", "--args", r#"{"seconds": 1}"#],
    );
    ended.value();
    assert!(
        ended.lines.iter().any(|line| line["call"]["progress"]["progress"].is_number()),
        "progress should be an event"
    );
}

#[test]
fn unknown_servers_tools_and_resources_are_reported() {
    let folder = TestFolder::new();
    let answers = allowing_answers(json!([]));
    let ended = folder.run_with_answers(&answers, &["tools", "nobody"]);
    let (code, message) = ended.error(1);
    assert_eq!(code, "not_found", "an unknown server should be a failure");
    assert!(
        message.contains("\"nobody\"") && message.ends_with(": demo"),
        "existing servers should be named: {message}"
    );
    let ended = folder.run_with_answers(&answers, &["call", "demo", "nothing"]);
    let (code, message) = ended.error(1);
    assert_eq!(code, "not_found", "an unknown tool should be a failure");
    assert!(message.contains("nothing"), "the tool should be named: {message}");
    let ended = folder.run_with_answers(&answers, &["read", "demo", "harbour:///nowhere"]);
    let (code, message) = ended.error(1);
    assert_eq!(code, "not_found", "a missing resource should have its own code");
    assert!(message.contains("harbour:///nowhere"), "the resource should be named: {message}");
}

#[cfg(unix)]
#[test]
fn failing_servers_report_the_cause_and_do_not_affect_others() {
    let demo = testkit::binaries::demo_server();
    let config = json!({"mcpServers": {
        "gone": {"command": "there-is-no-such-program-here"},
        "quits": {"command": "sh", "args": ["-c", "echo the reason >&2; exit 3"]},
        "demo": {"command": demo},
    }});
    let folder = TestFolder::with_config(&config.to_string());
    let start = json!([{"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}}]);
    let ended = folder.run_with_answers(&start, &["servers"]);
    let states: Vec<_> = ended.value().as_array().unwrap().iter().map(|server| server["state"]["is"].clone()).collect();
    assert_eq!(states, ["failed", "failed", "ready"], "a failing server should not affect others");

    let ended = folder.run_with_answers(&start, &["tools", "gone"]);
    let (code, message) = ended.error(1);
    assert_eq!(code, "not_ready", "the server should have failed to start");
    assert!(message.contains("there-is-no-such-program-here") && message.contains("Looked in: /"), "{message}");
    let ended = folder.run_with_answers(&start, &["tools", "quits"]);
    assert!(ended.error(1).1.contains("| the reason"), "its standard error should be shown: {}", ended.error(1).1);

    let ended = folder.run_with_answers(&start, &["tools"]);
    assert!(!ended.value().as_array().unwrap().is_empty(), "the tools of the working server should be listed");
    let notes = ended.lines.iter().filter(|line| line["event"] == "note").count();
    assert_eq!(notes, 2, "the failing servers should be noted");
}

#[test]
fn secrets_in_the_settings_are_not_printed() {
    let demo = testkit::binaries::demo_server();
    let folder = TestFolder::with_config(
        &json!({"mcpServers": {"demo": {"command": demo, "env": {"API_KEY": "canary-5d1f"}}}}).to_string(),
    );
    for arguments in [&["servers"][..], &["call", "demo", "add", "--args", r#"{"a": 1, "b": 2}"#]] {
        let ended = folder.run_with_answers(&allowing_answers(json!([])), arguments);
        ended.value();
        let text = format!("{:?}{}", ended.lines, ended.errors);
        assert!(text.contains("API_KEY"), "the name of the variable should be printed for {arguments:?}");
        assert!(!text.contains("canary-5d1f"), "the value should not be printed for {arguments:?}");
    }
    let mut log = std::fs::read(folder.path("data/audit.db")).unwrap();
    log.extend(std::fs::read(folder.path("data/audit.db-wal")).unwrap_or_default());
    assert!(!String::from_utf8_lossy(&log).contains("canary-5d1f"), "the value should not be in the audit log");
}

#[test]
fn output_without_json_option_is_readable_text() {
    let folder = TestFolder::new();
    let options = folder.answers_option(&allowing_answers(json!([])));
    let run = |arguments: &[&str]| {
        let output = folder.command().args(&options).args(arguments).output().expect("the program runs");
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, text, _) = run(&["call", "demo", "add", "--args", r#"{"a":1,"b":2}"#]);
    assert_eq!((status, text.lines().next()), (Some(0), Some("1 + 2 = 3")), "the text of the result should be printed");
    let (_, text, _) = run(&["servers"]);
    assert!(text.starts_with("demo  ready  stdio  2026-07-28  "), "there should be a line for each server: {text}");
    let (_, text, _) = run(&["prompts"]);
    assert!(text.lines().any(|line| line.contains("greet_ship") && line.contains("harbour ship [tone]")), "{text}");
    let (status, text, errors) = run(&["call", "demo", "fail"]);
    assert_eq!((status, text.as_str()), (Some(1), ""), "a failure should print nothing but the error");
    assert!(errors.lines().any(|line| line.starts_with("error: ")), "the error should be on standard error: {errors}");
    let (status, text, _) = run(&["audit", "--limit", "2"]);
    assert_eq!((status, text.lines().count()), (Some(0), 2), "two decisions should be listed");
    assert!(
        text.lines().all(|line| line.contains("allowed") && line.contains("by answers")),
        "the source of the decision should be listed: {text}"
    );
}

#[test]
fn help_describes_usage() {
    let output = TestFolder::new().command().arg("--help").output().expect("the program runs");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "help should not be a failure");
    for word in ["--answers", "--json", "watch", "Exit status"] {
        assert!(text.contains(word), "help should contain {word}");
    }
}

#[test]
fn ui_resource_of_a_tool_is_named_and_saved() {
    let folder = TestFolder::new();
    let answers = allowing_answers(json!([]));
    let called = folder.run_with_answers(&answers, &["call", "demo", "show_board"]);
    assert!(called.value()["content"][0]["text"].as_str().is_some_and(|text| text.contains("Paint the buoy")));
    let file = folder.path("board.html");
    let named = file.to_str().expect("the path is text");
    let shown = folder.run_with_answers(&answers, &["app", "demo", "show_board", "--html", named]);
    assert_eq!(shown.value()["uri"], "ui://demo/board.html");
    assert_eq!(shown.value()["access"], json!([]), "the board should request no access");
    let html = std::fs::read_to_string(&file).expect("the page should be saved");
    assert_eq!(shown.value()["bytes"], html.len(), "the whole page should be saved");
    let again = folder.run_with_answers(&answers, &["app", "demo", "show_board", "--html", named]);
    assert!(again.error(2).1.contains("can't be written"), "an existing file should not be replaced");
    let without = folder.run_with_answers(&answers, &["app", "demo", "add"]);
    assert_eq!(without.error(1).0, "not_found", "a tool without an app should be an error");
}
