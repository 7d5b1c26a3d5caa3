//! Tests of POSTs and their responses, in every revision.

use mcp_proto::{ClientRequest, ServerResult, SessionEvent};
use mcp_transport::driver::DriverEvent;
use serde_json::json;
use testkit::http::ordinary;

use crate::support::*;

#[tokio::test]
async fn every_message_is_one_post_with_the_headers_of_its_revision() {
    for revision in LEGACY_REVISIONS.into_iter().chain([MODERN_REVISION]) {
        let server =
            HttpServer::start(
                move |request, answer| async move { ordinary::respond(revision, &request, answer).await },
            )
            .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        assert_eq!(
            client.echo("hello").await,
            "hello",
            "{revision}: [http-response-json-or-sse] a JSON body must be read"
        );
        client.stop().await;
        for request in requests_with_method(&server, "POST") {
            let body = request.json();
            assert!(
                body.is_object(),
                "{revision}: [http-post-every-message] [http-post-body-single] each body must be one message: {body}"
            );
            assert_eq!(
                request.header("accept"),
                Some("application/json, text/event-stream"),
                "{revision}: [http-accept-post] both media types must be accepted"
            );
            assert_eq!(request.header("content-type"), Some("application/json"), "{revision}: the body must be JSON");
            let method = request.rpc_method();
            let version = request.header("mcp-protocol-version");
            match method.as_str() {
                "server/discover" => assert_eq!(version, Some(MODERN_REVISION), "{revision}: the probe must be modern"),
                "initialize" => {
                    assert_eq!(version, None, "{revision}: no version must be sent before initialize is answered")
                }
                _ => assert_eq!(
                    version,
                    Some(revision),
                    "{revision}: [http-version-header] [http-version-header-negotiated] the negotiated version on {method}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn response_stream_with_preceding_messages_is_read() {
    for revision in LEGACY_REVISIONS.into_iter().chain([MODERN_REVISION]) {
        let server = HttpServer::start(move |request, mut answer| async move {
            if request.rpc_method() != "tools/call" {
                return ordinary::respond(revision, &request, answer).await;
            }
            answer.event_stream().await?;
            answer.write_raw(b": a comment\n\n: another\n").await?;
            answer.event(&progress_notification(&request, 1)).await?;
            answer.write_raw(b"event: other\ndata: not for us\n\n").await?;
            respond_with_sse_event(revision, &request, &mut answer).await
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        // [http-response-json-or-sse] [http-sse-notifications-before-response] [http-sse-ignore-comments]
        assert_eq!(client.echo("streamed").await, "streamed", "{revision}: the response on the stream must be read");
        let is_reported = client.received.iter().any(
            |event| matches!(event, DriverEvent::Session(SessionEvent::Progress { progress, .. }) if *progress == 1.0),
        );
        assert!(
            is_reported,
            "{revision}: [http-sse-notifications-before-response] progress before the response must be reported"
        );
        client.stop().await;
    }
}

#[tokio::test]
async fn server_request_is_answered_in_a_separate_post() {
    for revision in LEGACY_REVISIONS {
        let (answered, was_answered) = tokio::sync::watch::channel(false);
        let answered = std::sync::Arc::new(answered);
        let server = HttpServer::start(move |request, mut answer| {
            let (answered, mut was_answered) = (answered.clone(), was_answered.clone());
            async move {
                let body = request.json();
                if body["id"] == "s1" && body.get("method").is_none() {
                    let _ = answered.send(true);
                    return answer.status(202).await;
                }
                if request.rpc_method() != "tools/call" {
                    return ordinary::respond(revision, &request, answer).await;
                }
                answer.event_stream().await?;
                answer.event(&json!({ "jsonrpc": "2.0", "id": "s1", "method": "ping" })).await?;
                let _ = was_answered.wait_for(|answered| *answered).await;
                respond_with_sse_event(revision, &request, &mut answer).await
            }
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        assert_eq!(
            client.echo("after").await,
            "after",
            "{revision}: [http-sse-requests-before-response] [http-server-request-answer-post] [http-202-accepted] the \
             server goes on when its ping is answered by a POST"
        );
        let responses: Vec<_> =
            server.received_requests().into_iter().filter(|request| request.json()["id"] == "s1").collect();
        assert_eq!(responses.len(), 1, "{revision}: one POST must contain the response");
        assert_eq!(responses[0].json()["result"], json!({}), "{revision}: the POST must contain only the response");
        client.stop().await;
    }
}

#[tokio::test]
async fn batches_are_read_and_answered_in_2025_03_26() {
    let server = HttpServer::start(move |request, mut answer| async move {
        let body = request.json();
        if body.is_array() {
            return answer.status(202).await;
        }
        if request.rpc_method() != "tools/call" {
            return ordinary::respond("2025-03-26", &request, answer).await;
        }
        answer.event_stream().await?;
        let batch = json!([
            { "jsonrpc": "2.0", "id": "a", "method": "ping" },
            progress_notification(&request, 1),
            { "jsonrpc": "2.0", "id": "b", "method": "ping" },
        ]);
        answer.event(&batch).await?;
        answer.event(&json!([ordinary::response_message("2025-03-26", &body)])).await
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    assert_eq!(client.echo("batch").await, "batch", "a response in an array must be read");
    let batch = || {
        server.received_requests().into_iter().find(|request| request.json().is_array()).map(|request| request.json())
    };
    assert!(poll_until(WAIT_TIMEOUT, || batch().is_some()).await, "the batch of requests must be answered by a batch");
    let responses = batch().unwrap();
    let ids: Vec<_> = responses.as_array().unwrap().iter().map(|response| response["id"].clone()).collect();
    assert_eq!(ids, ["a", "b"], "[http-post-body-batch-kinds] the array must contain only the responses");
    client.stop().await;
}

#[tokio::test]
async fn error_response_to_a_notification_is_reported_without_effect() {
    let server = HttpServer::start(move |request, mut answer| async move {
        if request.rpc_method().starts_with("notifications/") {
            let error = br#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"I do not like it"}}"#;
            return answer.respond(400, "content-type: application/json\r\n", error).await;
        }
        ordinary::respond(NEWEST_LEGACY_REVISION, &request, answer).await
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let note = client.wait_for_note("notifications/initialized was refused").await;
    assert!(
        note.contains("400") && note.contains("I do not like it"),
        "[http-notification-reject-body] the reason must be reported: {note}"
    );
    assert_eq!(client.echo("still").await, "still", "[http-notification-reject-body] the session must continue");
    client.stop().await;
}

#[tokio::test]
async fn error_status_with_a_json_rpc_error_fails_the_call_with_it() {
    for (revision, status) in
        [(MODERN_REVISION, 404), (MODERN_REVISION, 400), (NEWEST_LEGACY_REVISION, 400), (NEWEST_LEGACY_REVISION, 500)]
    {
        let server = HttpServer::start(move |request, mut answer| async move {
            if request.rpc_method() != "tools/call" {
                return ordinary::respond(revision, &request, answer).await;
            }
            let error = json!({ "jsonrpc": "2.0", "id": request.json()["id"],
                "error": { "code": -32601, "message": "no such thing" } });
            answer.respond(status, "content-type: application/json\r\n", error.to_string().as_bytes()).await
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        let result = client.call(echo_call("x")).await;
        let Err(mcp_proto::CallError::Server(error)) = &result else { panic!("{revision} {status}: {result:?}") };
        assert_eq!(error.code, -32601, "{revision}: [http-404-method-not-found] the server's error must be reported");
        let again = client.call(ClientRequest::ListTools { cursor: None }).await;
        assert!(
            matches!(again, Ok(ServerResult::Tools { .. })),
            "{revision}: the endpoint must still be usable: {again:?}"
        );
        client.stop().await;
    }
}

#[tokio::test]
async fn header_too_large_status_fails_one_call() {
    for status in [413, 431] {
        let server = HttpServer::start(move |request, mut answer| async move {
            match request.rpc_method().as_str() {
                "tools/call" => answer.respond(status, "content-type: text/plain\r\n", b"too much").await,
                _ => ordinary::respond(MODERN_REVISION, &request, answer).await,
            }
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        let result = client.call(echo_call("x")).await;
        let cause = undelivered_cause(&result);
        assert!(
            cause.contains(&status.to_string()) && cause.contains("too much"),
            "[http-413-431] the reason must be reported: {cause}"
        );
        let again = client.call(ClientRequest::ListTools { cursor: None }).await;
        assert!(again.is_ok(), "[http-413-431] other calls must continue: {again:?}");
        client.stop().await;
    }
}
