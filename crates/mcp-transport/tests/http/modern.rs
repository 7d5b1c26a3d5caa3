//! Tests of features that are specific to 2026-07-28.

use mcp_proto::{CancelReason, ClientRequest, SessionEvent};
use mcp_transport::driver::{DriverCommand, DriverEvent};
use serde_json::{Value, json};
use testkit::http::ordinary;

use crate::support::*;

fn result_response(request: &HttpRequest, mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(0);
    result["cacheScope"] = json!("private");
    json!({ "jsonrpc": "2.0", "id": request.json()["id"], "result": result })
}

/// Responds as a server with tools, prompts and resources, whose tool `paint` declares arguments that the client
/// repeats in headers.
async fn respond_with_all_features(request: HttpRequest, mut answer: HttpResponder) -> std::io::Result<()> {
    let body = match request.rpc_method().as_str() {
        "server/discover" => result_response(
            &request,
            json!({ "supportedVersions": [MODERN_REVISION], "capabilities": { "tools": {}, "prompts": {}, "resources": {} } }),
        ),
        "tools/list" => {
            let schema = json!({ "type": "object", "properties": {
                "color": { "type": "string", "x-mcp-header": "Color" },
                "coats": { "type": "integer", "x-mcp-header": "Coats" },
                "gloss": { "type": "boolean", "x-mcp-header": "Gloss" },
                "where": { "type": "object", "properties": { "room": { "type": "string", "x-mcp-header": "Room" } } },
                "text": { "type": "string" }
            }});
            let bad = json!({ "type": "object", "properties": { "n": { "type": "number", "x-mcp-header": "N" } } });
            let tools = json!([
                { "name": "paint", "inputSchema": schema },
                { "name": "unfit", "inputSchema": bad },
                ordinary::echo_tool(),
            ]);
            result_response(&request, json!({ "tools": tools }))
        }
        "prompts/get" => result_response(&request, json!({ "messages": [] })),
        "resources/read" => result_response(&request, json!({ "contents": [] })),
        _ => return ordinary::respond(MODERN_REVISION, &request, answer).await,
    };
    answer.json(&body).await
}

#[tokio::test]
async fn request_headers_match_the_body() {
    let server = HttpServer::start(respond_with_all_features).await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    for request in [
        ClientRequest::ListTools { cursor: None },
        tool_call("echo", json!({ "text": "x" })),
        tool_call("  Mal den Zaun, grün", json!({})),
        tool_call("=?base64?eA==?=", json!({})),
        ClientRequest::GetPrompt { name: "greet".into(), arguments: Default::default() },
        ClientRequest::ReadResource { uri: "file:///a.md".into() },
    ] {
        let _ = client.call(request).await;
    }
    client.stop().await;
    let requests = server.received_requests();
    assert!(requests.len() >= 7, "all messages must be sent");
    for request in &requests {
        let body = request.json();
        let method = request.rpc_method();
        assert_eq!(request.method, "POST", "[http-no-get-modern] [http-no-session-modern] only POSTs must be sent");
        assert_eq!(
            request.header("mcp-method"),
            Some(&*method),
            "[http-mcp-method-header] [http-header-value-case-sensitive] the header must equal the method in the body"
        );
        let version = &body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        assert_eq!(
            request.header("mcp-protocol-version"),
            version.as_str(),
            "[http-version-header-modern] [http-version-header-matches-meta] on {method}"
        );
        assert_eq!(version, MODERN_REVISION, "the first request must have the header");
        assert!(
            body["method"].is_string(),
            "[http-post-body-single-modern] each body must be one request or notification: {body}"
        );
        let name = request.header("mcp-name");
        match method.as_str() {
            "tools/call" => {
                let expected = match body["params"]["name"].as_str().unwrap() {
                    "  Mal den Zaun, grün" => "=?base64?ICBNYWwgZGVuIFphdW4sIGdyw7xu?=",
                    "=?base64?eA==?=" => "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
                    plain => plain,
                }
                .to_owned();
                assert_eq!(name, Some(&*expected), "[http-mcp-name-header] [http-mcp-name-encoding]");
            }
            "prompts/get" => assert_eq!(name, Some("greet"), "[http-mcp-name-header] the name of the prompt"),
            "resources/read" => {
                assert_eq!(name, Some("file:///a.md"), "[http-mcp-name-header] the URI of the resource")
            }
            _ => assert_eq!(name, None, "{method} must have no name header"),
        }
    }
}

#[tokio::test]
async fn annotated_arguments_are_copied_to_headers() {
    let server = HttpServer::start(respond_with_all_features).await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let _ = client.call(tool_call("paint", json!({ "color": "red" }))).await;
    client.call(ClientRequest::ListTools { cursor: None }).await.expect("the list must be returned");
    let dropped = client.received.iter().any(|event| match event {
        DriverEvent::Session(SessionEvent::ItemsDropped { items, .. }) => {
            items.len() == 1 && items[0].name == "unfit" && !items[0].cause.is_empty()
        }
        _ => false,
    });
    assert!(
        dropped,
        "[http-x-mcp-header-drop-tool-only] [http-x-mcp-header-log-reject] one tool must be dropped with a cause"
    );
    for arguments in [
        json!({ "color": "red", "coats": 2, "gloss": true, "where": { "room": "hall" }, "text": "x" }),
        json!({ "color": " r\u{f6}d", "coats": null, "where": {} }),
        json!({ "color": "=?base64?eA==?=", "coats": -9007199254740991_i64 }),
    ] {
        let _ = client.call(tool_call("paint", arguments)).await;
    }
    client.stop().await;
    let calls: Vec<_> =
        server.received_requests().into_iter().filter(|request| request.rpc_method() == "tools/call").collect();
    let head = |call: usize, name: &str| calls[call].header(name).map(str::to_owned);
    let some = |value: &str| Some(value.to_owned());
    assert_eq!(
        head(0, "mcp-param-color"),
        None,
        "[http-x-mcp-header-unknown-schema] no header before the list is known"
    );
    assert_eq!(head(1, "mcp-param-color"), some("red"), "[http-x-mcp-header-support] [http-x-mcp-header-mirror]");
    assert_eq!(head(1, "mcp-param-coats"), some("2"), "[http-x-mcp-header-convert] whole numbers in decimal");
    assert_eq!(head(1, "mcp-param-gloss"), some("true"), "[http-x-mcp-header-convert] booleans in lowercase");
    assert_eq!(head(1, "mcp-param-room"), some("hall"), "[http-x-mcp-header-exact-path] a nested property");
    assert_eq!(head(1, "mcp-param-text"), None, "only annotated arguments must have headers");
    assert_eq!(
        head(2, "mcp-param-color"),
        some("=?base64?IHLDtmQ=?="),
        "[http-x-mcp-header-base64] [http-x-mcp-header-sentinel-exact] text that is not allowed in a header must be encoded"
    );
    assert_eq!(head(2, "mcp-param-coats"), None, "[http-x-mcp-header-omit-null]");
    assert_eq!(head(2, "mcp-param-gloss"), None, "[http-x-mcp-header-omit-absent]");
    assert_eq!(head(2, "mcp-param-room"), None, "[http-x-mcp-header-omit-absent] [http-x-mcp-header-exact-path]");
    assert_eq!(
        head(3, "mcp-param-color"),
        some("=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        "[http-x-mcp-header-sentinel-lookalike] text that looks encoded must be encoded"
    );
    assert_eq!(
        head(3, "mcp-param-coats"),
        some("-9007199254740991"),
        "[http-x-mcp-header-safe-integer] the largest safe integer must be sent"
    );
}

#[tokio::test]
async fn header_mismatch_refreshes_the_list_and_retries_once() {
    let server = HttpServer::start(move |request, mut answer| async move {
        if request.rpc_method() == "tools/call" && request.header("mcp-param-color").is_none() {
            let error = json!({ "jsonrpc": "2.0", "id": request.json()["id"],
                "error": { "code": -32020, "message": "the header Mcp-Param-Color is missing" } });
            return answer.respond(400, "content-type: application/json\r\n", error.to_string().as_bytes()).await;
        }
        respond_with_all_features(request, answer).await
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let result = client.call(tool_call("paint", json!({ "color": "red", "text": "done" }))).await;
    assert_eq!(result_text(&result), "done", "[http-header-mismatch-refresh] the call must succeed");
    assert_eq!(server.count("tools/list"), 1, "[http-header-mismatch-refresh] the list must be read again");
    assert_eq!(server.count("tools/call"), 2, "[http-header-mismatch-refresh] the call must be sent once more");
    client.stop().await;
}

#[tokio::test]
async fn cancellation_closes_the_response_stream() {
    let (closed, was_closed) = tokio::sync::watch::channel(false);
    let closed = std::sync::Arc::new(closed);
    let server = HttpServer::start(move |request, mut answer| {
        let closed = closed.clone();
        async move {
            if request.rpc_method() != "tools/call" {
                return respond_with_all_features(request, answer).await;
            }
            answer.event_stream().await?;
            answer.event(&progress_notification(&request, 1)).await?;
            let is_closed = answer.hang_until_closed().await;
            let _ = closed.send(true);
            is_closed
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let call = client.start_call(echo_call("x")).await;
    client
        .wait_for_event("the call is on its way", |event| {
            matches!(event, DriverEvent::Session(SessionEvent::Progress { .. })).then_some(())
        })
        .await;
    client.send(DriverCommand::Cancel { call, reason: CancelReason::User }).await;
    client.wait_for_result(call).await.expect_err("the call must be cancelled");
    let mut was_closed = was_closed;
    within(WAIT_TIMEOUT, "the server sees that the stream is closed", was_closed.wait_for(|closed| *closed))
        .await
        .unwrap();
    assert_eq!(
        server.count("notifications/cancelled"),
        0,
        "no cancellation notification must be sent over HTTP in 2026-07-28"
    );
    client.stop().await;
}

#[tokio::test]
async fn ping_does_not_affect_running_calls() {
    let (probe_count, _) = tokio::sync::watch::channel(0);
    let probe_count = std::sync::Arc::new(probe_count);
    let server = HttpServer::start(move |request, answer| {
        let probe_count = probe_count.clone();
        async move {
            match request.rpc_method().as_str() {
                "server/discover" => probe_count.send_modify(|times| *times += 1),
                // The response waits for a second request.
                "tools/call" => drop(probe_count.subscribe().wait_for(|times| *times > 1).await),
                _ => {}
            }
            respond_with_all_features(request, answer).await
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let call = client.start_call(echo_call("x")).await;
    let ping = client.start_call(ClientRequest::Ping).await;
    client.wait_for_result(ping).await.expect("the server must answer the ping");
    let result = client.wait_for_result(call).await;
    assert_eq!(result_text(&result), "x", "the call must continue in parallel with the ping");
    assert_eq!(server.count("tools/call"), 1, "the call must be sent once");
    client.stop().await;
}

#[tokio::test]
async fn session_id_and_server_requests_are_ignored() {
    let server = HttpServer::start(move |request, mut answer| async move {
        let headers = "Content-Type: application/json\r\nMCP-SESSION-ID: none-of-yours\r\n";
        match request.rpc_method().as_str() {
            "server/discover" => {
                let body = ordinary::response_message(MODERN_REVISION, &request.json()).to_string();
                answer.respond(200, headers, body.as_bytes()).await
            }
            "tools/call" => {
                answer.event_stream().await?;
                answer.event(&json!({ "jsonrpc": "2.0", "id": "q", "method": "ping" })).await?;
                respond_with_sse_event(MODERN_REVISION, &request, &mut answer).await
            }
            _ => respond_with_all_features(request, answer).await,
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    // [http-header-name-case-insensitive]: the responses spell header names differently.
    assert_eq!(client.echo("x").await, "x", "the call must be answered");
    // A response to the server's request would be sent before this call.
    assert_eq!(client.echo("y").await, "y", "the next call must be answered");
    client.stop().await;
    for request in server.received_requests() {
        assert_eq!(request.method, "POST", "[http-no-session-modern] no DELETE must be sent");
        assert_eq!(request.header("mcp-session-id"), None, "[http-no-session-modern] no session ID must be sent");
        assert_ne!(
            request.json()["id"],
            "q",
            "[http-no-client-responses] requests from the server must get no response"
        );
    }
}
