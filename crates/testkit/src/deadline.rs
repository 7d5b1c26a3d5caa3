//! Waiting for a future or a condition with a time limit.

use std::future::Future;
use std::time::{Duration, Instant};

/// Awaits the future, and returns its output.
///
/// # Panics
/// Panics with `what` if the future is not ready within `limit`.
pub async fn within<F: Future>(limit: Duration, what: &str, future: F) -> F::Output {
    match tokio::time::timeout(limit, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what}: did not happen within {limit:?}"),
    }
}

/// Yields until every task of this thread that is ready has run.
pub async fn yield_until_idle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Polls the condition every 10 ms. Returns `true` if it holds within `limit`.
pub async fn poll_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if condition() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        // sleep: polls, since no event reports the change.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
