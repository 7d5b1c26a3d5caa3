//! Tests of calls to remote servers, which are configured by URL.

use serde_json::json;
use testkit::http::{HttpServer, ordinary};

use crate::program::{TestFolder, parse_output};

#[tokio::test(flavor = "multi_thread")]
async fn call_propagates_the_trace_context_of_the_parent() {
    const PARENT_TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let server =
        HttpServer::start(|request, answer| async move { ordinary::respond("2026-07-28", &request, answer).await })
            .await;
    let folder = TestFolder::with_config(&json!({"mcpServers": {"far": {"url": server.url("/mcp")}}}).to_string());
    let options = folder.answers_option(&json!([
        {"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}},
        {"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}},
    ]));
    let called = tokio::task::spawn_blocking(move || {
        let mut command = folder.command();
        command.env("TRACEPARENT", PARENT_TRACEPARENT).env("TRACESTATE", "no list").env("BAGGAGE", "team=blue");
        command.arg("--json").args(options).args(["call", "far", "echo", "--args", r#"{"text": "hello"}"#]);
        parse_output(command.output().expect("the program runs"))
    })
    .await
    .expect("the program runs");
    assert_eq!(called.value()["content"][0]["text"], "hello", "the call should succeed");
    assert!(called.errors.contains("TRACESTATE"), "invalid values should be reported: {}", called.errors);
    let request =
        server.received_requests().into_iter().find(|r| r.rpc_method() == "tools/call").expect("the tool was called");
    let meta = request.json()["params"]["_meta"].clone();
    assert_eq!(meta["traceparent"], PARENT_TRACEPARENT, "the trace context should be sent: {meta}");
    assert_eq!(meta["baggage"], "team=blue", "the baggage should be sent: {meta}");
    assert_eq!(meta.get("tracestate"), None, "invalid values should not be sent: {meta}");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_by_url_is_used_like_any_other() {
    for revision in ["2025-06-18", "2026-07-28"] {
        let server =
            HttpServer::start(
                move |request, answer| async move { ordinary::respond(revision, &request, answer).await },
            )
            .await;
        let entry = json!({"url": server.url("/mcp"), "headers": {"X-Team": "blu3team"}});
        let folder = TestFolder::with_config(&json!({"mcpServers": {"far": entry}}).to_string());
        let answers = json!([
            {"kind": "start-server", "name": "http://127.0.0.1:*", "commandLineOnly": true, "answer": {"action": "allow"}},
            {"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}},
        ]);
        let (servers, called) = tokio::task::spawn_blocking(move || {
            let servers = folder.run_with_answers(&answers, &["servers"]);
            (servers, folder.run_with_answers(&answers, &["call", "far", "echo", "--args", r#"{"text": "hello"}"#]))
        })
        .await
        .expect("the program runs");
        let shown = &servers.value()[0];
        assert_eq!(shown["revision"], revision, "the revision should be shown: {shown}");
        assert_eq!(shown["transport"], "streamable-http", "the transport should be shown");
        assert!(
            shown["foundBy"].as_str().is_some_and(|how| !how.is_empty()),
            "the way of detection should be shown: {shown}"
        );
        assert_eq!(called.value()["content"][0]["text"], "hello", "{revision}: the tool should respond");
        let sent = server.received_requests();
        assert!(
            sent.iter().all(|r| r.header("x-team") == Some("blu3team")),
            "the header should be sent with every request"
        );
        for ended in [&servers, &called] {
            let all: String = ended.lines.iter().map(ToString::to_string).collect();
            assert!(
                !all.contains("blu3team") && !ended.errors.contains("blu3team"),
                "no output should contain a header's value"
            );
        }
    }
}
