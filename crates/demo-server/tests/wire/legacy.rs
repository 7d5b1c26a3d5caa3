//! Tests of sessions that are opened by `initialize`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::host::{TestHost, joined_texts};

fn call_tool(host: &mut TestHost, name: &str, arguments: Value) -> Value {
    host.request_result("tools/call", json!({ "name": name, "arguments": arguments }))
}

#[test]
fn every_legacy_revision_initializes_and_calls_a_tool() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut host = TestHost::start_legacy(revision);
        let result = call_tool(&mut host, "add", json!({ "a": 2, "b": 3.5 }));
        assert_eq!(joined_texts(&result), "2 + 3.5 = 5.5", "{revision}: result of add");
        assert!(result["resultType"].is_null(), "{revision}: resultType belongs to 2026-07-28 only");
        host.close();
    }
}

#[test]
fn pinned_revision_is_always_negotiated() {
    let mut host = TestHost::start(&["--revision", "2025-03-26"]);
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let result = host.request_result("initialize", params);
    assert_eq!(
        result["protocolVersion"], "2025-03-26",
        "a server that does not support the offered revision should respond with its own"
    );
}

#[test]
fn legacy_server_rejects_discover() {
    let mut host = TestHost::start(&["--era", "legacy"]);
    let probe = host.modern_request("server/discover", json!({}));
    let error = host.wait_for_error(probe);
    assert_eq!(error["code"], -32601, "the probe should be an unknown method");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let result = host.request_result("initialize", params);
    assert_eq!(
        result["serverInfo"]["title"], "Demo harbour",
        "the same process should accept initialize after the probe"
    );
}

#[test]
fn tool_list_is_paged() {
    let mut host = TestHost::start_legacy("2025-06-18");
    let first = host.request_result("tools/list", json!({}));
    assert_eq!(first["tools"].as_array().map(Vec::len), Some(10), "a page should contain ten tools");
    let second = host.request_result("tools/list", json!({ "cursor": first["nextCursor"] }));
    assert!(second["nextCursor"].is_null(), "the second page should be the last");
    let names = second["tools"].to_string();
    assert!(names.contains("change_tool"), "the second page should continue the list: {names}");
    let wrong = host.request("tools/list", json!({ "cursor": "nonsense" }));
    assert_eq!(host.wait_for_error(wrong)["code"], -32602, "an unknown cursor should be an invalid parameter");
}

#[test]
fn result_content_depends_on_the_revision() {
    let kinds = |revision: &str| -> Vec<String> {
        let mut host = TestHost::start_legacy(revision);
        let result = call_tool(&mut host, "show_everything", json!({}));
        let blocks = result["content"].as_array().expect("content").iter();
        blocks.map(|block| block["type"].as_str().expect("a block should have a type").to_owned()).collect()
    };
    let oldest = kinds("2024-11-05");
    assert!(
        !oldest.iter().any(|kind| kind == "audio" || kind == "resource_link"),
        "2024-11-05 has neither audio nor links: {oldest:?}"
    );
    let newest = kinds("2025-11-25");
    for kind in ["text", "image", "audio", "resource", "resource_link"] {
        assert!(newest.iter().any(|k| k == kind), "the result should contain {kind}: {newest:?}");
    }
    let mut host = TestHost::start_legacy("2024-11-05");
    let note = call_tool(&mut host, "write_note", json!({ "name": "new", "text": "New." }));
    assert_eq!(
        note["content"].as_array().map(Vec::len),
        Some(1),
        "2024-11-05 should receive the text without the link: {note}"
    );
}

#[test]
fn sampling_is_a_server_request() {
    let mut host = TestHost::start_legacy("2025-06-18");
    let id = host
        .request("tools/call", json!({ "name": "ask_model", "arguments": { "question": "Fog?", "with_sound": true } }));
    let answer = json!({ "role": "assistant", "content": { "type": "text", "text": "None." }, "model": "by hand", "stopReason": "endTurn" });
    let request = host.respond_to("sampling/createMessage", answer);
    let params = &request["params"];
    assert!(
        params["systemPrompt"].is_string() && params["modelPreferences"]["hints"].is_array(),
        "the request should have a system prompt and preferences: {params}"
    );
    let kinds: Vec<_> = params["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|message| message["content"]["type"].as_str())
        .collect();
    assert!(
        kinds.contains(&Some("image")) && kinds.contains(&Some("audio")),
        "the request should contain the image and the audio: {kinds:?}"
    );
    assert_eq!(
        joined_texts(&host.wait_for_result(id)),
        "by hand said: None. (stopped: endTurn)",
        "the tool should receive the response"
    );
}

#[test]
fn denied_sampling_request_fails_the_call_with_its_cause() {
    let mut host = TestHost::start_legacy("2025-11-25");
    let id = host.request("tools/call", json!({ "name": "ask_model", "arguments": {} }));
    let request = host.wait_for_message("sampling/createMessage");
    let error = json!({ "code": -1, "message": "User rejected sampling request" });
    host.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }));
    let result = host.wait_for_result(id);
    assert_eq!(result["isError"], true, "a denied request should fail the call");
    assert!(
        joined_texts(&result).contains("User rejected sampling request"),
        "the result should contain the cause: {result}"
    );
}

#[test]
fn elicitation_forms_depend_on_the_revision() {
    for (revision, has_lists) in [("2025-06-18", false), ("2025-11-25", true)] {
        let mut host = TestHost::start_legacy(revision);
        let id = host.request("tools/call", json!({ "name": "ask_user", "arguments": {} }));
        let request = host.respond_to("elicitation/create", json!({ "action": "decline" }));
        let form = &request["params"]["requestedSchema"]["properties"];
        assert_eq!(
            form["languages"].is_object(),
            has_lists,
            "{revision}: multiple choice was introduced in 2025-11-25"
        );
        let result = host.wait_for_result(id);
        assert_eq!(result["structuredContent"]["action"], "decline", "{revision}: the action should be decline");
    }
}

#[test]
fn urls_are_elicited_by_request_and_by_error() {
    let mut host = TestHost::start_legacy("2025-11-25");
    let id = host.request("tools/call", json!({ "name": "ask_url", "arguments": {} }));
    let request = host.respond_to("elicitation/create", json!({ "action": "accept" }));
    assert_eq!(request["params"]["mode"], "url", "the elicitation should be for a URL");
    host.wait_for_result(id);
    let complete = host.wait_for_message("notifications/elicitation/complete");
    assert_eq!(
        complete["params"]["elicitationId"], request["params"]["elicitationId"],
        "the completion should have the id of the elicitation"
    );
    let id = host.request("tools/call", json!({ "name": "ask_url", "arguments": { "as_error": true } }));
    let error = host.wait_for_error(id);
    assert_eq!(error["code"], -32042, "error code of 2025-11-25");
    assert_eq!(error["data"]["elicitations"][0]["mode"], "url", "the error should contain the URL to open: {error}");
}

#[test]
fn server_request_is_cancelled_with_its_call() {
    let mut host = TestHost::start_legacy("2025-11-25");
    let id = host.request("tools/call", json!({ "name": "list_folders", "arguments": {} }));
    let question = host.wait_for_message("roots/list");
    host.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    let cancelled = host.wait_for_message("notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"], "the server should cancel its request");
}

#[test]
fn slow_call_reports_progress_and_is_cancellable() {
    let mut host = TestHost::start_legacy("2025-06-18");
    let params = json!({
        "name": "slow_report",
        "arguments": { "seconds": 0.2, "steps": 4 },
        "_meta": { "progressToken": "p" }
    });
    host.request_result("tools/call", params);
    let received: Vec<_> = host.unread.iter().map(|message| message["params"]["progress"].as_f64()).collect();
    assert_eq!(
        received,
        [Some(1.0), Some(2.0), Some(3.0), Some(4.0)],
        "progress should increase with every step and precede the result"
    );
    host.unread.clear();
    let id = host.request("tools/call", json!({ "name": "slow_report", "arguments": { "seconds": 60, "steps": 600 } }));
    host.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    let after = host.collect_messages(Duration::from_millis(500));
    assert!(after.is_empty(), "a cancelled call should have no response: {after:?}");
    host.request_result("ping", json!({}));
}

#[test]
fn subscribed_resource_and_list_changes_are_notified() {
    let mut host = TestHost::start_legacy("2025-11-25");
    host.request_result("resources/subscribe", json!({ "uri": "note:///shopping" }));
    host.request_result("resources/subscribe", json!({ "uri": "clock:///now" }));
    call_tool(&mut host, "write_note", json!({ "name": "shopping", "text": "Tea." }));
    let updated = host.wait_for_message("notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "note:///shopping", "a change of a subscribed note should be reported");
    let tick = host.wait_for_message("notifications/resources/updated");
    assert_eq!(tick["params"]["uri"], "clock:///now", "the clock should be reported");
    call_tool(&mut host, "write_note", json!({ "name": "new", "text": "New." }));
    host.wait_for_message("notifications/resources/list_changed");
    call_tool(&mut host, "add_tool", json!({ "with_prompt": true }));
    host.wait_for_message("notifications/tools/list_changed");
    host.wait_for_message("notifications/prompts/list_changed");
    let result = call_tool(&mut host, "foghorn", json!({ "message": "Fog" }));
    assert_eq!(joined_texts(&result), "foghorn: Fog!", "an added tool should be callable");
    let unknown = host.request("resources/subscribe", json!({ "uri": "note:///none" }));
    assert_eq!(
        host.wait_for_error(unknown)["code"],
        -32002,
        "before 2026-07-28 a missing resource has a separate error code"
    );
}

#[test]
fn change_tool_changes_the_definition_of_a_listed_tool() {
    let mut host = TestHost::start_legacy("2025-06-18");
    let definition = |host: &mut TestHost| -> Value {
        let page = host.request_result("tools/list", json!({ "cursor": "from-10" }));
        let tools = page["tools"].as_array().expect("tools").clone();
        tools.into_iter().find(|tool| tool["name"] == "lighthouse").expect("the tool lighthouse should exist initially")
    };
    let before = definition(&mut host);
    call_tool(&mut host, "change_tool", json!({}));
    host.wait_for_message("notifications/tools/list_changed");
    let after = definition(&mut host);
    assert_ne!(before["description"], after["description"], "the description should change");
    assert_ne!(before["inputSchema"], after["inputSchema"], "the arguments should change");
}

#[test]
fn board_has_an_app_whose_page_is_listed_and_read() {
    for revision in ["2024-11-05", "2025-11-25"] {
        let mut host = TestHost::start_legacy(revision);
        let page = host.request_result("tools/list", json!({ "cursor": "from-10" }));
        let tools = page["tools"].as_array().expect("tools").clone();
        let metadata = |name: &str| {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} in {tools:?}"));
            tool["_meta"].clone()
        };
        let uri = "ui://demo/board.html";
        assert_eq!(metadata("show_board"), json!({ "ui": { "resourceUri": uri } }), "{revision}: the tool has a page");
        assert_eq!(
            metadata("move_card"),
            json!({ "ui": { "visibility": ["app"] } }),
            "{revision}: only the app should call this tool"
        );
        let first = host.request_result("resources/list", json!({}));
        let resources = first["resources"].as_array().expect("resources");
        let listed = resources.iter().find(|resource| resource["uri"] == uri).expect("the page should be listed");
        let read = host.request_result("resources/read", json!({ "uri": uri }));
        let contents = &read["contents"][0];
        for described in [listed, contents] {
            assert_eq!(described["mimeType"], "text/html;profile=mcp-app", "{revision}: media type of apps");
            assert!(described["_meta"].is_null(), "{revision}: the page needs no hosts and no permissions");
        }
        let html = contents["text"].as_str().expect("the page should be text");
        assert_eq!(listed["size"], html.len(), "{revision}: the size should be that of the page");
        assert!(html.starts_with("<!doctype html>") && html.contains("ui/initialize"), "{revision}: {html:.80}");
    }
}

#[test]
fn moved_card_is_on_the_board_of_later_calls() {
    let mut host = TestHost::start_legacy("2025-11-25");
    let shown = call_tool(&mut host, "show_board", json!({}));
    assert!(joined_texts(&shown).starts_with("To do: Paint the buoy (buoy)"), "the text is for hosts without apps");
    assert_eq!(shown["structuredContent"]["columns"][0]["cards"][0]["id"], "buoy", "{shown}");
    let moved = call_tool(&mut host, "move_card", json!({ "card": "buoy", "column": "done" }));
    let shown = call_tool(&mut host, "show_board", json!({}));
    assert_eq!(shown["structuredContent"], moved["structuredContent"], "both tools should return the same board");
    assert_eq!(shown["structuredContent"]["columns"][2]["cards"][1]["id"], "buoy", "{shown}");
}

#[test]
fn completion_depends_on_earlier_arguments() {
    let mut host = TestHost::start_legacy("2025-06-18");
    let complete = |host: &mut TestHost, reference: Value, name: &str, context: Value| -> Value {
        let params = json!({ "ref": reference, "argument": { "name": name, "value": "" }, "context": context });
        host.request_result("completion/complete", params)["completion"]["values"].take()
    };
    let prompt = json!({ "type": "ref/prompt", "name": "greet_ship" });
    let context = json!({ "arguments": { "harbour": "Cardiff" } });
    assert_eq!(
        complete(&mut host, prompt, "ship", context),
        json!(["Cormorant", "Curlew"]),
        "only ships of the chosen harbour should be suggested"
    );
    let template = json!({ "type": "ref/resource", "uri": "note:///{name}" });
    assert_eq!(
        complete(&mut host, template, "name", json!({})),
        json!(["shopping", "weather"]),
        "the variable of a template should complete to existing notes"
    );
}

#[test]
fn log_messages_respect_the_level() {
    let mut host = TestHost::start_legacy("2025-11-25");
    host.request_result("logging/setLevel", json!({ "level": "error" }));
    call_tool(&mut host, "log_something", json!({}));
    let levels: Vec<_> = host.unread.iter().filter_map(|message| message["params"]["level"].as_str()).collect();
    assert_eq!(levels, ["error", "critical", "alert", "emergency"], "no message below the level should be sent");
}

#[test]
fn wrong_arguments_fail_the_call_without_a_protocol_error() {
    let mut host = TestHost::start_legacy("2025-11-25");
    for (tool, arguments) in [
        ("add", json!({ "a": "two" })),
        ("write_note", json!({ "name": "../x", "text": "" })),
        ("plan_trip", json!({ "ship": "Aurora" })),
        ("move_card", json!({ "card": "buoy", "column": "sea" })),
        ("move_card", json!({ "card": "anchor", "column": "done" })),
        ("fail", json!({})),
    ] {
        let result = call_tool(&mut host, tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: the call should fail");
    }
    let id = host.request("tools/call", json!({ "name": "none", "arguments": {} }));
    assert_eq!(host.wait_for_error(id)["code"], -32602, "an unknown tool should be a protocol error");
}

#[test]
fn prompts_and_resources_return_the_promised_content() {
    let mut host = TestHost::start_legacy("2025-06-18");
    let chart = host.request_result("prompts/get", json!({ "name": "read_the_chart" }));
    let kinds = chart["messages"].to_string();
    assert!(
        kinds.contains("\"image\"") && kinds.contains("\"resource\""),
        "the prompt should contain an image and an embedded resource"
    );
    let missing = host.request("prompts/get", json!({ "name": "greet_ship", "arguments": {} }));
    assert_eq!(host.wait_for_error(missing)["code"], -32602, "a missing argument should be an invalid parameter");
    let tides = host.request_result("resources/read", json!({ "uri": "tide:///Bergen/monday" }));
    assert!(
        tides["contents"][0]["text"].as_str().is_some_and(|text| text.contains("Bergen")),
        "a URI of a template should be readable: {tides}"
    );
    let id = host.request("resources/read", json!({ "uri": "diary:///captain" }));
    host.respond_to("elicitation/create", json!({ "action": "accept", "content": { "promise": true } }));
    let diary = host.wait_for_result(id);
    assert!(
        diary["contents"][0]["text"].as_str().is_some_and(|text| text.contains("treasure")),
        "reading should succeed after the elicitation: {diary}"
    );
}
