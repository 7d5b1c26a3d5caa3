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

/// Lets every task of this thread that can go on do so.
pub async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
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
        // sleep: waits for what will be, which has no event.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
