//! Helpers that wait for a future or a condition with a timeout.

use std::future::Future;
use std::time::{Duration, Instant};

/// Awaits a future and returns its output. `what` describes it in the panic message.
///
/// # Panics
/// Panics if the future is not ready within `limit`.
pub async fn within<F: Future>(limit: Duration, what: &str, future: F) -> F::Output {
    match tokio::time::timeout(limit, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what}: did not happen within {limit:?}"),
    }
}

/// Yields repeatedly, so that all ready tasks of the single-threaded runtime run.
pub async fn yield_until_idle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Checks an asynchronous condition every 10 ms, like [`poll_until`].
pub async fn poll_until_async(limit: Duration, mut condition: impl AsyncFnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if condition().await {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        // sleep: polls, because no event reports the change.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Checks a condition every 10 ms. Returns `true` as soon as it holds, or `false` if it does not hold within `limit`.
pub async fn poll_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if condition() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        // sleep: polls, because no event reports the change.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
