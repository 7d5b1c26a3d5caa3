//! POSTs through the HTTP stack that Drawbridge uses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench::report::{Clock, Report};
use bench::scenario::{Scenario, WARM_UP};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Url};

use crate::Outcome;
use crate::pipe::REQUEST;

#[allow(clippy::disallowed_methods, reason = "the bare limit is the HTTP stack without our rules")]
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(scenario: Scenario, url: &str) -> Outcome<Report> {
    let client = Client::builder().no_proxy().build()?;
    let url: Url = url.parse()?;
    for _ in 0..WARM_UP {
        post(&client, &url).await?;
    }
    let clock = Clock::start()?;
    let next = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..scenario.in_flight())
        .map(|_| {
            let (client, url, next) = (client.clone(), url.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < scenario.operations() {
                    post(&client, &url).await?;
                }
                Ok(())
            })
        })
        .collect();
    for caller in callers {
        let ended: Outcome<()> = caller.await?;
        ended?;
    }
    Ok(clock.stop(scenario)?)
}

async fn post(client: &Client, url: &Url) -> Outcome<()> {
    let body = REQUEST.strip_suffix(b"\n").unwrap_or(REQUEST);
    let request = client
        .post(url.clone())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .body(body);
    request.send().await?.error_for_status()?.bytes().await?;
    Ok(())
}
