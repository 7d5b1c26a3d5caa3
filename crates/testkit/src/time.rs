//! Simulated time for tests. A test never sleeps to prove that an event does not happen; it lets simulated time pass
//! and then checks.

#[cfg(feature = "paused")]
use std::future::Future;
#[cfg(feature = "app")]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
#[cfg(feature = "app")]
use std::time::SystemTime;

/// Maximum length of a step of [`advance_time`].
#[cfg(feature = "paused")]
const MAX_STEP: Duration = Duration::from_millis(100);
/// Real time for other threads, processes and sockets after each step.
#[cfg(feature = "paused")]
const REAL_TIME_PER_STEP: Duration = Duration::from_millis(2);

/// Lets this much time pass on Tokio's clock, about thirty times as fast as real time. Timers fire in order, and the
/// tasks they wake run in between. Only for single-threaded runtimes, and for one task at a time.
#[cfg(feature = "paused")]
pub async fn advance_time(time: Duration) {
    let end = tokio::time::Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(tokio::time::Instant::now());
        if left.is_zero() {
            return;
        }
        tokio::time::pause();
        tokio::time::advance(left.min(MAX_STEP)).await;
        // A clock that stays paused advances by itself while the task waits for another process.
        tokio::time::resume();
        // sleep: gives other threads and processes time to react; no test depends on its length.
        tokio::time::sleep(REAL_TIME_PER_STEP).await;
    }
}

/// Awaits a future that must be ready without a timer.
///
/// # Panics
/// Panics if the future had to wait for a timer.
#[cfg(feature = "paused")]
pub async fn ready_without_timer<F: Future>(what: &str, future: F) -> F::Output {
    let (output, waited) = with_timer_total(future).await;
    assert!(waited.is_zero(), "{what}: it waits for a timer of {waited:?}");
    output
}

/// Awaits a future, and returns its output with the total time of the timers it waited for, independent of the load of
/// the computer.
#[cfg(feature = "paused")]
pub async fn with_timer_total<F: Future>(future: F) -> (F::Output, Duration) {
    // A paused clock advances to the next timer when all tasks wait.
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let output = future.await;
    let waited = began.elapsed();
    tokio::time::resume();
    (output, waited)
}

/// Time of day that follows Tokio's clock, so that [`advance_time`] moves both.
#[cfg(feature = "app")]
#[derive(Debug)]
pub struct RuntimeClock {
    began: SystemTime,
    at: tokio::time::Instant,
}

#[cfg(feature = "app")]
impl RuntimeClock {
    /// Returns a clock that starts at the system time.
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

/// Time of day that is fixed until a test advances it.
#[cfg(feature = "app")]
#[derive(Debug)]
pub struct SetClock(Mutex<SystemTime>);

#[cfg(feature = "app")]
impl SetClock {
    /// Returns a clock that starts at the system time.
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
impl ports::time::Clock for SetClock {
    fn time(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
