//! Tests of responses with invalid content: too large, invalid text, invalid JSON, wrong ids, wrong content types (X37,
//! X38, X42).

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::http::{HttpResponder, HttpServer, ordinary};

use super::{LEGACY_REVISION, correct_call_response, remote_server};
use crate::pair::GoodAndBadServers;

/// Invalid response that the server sends to a tool call.
enum BadResponse {
    /// Response with the content type of JSON, and this function's bytes as its body.
    Body(fn(&Value) -> Vec<u8>),
    /// Response with an event stream that consists of this function's bytes.
    Events(fn(&Value) -> Vec<u8>),
    /// Response with this content type and this body.
    Typed(&'static str, &'static str),
}
use BadResponse::{Body, Events, Typed};

struct ResponseCase {
    id: &'static str,
    about: &'static str,
    comes: BadResponse,
    /// Texts of which the error message must contain at least one. Empty if the call must succeed.
    words: &'static [&'static str],
}

const fn response_case(
    id: &'static str,
    about: &'static str,
    comes: BadResponse,
    words: &'static [&'static str],
) -> ResponseCase {
    ResponseCase { id, about, comes, words }
}

const OVERSIZED_BODY_BYTES: usize = 16 * 1024 * 1024 + 1;

fn response_with_text(request: &Value, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#, request["id"])
}

/// Text in a response that has the id of another request.
const FOREIGN_TEXT: &str = "not for you";

fn response_with_id(request: &Value, id: &Value) -> Vec<u8> {
    response_with_text(request, FOREIGN_TEXT).replacen(&request["id"].to_string(), &id.to_string(), 1).into()
}

/// Returns the id of a request as a number with a fraction, such as `1.0`.
fn fractional_id(request: &Value) -> Value {
    request["id"].as_f64().into()
}

/// Returns a response whose structured content consists of nested arrays with this many levels.
fn response_with_nesting(request: &Value, levels: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":{open}{close}}}}}"#, request["id"])
        .into()
}

fn sse_event(message: &str) -> String {
    format!("data: {message}\n\n")
}

/// Returns a response whose text consists of these bytes, which may be invalid in JSON.
fn response_with_text_bytes(request: &Value, bytes: &[u8]) -> Vec<u8> {
    let text = response_with_text(request, "@");
    let at = text.find('@').unwrap_or_default();
    [&text.as_bytes()[..at], bytes, &text.as_bytes()[at + 1..]].concat()
}

const RESPONSE_CASES: &[ResponseCase] = &[
    response_case(
        "X37",
        "a body of more than 16 MiB",
        Body(|r| response_with_text(r, &"a".repeat(OVERSIZED_BODY_BYTES)).into()),
        &["16", "large"],
    ),
    response_case(
        "X37",
        "a text of 14 MB, which is allowed",
        Body(|r| response_with_text(r, &"a".repeat(14_000_000)).into()),
        &[],
    ),
    response_case(
        "X37",
        "an array of 7,000,000 numbers",
        Body(|r| {
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{}1]}}}}"#, r["id"], "1,".repeat(7_000_000))
                .into()
        }),
        &["values", "large"],
    ),
    response_case("X37", "invalid UTF-8", Body(|r| response_with_text_bytes(r, b"\xff\xfe")), &["UTF-8"]),
    response_case("X37", "NUL bytes", Body(|r| response_with_text_bytes(r, b"\0")), &["control character"]),
    response_case("X37", "a lone surrogate", Body(|r| response_with_text_bytes(r, br"\ud800")), &["surrogate"]),
    response_case(
        "X37",
        "a byte order mark and CR LF",
        Body(|r| format!("\u{feff}{}\r\n", correct_call_response(r)).into()),
        &[],
    ),
    // The message and its result add two levels of nesting.
    response_case("X38", "nested 127 deep", Body(|r| response_with_nesting(r, 125)), &[]),
    response_case("X38", "nested 200 deep", Body(|r| response_with_nesting(r, 198)), &["nests deeper"]),
    response_case("X38", "nested 100,000 deep", Body(|r| response_with_nesting(r, 99_998)), &["nests deeper"]),
    response_case(
        "X38",
        "two ids",
        Body(|r| correct_call_response(r).to_string().replacen('{', r#"{"id":999,"#, 1).into()),
        &["twice"],
    ),
    response_case("X38", "an id that was never sent", Body(|r| response_with_id(r, &json!(999_999))), &["answer"]),
    response_case("X38", "the id null", Body(|r| response_with_id(r, &json!(null))), &["answer", "id"]),
    response_case(
        "X38",
        "the id as a text",
        Body(|r| response_with_id(r, &json!(r["id"].to_string()))),
        &["answer", "id"],
    ),
    response_case(
        "X38",
        "the id as a fraction",
        Body(|r| response_with_id(r, &fractional_id(r))),
        &["answer", "id", "whole number"],
    ),
    response_case(
        "X38",
        "the id of an earlier request",
        Body(|r| response_with_id(r, &json!(r["id"].as_i64().unwrap_or(1) - 1))),
        &["answer", "id"],
    ),
    response_case("X38", "the id 1.5", Body(|r| response_with_id(r, &json!(1.5))), &["answer", "id", "whole number"]),
    response_case(
        "X38",
        "the same answer twice",
        Events(|r| sse_event(&correct_call_response(r).to_string()).repeat(2).into()),
        &[],
    ),
    response_case(
        "X38",
        "another's answer first",
        Events(|r| {
            let foreign = String::from_utf8(response_with_id(r, &json!(999_999))).unwrap_or_default();
            (sse_event(&foreign) + &sse_event(&correct_call_response(r).to_string())).into()
        }),
        &[],
    ),
    response_case(
        "X38",
        "a result of the wrong shape",
        Body(|r| json!({ "jsonrpc": "2.0", "id": r["id"], "result": { "content": 7 } }).to_string().into()),
        &["content", "fit"],
    ),
    response_case(
        "X42",
        "a batch where there are none",
        Body(|r| json!([correct_call_response(r)]).to_string().into()),
        &["batch", "array", "answer"],
    ),
    response_case(
        "X42",
        "headers of another protocol",
        Body(|r| format!("Content-Length: 5\r\n\r\n{}", correct_call_response(r)).into()),
        &["not JSON"],
    ),
    response_case(
        "X42",
        "words before the answer",
        Body(|r| format!("Listening on port 1\n{}", correct_call_response(r)).into()),
        &["not JSON"],
    ),
    response_case("X42", "a page", Typed("text/html", "<html>Please sign in</html>"), &["text/html"]),
    response_case("X42", "no type", Typed("", "hello"), &["type", "neither", "JSON"]),
    response_case("X42", "an empty body", Body(|_| Vec::new()), &["empty"]),
    response_case(
        "X42",
        "events that are no messages",
        Events(|r| {
            ("event: message\ndata: hello\n\n".to_owned() + &sse_event(&correct_call_response(r).to_string())).into()
        }),
        &[],
    ),
    response_case(
        "X52",
        "an event of 17 MiB",
        Events(|r| sse_event(&response_with_text(r, &"a".repeat(OVERSIZED_BODY_BYTES))).into()),
        &["16", "large"],
    ),
];

/// Runs the cases with these ids, each in a task of its own, so that the failure of one does not stop the others.
async fn run_response_cases(ids: &[&str]) {
    let mut failed = Vec::new();
    for at in (0..RESPONSE_CASES.len()).filter(|at| ids.contains(&RESPONSE_CASES[*at].id)) {
        if let Err(error) = tokio::spawn(run_response_case(at)).await {
            failed.push(error.to_string());
        }
    }
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

#[tokio::test]
async fn x37_x52_malformed_bytes_fail_their_call_immediately() {
    run_response_cases(&["X37", "X52"]).await;
}

#[tokio::test]
async fn x38_unmatched_messages_affect_only_their_call() {
    run_response_cases(&["X38"]).await;
}

#[tokio::test]
async fn x42_foreign_content_is_ignored_or_rejected() {
    run_response_cases(&["X42"]).await;
}

async fn run_response_case(at: usize) {
    let ResponseCase { id, about, words, .. } = &RESPONSE_CASES[at];
    let what = format!("{id} over HTTP, {about}");
    let server = start_case_server(at).await;
    let config = remote_server(server.url("/mcp"));
    // With a long timeout, the test fails for its actual cause instead of the timeout.
    let is_at_once = matches!(*id, "X37" | "X52");
    let pair = if is_at_once {
        GoodAndBadServers::start_ready_for_flood(config).await
    } else {
        GoodAndBadServers::ready(config).await
    };
    let call = pair.call_bad_server(&what).await;
    if is_at_once && !words.is_empty() {
        pair.assert_failed_immediately(&what, &call, words);
    } else {
        pair.assert_call_ended(&what, &call, words);
    }
    assert!(!call.result_json().contains(FOREIGN_TEXT), "{what}: a response with another id is ignored");
    pair.close(&what).await;
}

/// Starts the server of the case with this index in [`RESPONSE_CASES`].
async fn start_case_server(at: usize) -> HttpServer {
    HttpServer::start(move |request, answer| async move {
        if request.rpc_method() == "tools/call" {
            send_bad_response(&RESPONSE_CASES[at].comes, &request.json(), answer).await
        } else {
            ordinary::respond(LEGACY_REVISION, &request, answer).await
        }
    })
    .await
}

async fn send_bad_response(comes: &BadResponse, request: &Value, mut answer: HttpResponder) -> io::Result<()> {
    match comes {
        Body(bytes) => answer.respond(200, "content-type: application/json\r\n", &bytes(request)).await,
        Typed(kind, text) => {
            let header = if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
            answer.respond(200, &header, text.as_bytes()).await
        }
        Events(bytes) => {
            answer.event_stream().await?;
            answer.write_raw(&bytes(request)).await
        }
    }
}

/// X37: the server sends 1 GB in one body, and in one line of an event stream. The host closes the connection when the
/// size limit is reached.
#[tokio::test]
async fn x37_gigabyte_body_is_truncated() {
    for (about, head) in [
        (
            "a body that names no length",
            "HTTP/1.1 200 -\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n",
        ),
        (
            "a body that names its length",
            "HTTP/1.1 200 -\r\ncontent-length: 1000000000\r\ncontent-type: application/json\r\n\r\n",
        ),
        (
            "an event without a newline",
            "HTTP/1.1 200 -\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\ndata: ",
        ),
    ] {
        let what = format!("X37 over HTTP, 1 GB, {about}");
        let written = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&written);
        let server = HttpServer::start(move |request, mut answer| {
            let written = Arc::clone(&counted);
            async move {
                if request.rpc_method() != "tools/call" {
                    return ordinary::respond(LEGACY_REVISION, &request, answer).await;
                }
                answer.write_raw(head.as_bytes()).await?;
                while written.load(Ordering::Relaxed) < 1_000_000_000 {
                    answer.write_raw(&[b' '; 64 * 1024]).await?;
                    written.fetch_add(64 * 1024, Ordering::Relaxed);
                }
                Ok(())
            }
        })
        .await;
        let pair = GoodAndBadServers::ready(remote_server(server.url("/mcp"))).await;
        let call = pair.call_bad_server(&what).await;
        pair.assert_failed_immediately(&what, &call, &["16", "large"]);
        let taken = written.load(Ordering::Relaxed);
        assert!(taken < 64 * 1024 * 1024, "{what}: the remaining bytes are not read, but {taken} bytes were");
        pair.close(&what).await;
    }
}

/// X38: the stream of one call contains responses whose ids are similar to that of another pending call. The other call
/// must not get them.
#[tokio::test]
async fn x38_response_is_never_delivered_to_another_call() {
    let what = "X38 over HTTP, two calls at a time";
    let second = Arc::new(Mutex::new(None));
    let server = HttpServer::start(move |request, mut answer| {
        let second = Arc::clone(&second);
        async move {
            let message = request.json();
            match message["params"]["arguments"]["text"].as_str() {
                Some("first") => {
                    answer.event_stream().await?;
                    let waits = || second.lock().is_ok_and(|second| second.is_some());
                    testkit::deadline::poll_until(Duration::from_secs(3), waits).await;
                    let id: Value = second.lock().ok().and_then(|second| second.clone()).unwrap_or_default();
                    let number = id.as_i64().unwrap_or_default();
                    for id in [json!(id.to_string()), id.as_f64().into(), json!(number + 1), json!(null)] {
                        let foreign = String::from_utf8(response_with_id(&message, &id)).unwrap_or_default();
                        answer.write_raw(sse_event(&foreign).as_bytes()).await?;
                    }
                    answer.event(&correct_call_response(&message)).await
                }
                Some("second") => {
                    if let Ok(mut second) = second.lock() {
                        *second = Some(message["id"].clone());
                    }
                    // sleep: a slow server.
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    answer.json(&correct_call_response(&message)).await
                }
                _ => ordinary::respond(LEGACY_REVISION, &request, answer).await,
            }
        }
    })
    .await;
    let pair = GoodAndBadServers::ready(remote_server(server.url("/mcp"))).await;
    let calls =
        async { tokio::join!(pair.call_echo_tool("bad", "1", "first"), pair.call_echo_tool("bad", "2", "second")) };
    let (first, second) = pair.while_good_server_responds(what, calls).await;
    for (text, ended) in [("first", first), ("second", second)] {
        let response = ended.map(|result| json!(result).to_string()).unwrap_or_else(|error| error.to_string());
        assert!(
            response.contains(text) && !response.contains(FOREIGN_TEXT),
            "{what}: the {text} call gets its own response: {response}"
        );
    }
    pair.close(what).await;
}
