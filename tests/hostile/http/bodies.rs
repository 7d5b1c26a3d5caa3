//! Answers whose bytes are wrong: too large, broken text, broken JSON, wrong ids, wrong content (X37, X38, X42).

use std::io;

use serde_json::{Value, json};
use testkit::http::{Answer, HttpServer, ordinary};

use super::{LEGACY, Pair, proper, wrong_at_calls};

/// What comes instead of the answer.
enum Comes {
    /// A JSON body with these bytes.
    Body(fn(&Value) -> Vec<u8>),
    /// An event stream with these bytes.
    Events(fn(&Value) -> Vec<u8>),
    /// An answer with this type and body.
    Typed(&'static str, &'static str),
}
use Comes::{Body, Events, Typed};

struct Case {
    id: &'static str,
    about: &'static str,
    comes: Comes,
    /// The cause is in one of these words; none: the call is answered.
    words: &'static [&'static str],
}

const fn case(id: &'static str, about: &'static str, comes: Comes, words: &'static [&'static str]) -> Case {
    Case { id, about, comes, words }
}

const LARGE: usize = 16 * 1024 * 1024 + 1;

fn with_text(request: &Value, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#, request["id"])
}

fn with_id(request: &Value, id: &Value) -> Vec<u8> {
    let mut answer = proper(request);
    answer["id"] = id.clone();
    answer.to_string().into()
}

fn event(message: &str) -> String {
    format!("data: {message}\n\n")
}

/// Text in the place of a letter: bytes that no JSON writer makes.
fn spoiled(request: &Value, bytes: &[u8]) -> Vec<u8> {
    let text = with_text(request, "@");
    let at = text.find('@').unwrap_or_default();
    [&text.as_bytes()[..at], bytes, &text.as_bytes()[at + 1..]].concat()
}

const CASES: &[Case] = &[
    case("X37", "a body of more than 16 MiB", Body(|r| with_text(r, &"a".repeat(LARGE)).into()), &["16", "large"]),
    case("X37", "a text of 14 MB, which is allowed", Body(|r| with_text(r, &"a".repeat(14_000_000)).into()), &[]),
    case(
        "X37",
        "an array of 7,000,000 numbers",
        Body(|r| {
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{}1]}}}}"#, r["id"], "1,".repeat(7_000_000))
                .into()
        }),
        &["values", "large"],
    ),
    case("X37", "invalid UTF-8", Body(|r| spoiled(r, b"\xff\xfe")), &["UTF-8"]),
    case("X37", "NUL bytes", Body(|r| spoiled(r, b"\0")), &["control character"]),
    case("X37", "a lone surrogate", Body(|r| spoiled(r, br"\ud800")), &["surrogate"]),
    case("X37", "a byte order mark and CR LF", Body(|r| format!("\u{feff}{}\r\n", proper(r)).into()), &[]),
    case(
        "X38",
        "nested 100,000 deep",
        Body(|r| {
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}{}}}"#, r["id"], "[".repeat(100_000), "]".repeat(100_000))
                .into()
        }),
        &["nests deeper"],
    ),
    case("X38", "two ids", Body(|r| proper(r).to_string().replacen('{', r#"{"id":999,"#, 1).into()), &["twice"]),
    case("X38", "an id that was never sent", Body(|r| with_id(r, &json!(999_999))), &["answer"]),
    case("X38", "the id null", Body(|r| with_id(r, &json!(null))), &["answer", "id"]),
    case("X38", "the id 1.5", Body(|r| with_id(r, &json!(1.5))), &["answer", "id", "whole number"]),
    case("X38", "the same answer twice", Events(|r| event(&proper(r).to_string()).repeat(2).into()), &[]),
    case(
        "X38",
        "another's answer first",
        Events(|r| {
            let foreign = String::from_utf8(with_id(r, &json!(999_999))).unwrap_or_default();
            (event(&foreign) + &event(&proper(r).to_string())).into()
        }),
        &[],
    ),
    case(
        "X38",
        "a result of the wrong shape",
        Body(|r| json!({ "jsonrpc": "2.0", "id": r["id"], "result": { "content": 7 } }).to_string().into()),
        &["content", "fit"],
    ),
    case(
        "X42",
        "a batch where there are none",
        Body(|r| json!([proper(r)]).to_string().into()),
        &["batch", "array", "answer"],
    ),
    case(
        "X42",
        "headers of another protocol",
        Body(|r| format!("Content-Length: 5\r\n\r\n{}", proper(r)).into()),
        &["not JSON"],
    ),
    case(
        "X42",
        "words before the answer",
        Body(|r| format!("Listening on port 1\n{}", proper(r)).into()),
        &["not JSON"],
    ),
    case("X42", "a page", Typed("text/html", "<html>Please sign in</html>"), &["text/html"]),
    case("X42", "no type", Typed("", "hello"), &["type", "neither", "JSON"]),
    case("X42", "an empty body", Body(|_| Vec::new()), &["empty"]),
    case(
        "X42",
        "events that are no messages",
        Events(|r| ("event: message\ndata: hello\n\n".to_owned() + &event(&proper(r).to_string())).into()),
        &[],
    ),
    case("X52", "an event of 17 MiB", Events(|r| event(&with_text(r, &"a".repeat(LARGE))).into()), &["16", "large"]),
];

#[tokio::test]
async fn each_wrong_answer_stays_with_its_call_and_its_server() {
    let mut failed = Vec::new();
    for at in 0..CASES.len() {
        // A task of its own, so that all cases that fail are told.
        if let Err(error) = tokio::spawn(one(at)).await {
            failed.push(error.to_string());
        }
    }
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

async fn one(at: usize) {
    let Case { id, about, words, .. } = &CASES[at];
    let what = format!("{id} over HTTP, {about}");
    let server = server(at).await;
    let pair = Pair::ready(server.url("/mcp")).await;
    let call = pair.bad_call(&what).await;
    pair.ended(&what, &call, words);
    pair.close().await;
}

/// Each case is chosen by its place, as a script may hold no reference.
async fn server(at: usize) -> HttpServer {
    HttpServer::start(move |request, answer| async move {
        if request.rpc_method() == "tools/call" {
            comes(&CASES[at].comes, &request.json(), answer).await
        } else {
            ordinary::answer(LEGACY, &request, answer).await
        }
    })
    .await
}

async fn comes(comes: &Comes, request: &Value, mut answer: Answer) -> io::Result<()> {
    match comes {
        Body(bytes) => answer.whole(200, "content-type: application/json\r\n", &bytes(request)).await,
        Typed(kind, text) => {
            let header = if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
            answer.whole(200, &header, text.as_bytes()).await
        }
        Events(bytes) => {
            answer.event_stream().await?;
            answer.raw(&bytes(request)).await
        }
    }
}

/// A body without end that names no length.
#[tokio::test]
async fn x37_a_body_without_end_is_cut() {
    let server = wrong_at_calls(LEGACY, |_, mut answer| async move {
        answer.raw(b"HTTP/1.1 200 -\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n").await?;
        loop {
            answer.raw(&[b' '; 64 * 1024]).await?;
        }
    })
    .await;
    let pair = Pair::ready(server.url("/mcp")).await;
    let call = pair.bad_call("X37, a body without end").await;
    pair.ended("X37, a body without end", &call, &["16", "large"]);
    pair.close().await;
}
