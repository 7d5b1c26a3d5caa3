//! Detects when the process has to end: together with its parent, or on request.

use tokio::io::AsyncReadExt as _;

/// Waits until standard input ends, Ctrl-C is pressed, or the process receives SIGTERM.
pub(crate) async fn shutdown_requested() {
    tokio::select! {
        () = wait_for_input_end() => {}
        _ = tokio::signal::ctrl_c() => {}
        () = wait_for_sigterm() => {}
    }
}

async fn wait_for_input_end() {
    let mut input = tokio::io::stdin();
    let mut ignored = [0; 256];
    while matches!(input.read(&mut ignored).await, Ok(1..)) {}
}

#[cfg(unix)]
async fn wait_for_sigterm() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(error) => {
            tracing::warn!("SIGTERM can't be heard: {error}");
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
async fn wait_for_sigterm() {
    std::future::pending().await
}
