//! Tests of stateless requests of revision 2026-07-28.

use std::time::Duration;

use serde_json::{Value, json};

use crate::host::{TestHost, joined_texts};

fn start_modern_host() -> TestHost {
    let mut host = TestHost::start(&[]);
    let discovered = host.modern_result("server/discover", json!({}));
    assert!(
        discovered["supportedVersions"].as_array().is_some_and(|versions| versions.contains(&json!("2026-07-28"))),
        "the server should support 2026-07-28: {discovered}"
    );
    assert!(discovered["instructions"].is_string(), "discovery should return instructions: {discovered}");
    host
}

fn call_tool(host: &mut TestHost, params: Value) -> Value {
    host.modern_result("tools/call", params)
}

#[test]
fn stateless_results_have_a_type_and_a_ttl() {
    let mut host = start_modern_host();
    let tools = host.modern_result("tools/list", json!({}));
    assert_eq!(tools["resultType"], "complete", "a result should have its type");
    assert!(
        tools["ttlMs"].is_u64() && tools["cacheScope"].is_string(),
        "a list should have its cache lifetime: {}",
        tools["ttlMs"]
    );
    let result = call_tool(&mut host, json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }));
    assert_eq!(result["structuredContent"]["sum"], 3.0, "result of add");
    let ping = host.modern_request("ping", json!({}));
    assert_eq!(host.wait_for_error(ping)["code"], -32601, "ping should be an unknown method");
    host.close();
}

#[test]
fn board_and_its_page_are_the_same_in_stateless_requests() {
    let mut host = start_modern_host();
    let read = host.modern_result("resources/read", json!({ "uri": "ui://demo/board.html" }));
    assert_eq!(read["contents"][0]["mimeType"], "text/html;profile=mcp-app", "media type of apps");
    let moved =
        call_tool(&mut host, json!({ "name": "move_card", "arguments": { "card": "gulls", "column": "done" } }));
    let shown = call_tool(&mut host, json!({ "name": "show_board", "arguments": {} }));
    assert_eq!(shown["structuredContent"], moved["structuredContent"], "the board should outlive its request");
    assert!(joined_texts(&shown).contains("Done: Sweep the quay (quay), Count the gulls (gulls)"), "{shown}");
}

#[test]
fn modern_server_rejects_initialize() {
    let mut host = TestHost::start(&["--era", "modern"]);
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let id = host.request("initialize", params);
    let error = host.wait_for_error(id);
    assert_eq!(error["code"], -32022, "the version should be unsupported");
    assert_eq!(error["data"]["supported"], json!(["2026-07-28"]), "the error should list the supported versions");
}

#[test]
fn input_required_result_completes_with_the_next_request() {
    let mut host = start_modern_host();
    let params = json!({ "name": "ask_model", "arguments": { "question": "Fog?" } });
    let result = call_tool(&mut host, params.clone());
    assert_eq!(result["resultType"], "input_required", "the result should require input");
    let question = &result["inputRequests"]["model"];
    assert_eq!(question["method"], "sampling/createMessage", "the input should be a sampling response: {question}");
    let answer = json!({ "role": "assistant", "content": { "type": "text", "text": "None." }, "model": "by hand" });
    let mut again = params;
    again["inputResponses"] = json!({ "model": answer });
    let forgotten = host.modern_request("tools/call", again.clone());
    assert_eq!(
        host.wait_for_error(forgotten)["code"],
        -32602,
        "a response without the state should be rejected ([mrtr-echo-state])"
    );
    again["requestState"] = result["requestState"].clone();
    let done = call_tool(&mut host, again);
    assert_eq!(done["resultType"], "complete", "the result should be complete");
    assert!(joined_texts(&done).starts_with("by hand said: None."), "the tool should receive the response: {done}");
}

#[test]
fn unknown_request_state_is_rejected() {
    let mut host = start_modern_host();
    let result = call_tool(&mut host, json!({ "name": "list_folders", "arguments": {} }));
    assert!(result["requestState"].is_null(), "this request should have no state: {result}");
    let roots = json!({ "roots": [{ "uri": "file:///srv", "name": "srv" }] });
    let mut again = json!({ "name": "list_folders", "arguments": {}, "inputResponses": { "folders": roots } });
    let done = call_tool(&mut host, again.clone());
    assert!(joined_texts(&done).contains("file:///srv"), "the tool should receive the folders: {done}");
    again["requestState"] = json!("made up");
    let wrong = host.modern_request("tools/call", again);
    assert_eq!(
        host.wait_for_error(wrong)["code"],
        -32602,
        "an unexpected state should be rejected ([mrtr-state-absent])"
    );
}

#[test]
fn input_requests_come_in_rounds() {
    let mut host = start_modern_host();
    let params = json!({ "name": "check_in", "arguments": {} });
    let first = call_tool(&mut host, params.clone());
    let requests = first["inputRequests"].as_object().expect("questions");
    assert_eq!(requests.len(), 2, "the first round should have two requests ([mrtr-build-inputs])");
    let mut second = params.clone();
    second["inputResponses"] = json!({
        "ship": { "action": "accept", "content": { "ship": "Aurora" } },
        "folders": { "roots": [{ "uri": "file:///srv" }] }
    });
    let requests = call_tool(&mut host, second);
    assert_eq!(
        requests["inputRequests"]["welcome"]["method"], "sampling/createMessage",
        "the second round should request sampling ([mrtr-repeat-rounds]): {requests}"
    );
    let mut third = params;
    third["requestState"] = requests["requestState"].clone();
    third["inputResponses"] = json!({ "welcome": { "role": "assistant", "content": { "type": "text", "text": "Ahoy!" }, "model": "by hand" } });
    let done = call_tool(&mut host, third);
    assert_eq!(
        joined_texts(&done),
        "The Aurora is checked in with 1 folders. Ahoy!",
        "the state should preserve the responses of the first round"
    );
}

#[test]
fn request_state_without_inputs_is_retried_at_once() {
    let mut host = start_modern_host();
    let params = json!({ "name": "ask_url", "arguments": {} });
    let result = call_tool(&mut host, params.clone());
    assert_eq!(
        result["inputRequests"]["permit"]["params"]["mode"], "url",
        "the elicitation should be for a URL: {result}"
    );
    let mut again = params.clone();
    again["requestState"] = result["requestState"].clone();
    again["inputResponses"] = json!({ "permit": { "action": "accept" } });
    let waiting = call_tool(&mut host, again);
    assert!(
        waiting["inputRequests"].is_null() && waiting["requestState"].is_string(),
        "the result should have a state and no requests ([mrtr-state-only-retry]): {waiting}"
    );
    let mut last = params;
    last["requestState"] = waiting["requestState"].clone();
    let done = call_tool(&mut host, last);
    assert_eq!(done["resultType"], "complete", "the result should be complete: {done}");
}

#[test]
fn prompts_and_resources_can_require_input() {
    let mut host = start_modern_host();
    let prompt = json!({ "name": "diary_entry", "arguments": { "mood": "calm" } });
    let result = host.modern_result("prompts/get", prompt.clone());
    assert_eq!(
        result["inputRequests"]["event"]["method"], "elicitation/create",
        "prompts/get should require input ([mrtr-recognise]): {result}"
    );
    let mut again = prompt;
    again["inputResponses"] = json!({ "event": { "action": "accept", "content": { "event": "A whale." } } });
    let messages = host.modern_result("prompts/get", again)["messages"].to_string();
    assert!(messages.contains("A whale."), "the response should be used: {messages}");
    let result = host.modern_result("resources/read", json!({ "uri": "diary:///captain" }));
    assert_eq!(
        result["resultType"], "input_required",
        "resources/read should require input ([mrtr-recognise]): {result}"
    );
}

#[test]
fn call_that_needs_an_undeclared_capability_is_an_error() {
    let mut host = start_modern_host();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let id = host.request("tools/call", json!({ "name": "list_folders", "arguments": {}, "_meta": meta }));
    let error = host.wait_for_error(id);
    assert_eq!(error["code"], -32021, "capabilities should apply to this request only");
    assert!(
        error["data"]["requiredCapabilities"]["roots"].is_object(),
        "the error should list the missing capability: {error}"
    );
}

#[test]
fn changes_are_sent_to_the_listening_subscription() {
    let mut host = start_modern_host();
    let filter = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["clock:///now", "note:///none"]
    });
    let listen = host.modern_request("subscriptions/listen", json!({ "notifications": filter }));
    let granted = host.wait_for_message("notifications/subscriptions/acknowledged");
    assert_eq!(
        granted["params"]["notifications"],
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["clock:///now"] }),
        "a missing resource should not be granted"
    );
    call_tool(&mut host, json!({ "name": "add_tool", "arguments": { "with_prompt": true } }));
    let changed = host.wait_for_message("notifications/tools/list_changed");
    assert_eq!(
        changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listen,
        "a change should refer to the subscription ([subs-id-is-request-id])"
    );
    let tick = host.wait_for_message("notifications/resources/updated");
    assert_eq!(tick["params"]["uri"], "clock:///now", "the clock should be reported");
    assert!(
        !host.unread.iter().any(|m| m["method"] == "notifications/prompts/list_changed"),
        "changes that were not requested should not be reported: {:?}",
        host.unread
    );
    host.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": listen } }));
    host.modern_result("tools/list", json!({}));
    host.unread.clear();
    let after = host.collect_messages(Duration::from_millis(2500));
    assert!(after.is_empty(), "an ended subscription should report nothing: {after:?}");
}

#[test]
fn active_subscription_does_not_keep_the_process_alive() {
    let mut host = start_modern_host();
    host.modern_request("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    host.wait_for_message("notifications/subscriptions/acknowledged");
    host.close();
}

#[test]
fn logs_and_progress_are_sent_only_for_the_requesting_call() {
    let mut host = start_modern_host();
    call_tool(&mut host, json!({ "name": "log_something", "arguments": {} }));
    assert!(host.unread.is_empty(), "without a level no messages should be sent: {:?}", host.unread);
    let meta = json!({ "io.modelcontextprotocol/logLevel": "alert", "progressToken": 7 });
    call_tool(&mut host, json!({ "name": "log_something", "arguments": {}, "_meta": meta }));
    let levels: Vec<_> =
        host.unread.drain(..).filter_map(|message| message["params"]["level"].as_str().map(str::to_owned)).collect();
    assert_eq!(levels, ["alert", "emergency"], "the level of the request should apply");
    let meta = json!({ "progressToken": 7 });
    call_tool(&mut host, json!({ "name": "slow_report", "arguments": { "seconds": 0.1, "steps": 2 }, "_meta": meta }));
    let tokens: Vec<_> = host.unread.iter().map(|message| message["params"]["progressToken"].clone()).collect();
    assert_eq!(tokens, [7, 7], "progress should have the token of the request");
}
