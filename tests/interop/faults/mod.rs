//! Servers and connections that fail in the middle: what was under way ends with its cause, nothing is done twice, and the
//! server comes back by itself.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use host::server_config::{HttpConfig, ServerConfig};
use host::view::{CallFailure, HostEvent, ServerState};
use serde_json::{Map, json};
use testkit::app::{App, command};
use testkit::proxy::{Fault, Proxy};
use tokio::time::timeout;

use crate::installed;
use crate::matrix::process::{HttpProcess, Launch};
use crate::matrix::user::answers_all;
use crate::user::{call_id, next, object, text};

const SERVER: &str = "harbour";
/// Coming back may take a few pauses.
const COMES_BACK: Duration = Duration::from_secs(30);

fn remote(url: String) -> ServerConfig {
    HttpConfig { url, ..HttpConfig::default() }.into()
}

fn local(launch: Launch) -> ServerConfig {
    let arguments: Vec<&str> = launch.arguments.iter().map(String::as_str).collect();
    command(launch.program, &arguments)
}

async fn ready(config: ServerConfig) -> App {
    let app = App::start(vec![(SERVER, config)]).await;
    // Ends with the host.
    let _user = answers_all(&app, std::fs::canonicalize(app.folder.path()).unwrap());
    app.host.start_server(SERVER.into()).await.unwrap().unwrap();
    app.until(SERVER, "known", |s| s.state == ServerState::Ready && s.counts[0] > 10).await;
    app
}

async fn add(app: &App) -> Result<String, CallFailure> {
    let arguments = object(&json!({ "a": 2, "b": 3 }));
    let called = app.host.call_tool(call_id(), SERVER.into(), "add".into(), arguments, None).await;
    called.map(|(result, _)| text(&result))
}

/// Begins a call that takes long, and waits until the server works on it.
async fn under_way(app: &App) -> tokio::task::JoinHandle<Result<(), CallFailure>> {
    let mut events = app.host.events();
    let (host, id) = (app.host.clone(), call_id());
    let arguments = object(&json!({ "seconds": 30, "steps": 300 }));
    let called = id.clone();
    let call = tokio::spawn(async move {
        host.call_tool(called, SERVER.into(), "slow_report".into(), arguments, None).await.map(|_| ())
    });
    next(&mut events, "progress", |event| match event {
        HostEvent::CallChanged(view) if view.id == id && view.progress.is_some() => Some(()),
        _ => None,
    })
    .await;
    call
}

/// The call ended with a cause that names its server.
async fn ends_with_cause(call: tokio::task::JoinHandle<Result<(), CallFailure>>, what: &str) {
    let began = Instant::now();
    let ended = timeout(Duration::from_secs(10), call).await.unwrap_or_else(|_| panic!("{what}: the call ends"));
    let error = ended.unwrap().expect_err("a call whose server is gone has no answer");
    assert!(error.to_string().contains(SERVER), "{what}: the server is named: {error}");
    assert!(began.elapsed() < Duration::from_secs(5), "{what}: soon: {:?}", began.elapsed());
}

/// Calls work again, without anybody doing anything.
async fn comes_back(app: &App, what: &str) {
    let again = async {
        loop {
            match add(app).await {
                Ok(words) => return words,
                Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    };
    let Ok(words) = timeout(COMES_BACK, again).await else {
        panic!("{what}: it should be back by now, but is {:?}", app.server(SERVER).await.state)
    };
    assert!(words.contains("= 5"), "{what}: and answers as before: {words}");
}

#[tokio::test]
async fn a_local_server_killed_in_the_middle_of_a_call_comes_back() {
    for script in ["typescript-v2.mjs", "typescript-v1.mjs"] {
        let app = ready(local(installed::with_node(script).and("stdio"))).await;
        let call = under_way(&app).await;
        let pid = app.server(SERVER).await.pid.expect("a ready server has a process");
        kill(pid);
        ends_with_cause(call, script).await;
        comes_back(&app, &format!("{script}, [stdio-restart-on-crash]")).await;
        let new = app.server(SERVER).await.pid;
        assert!(new.is_some_and(|new| new != pid), "{script}: another process: {new:?}");
        app.host.close().await;
    }
}

#[allow(clippy::disallowed_methods, reason = "starts kill, not a server")]
fn kill(pid: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()), "process {pid} can be killed");
}

/// Version 1 keeps sessions, so after its restart the old one is unknown; version 2 is spoken to without any.
#[tokio::test]
async fn a_remote_server_that_restarts_is_used_again() {
    for script in ["typescript-v1.mjs", "typescript-v2.mjs"] {
        let launch = || installed::with_node(script).and("http");
        let process = HttpProcess::start(launch()).await;
        let port = address(&process.origin).port();
        let app = ready(remote(format!("{}/mcp", process.origin))).await;
        let call = under_way(&app).await;
        process.kill().await;
        // A stream that may be taken up again is tried for, until the new process says that it knows nothing of it.
        let _process = HttpProcess::start_at(launch(), port).await;
        ends_with_cause(call, script).await;
        comes_back(&app, &format!("{script}, [http-session-404-reinit]")).await;
        app.host.close().await;
    }
}

#[tokio::test]
async fn a_server_with_http_sse_that_restarts_is_used_again() {
    let launch = || installed::with_old_python("python_v1.py").and("http");
    let process = HttpProcess::start(launch()).await;
    let port = address(&process.origin).port();
    let app = ready(remote(format!("{}/sse", process.origin))).await;
    let call = under_way(&app).await;
    process.kill().await;
    ends_with_cause(call, "HTTP+SSE").await;
    let _process = HttpProcess::start_at(launch(), port).await;
    comes_back(&app, "HTTP+SSE").await;
    app.host.close().await;
}

fn address(origin: &str) -> SocketAddr {
    origin.trim_start_matches("http://").parse().unwrap_or_else(|e| panic!("{origin}: {e}"))
}

/// What a network does to a session, one fault after the other.
#[tokio::test]
async fn a_bad_network_spoils_no_more_than_it_must() {
    for script in ["typescript-v1.mjs", "typescript-v2.mjs"] {
        let process = HttpProcess::start(installed::with_node(script).and("http")).await;
        let proxy = Proxy::before(address(&process.origin)).await;
        let app = ready(remote(format!("http://{}/mcp", proxy.address))).await;

        proxy.set(Fault::Bytewise);
        let words = add(&app).await.unwrap_or_else(|error| panic!("{script}: one byte at a time: {error}"));
        assert!(words.contains("= 5"), "{script}: one byte at a time is the same answer: {words}");

        proxy.set(Fault::Late(Duration::from_millis(700)));
        let began = Instant::now();
        let words = add(&app).await.unwrap_or_else(|error| panic!("{script}: late: {error}"));
        assert!(
            words.contains("= 5") && began.elapsed() >= Duration::from_millis(700),
            "{script}: a late answer counts"
        );

        proxy.set(Fault::None);
        let call = under_way(&app).await;
        proxy.set(Fault::Refused);
        proxy.cut();
        ends_or_goes_on(call, &proxy, script).await;
        comes_back(&app, script).await;
        app.host.close().await;
    }
}

/// A stream that is cut is taken up again where the revision has that (version 1 keeps its events); elsewhere the call ends
/// with its cause.
async fn ends_or_goes_on(call: tokio::task::JoinHandle<Result<(), CallFailure>>, proxy: &Proxy, script: &str) {
    tokio::time::sleep(Duration::from_millis(300)).await;
    proxy.set(Fault::None);
    if script == "typescript-v2.mjs" {
        return ends_with_cause(call, script).await;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(!call.is_finished(), "{script}: [http-sse-resume-last-event-id] the call goes on");
    call.abort();
}

/// An answer that never comes ends with the call's time, while the server is still there for others.
#[tokio::test]
async fn an_answer_that_is_swallowed_ends_with_the_time_of_its_call() {
    let process = HttpProcess::start(installed::with_node("typescript-v2.mjs").and("http")).await;
    let proxy = Proxy::before(address(&process.origin)).await;
    let folder = tempfile::tempdir().unwrap();
    let times = host::view::CallTimes { tool: (Duration::from_secs(2), Duration::from_secs(4)), ..Default::default() };
    let options = host::HostOptions { times, ..host::HostOptions::default() };
    let url = format!("http://{}/mcp", proxy.address);
    let app = App::start_in(folder, vec![(SERVER, remote(url))], options).await;
    let _user = answers_all(&app, std::fs::canonicalize(app.folder.path()).unwrap());
    app.host.start_server(SERVER.into()).await.unwrap().unwrap();
    app.until(SERVER, "known", |s| s.state == ServerState::Ready && s.counts[0] > 10).await;
    proxy.set(Fault::Swallowed);
    let error = timeout(Duration::from_secs(10), add(&app)).await.expect("it ends").expect_err("nothing came");
    assert!(error.to_string().contains("no answer"), "[lifecycle-timeouts] with its cause: {error}");
    proxy.set(Fault::None);
    comes_back(&app, "swallowed").await;
    app.host.close().await;
}

/// What spoils the lines between the host and a local server.
fn between(fault: &str, folder: &Path) -> ServerConfig {
    let inner = installed::with_node("typescript-v2.mjs").and("stdio");
    let mut launch = installed::with_node("between.mjs").and(fault).and(&folder.join("seen").display().to_string());
    launch = launch.and(&inner.program.display().to_string());
    for argument in &inner.arguments {
        launch = launch.and(argument);
    }
    local(launch)
}

#[tokio::test]
async fn lines_that_come_bytewise_twice_or_late_are_the_same_answers() {
    for fault in ["bytewise", "twice", "late"] {
        let folder = tempfile::tempdir().unwrap();
        let app = ready(between(fault, folder.path())).await;
        for _ in 0..3 {
            let words = add(&app).await.unwrap_or_else(|error| panic!("{fault}: {error}"));
            assert!(words.contains("= 5"), "{fault}: the answer is the same: {words}");
        }
        let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
        assert_eq!(seen.matches("\"tools/call\"").count(), 3, "{fault}: and nothing was asked twice");
        app.host.close().await;
    }
}

/// Only what failed is brought back, not what the user ended.
#[tokio::test]
async fn a_call_after_a_stop_says_that_the_server_is_not_ready() {
    let app = ready(local(installed::with_node("typescript-v2.mjs").and("stdio"))).await;
    let call = under_way(&app).await;
    app.host.stop_server(SERVER.into()).await.unwrap().unwrap();
    ends_with_cause(call, "stopped").await;
    app.until(SERVER, "stopped", |s| s.state == ServerState::Stopped).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(app.server(SERVER).await.state, ServerState::Stopped, "what the user stopped stays stopped");
    let called = app.host.call_tool(call_id(), SERVER.into(), "add".into(), Map::new(), None).await;
    assert!(matches!(called, Err(CallFailure::NotReady { .. })), "and says so: {called:?}");
    app.host.close().await;
}
