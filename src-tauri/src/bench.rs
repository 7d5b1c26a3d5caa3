//! Benchmarks inside the app for `cargo xtask bench app`. One benchmark runs per start, and its result is printed as a
//! line on standard error.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use api::Api;
use host::view::{ConsentRequestBody, HostEvent, ServerState, UserDecision};
use host::{CallOrigin, EventReceiver, Host};
use policy::ApprovalScope;
use store::FileLocations;
use tauri::http::{Response, header::CONTENT_TYPE};
use tauri::{App, AppHandle, Builder, Manager as _, WebviewUrl, WebviewWindowBuilder, Wry};
use tokio::sync::{mpsc, oneshot};

use crate::measure::{BenchMeasure, DrawingReporter, DrawnContent, time_since_process_start};
use crate::page_sandbox::PageSandbox;
use crate::{commands, drawing, window_labels};

/// HTML of an empty page, whose drawing time is the baseline of the benchmarks.
const EMPTY_PAGE_HTML: &str = include_str!("empty.html");
/// Name of the server that the consent request benchmark calls: the demo server, which the first start of Drawbridge
/// adds.
const SERVER_NAME: &str = "demo";
/// Tool of the demo server that requests input from the user.
const TOOL_NAME: &str = "ask_user";
/// Timeout of one benchmark.
const BENCHMARK_TIMEOUT: Duration = Duration::from_secs(50);

/// Reason why a benchmark failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchmarkProblem {
    #[error("failed to create a folder for the measurement: {0}")]
    Folder(#[from] std::io::Error),
    #[error("nothing was drawn within {} seconds", BENCHMARK_TIMEOUT.as_secs())]
    TooLong,
    #[error("the host ended")]
    Ended,
    #[error("the system does not report the start time of this process")]
    NoStart,
    #[error("the demo server failed: {0}")]
    Server(String),
}

/// Creates a temporary folder and returns paths in it for all files of Drawbridge, so that a benchmark neither reads
/// nor changes the user's files.
pub(crate) fn temporary_benchmark_locations() -> Result<FileLocations, BenchmarkProblem> {
    let folder = temporary_benchmark_folder();
    std::fs::create_dir(&folder)?;
    Ok(FileLocations { config_file: folder.join("mcp.json"), data_dir: folder.join("data") })
}

fn temporary_benchmark_folder() -> PathBuf {
    std::env::temp_dir().join(format!("drawbridge-bench-{}", std::process::id()))
}

/// Builds an app that consists only of a window with an empty page.
pub(crate) fn build_empty_page_app(measure: BenchMeasure, sandbox: PageSandbox) -> tauri::Result<App> {
    Builder::<Wry>::default()
        .register_uri_scheme_protocol("empty", |_, _| {
            let mut response = Response::new(EMPTY_PAGE_HTML.as_bytes());
            response.headers_mut().insert(CONTENT_TYPE, tauri::http::HeaderValue::from_static("text/html"));
            response
        })
        .manage(sandbox)
        .invoke_handler(commands::command_handler())
        .setup(move |app| {
            let page = WebviewUrl::CustomProtocol("empty://localhost/".parse()?);
            let window = WebviewWindowBuilder::new(app, window_labels::MAIN_WINDOW_LABEL, page)
                .inner_size(1180.0, 780.0)
                .build()?;
            drawing::select_rendering_method(&window)?;
            let (measured, drawn) = DrawingReporter::channel();
            app.manage(measured);
            if measure == BenchMeasure::Empty {
                print_measurement(app.handle(), "painted", time_until_first_paint(drawn));
            }
            Ok(())
        })
        .build(crate::build_context())
}

/// Runs a benchmark, prints its result, and exits Drawbridge.
pub(crate) fn run(app: &AppHandle, measure: BenchMeasure, api: Api) {
    let (measured, drawn) = DrawingReporter::channel();
    app.manage(measured);
    match measure {
        BenchMeasure::Empty | BenchMeasure::EmptyAtRest | BenchMeasure::Window => {
            print_measurement(app, "painted", time_until_first_paint(drawn))
        }
        BenchMeasure::ConsentRequest => {
            print_measurement(
                app,
                "consent-request",
                async move { time_until_consent_request(api.host(), drawn).await },
            )
        }
    }
}

fn print_measurement(
    app: &AppHandle,
    word: &'static str,
    measurement: impl Future<Output = Result<Duration, BenchmarkProblem>> + Send + 'static,
) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let outcome =
            tokio::time::timeout(BENCHMARK_TIMEOUT, measurement).await.unwrap_or(Err(BenchmarkProblem::TooLong));
        let (line, status) = match outcome {
            Ok(time) => (format!("{word} {:.1}", time.as_secs_f64() * 1000.0), 0),
            Err(problem) => (problem.to_string(), 1),
        };
        // Standard error may be closed, and the error can't be reported elsewhere.
        let _ = writeln!(std::io::stderr(), "{line}");
        app.exit(status);
    });
}

async fn time_until_first_paint(
    mut drawn: mpsc::Receiver<(DrawnContent, Instant)>,
) -> Result<Duration, BenchmarkProblem> {
    while let Some((what, at)) = drawn.recv().await {
        if what == DrawnContent::Page {
            let now = time_since_process_start().ok_or(BenchmarkProblem::NoStart)?;
            return Ok(now.saturating_sub(at.elapsed()));
        }
    }
    Err(BenchmarkProblem::Ended)
}

/// Starts the demo server, calls its tool, and waits until Drawbridge's page has drawn the resulting consent request.
/// Returns the time from its arrival to its drawing.
async fn time_until_consent_request(
    host: &Host,
    mut drawn: mpsc::Receiver<(DrawnContent, Instant)>,
) -> Result<Duration, BenchmarkProblem> {
    let mut events = host.events();
    while drawn.recv().await.ok_or(BenchmarkProblem::Ended)?.0 != DrawnContent::Page {}
    let failed = |problem: &dyn std::fmt::Display| BenchmarkProblem::Server(problem.to_string());
    host.start_server(SERVER_NAME.into()).await.map_err(|e| failed(&e))?;
    let (id, requested_at) = request_consent(host, &mut events).await?;
    loop {
        let (what, at) = drawn.recv().await.ok_or(BenchmarkProblem::Ended)?;
        if what == DrawnContent::ConsentRequest(id.clone()) {
            return Ok(at.saturating_duration_since(requested_at));
        }
    }
}

/// Approves the consent requests for the server's start and the tool call, and waits for the consent request with the
/// tool's form. Returns its identifier and the time at which it arrived.
async fn request_consent(host: &Host, events: &mut EventReceiver) -> Result<(String, Instant), BenchmarkProblem> {
    let mut called = false;
    loop {
        let event = events.next().await.ok_or(BenchmarkProblem::Ended)?;
        match &event.event {
            HostEvent::ConsentRequestChanged(request) => match &request.body {
                ConsentRequestBody::Form { .. } => return Ok((request.id.0.to_string(), Instant::now())),
                _ => {
                    // Waits for a realistic reaction time of the user, within which the page draws the consent request.
                    tokio::time::sleep(Duration::from_millis(700)).await;
                    let allow = UserDecision::Allow(ApprovalScope::Once);
                    let answered = host.decide(request.id, request.hash.to_string(), allow).await;
                    answered.map_err(|error| BenchmarkProblem::Server(error.to_string()))?;
                }
            },
            HostEvent::ServerChanged(server) if server.state == ServerState::Ready && !called => {
                called = true;
                tokio::time::sleep(Duration::from_millis(700)).await;
                let host = host.clone();
                tauri::async_runtime::spawn(async move {
                    // The call does not complete, because the consent request stays open until the app exits.
                    let (user, sent) = (CallOrigin::User { conversation: None }, oneshot::channel().0);
                    let (id, server, tool) = ("bench".to_owned(), SERVER_NAME.to_owned(), TOOL_NAME.to_owned());
                    let _ = host.call_tool_as(user, id, server, tool, Default::default(), sent).await;
                });
            }
            HostEvent::ServerChanged(server) => {
                if let ServerState::Failed(failure) = &server.state {
                    return Err(BenchmarkProblem::Server(failure.message.clone()));
                }
            }
            _ => {}
        }
    }
}

/// Deletes the temporary folder of a benchmark.
pub(crate) fn delete_temporary_benchmark_files() {
    if BenchMeasure::from_environment().is_some() {
        // On failure, the folder stays in the system's temporary folder.
        let _ = std::fs::remove_dir_all(temporary_benchmark_folder());
    }
}
