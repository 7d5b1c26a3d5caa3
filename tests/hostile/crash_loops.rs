//! Tests of servers that end repeatedly (X40): they are restarted with increasing delays, at most five times in five
//! minutes. Afterwards only the user can start them, and the cause is shown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use host::view::{ServerFailure, ServerState};
use ports::server_config::{HttpConfig, HttpKind};
use serde_json::Value;
use testkit::app::scripted_config;
use testkit::http::{HttpRequest, HttpResponder, HttpServer, ordinary};
use testkit::time::advance_time;
use tokio::sync::{Mutex, mpsc};

use crate::pair::GoodAndBadServers;

/// Maximum time until the host no longer restarts a server that ends repeatedly: five delays of 1, 2, 4, 8 and 16 s,
/// and the starts.
const TOTAL_RESTART_BACKOFF: Duration = Duration::from_secs(60);

/// Time after which the test concludes that no further restart will follow. A sixth restart would come after 32 s.
const TIME_WITHOUT_RESTART: Duration = Duration::from_secs(60);

/// Waits until the host no longer restarts the hostile server, while the well-behaved server has to respond. Returns
/// the last failure of the hostile server.
async fn wait_until_not_restarted(pair: &GoodAndBadServers, what: &str) -> ServerFailure {
    let began = Instant::now();
    let left = async {
        let mut events = pair.app.host.events();
        loop {
            if let ServerState::Failed(failure) = pair.app.server("bad").await.state {
                return failure;
            }
            let patience = tokio::time::timeout(Duration::from_millis(500), events.next());
            // The event may be about something else, so the state is checked again.
            let _ = patience.await;
            assert!(began.elapsed() < TOTAL_RESTART_BACKOFF, "{what}: the restarts end in time");
        }
    };
    let failure = pair.while_good_server_responds(what, left).await;
    let activity = pair.app.activity("bad").await;
    assert!(activity.contains("attempt 5 to reconnect"), "{what}: the server is restarted five times: {activity}");
    assert!(!activity.contains("attempt 6"), "{what}: the server is restarted at most five times: {activity}");
    failure
}

#[tokio::test]
async fn x40_process_that_exits_on_use_is_restarted_with_backoff() {
    let what = "X40 over stdio, a crash loop";
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let args = ["--misbehave", "exit@tools/list", "--record", record.to_str().unwrap()];
    let pair = GoodAndBadServers::start(scripted_config(&args)).await;
    let began = Instant::now();
    let failure = wait_until_not_restarted(&pair, what).await;
    assert!(failure.message.contains("exit status 3"), "{what}: the failure message contains the cause: {failure:?}");
    assert!(began.elapsed() >= Duration::from_millis(2_500), "{what}: restarts are delayed: {:?}", began.elapsed());
    // Counts the starts in the record of the server: the first one and five restarts.
    let starts = || std::fs::read_to_string(&record).unwrap().matches(r#""initialize""#).count();
    assert_eq!(starts(), 6, "{what}: the server was started this often");
    advance_time(TIME_WITHOUT_RESTART).await;
    assert_eq!(starts(), 6, "{what}: the server is not started any more");
    pair.assert_memory_bounded(what);
    pair.close(what).await;
}

#[tokio::test]
async fn x40_process_that_exits_at_its_start_is_not_restarted() {
    let what = "X40 over stdio, ends at its start";
    let pair = GoodAndBadServers::start(scripted_config(&["--misbehave", "exit@start"])).await;
    let failed = pair.app.until("bad", "failed", |s| matches!(s.state, ServerState::Failed(_)));
    let ServerState::Failed(failure) = pair.while_good_server_responds(what, failed).await.state else {
        panic!("{what}: it failed")
    };
    assert!(failure.message.contains("exit status 3"), "{what}: the failure message contains the cause: {failure:?}");
    advance_time(TIME_WITHOUT_RESTART).await;
    let activity = pair.app.activity("bad").await;
    assert!(!activity.contains("to reconnect"), "{what}: a server that was never ready is not restarted: {activity}");
    pair.close(what).await;
}

type SharedEventStream = Arc<Mutex<Option<mpsc::Sender<Value>>>>;

/// Serves MCP over HTTP+SSE. The stream and its session end as soon as the client requests a list.
async fn end_stream_at_first_list_request(
    request: HttpRequest,
    mut answer: HttpResponder,
    stream: SharedEventStream,
) -> std::io::Result<()> {
    match request.method.as_str() {
        "GET" => {
            let (sender, mut messages) = mpsc::channel::<Value>(16);
            *stream.lock().await = Some(sender);
            answer.event_stream().await?;
            answer.write_raw(b"event: endpoint\ndata: /messages\n\n").await?;
            while let Some(message) = messages.recv().await.filter(|message| !message.is_null()) {
                answer.write_raw(format!("event: message\ndata: {message}\n\n").as_bytes()).await?;
            }
            Ok(())
        }
        "POST" if request.path == "/messages" => {
            let body = request.json();
            let is_list = body["method"].as_str().is_some_and(|method| method.ends_with("/list"));
            let response = if is_list { Value::Null } else { ordinary::response_message("2024-11-05", &body) };
            let stream = stream.lock().await.clone();
            if let Some(stream) = stream.filter(|_| body.get("id").is_some()) {
                let _ = stream.send(response).await;
            }
            answer.status(202).await
        }
        _ => answer.status(405).await,
    }
}

#[tokio::test]
async fn x40_remote_server_that_ends_on_use_is_reconnected_with_backoff() {
    let what = "X40 over HTTP+SSE, a crash loop";
    let stream = SharedEventStream::default();
    let server = HttpServer::start(move |request, answer| {
        end_stream_at_first_list_request(request, answer, Arc::clone(&stream))
    })
    .await;
    let config = HttpConfig { url: server.url("/sse"), kind: Some(HttpKind::Sse), ..HttpConfig::default() };
    let pair = GoodAndBadServers::start(config.into()).await;
    let failure = wait_until_not_restarted(&pair, what).await;
    let words = ["ended", "closed", "lost", "broke"];
    assert!(
        words.iter().any(|word| failure.message.contains(word)),
        "{what}: the failure message contains the cause: {failure:?}"
    );
    let opened = server.received_requests().iter().filter(|request| request.method == "GET").count();
    assert_eq!(opened, 6, "{what}: the stream was opened once and five more times");
    pair.assert_memory_bounded(what);
    pair.close(what).await;
}
