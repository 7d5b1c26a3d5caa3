//! Servers that are reached by URL.

use serde_json::json;
use testkit::http::{HttpServer, ordinary};

use crate::program::Folder;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_by_url_is_used_like_any_other() {
    for revision in ["2025-06-18", "2026-07-28"] {
        let server =
            HttpServer::start(move |request, answer| async move { ordinary::answer(revision, &request, answer).await })
                .await;
        let entry = json!({"url": server.url("/mcp"), "headers": {"X-Team": "blu3team"}});
        let folder = Folder::with_config(&json!({"mcpServers": {"far": entry}}).to_string());
        let answers = json!([
            {"kind": "start-server", "name": "http://127.0.0.1:*", "answer": {"action": "allow"}},
            {"kind": "tool", "answer": {"action": "allow"}},
        ]);
        let (servers, called) = tokio::task::spawn_blocking(move || {
            let servers = folder.run_with(&answers, &["servers"]);
            (servers, folder.run_with(&answers, &["call", "far", "echo", "--args", r#"{"text": "hello"}"#]))
        })
        .await
        .expect("the program runs");
        let shown = &servers.value()[0];
        assert_eq!(shown["revision"], revision, "the revision is shown: {shown}");
        assert_eq!(shown["transport"], "streamable-http", "and the transport");
        assert!(shown["foundBy"].as_str().is_some_and(|how| !how.is_empty()), "and how both were found: {shown}");
        assert_eq!(called.value()["content"][0]["text"], "hello", "{revision}: its tool answers");
        let sent = server.seen();
        assert!(sent.iter().all(|r| r.header("x-team") == Some("blu3team")), "its header is sent with every request");
        for ended in [&servers, &called] {
            let all: String = ended.lines.iter().map(ToString::to_string).collect();
            assert!(!all.contains("blu3team") && !ended.errors.contains("blu3team"), "no output has a header's value");
        }
    }
}
