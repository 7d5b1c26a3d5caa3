//! Tests of the API commands with the real demo server on a real host, by name and in JSON.

use api::{Api, COMMANDS, ErrorCode, Event, dispatch};
use serde_json::{Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config};

use crate::run_command;

async fn start_demo_server() -> (TestApp, Api) {
    let app = TestApp::start(vec![("harbour", demo_config(&["--era", "legacy"]))]).await;
    app.ready("harbour").await;
    app.until("harbour", "listed completely", |s| s.counts[0] >= 16 && s.counts[3] >= 3).await;
    let api = Api::new(app.host.clone());
    (app, api)
}

#[tokio::test]
async fn every_command_is_registered_and_rejects_malformed_requests() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    for command in COMMANDS {
        let error =
            dispatch(&api, command, json!("no object")).await.expect_err("a string should be rejected as a request");
        assert_eq!(error.code, ErrorCode::BadRequest, "{command} should reject the request: {error}");
        assert!(error.message.contains(command), "the message should contain {command}: {error}");
    }
    let error = dispatch(&api, "no_such_command", json!({})).await.expect_err("an unknown command should be rejected");
    assert_eq!(error.code, ErrorCode::BadRequest, "error code: {error}");
}

#[tokio::test]
async fn requests_for_unknown_or_invalid_objects_return_error_codes() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    for (command, request, code) in [
        ("start_server", json!({"server": "x"}), ErrorCode::NotFound),
        ("read_catalog", json!({"server": "x"}), ErrorCode::NotFound),
        ("read_activity", json!({"server": "x", "limit": 1}), ErrorCode::NotFound),
        ("cancel_call", json!({"call": "x"}), ErrorCode::NotFound),
        ("read_conversation", json!({"conversation": "x"}), ErrorCode::NotFound),
        ("read_conversation", json!({"conversation": "../settings"}), ErrorCode::System),
        ("revoke_grant", json!({"id": "7"}), ErrorCode::NotFound),
        ("decide_consent_request", json!({"id": "7", "hash": "x", "answer": {"action": "deny"}}), ErrorCode::Stale),
        ("open_url", json!({"url": "file:///etc/passwd"}), ErrorCode::System),
        ("expand_template", json!({"template": "x://{", "values": {}}), ErrorCode::Invalid),
    ] {
        let error = dispatch(&api, command, request.clone()).await.expect_err(command);
        let either = error.code == code || (code == ErrorCode::System && error.code == ErrorCode::NotFound);
        assert!(either, "{command} {request} should return {code:?}, not {error:?}");
    }
    assert!(app.platform.opened.lock().unwrap().is_empty(), "no URL should be opened");
}

#[tokio::test]
async fn no_event_is_lost_between_snapshot_and_event_stream() {
    let app = TestApp::start(vec![("harbour", demo_config(&[]))]).await;
    let api = Api::new(app.host.clone());
    let mut events = api.events();
    let snapshot = run_command(&api, "read_snapshot", json!({})).await;
    let mut next = snapshot["nextEvent"].as_u64().unwrap();
    run_command(&api, "start_server", json!({"server": "harbour"})).await;
    let requested = async {
        loop {
            let batch = events.next().await.expect("the stream should not end");
            assert_eq!(batch.first, next, "the numbers should have no gap");
            next += batch.events.len() as u64;
            for event in batch.events {
                if let Event::ConsentRequestChanged { consent_request } = event {
                    return consent_request;
                }
            }
        }
    };
    let consent_request =
        tokio::time::timeout(EVENT_TIMEOUT, requested).await.expect("the consent request should be reported");
    let again = run_command(&api, "read_snapshot", json!({})).await;
    assert_eq!(
        again["consentRequests"][0]["hash"],
        json!(consent_request.hash),
        "the snapshot should contain the same consent request"
    );
}

#[tokio::test]
async fn tool_result_contains_every_kind_of_content() {
    let (app, api) = start_demo_server().await;
    let user = app.decide_automatically(|_| Some(host::view::UserDecision::Allow(policy::ApprovalScope::Once)));
    let request = json!({"call": "1", "server": "harbour", "tool": "show_everything", "arguments": {}});
    let result = run_command(&api, "call_tool", request).await;
    user.abort();
    let kinds: Vec<&str> = result["content"].as_array().unwrap().iter().map(|c| c["type"].as_str().unwrap()).collect();
    for kind in ["text", "image", "audio", "resource_link", "resource"] {
        assert!(kinds.contains(&kind), "the result should contain {kind}: {kinds:?}");
    }
    assert!(result["structured"].is_object(), "the result should have structured content");
    assert_eq!(result["structuredProblem"], Value::Null, "the structured content should match the schema");
}

#[tokio::test]
async fn approved_call_can_be_repeated_without_a_consent_request() {
    let (app, api) = start_demo_server().await;
    let request = |id: &str| json!({"call": id, "server": "harbour", "tool": "add", "arguments": {"a": 2, "b": 3}});
    let (caller, first) = (api.clone(), request("1"));
    let called = tokio::spawn(async move { dispatch(&caller, "call_tool", first).await });
    let consent_request = app.consent_request("harbour", "the tool", |_| true).await;
    app.decide(&consent_request, host::view::UserDecision::Allow(policy::ApprovalScope::Once)).await;
    assert!(called.await.unwrap().is_ok(), "the approved call should succeed");
    let mut again = request("2");
    again["repeats"] = json!("1");
    let repeated = tokio::time::timeout(EVENT_TIMEOUT, run_command(&api, "call_tool", again)).await;
    let result = repeated.expect("the repeated call should require no consent");
    assert_eq!(result["isError"], json!(false), "result of the repeated call: {result}");
}

#[tokio::test]
async fn edited_sampling_request_keeps_members_the_page_does_not_show() {
    let (app, api) = start_demo_server().await;
    let (caller, request) =
        (api.clone(), json!({"call": "1", "server": "harbour", "tool": "ask_model", "arguments": {}}));
    let called = tokio::spawn(async move { dispatch(&caller, "call_tool", request).await });
    let tool = app.consent_request("harbour", "the tool", |_| true).await;
    app.decide(&tool, host::view::UserDecision::Allow(policy::ApprovalScope::Once)).await;
    let before = app.consent_request("harbour", "the model", |q| q.id != tool.id).await;
    let host::view::ConsentRequestBody::Sampling { request: original, .. } = before.body else {
        panic!("expected a sampling request")
    };
    let shown = run_command(&api, "read_snapshot", json!({})).await["consentRequests"][0].clone();
    let mut request = shown["body"]["request"].clone();
    request["systemPrompt"] = json!("Be brief.");
    let edit = json!({"id": shown["id"], "edit": {"change": "request", "request": request}});
    let edited = run_command(&api, "edit_consent_request", edit).await;
    assert_ne!(edited["hash"], shown["hash"], "the edited request should have another hash");
    let now = app.consent_request("harbour", "the model", |q| q.id == before.id).await;
    let host::view::ConsentRequestBody::Sampling { request: edited_request, .. } = now.body else {
        panic!("expected a sampling request")
    };
    assert_eq!(edited_request.system_prompt.as_deref(), Some("Be brief."), "the edit should be applied");
    assert_eq!(edited_request.model_preferences, original.model_preferences, "preferences should be unchanged");
    let words =
        |r: &mcp_proto::types::CreateMessageParams| r.messages.iter().map(|m| m.content.clone()).collect::<Vec<_>>();
    assert_eq!(words(&edited_request), words(&original), "messages should be unchanged");
    run_command(
        &api,
        "decide_consent_request",
        json!({"id": edited["id"], "hash": edited["hash"], "answer": {"action": "deny"}}),
    )
    .await;
    let _ = called.await.unwrap();
}

#[tokio::test]
async fn pasted_settings_are_parsed_and_get_unique_names() {
    let app = TestApp::start(vec![("files", demo_config(&[]))]).await;
    let api = Api::new(app.host.clone());
    let text = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "pkg", "/a b"]}}}"#;
    let preview = run_command(&api, "parse_import", json!({ "text": text })).await;
    assert_eq!(preview["servers"][0]["config"]["args"], json!(["-y", "pkg", "/a b"]), "every argument should be kept");
    assert_ne!(preview["servers"][0]["name"], json!("files"), "a taken name should not be suggested");
    let preview = run_command(&api, "parse_import", json!({"text": "{\n \"mcpServers\": [\n"})).await;
    assert!(
        preview["problem"]["message"].is_string() && preview["problem"]["line"].is_u64(),
        "the problem should have its line: {preview}"
    );
    let text = r#"{"mcpServers": {"keyed": {"command": "x", "env": {"KEY": "<your key>"}}}}"#;
    let preview = run_command(&api, "parse_import", json!({ "text": text })).await;
    let note = &preview["servers"][0]["notes"][0];
    assert_eq!(
        (&note["kind"], &note["place"], &note["names"]),
        (&json!("placeholder"), &json!({ "is": "value", "name": "KEY" }), &json!(["<your key>"])),
        "the page should know what a note is about: {preview}"
    );
}

#[tokio::test]
async fn secrets_of_a_link_are_stored_in_the_keychain() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let far = json!({ "url": "https://a.example/mcp", "headers": { "X-Api-Key": "t0psecret", "X-Team": "red" } });
    let near = json!({ "command": "acme", "env": { "API_KEY": "t0psecret", "REGION": "eu" } });
    for (name, config) in [("far", far), ("near", near)] {
        let mut config = config;
        config["name"] = json!(name);
        let link = format!("vscode:mcp/install?{config}");
        let found = run_command(&api, "parse_import", json!({ "text": link })).await["servers"][0].clone();
        run_command(&api, "add_server", json!({ "name": name, "config": found["config"] })).await;
    }
    let file = std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    assert!(!file.contains("t0psecret"), "the file should contain no secret: {file}");
    assert!(
        file.contains("${secret:far.X-Api-Key}") && file.contains("${secret:near.API_KEY}"),
        "the file should refer to both secrets: {file}"
    );
    assert!(file.contains("red") && file.contains("eu"), "plain values should stay in the file: {file}");
    app.host.close().await;
}

#[tokio::test]
async fn activity_is_paged_and_exported_as_json_lines() {
    let (app, api) = start_demo_server().await;
    let page = run_command(&api, "read_activity", json!({"server": "harbour", "limit": 500})).await;
    let entries = page["entries"].as_array().unwrap().clone();
    let opening = entries
        .iter()
        .find(|e| e["method"] == "initialize" && e["kind"] == "request")
        .expect("the handshake should be in the activity log");
    assert_eq!(opening["sent"], json!(true), "direction of the message");
    let body = run_command(&api, "read_activity_message", json!({"server": "harbour", "seq": opening["seq"]})).await;
    let message: Value = serde_json::from_str(body["text"].as_str().unwrap()).expect("the message should be JSON");
    assert_eq!(message["method"], "initialize", "the full message should be returned");
    let answered =
        entries.iter().any(|e| e["method"] == "initialize" && e["kind"] == "response" && e["latency"].is_f64());
    assert!(answered, "the response should have a latency");

    // A request and a response each.
    for _ in 0..750 {
        app.host.ping("harbour".to_owned()).await.expect("the server should respond");
    }
    let page = run_command(&api, "read_activity", json!({"server": "harbour", "limit": 2_000})).await;
    let entries = page["entries"].as_array().unwrap();
    assert!(entries.len() > 1_500, "one page should hold all retained entries");
    assert!(entries.contains(opening), "the page should contain the first entry");

    let file = app.folder.path().join("out.jsonl");
    *app.platform.save_file.lock().unwrap() = Some(file.clone());
    let saved = run_command(&api, "export_activity", json!({"server": "harbour"})).await;
    assert_eq!(saved["path"], json!(file.display().to_string()), "the path should be returned");
    let lines: Vec<Value> =
        std::fs::read_to_string(&file).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(
        lines.len() >= entries.len() && lines.iter().any(|l| l["body"]["method"] == "initialize"),
        "each line should be a JSON object"
    );
    *app.platform.save_file.lock().unwrap() = None;
    let closed = run_command(&api, "export_activity", json!({"server": "harbour"})).await;
    assert_eq!(closed["path"], Value::Null, "closing the dialog should write nothing");
}

#[tokio::test]
async fn e21_media_is_saved_unchanged_at_the_chosen_path() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let file = app.folder.path().join("picked");
    *app.platform.save_file.lock().unwrap() = Some(file.clone());
    let media = |data: &str| json!({"title": "../../Chart", "mimeType": "image/png", "data": data});
    let saved = run_command(&api, "save_media", media("AAEC/w==")).await;
    assert_eq!(saved["path"], json!(file.display().to_string()), "the path should be returned");
    assert_eq!(std::fs::read(&file).unwrap(), [0, 1, 2, 255], "the bytes should be unchanged");
    assert_eq!(*app.platform.proposed.lock().unwrap(), ["Chart.png"], "the suggested name should contain no path");
    run_command(&api, "save_media", media("AAEC/w")).await;
    assert_eq!(std::fs::read(&file).unwrap(), [0, 1, 2, 255], "padding should be optional");
    let refused = api::respond(&api, "save_media", &media("<svg>")).await;
    assert!(refused.is_err(), "invalid Base64 should be rejected");
    *app.platform.save_file.lock().unwrap() = None;
    let closed = run_command(&api, "save_media", media("AAEC/w==")).await;
    assert_eq!(closed["path"], Value::Null, "closing the dialog should write nothing");
}

#[tokio::test]
async fn conversations_are_stored_and_items_replaced_by_id() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let made = run_command(&api, "create_conversation", json!({"title": "Trip"})).await;
    let id = made["id"].clone();
    let item = |text: &str| json!({"id": "1", "at": 5, "body": {"kind": "message", "role": "user", "content": [{"type": "text", "text": text}], "prompt": null}});
    for text in ["first", "second"] {
        run_command(&api, "append_items", json!({"conversation": id, "items": [item(text)]})).await;
    }
    run_command(&api, "rename_conversation", json!({"conversation": id, "title": " Long trip "})).await;
    let read = run_command(&api, "read_conversation", json!({"conversation": id})).await;
    assert_eq!(read["items"], json!([item("second")]), "an item with the same identifier should replace the older one");
    let listed = run_command(&api, "read_snapshot", json!({})).await;
    assert_eq!(listed["conversations"][0]["title"], "Long trip", "the new title should be listed");
    run_command(&api, "delete_conversation", json!({"conversation": id})).await;
    assert_eq!(
        run_command(&api, "read_snapshot", json!({})).await["conversations"],
        json!([]),
        "the conversation should be deleted"
    );
}

#[tokio::test]
async fn history_is_paged_and_searchable() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let id = run_command(&api, "create_conversation", json!({"title": "Trip"})).await["id"].clone();
    let picture = "AAEC".repeat(2_000);
    let items: Vec<Value> = (0..130)
        .map(|n| {
            let content = json!([{"type": "text", "text": format!("第{n}天在港口")}, {"type": "image", "data": picture, "mimeType": "image/png"}]);
            json!({"id": n.to_string(), "at": 5, "body": {"kind": "message", "role": "user", "content": content, "prompt": null}})
        })
        .collect();
    run_command(&api, "append_items", json!({"conversation": id, "items": items})).await;
    let first = run_command(&api, "read_conversation", json!({"conversation": id})).await;
    assert_eq!(
        (&first["items"][0]["id"], &first["hasMore"]),
        (&json!("30"), &json!(true)),
        "the newest items should be returned first"
    );
    let older =
        run_command(&api, "read_conversation_items", json!({"conversation": id, "before": "30", "limit": 100})).await;
    assert_eq!(older["items"].as_array().map(Vec::len), Some(30), "the previous items should be returned");
    assert_eq!(
        (&older["items"][0]["id"], &older["hasMore"]),
        (&json!("0"), &json!(false)),
        "the page should start with the first item"
    );
    let omitted = &older["items"][0]["omitted"][0];
    assert_eq!(older["items"][0]["body"]["content"][1]["data"], "", "large content should be omitted");
    assert_eq!(
        (&omitted["pointer"], &omitted["bytes"]),
        (&json!("/content/1/data"), &json!(6_000)),
        "position and size of the omitted content"
    );
    let blob = run_command(&api, "read_omitted_content", json!({"hash": omitted["hash"]})).await;
    assert_eq!(blob["data"], picture.as_str(), "the blob should be returned by its hash");
    let found = run_command(&api, "search_history", json!({"text": "港口 129", "limit": 5})).await;
    assert_eq!(
        (&found["found"][0]["item"], &found["hasMore"]),
        (&json!("129"), &json!(false)),
        "the item should be found"
    );
    let excerpt = &found["found"][0]["excerpt"];
    assert_eq!(
        (&excerpt["text"], &excerpt["matches"]),
        (&json!("第129天在港口"), &json!([[1, 4], [6, 8]])),
        "excerpt with matches"
    );
    for (command, request) in [
        ("read_conversation_items", json!({"conversation": id, "before": "none", "limit": 1})),
        ("read_omitted_content", json!({"hash": "0".repeat(64)})),
    ] {
        let error = dispatch(&api, command, request).await.expect_err("an unknown reference should be rejected");
        assert_eq!(error.code, ErrorCode::NotFound, "{command}: error code");
    }
}

#[tokio::test]
async fn call_finished_after_the_page_disconnects_is_stored_in_its_conversation() {
    let (app, api) = start_demo_server().await;
    let id = run_command(&api, "create_conversation", json!({"title": "Sums"})).await["id"].clone();
    let request =
        json!({"call": "sum", "server": "harbour", "tool": "add", "arguments": {"a": 2, "b": 3}, "conversation": id});
    let caller = api.clone();
    let page = tokio::spawn(async move { dispatch(&caller, "call_tool", request).await });
    let consent_request = app.consent_request("harbour", "the tool", |_| true).await;
    page.abort();
    app.decide(&consent_request, host::view::UserDecision::Allow(policy::ApprovalScope::Once)).await;
    let stored_call = async {
        loop {
            let items = run_command(&api, "read_conversation", json!({"conversation": id})).await["items"].clone();
            if items[0]["id"] == "sum" {
                return items;
            }
            // sleep: polls, because no event reports it.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let items = tokio::time::timeout(EVENT_TIMEOUT, stored_call).await.expect("the call should be stored");
    assert_eq!(items[0]["body"]["result"]["isError"], json!(false), "result of the call: {items}");
    assert_eq!(items[0]["body"]["arguments"], json!({"a": 2, "b": 3}), "arguments of the call");
}

#[test]
fn typescript_contains_every_command_and_no_bigint() {
    let text = api::typescript();
    for command in COMMANDS {
        assert!(text.contains(&format!("  {command}: {{ request: ")), "the table should contain {command}");
    }
    assert!(!text.contains("bigint"), "large integers should be exported as numbers");
}

#[tokio::test]
async fn failed_user_call_is_stored_with_the_sent_arguments() {
    let (app, api) = start_demo_server().await;
    let id = run_command(&api, "create_conversation", json!({"title": "x"})).await["id"].clone();
    let request = json!({"call": "k1", "server": "harbour", "tool": "slow_report", "arguments": {"seconds": 60}, "conversation": id});
    let own = Api::new(app.host.clone());
    let running = tokio::spawn(async move { dispatch(&own, "call_tool", request).await });
    let consent_request = app
        .consent_request("harbour", "the call", |q| matches!(q.body, host::view::ConsentRequestBody::Tool { .. }))
        .await;
    let changed = json!({"seconds": 61});
    let edit = host::view::ConsentRequestEdit::Arguments(changed.as_object().cloned().unwrap());
    let edited = app.host.edit_consent_request(consent_request.id, edit).await.unwrap();
    app.decide(&edited, host::view::UserDecision::Allow(policy::ApprovalScope::Once)).await;
    let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
    while !app.activity("harbour").await.contains("61") {
        assert!(tokio::time::Instant::now() < deadline, "the call was not sent in time");
        // sleep: polls, because no event reports it.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    run_command(&api, "cancel_call", json!({"call": "k1"})).await;
    assert!(running.await.unwrap().is_err(), "the call should fail");
    let read = run_command(&api, "read_conversation", json!({"conversation": id})).await;
    assert_eq!(read["items"][0]["body"]["arguments"], changed, "the sent arguments should be stored: {read}");
}
