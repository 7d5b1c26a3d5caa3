//! Waiting for something, but not for ever.

use std::future::Future;
use std::time::{Duration, Instant};

/// The future's output, if it comes in time.
///
/// # Panics
/// After `limit`, with `what` was waited for.
pub async fn within<F: Future>(limit: Duration, what: &str, future: F) -> F::Output {
    match tokio::time::timeout(limit, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what}: did not happen within {limit:?}"),
    }
}

/// Looks every 10 ms whether the condition holds, for at most `limit`.
pub async fn holds_within(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if condition() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
