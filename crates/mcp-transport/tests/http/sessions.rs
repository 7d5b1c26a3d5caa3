//! Tests of sessions: their ID, their loss and their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mcp_proto::SessionEvent;
use mcp_transport::driver::{DriverCommand, DriverEvent};
use serde_json::json;
use testkit::http::ordinary;
use testkit::time::measure_timer_wait;

use crate::support::*;

#[tokio::test]
async fn session_id_is_sent_with_every_request_and_deleted_at_the_end() {
    for revision in LEGACY_REVISIONS {
        let server =
            HttpServer::start(
                move |request, answer| async move { respond_in_session(revision, &request, answer).await },
            )
            .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        assert_eq!(client.echo("in session").await, "in session", "{revision}: the server must know the session");
        client.wait_for_note("no GET stream").await;
        client.stop().await;
        for request in server.received_requests() {
            let method = request.rpc_method();
            if matches!(method.as_str(), "server/discover" | "initialize") {
                assert_eq!(
                    request.header("mcp-session-id"),
                    None,
                    "{revision}: {method} must be sent without a session ID"
                );
            } else {
                let what = format!("{} {method}", request.method);
                assert_eq!(
                    request.header("mcp-session-id"),
                    Some(SESSION_ID),
                    "{revision}: [http-session-header] on {what}"
                );
                assert_eq!(
                    request.header("mcp-protocol-version"),
                    Some(revision),
                    "{revision}: [http-version-header] on {what}"
                );
            }
        }
        let last = server.received_requests().pop().expect("there were requests");
        assert_eq!(
            last.method, "DELETE",
            "{revision}: [http-session-delete] [lifecycle-http-shutdown] the session must be ended at the server"
        );
        let shown = format!("{:?}", client.received);
        assert!(!shown.contains(SESSION_ID), "{revision}: [http-session-id-secure] the ID must not be reported");
    }
}

#[tokio::test]
async fn refused_delete_of_an_http_session_has_no_effect() {
    for status in [405, 500] {
        let server = HttpServer::start(move |request, mut answer| async move {
            match request.method.as_str() {
                "DELETE" => answer.status(status).await,
                _ => respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await,
            }
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        client.stop().await;
        let reason = client.received.iter().rev().find_map(|event| match event {
            DriverEvent::Session(SessionEvent::Closed(reason)) => Some(reason.to_string()),
            _ => None,
        });
        assert_eq!(
            reason.as_deref(),
            Some("the server was stopped"),
            "[http-session-delete-405] {status} to DELETE must have no effect"
        );
        assert_eq!(requests_with_method(&server, "DELETE").len(), 1, "DELETE must be sent once");
    }
}

#[tokio::test]
async fn unanswered_session_delete_does_not_delay_the_end() {
    let server = HttpServer::start(move |request, mut answer| async move {
        match request.method.as_str() {
            "DELETE" => answer.hang_until_closed().await,
            _ => respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await,
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let ((), took) = measure_timer_wait(client.stop()).await;
    assert_eq!(requests_with_method(&server, "DELETE").len(), 1, "DELETE must be sent");
    assert!(took < DRIVER_CLOSE_TIMEOUT, "closing must take at most 2 s, not {took:?}");
}

#[tokio::test]
async fn lost_session_is_reopened() {
    for revision in LEGACY_REVISIONS {
        let openings = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&openings);
        let server = HttpServer::start(move |request, mut answer| {
            let openings = Arc::clone(&counted);
            async move {
                let body = request.json();
                let id = |number: usize| format!("id-{number}");
                match request.rpc_method().as_str() {
                    "server/discover" => answer.status(400).await,
                    "initialize" => {
                        let number = openings.fetch_add(1, Ordering::SeqCst) + 1;
                        let headers = format!("content-type: application/json\r\nMcp-Session-Id: {}\r\n", id(number));
                        let message = ordinary::response_message(revision, &body).to_string();
                        answer.respond(200, &headers, message.as_bytes()).await
                    }
                    // The first session is lost with its first call.
                    "tools/call" if request.header("mcp-session-id") == Some("id-1") => answer.status(404).await,
                    _ => ordinary::respond(revision, &request, answer).await,
                }
            }
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        assert_eq!(
            client.echo("again").await,
            "again",
            "{revision}: [http-session-404-reinit] the call must be sent again"
        );
        assert_eq!(
            openings.load(Ordering::SeqCst),
            2,
            "{revision}: [http-session-404-reinit] a new initialize must be sent"
        );
        let second =
            server.received_requests().into_iter().filter(|request| request.rpc_method() == "initialize").nth(1);
        assert_eq!(
            second.unwrap().header("mcp-session-id"),
            None,
            "{revision}: [http-session-404-reinit] the new session must begin without the old id"
        );
        let reopened =
            client.received.iter().any(|event| matches!(event, DriverEvent::Session(SessionEvent::Reopened(_))));
        assert!(reopened, "{revision}: the new session must be reported");
        client.stop().await;
        let deleted = requests_with_method(&server, "DELETE").pop().expect("the session is ended");
        assert_eq!(deleted.header("mcp-session-id"), Some("id-2"), "{revision}: the new session must be deleted");
    }
}

#[tokio::test]
async fn session_streams_end_when_the_server_changes_its_revision() {
    let is_modern = Arc::new(AtomicBool::new(false));
    let (ended, mut has_ended) = tokio::sync::mpsc::channel(8);
    let era = Arc::clone(&is_modern);
    let server = HttpServer::start(move |request, mut answer| {
        let (ended, is_modern) = (ended.clone(), era.load(Ordering::SeqCst));
        async move {
            let method = request.rpc_method();
            let modern_request = request.header("mcp-protocol-version") == Some(MODERN_REVISION);
            if (request.method == "GET" && !is_modern) || (method == "subscriptions/listen" && is_modern) {
                answer.event_stream().await?;
                let is_closed = answer.hang_until_closed().await;
                let _ = ended.send(request.method).await;
                return is_closed;
            }
            if method == "tools/call" && modern_request != is_modern {
                let supported = if is_modern { MODERN_REVISION } else { NEWEST_LEGACY_REVISION };
                let error = json!({ "code": -32022, "message": "no", "data": { "supported": [supported] } });
                let error = json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": error }).to_string();
                return answer.respond(400, "content-type: application/json\r\n", error.as_bytes()).await;
            }
            if !is_modern {
                return respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await;
            }
            let mut message = ordinary::response_message(MODERN_REVISION, &request.json());
            if method == "server/discover" {
                message["result"]["capabilities"] = json!({ "tools": { "listChanged": true } });
            }
            answer.json(&message).await
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    client.wait_for_note("the GET stream is open").await;
    is_modern.store(true, Ordering::SeqCst);
    assert_eq!(
        client.echo("now").await,
        "now",
        "[lifecycle-era-cache] the call must be sent again with the modern revision"
    );
    let stream = within(WAIT_TIMEOUT, "the GET stream of the old session is closed", has_ended.recv()).await;
    assert_eq!(stream.as_deref(), Some("GET"), "no GET stream must be opened in 2026-07-28");
    assert!(
        poll_until(WAIT_TIMEOUT, || server.count("subscriptions/listen") == 1).await,
        "the subscription of the modern revision must be opened"
    );
    is_modern.store(false, Ordering::SeqCst);
    assert_eq!(client.echo("back").await, "back", "the call must be sent again with the legacy revision");
    let stream = within(WAIT_TIMEOUT, "the subscription of the previous session is closed", has_ended.recv()).await;
    assert_eq!(stream.as_deref(), Some("POST"), "no subscription must be opened in older revisions");
    client.stop().await;
}

#[tokio::test]
async fn invalid_session_id_is_not_sent() {
    let server = HttpServer::start(move |request, mut answer| async move {
        match request.rpc_method().as_str() {
            "initialize" => {
                let message = ordinary::response_message(NEWEST_LEGACY_REVISION, &request.json()).to_string();
                let headers = "content-type: application/json\r\nMcp-Session-Id: a b\r\n";
                answer.respond(200, headers, message.as_bytes()).await
            }
            _ => ordinary::respond(NEWEST_LEGACY_REVISION, &request, answer).await,
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    assert_eq!(client.echo("x").await, "x", "the session must work without the ID");
    client.wait_for_note("session id was ignored").await;
    client.stop().await;
    let carried = server.received_requests().iter().any(|request| request.header("mcp-session-id").is_some());
    assert!(!carried, "an ID that is not visible ASCII must not be sent");
}

#[tokio::test]
async fn server_that_loses_every_session_is_rejected_after_bounded_attempts() {
    for forgets in ["notifications/initialized", "tools/call"] {
        let server = HttpServer::start(move |request, mut answer| async move {
            if request.rpc_method() == forgets {
                return answer.status(404).await;
            }
            respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        let (reply, _name) = tokio::sync::oneshot::channel();
        let deadline = mcp_proto::CallDeadline { idle: WAIT_TIMEOUT, total: WAIT_TIMEOUT };
        let call = DriverCommand::Call { request: echo_call("x"), deadline, reply };
        // The session may have ended already.
        let _ = client.commands.send(call).await;
        client.wait_until_driver_ends_within(2).await;
        let openings = server.count("initialize");
        assert!((2..=5).contains(&openings), "{forgets}: the number of attempts must be bounded: {openings}");
    }
}

impl TestClient {
    /// Receives events until the driver has ended. Panics after the given number of seconds.
    async fn wait_until_driver_ends_within(&mut self, seconds: u64) {
        let end = async { while self.events.recv().await.is_some() {} };
        let _ = tokio::time::timeout(std::time::Duration::from_secs(seconds), end).await;
    }
}
