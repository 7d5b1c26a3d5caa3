//! Measures the overhead of the host for a tool call. A tool with a permanent grant is called through the host, which
//! applies rules and grants, compares the definition with the reviewed one, and writes the decision to disk before the
//! result is shown. The same tool is also called on the transport alone.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testkit::calls::UserCalls as _;

use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_proto::session::{CallDeadline, ClientRequest, HandshakeMode, SessionConfig, SessionEvent};
use mcp_transport::{DriverCommand, DriverEvent, DriverHandle};
use policy::ApprovalScope;
use process::{SearchPath, ServerCommand, spawn};
use testkit::app::{TestApp, local_config};
use tokio::sync::{mpsc, oneshot};

/// Number of calls that are made sequentially before the measurement.
const WARM_UP_CALLS: usize = 200;
/// Number of sequential calls whose duration is measured.
const MEASURED_CALLS: usize = 3_000;
/// Target for the time that the host adds to a call on the transport alone, in microseconds.
const OVERHEAD_GOAL_MICROS: f64 = 100.0;

const DEMO_SERVER_ARGUMENTS: [&str; 2] = ["--era", "legacy"];

pub(super) async fn measure_overhead(program: PathBuf) {
    let alone = measure_transport_calls(&program).await;
    let whole = measure_host_calls(program).await;
    let [alone, whole] = [alone, whole].map(median);
    println!(
        "sequential calls of an allowed tool, median of {MEASURED_CALLS}: {whole:.1} us through the host, {alone:.1} us on the transport \
         alone; policy, pinning, audit and all else of the host {:.1} us (goal {OVERHEAD_GOAL_MICROS:.0})",
        whole - alone
    );
}

/// Returns the median of the durations, in microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

async fn measure_host_calls(program: PathBuf) -> Vec<Duration> {
    let app = TestApp::start(vec![("demo", local_config(program, &DEMO_SERVER_ARGUMENTS))]).await;
    let answer = |consent_request: &ConsentRequestView| match consent_request.body {
        ConsentRequestBody::Tool { .. } => Some(UserDecision::Allow(ApprovalScope::Always)),
        _ => super::is_start_or_tool(&consent_request.body).then_some(UserDecision::Allow(ApprovalScope::Once)),
    };
    let user = app.decide_automatically(answer);
    app.host.start_server("demo".into()).await.unwrap();
    app.until("demo", "known", |s| s.counts[0] >= 10).await;
    let mut times = Vec::new();
    for i in 0..WARM_UP_CALLS + MEASURED_CALLS {
        let began = Instant::now();
        app.host
            .call_tool(format!("{i}"), "demo".into(), "add".into(), super::queue::sum_arguments(), None)
            .await
            .unwrap();
        times.push(began.elapsed());
    }
    let written = app.decisions().iter().filter(|(kind, ..)| kind == "tool").count();
    assert!(written > 0, "the calls are in the audit log");
    user.abort();
    app.host.close().await;
    times.split_off(WARM_UP_CALLS)
}

async fn measure_transport_calls(program: &Path) -> Vec<Duration> {
    let arguments = DEMO_SERVER_ARGUMENTS.map(str::to_owned).to_vec();
    let command = ServerCommand { program: program.display().to_string(), arguments, ..ServerCommand::default() };
    let path = SearchPath::from_process("a measurement".to_owned());
    let process = spawn(&command, &path.resolve(&command).unwrap(), &path).await.unwrap();
    let (events, mut event_receiver) = mpsc::channel(64);
    let config = SessionConfig { handshake: HandshakeMode::Initialize, ..SessionConfig::default() };
    let handle = mcp_transport::stdio::run(config, process, events);
    let is_ready = |event: &DriverEvent| matches!(event, DriverEvent::Session(SessionEvent::Ready(_)));
    while !is_ready(&event_receiver.recv().await.expect("the server becomes ready")) {}
    let mut times = Vec::new();
    for _ in 0..WARM_UP_CALLS + MEASURED_CALLS {
        let began = Instant::now();
        send_call(&handle, &mut event_receiver).await;
        times.push(began.elapsed());
    }
    handle.commands.send(DriverCommand::Stop).await.unwrap();
    while event_receiver.recv().await.is_some() {}
    times.split_off(WARM_UP_CALLS)
}

async fn send_call(handle: &DriverHandle, event_receiver: &mut mpsc::Receiver<DriverEvent>) {
    let (reply, name) = oneshot::channel();
    let arguments = super::queue::sum_arguments();
    let request = ClientRequest::CallTool { name: "add".to_owned(), arguments, as_task: false };
    let deadline = CallDeadline { idle: Duration::from_secs(60), total: Duration::from_secs(60) };
    handle.commands.send(DriverCommand::Call { request, deadline, reply }).await.unwrap();
    let name = name.await.unwrap().expect("the call is sent");
    loop {
        match event_receiver.recv().await.expect("the server responds") {
            DriverEvent::Session(SessionEvent::Done { call, result }) if call == name => {
                result.expect("the call returns a result");
                return;
            }
            _ => {}
        }
    }
}
