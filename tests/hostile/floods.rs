//! Tests of floods over stdio (X24, X37, X40, X41): the retained part is bounded, the number of omitted items is shown,
//! and a well-behaved server is not delayed.

use std::path::Path;
use std::time::Duration;
use testkit::calls::UserCalls as _;

use host::view::ConsentRequestBody;
use serde_json::{Map, Value, json};
use supervision::activity::ActivityKind;
use testkit::app::{EVENT_TIMEOUT, scripted_config};
use testkit::processes;
use testkit::time::advance_time;
use tokio::time::Instant;

use crate::log;
use crate::pair::{FLOOD_TIMEOUT, GoodAndBadServers};
use crate::report::random_number_near;

/// Maximum size of the app's folder after a flood, including the audit log, in bytes.
const MAX_DATA_FOLDER_BYTES: u64 = 10 * 1024 * 1024;
/// Number of sampling requests that the hostile server sends at once. It is lower for debug builds, which take much
/// longer for each.
const SAMPLING_REQUEST_COUNT: usize = if cfg!(debug_assertions) { 5_000 } else { 50_000 };
/// Approximate number of messages in a flood.
const FLOOD_MESSAGE_COUNT: usize = 200_000;

fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { folder_bytes(&path) } else { path.metadata().unwrap().len() }).sum()
}

/// X41: makes the hostile server send about 200,000 messages of one kind during a call. Returns the servers, and how
/// many times the host requested the tool list afterwards.
async fn run_flood(misbehave: &str) -> (GoodAndBadServers, usize) {
    let what = format!("X41 over stdio, {misbehave}");
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let count = random_number_near(FLOOD_MESSAGE_COUNT).to_string();
    let args = ["--misbehave", misbehave, "--count", &count, "--record", record.to_str().unwrap()];
    let pair = GoodAndBadServers::start_ready_for_flood(scripted_config(&args)).await;
    let read = || std::fs::read_to_string(&record).unwrap().matches(r#""tools/list""#).count();
    let before = read();
    let began = Instant::now();
    let call = pair.call_bad_server(&what).await;
    pair.assert_call_ended(&what, &call, &[]);
    // A changed list is read again after a delay.
    advance_time(Duration::from_millis(1_500)).await;
    let seconds = began.elapsed().as_secs_f64();
    let files = folder_bytes(pair.app.folder.path());
    assert!(files < MAX_DATA_FOLDER_BYTES, "{what}: the size of files is bounded, but they have {files} bytes");
    let logged = log::recorded_log_text().len() as u64;
    assert!(logged < MAX_DATA_FOLDER_BYTES, "{what}: the size of the log is bounded, but it has {logged} bytes");
    let read = read() - before;
    assert!(read as f64 <= seconds + 2.0, "{what}: the list was read {read} times in {seconds:.1} s");
    (pair, read)
}

/// A flood of log messages must not fill the activity log, which must report the dropped entries. Covers the MCP
/// requirement `[logging-rate-limit]`.
#[tokio::test]
async fn x41_flood_of_log_messages_does_not_fill_the_activity_log() {
    let (pair, _) = run_flood("flood-log").await;
    let page = pair.app.host.activity_page("bad".into(), 0, usize::MAX).await.unwrap();
    let (retained, dropped) = (page.entries.len(), page.missing);
    assert!(
        retained <= supervision::activity::MAX_ACTIVITY_ENTRIES,
        "X41: the number of retained entries is bounded, but {retained} are retained"
    );
    let most = random_number_near(FLOOD_MESSAGE_COUNT) - supervision::activity::MAX_ACTIVITY_ENTRIES;
    assert!(dropped as usize >= most * 9 / 10, "X41: the number of dropped entries is reported: {dropped}");
    pair.close("X41").await;
}

#[tokio::test]
async fn x41_flood_of_progress_leaves_the_host_responsive() {
    run_flood("flood-progress").await.0.close("X41").await;
}

#[tokio::test]
async fn x41_flood_of_list_changes_is_followed_by_a_read_of_the_list() {
    let (pair, read) = run_flood("flood-list-changed").await;
    assert!(read >= 1, "X41: the last change is read");
    pair.close("X41").await;
}

#[tokio::test]
async fn x41_flood_of_malformed_lines_is_reported_as_omitted_messages() {
    let (pair, _) = run_flood("flood-garbage").await;
    let activity = pair.app.activity("bad").await;
    assert!(activity.contains("were too fast to show"), "X41: the number of omitted messages is reported");
    pair.close("X41").await;
}

#[tokio::test]
async fn x41_flood_of_unmatched_responses_leaves_the_host_responsive() {
    run_flood("flood-unknown-answers").await.0.close("X41").await;
}

/// X37: the server sends 1 GB without a newline. The call fails when the line is too long, and the host discards the
/// remaining bytes.
#[tokio::test]
async fn x37_gigabyte_without_a_newline_fails_the_call() {
    let what = "X37 over stdio, 1 GB without a newline";
    let pair = GoodAndBadServers::start_ready_for_flood(scripted_config(&["--misbehave", "no-newline"])).await;
    let pid = pair.app.server("bad").await.pid.expect("it runs");
    let call = pair.call_bad_server(what).await;
    pair.assert_failed_immediately(what, &call, &["a line of more than"]);
    let all_written = async {
        let began = Instant::now();
        while processes::written_bytes(pid).is_some_and(|written| written < 1_000_000_000)
            && began.elapsed() < FLOOD_TIMEOUT
        {
            // sleep: polls until the condition holds, which no event reports.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    pair.while_good_server_responds(what, all_written).await;
    let written = processes::written_bytes(pid);
    assert!(written.is_none_or(|written| written >= 1_000_000_000), "{what}: the pipe is never full: {written:?}");
    pair.assert_memory_bounded(what);
    pair.close(what).await;
}

/// X40: 1 GB on standard error without a newline does not block the server, which continues to respond.
#[tokio::test]
async fn x40_gigabyte_on_standard_error_does_not_block_the_server() {
    let what = "X40, 1 GB on standard error";
    let pair = GoodAndBadServers::start_ready_for_flood(scripted_config(&["--misbehave", "flood-stderr"])).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &[]);
    // Output without a newline contains no complete line to show.
    check_retained_stderr(&pair, what).await;
    pair.close(what).await;
}

#[tokio::test]
async fn x40_flood_of_lines_on_standard_error_is_bounded() {
    let what = "X40, 200,000 lines on standard error";
    let pair = GoodAndBadServers::start_ready_for_flood(scripted_config(&["--misbehave", "flood-stderr-lines"])).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &[]);
    let is_reported = check_retained_stderr(&pair, what).await;
    assert!(is_reported, "{what}: the omission is reported");
    pair.close(what).await;
}

/// Asserts that the host retains at most 1 MB of standard error. Returns `true` if the activity log reports dropped
/// output.
async fn check_retained_stderr(pair: &GoodAndBadServers, what: &str) -> bool {
    let page = pair.app.host.activity_page("bad".into(), 0, usize::MAX).await.unwrap();
    let lines = page.entries.iter().filter(|entry| entry.kind == ActivityKind::Stderr);
    let retained: usize = lines.map(|entry| entry.bytes).sum();
    assert!(retained <= 1_000_000, "{what}: {retained} bytes of standard error are retained");
    pair.app.activity("bad").await.contains("of standard error were dropped")
}

/// Returns the lines that the server sends at once during a call: this number of form and sampling requests, and the
/// response of the call.
fn server_request_lines(forms: usize, samplings: usize) -> String {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let form = json!({"mode": "form", "message": "Who?", "requestedSchema": schema});
    let message = json!({"role": "user", "content": {"type": "text", "text": "What?"}});
    let sampling = json!({"messages": [message], "maxTokens": 100});
    let mut lines = String::new();
    let mut ask = |id: String, method: &str, params: &Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        lines.push_str(&format!("{request}\n"));
    };
    for number in 0..forms {
        ask(format!("asked-form-{number}"), "elicitation/create", &form);
        for part in (number * samplings / forms)..((number + 1) * samplings / forms) {
            ask(format!("asked-{part}"), "sampling/createMessage", &sampling);
        }
    }
    format!(r#"{lines}{{"jsonrpc":"2.0","id":$ID,"result":{{"content":[]}}}}"#)
}

#[tokio::test]
async fn x24_flood_of_consent_requests_is_bounded_per_server() {
    let (forms, samplings) = (random_number_near(500), random_number_near(SAMPLING_REQUEST_COUNT));
    let what = format!("X24, {forms} forms and {samplings} requests for sampling at once");
    let folder = tempfile::tempdir().unwrap();
    let (file, record) = (folder.path().join("lines"), folder.path().join("record"));
    std::fs::write(&file, server_request_lines(forms, samplings)).unwrap();
    let raw = format!("tools/call=@{}", file.display());
    let args = ["--raw", &raw, "--record", record.to_str().unwrap()];
    let pair = GoodAndBadServers::start_ready_for_flood(scripted_config(&args)).await;
    let host = pair.app.host.clone();
    let flooding = tokio::spawn(async move {
        host.call_tool("1".into(), "bad".into(), "echo".into(), Map::new(), None).await.map(|_| ())
    });
    let is_shown_request = |body: &ConsentRequestBody| {
        !matches!(body, ConsentRequestBody::Tool { .. } | ConsentRequestBody::StartServer { .. })
    };
    pair.app.consent_request("bad", "something", |q| is_shown_request(&q.body)).await;
    let ended = pair.while_good_server_responds(&what, tokio::time::timeout(FLOOD_TIMEOUT, flooding)).await;
    assert!(ended.is_ok(), "{what}: the call ends");
    let queued = pair.app.consent_requests().await.iter().filter(|q| q.server == "bad").count();
    assert!(
        queued > 0 && queued <= supervision::limits::DEFAULT_MAX_CONSENT_REQUESTS,
        "{what}: at most {} requests are queued, but there are {queued}",
        supervision::limits::DEFAULT_MAX_CONSENT_REQUESTS
    );
    pair.app.host.deny_all_requests("bad".into(), true).await.unwrap();
    assert!(pair.app.consent_requests().await.iter().all(|q| q.server != "bad"), "{what}: no request is pending");
    // Every request gets a response, also if the limit or the user rejects it.
    let answered = || std::fs::read_to_string(&record).unwrap().matches(r#""id":"asked-"#).count();
    let all = testkit::deadline::poll_until(EVENT_TIMEOUT, || answered() == forms + samplings).await;
    assert!(all, "{what}: each request has a response: {}", answered());
    pair.assert_memory_bounded(&what);
    pair.close(&what).await;
}
