//! Tests of servers that fail during the handshake: their state contains the cause, and other servers are not affected
//! (X35, X42, X54).

use host::view::{FailureReason, ServerState};
use serde_json::json;
use testkit::app::scripted_config;
use testkit::http::{HttpRequest, HttpServer, ordinary};

use super::{LEGACY_REVISION, MODERN_REVISION, remote_server, server_misbehaving_in_method};
use crate::pair::GoodAndBadServers;

/// Asserts that the start of the server at this URL fails with one of these words in the message, while the
/// well-behaved server has to respond. Returns the reason of the failure.
pub(super) async fn assert_start_fails(url: String, what: &str, words: &[&str]) -> FailureReason {
    let pair = GoodAndBadServers::start(remote_server(url)).await;
    let failed = pair.app.until("bad", "failed", |s| matches!(s.state, ServerState::Failed(_)));
    let view = pair.while_good_server_responds(what, failed).await;
    let ServerState::Failed(failure) = view.state else { panic!("{what}: the server has failed") };
    assert!(
        words.iter().any(|word| failure.message.contains(word)),
        "{what}: the failure message contains the cause: {failure:?}"
    );
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &["not ready"]);
    pair.close(what).await;
    failure.reason
}

#[tokio::test]
async fn x35_server_that_never_responds_times_out() {
    let server = HttpServer::start(|_, mut answer| async move { answer.hang_until_closed().await }).await;
    assert_start_fails(server.url("/mcp"), "X35, silence", &["no answer", "did not answer", "in time"]).await;
}

#[tokio::test]
async fn x35_unanswered_initialize_times_out() {
    let server = server_misbehaving_in_method("initialize", LEGACY_REVISION, |_, mut answer| async move {
        answer.hang_until_closed().await
    })
    .await;
    assert_start_fails(server.url("/mcp"), "X35, silence at initialize", &["no answer", "did not answer", "in time"])
        .await;
}

#[tokio::test]
async fn x42_web_page_is_not_a_server() {
    let page = b"<html><h1>Welcome to the harbour</h1></html>";
    let server = HttpServer::start(move |_, mut answer| async move {
        answer.respond(200, "content-type: text/html\r\n", page).await
    })
    .await;
    assert_start_fails(server.url("/"), "X42, a web page", &["text/html"]).await;
}

#[tokio::test]
async fn closed_port_is_unreachable() {
    let closed = HttpServer::start(|_, mut answer| async move { answer.status(500).await }).await;
    let url = closed.url("/mcp");
    drop(closed);
    // The runtime closes the listener shortly after it was dropped.
    // sleep: no event reports that a port is free.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let reason = assert_start_fails(url, "nobody listens", &["could not be reached"]).await;
    assert_eq!(reason, FailureReason::Unreachable, "the failure has a specific reason");
}

/// A tool with an invalid header annotation is omitted from the list and reported, and none of its headers is sent.
#[tokio::test]
async fn x54_tools_with_invalid_header_names_are_dropped() {
    let server = HttpServer::start(|request: HttpRequest, mut answer| async move {
        if request.rpc_method() != "tools/list" {
            return ordinary::respond(MODERN_REVISION, &request, answer).await;
        }
        let tool = |name: &str, header: &str| {
            json!({ "name": name, "inputSchema": { "type": "object", "properties": {
                "text": { "type": "string", "x-mcp-header": header }
            } } })
        };
        let mut message = ordinary::response_message(MODERN_REVISION, &request.json());
        message["result"]["tools"] = json!([
            tool("echo", "Text"),
            tool("split", "Text\r\nX-Evil: yes"),
            tool("spaced", "Two Words"),
            tool("nameless", ""),
            tool("authorized", "Authorization"),
            tool("hosted", "Host"),
            tool("whispered", "hOST"),
        ]);
        answer.json(&message).await
    })
    .await;
    let pair = GoodAndBadServers::ready(remote_server(server.url("/mcp"))).await;
    let catalog = pair.app.host.catalog("bad".into()).await.unwrap();
    assert!(catalog.tool("echo").is_some(), "X54: a tool with a valid annotation is listed");
    for bad in ["split", "spaced", "nameless", "authorized", "hosted", "whispered"] {
        assert!(
            catalog.tool(bad).is_none(),
            "X54: [http-x-mcp-header-reject-name] [http-x-mcp-header-drop-tool-only] {bad} is omitted"
        );
    }
    assert!(
        !catalog.notes[0].is_empty(),
        "X54: [http-x-mcp-header-log-reject] the omission is reported: {:?}",
        catalog.notes
    );
    let what = "X54, the tool that is left";
    pair.assert_call_ended(what, &pair.call_bad_server(what).await, &[]);
    let call = server.received_requests().into_iter().find(|r| r.rpc_method() == "tools/call").expect("it was called");
    assert_eq!(
        call.header("mcp-param-text"),
        Some("hello"),
        "X54: [http-x-mcp-header-mirror] the argument is in the header: {}",
        call.head
    );
    let names: Vec<_> =
        call.head.lines().skip(1).filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
    let of_the_tool: Vec<_> = names.iter().filter(|name| name.to_lowercase().starts_with("mcp-param-")).collect();
    assert_eq!(of_the_tool.len(), 1, "X54: no other argument is in a header: {}", call.head);
    assert_eq!(call.header("authorization"), None, "X54: no authorization header is sent: {}", call.head);
    let hosts = names.iter().filter(|name| name.eq_ignore_ascii_case("host")).count();
    assert_eq!(hosts, 1, "X54: there is one host header: {}", call.head);
    assert_eq!(
        call.header("host"),
        Some(&*server.address.to_string()),
        "X54: the host header names the server: {}",
        call.head
    );
    for request in server.received_requests() {
        assert!(!request.head.contains("X-Evil"), "X54: no request has a header of an omitted tool: {}", request.head);
    }
    pair.close(what).await;
}

/// Over stdio, where there are no headers, a tool with an invalid header annotation is not omitted, and its call sends
/// only the message.
#[tokio::test]
async fn x54_stdio_server_has_no_http_headers() {
    let what = "X54 over stdio";
    let tool = json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object", "properties": {
        "text": { "type": "string", "x-mcp-header": "Text\r\nX-Evil: yes" }
    } } }] });
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let reply = format!("tools/list={tool}");
    let args = ["--revision", MODERN_REVISION, "--reply", &reply, "--record", record.to_str().unwrap()];
    let pair = GoodAndBadServers::ready(scripted_config(&args)).await;
    pair.assert_call_ended(what, &pair.call_bad_server(what).await, &[]);
    let record = std::fs::read_to_string(&record).unwrap();
    assert!(record.contains("tools/call") && !record.contains("X-Evil"), "{what}: only the message is sent: {record}");
    pair.close(what).await;
}
