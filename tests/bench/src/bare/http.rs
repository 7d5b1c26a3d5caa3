//! Sends POST requests through the HTTP stack of Drawbridge, without MCP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench::report::{BenchClock, BenchReport};
use bench::request::request_json;
use bench::scenario::{Scenario, WARM_UP_CALLS};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Url};

use crate::{Outcome, REQUEST_ID};

/// Measures a scenario over HTTP without MCP. Each concurrent call is a task, as in the other clients, and each
/// response body is read completely.
#[allow(clippy::disallowed_methods, reason = "the bare limit is the HTTP stack without our rules")]
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn measure_http(scenario: Scenario, url: &str) -> Outcome<BenchReport> {
    let client = Client::builder().no_proxy().build()?;
    let url: Url = url.parse()?;
    let body: Arc<str> = request_json(scenario, REQUEST_ID).into();
    // The first response follows the protocol. The server repeats its bytes for all further requests.
    let answer_bytes = post(&client, &url, &body).await?;
    for _ in 1..WARM_UP_CALLS {
        post(&client, &url, &body).await?;
    }
    let clock = BenchClock::start()?;
    let next = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..scenario.calls_in_flight())
        .map(|_| {
            let (client, url, next, body) = (client.clone(), url.clone(), Arc::clone(&next), Arc::clone(&body));
            tokio::spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < scenario.operation_count() {
                    post(&client, &url, &body).await?;
                }
                Ok(())
            })
        })
        .collect();
    for caller in callers {
        let ended: Outcome<()> = caller.await?;
        ended?;
    }
    let mut report = clock.stop(scenario)?;
    report.answer_bytes = Some(answer_bytes);
    Ok(report)
}

/// Posts a request, and returns the size of the response's body in bytes.
async fn post(client: &Client, url: &Url, body: &str) -> Outcome<usize> {
    let request = client
        .post(url.clone())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .body(body.to_owned());
    Ok(request.send().await?.error_for_status()?.bytes().await?.len())
}
