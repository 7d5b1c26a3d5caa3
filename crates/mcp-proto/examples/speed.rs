//! Measures the time to process messages, in nanoseconds for each, and the peak memory of a large result. Prints
//! results without asserting speed. Run it with `--release`.
//!
//! `speed NAME ROUNDS` runs a single measurement, for profilers that count instructions: echo, echo-64, progress, tools
//! or image.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a failed measurement should panic")]

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use mcp_proto::types::{Implementation, ListEntry, Tool};
use mcp_proto::{
    CallDeadline, ClientRequest, HandshakeMode, IncomingMessage, OutgoingMessage, OutgoingMessageKind, RequestId,
    Revision, ServerFacts, ServerResult, Session, SessionConfig, SessionEvent, StreamOrigin,
};
use serde_json::{Map, json};

/// Result with which the simulated server answers a call of its tool `echo`.
const ECHO_RESULT: &str = r#"{"content":[{"type":"text","text":"hello"}],"isError":false}"#;
const CALL_DEADLINE: CallDeadline = CallDeadline { idle: Duration::from_secs(60), total: Duration::from_secs(60) };

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next();
    let rounds = arguments.next().map(|rounds| rounds.parse().expect("the second argument is a number"));
    match name.as_deref() {
        None => {
            print_type_sizes();
            measure_image_result_decoding(20);
            measure_notification_decoding();
            measure_progress(50_000);
            measure_sequential_echo_calls(50_000);
            measure_concurrent_echo_calls(1_000);
            measure_tool_list_decoding(40);
        }
        Some("echo") => measure_sequential_echo_calls(rounds.unwrap_or(1_000)),
        Some("echo-64") => measure_concurrent_echo_calls(rounds.unwrap_or(100)),
        Some("progress") => measure_progress(rounds.unwrap_or(1_000)),
        Some("tools") => measure_tool_list_decoding(rounds.unwrap_or(1)),
        Some("image") => measure_image_result_decoding(rounds.unwrap_or(1)),
        Some(other) => panic!("{other} is not measured"),
    }
}

fn print_type_sizes() {
    let of = |what: &str, bytes: usize| println!("{what:<48} {bytes:>17} bytes");
    of("a session", size_of::<Session>());
    of("  its configuration, on the heap", size_of::<SessionConfig>());
    of("  the result of its handshake, on the heap", size_of::<ServerFacts>());
    of("an event", size_of::<SessionEvent>());
    of("a message to the server", size_of::<OutgoingMessage>());
    of("a message from the server", size_of::<IncomingMessage>());
    of("an entry of a list", size_of::<ListEntry<Tool>>());
}

/// Returns a session that has completed its handshake with a server that has tools.
fn ready_session() -> Session {
    let client = Implementation { name: "speed".into(), version: "1".into(), ..Implementation::default() };
    let handshake = HandshakeMode::Pinned(Revision::V2025_11_25);
    let config = SessionConfig { client, handshake, ..SessionConfig::default() };
    let mut session = Session::new(config, Instant::now());
    let opened = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                         "serverInfo": { "name": "server", "version": "1" } });
    let id = sent_request_id(&mut session);
    receive_line(&mut session, &response_line(&id, &opened.to_string()));
    while session.poll_event().is_some() {}
    while session.poll_transmit().is_some() {}
    session
}

/// Returns the id of the request that the session has just sent.
fn sent_request_id(session: &mut Session) -> RequestId {
    match session.poll_transmit().expect("a request is sent").about {
        OutgoingMessageKind::Request { id, .. } => id,
        other => panic!("a request is sent, not {other:?}"),
    }
}

fn response_line(id: &RequestId, result: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into()
}

fn receive_line(session: &mut Session, line: &Bytes) {
    let message = IncomingMessage::decode(line).expect("the line is valid");
    session.handle_message(message, StreamOrigin::Stdio, Instant::now());
}

fn take_result(session: &mut Session) -> ServerResult {
    match session.poll_event() {
        Some(SessionEvent::Done { result, .. }) => result.expect("the call succeeds"),
        other => panic!("the call ends, not {other:?}"),
    }
}

fn send_call(session: &mut Session, request: ClientRequest) -> RequestId {
    session.call(request, CALL_DEADLINE, Instant::now()).expect("the call can be made");
    sent_request_id(session)
}

fn tool_call(name: &str) -> ClientRequest {
    let arguments = Map::from_iter([("text".to_owned(), json!("hello"))]);
    ClientRequest::CallTool { name: name.into(), arguments, as_task: false }
}

/// Durations of repeated measurements of one operation.
#[derive(Default)]
struct MeasuredTimes(Vec<Duration>);

impl MeasuredTimes {
    fn measure<T>(&mut self, what: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let made = what();
        self.0.push(began.elapsed());
        made
    }

    /// Prints the median and the fastest time of one operation. `each` is the number of operations in one measurement.
    fn print_summary(mut self, what: &str, each: u32) {
        self.0.sort_unstable();
        let nanoseconds = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(each);
        let (fastest, median) = (self.0[0], self.0[self.0.len() / 2]);
        println!("{what:<48} median {:>10.0} ns, fastest {:>10.0} ns", nanoseconds(median), nanoseconds(fastest));
    }
}

fn measure_notification_decoding() {
    let line = Bytes::from_static(
        br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":4711,"total":10000,"message":"four thousand seven hundred ele"}}"#,
    );
    let mut times = MeasuredTimes::default();
    for _ in 0..1_000 {
        times.measure(|| {
            for _ in 0..100 {
                drop(black_box(IncomingMessage::decode(black_box(&line))));
            }
        });
    }
    times.print_summary(&format!("a notification of {} bytes, decoded", line.len()), 100);
}

fn measure_progress(rounds: u32) {
    let mut session = ready_session();
    let id = send_call(&mut session, tool_call("progress"));
    let mut times = MeasuredTimes::default();
    for n in 0..rounds {
        let line: Bytes = format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{n},"total":{rounds},"message":"step {n}"}}}}"#).into();
        times.measure(|| {
            receive_line(&mut session, &line);
            black_box(session.poll_event().expect("progress must be reported"));
        });
    }
    times.print_summary("progress of a call, decoded and reported", 1);
}

/// Measures echo calls while 64 of them are in flight, as in a busy host.
fn measure_concurrent_echo_calls(rounds: u32) {
    let mut session = ready_session();
    let mut waiting: VecDeque<RequestId> = (0..64).map(|_| send_call(&mut session, tool_call("echo"))).collect();
    let mut times = MeasuredTimes::default();
    for _ in 0..rounds {
        times.measure(|| {
            for _ in 0..64 {
                let id = waiting.pop_front().expect("64 are in flight");
                receive_line(&mut session, &response_line(&id, ECHO_RESULT));
                black_box(take_result(&mut session));
                black_box(session.poll_timeout());
                waiting.push_back(send_call(&mut session, tool_call("echo")));
                black_box(session.poll_timeout());
            }
        });
    }
    times.print_summary("an echo call, made and answered, 64 in flight", 64);
}

fn measure_sequential_echo_calls(rounds: u32) {
    let mut session = ready_session();
    let (mut asking, mut hearing) = (MeasuredTimes::default(), MeasuredTimes::default());
    for _ in 0..rounds {
        let id = asking.measure(|| send_call(&mut session, tool_call("echo")));
        let line = response_line(&id, ECHO_RESULT);
        hearing.measure(|| {
            receive_line(&mut session, &line);
            black_box(take_result(&mut session));
        });
    }
    asking.print_summary("an echo call, made and encoded", 1);
    hearing.print_summary("its answer, decoded and read", 1);
}

fn measure_tool_list_decoding(rounds: u32) {
    let tool = |n: usize| {
        let tool = json!({
            "name": format!("tool_{n:05}"),
            "description": "Looks something up in a place that is described at some length, so that it fills a list.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "What to look for" },
                    "count": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 },
                    "exact": { "type": "boolean" }
                },
                "required": ["text"]
            },
            "annotations": { "title": "Look something up", "readOnlyHint": true }
        });
        tool.to_string()
    };
    let list: Vec<String> = (0..5000).map(tool).collect();
    let body = format!(r#"{{"tools":[{}]}}"#, list.join(","));
    let mut session = ready_session();
    let (mut decoding, mut reading) = (MeasuredTimes::default(), MeasuredTimes::default());
    for _ in 0..rounds {
        let id = send_call(&mut session, ClientRequest::ListTools { cursor: None });
        let line = response_line(&id, &body);
        let message = decoding.measure(|| IncomingMessage::decode(&line).expect("the line is valid"));
        let page = reading.measure(|| {
            session.handle_message(message, StreamOrigin::Stdio, Instant::now());
            take_result(&mut session)
        });
        drop(black_box(page));
    }
    decoding.print_summary(&format!("a list of 5000 tools, {} bytes, decoded", body.len()), 1);
    reading.print_summary("  and read", 1);
}

fn measure_image_result_decoding(rounds: u32) {
    let mut session = ready_session();
    let id = send_call(&mut session, tool_call("big"));
    let data = "QUJD".repeat(3_500_000);
    let line =
        response_line(&id, &format!(r#"{{"content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}"#));
    drop(data);
    // The first run shows the peak memory, before anything else has used as much.
    reset_peak_memory();
    let before = memory_status_kb("VmHWM:");
    let message = IncomingMessage::decode(&line).expect("the line is valid");
    session.handle_message(message, StreamOrigin::Stdio, Instant::now());
    let result = take_result(&mut session);
    if let (Some(before), Some(after)) = (before, memory_status_kb("VmHWM:")) {
        println!("an image of {} bytes: {} kB above the line itself", line.len(), after.saturating_sub(before));
    }
    drop(black_box(result));
    let (mut decoding, mut reading) = (MeasuredTimes::default(), MeasuredTimes::default());
    for _ in 0..rounds {
        let id = send_call(&mut session, tool_call("big"));
        let text = std::str::from_utf8(&line).expect("the line is text");
        let body = text.split_once("\"result\":").expect("it is a result").1;
        let line = response_line(&id, &body[..body.len() - 1]);
        let message = decoding.measure(|| IncomingMessage::decode(&line).expect("the line is valid"));
        let result = reading.measure(|| {
            session.handle_message(message, StreamOrigin::Stdio, Instant::now());
            take_result(&mut session)
        });
        drop(black_box(result));
    }
    decoding.print_summary("  decoded", 1);
    reading.print_summary("  and read", 1);
}

/// Resets the peak memory (Linux only).
fn reset_peak_memory() {
    let _elsewhere_there_is_no_such_file = std::fs::write("/proc/self/clear_refs", "5");
}

/// Returns the value of a field of `/proc/self/status` in kB.
fn memory_status_kb(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix(" kB")?.parse().ok()
}
