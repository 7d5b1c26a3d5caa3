//! Simulated time for tests. To prove that an event does not occur, a test advances simulated time instead of sleeping.

#[cfg(feature = "paused")]
use std::future::Future;
#[cfg(feature = "app")]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
#[cfg(feature = "app")]
use std::time::SystemTime;

/// Maximum simulated time of one step of [`advance_time`].
#[cfg(feature = "paused")]
const MAX_SIMULATED_TIME_STEP: Duration = Duration::from_millis(100);
/// Real time after each step in which other threads, processes and sockets can react.
#[cfg(feature = "paused")]
const REAL_SLEEP_PER_SIMULATED_STEP: Duration = Duration::from_millis(2);

/// Advances Tokio's paused clock by this duration, about thirty times as fast as real time. Timers fire in order, and
/// the tasks that they wake run in between. Requires a single-threaded runtime, and only one task may call it at a
/// time.
#[cfg(feature = "paused")]
pub async fn advance_time(time: Duration) {
    let end = tokio::time::Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(tokio::time::Instant::now());
        if left.is_zero() {
            return;
        }
        tokio::time::pause();
        tokio::time::advance(left.min(MAX_SIMULATED_TIME_STEP)).await;
        // A paused clock would advance automatically while the task waits for another process.
        tokio::time::resume();
        // sleep: gives other threads and processes time to react. No test depends on its length.
        tokio::time::sleep(REAL_SLEEP_PER_SIMULATED_STEP).await;
    }
}

/// Real time that [`ready_without_timer`] allows other threads and processes for their part of the work.
#[cfg(feature = "paused")]
const MAX_REAL_TIME: Duration = Duration::from_secs(20);

/// Awaits a future that must become ready without waiting for a timer. `what` describes it in the panic message.
///
/// The clock stands still while other threads and processes work, such as the writer of the audit log, for at most
/// [`MAX_REAL_TIME`]. Then it advances to the next timer.
///
/// # Panics
/// Panics if the future waited for a timer.
#[cfg(feature = "paused")]
pub async fn await_without_timer<F: Future>(what: &str, future: F) -> F::Output {
    let (finish, finished) = std::sync::mpsc::sync_channel::<()>(1);
    // A paused clock does not advance automatically while a blocking task runs.
    let clock_hold = tokio::task::spawn_blocking(move || finished.recv_timeout(MAX_REAL_TIME));
    let (output, waited) = measure_timer_wait(future).await;
    drop(finish);
    // The channel is closed, or the time limit has passed.
    let _ = clock_hold.await;
    assert!(waited.is_zero(), "{what}: it waits for a timer of {waited:?}");
    output
}

/// Awaits a future, and returns its output together with the simulated time that it waited for timers. While all tasks
/// wait for another thread or process, the clock may also advance to the next timer, so that the time is an upper bound.
#[cfg(feature = "paused")]
pub async fn measure_timer_wait<F: Future>(future: F) -> (F::Output, Duration) {
    // A paused clock advances to the next timer whenever all tasks wait.
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let output = future.await;
    let waited = began.elapsed();
    tokio::time::resume();
    (output, waited)
}

/// Time of day that advances with Tokio's clock, so that [`advance_time`] changes both.
#[cfg(feature = "app")]
#[derive(Debug)]
pub struct RuntimeClock {
    began: SystemTime,
    at: tokio::time::Instant,
}

#[cfg(feature = "app")]
impl RuntimeClock {
    /// Returns a clock whose initial time is the system time.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self { began: SystemTime::now(), at: tokio::time::Instant::now() })
    }
}

#[cfg(feature = "app")]
impl ports::time::Clock for RuntimeClock {
    fn time(&self) -> SystemTime {
        self.began + self.at.elapsed()
    }
}

/// Time of day that only changes when a test advances it.
#[cfg(feature = "app")]
#[derive(Debug)]
pub struct ManualClock(Mutex<SystemTime>);

#[cfg(feature = "app")]
impl ManualClock {
    /// Returns a clock whose initial time is the system time.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(SystemTime::now())))
    }

    /// Advances the clock by this duration.
    pub fn advance(&self, by: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

#[cfg(feature = "app")]
impl ports::time::Clock for ManualClock {
    fn time(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
