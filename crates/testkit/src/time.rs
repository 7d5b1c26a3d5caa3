//! Time that passes when a test says so. A test never sleeps to prove that something does not happen: it lets the time pass here, and
//! then looks.

#[cfg(feature = "paused")]
use std::future::Future;
#[cfg(feature = "app")]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
#[cfg(feature = "app")]
use std::time::SystemTime;

/// The longest step of [`pass`].
#[cfg(feature = "paused")]
const STEP: Duration = Duration::from_millis(100);
/// The real time that other threads, processes and sockets get after each step.
#[cfg(feature = "paused")]
const SHARE: Duration = Duration::from_millis(2);

/// Lets so much time pass on tokio's clock, about thirty times as fast as it does outside. Timers go off in order, and what they lead to
/// is done in between. Only for runtimes of one thread, and for one task of them at a time.
#[cfg(feature = "paused")]
pub async fn pass(time: Duration) {
    let end = tokio::time::Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(tokio::time::Instant::now());
        if left.is_zero() {
            return;
        }
        tokio::time::pause();
        tokio::time::advance(left.min(STEP)).await;
        // A clock that stays paused goes on by itself while an answer of another process is awaited.
        tokio::time::resume();
        // sleep: others go on with what the step led to; nothing rests on how long it is.
        tokio::time::sleep(SHARE).await;
    }
}

/// Awaits something that comes without waiting for time to pass: no timer goes off before it.
///
/// # Panics
/// If it had to wait for a timer.
#[cfg(feature = "paused")]
pub async fn at_once<F: Future>(what: &str, future: F) -> F::Output {
    let (output, waited) = timers_of(future).await;
    assert!(waited.is_zero(), "{what}: it waits for a timer of {waited:?}");
    output
}

/// Awaits something, and returns how long the timers were that it waited for, whatever else the computer does.
#[cfg(feature = "paused")]
pub async fn timers_of<F: Future>(future: F) -> (F::Output, Duration) {
    // Where all tasks wait, a paused clock goes on to the next timer.
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let output = future.await;
    let waited = began.elapsed();
    tokio::time::resume();
    (output, waited)
}

/// A time of day that goes on with tokio's clock, so that `pass` moves both.
#[cfg(feature = "app")]
#[derive(Debug)]
pub struct RuntimeClock {
    began: SystemTime,
    at: tokio::time::Instant,
}

#[cfg(feature = "app")]
impl RuntimeClock {
    /// A clock that begins with the system's time.
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

/// A time of day that stands still until a test moves it.
#[cfg(feature = "app")]
#[derive(Debug)]
pub struct SetClock(Mutex<SystemTime>);

#[cfg(feature = "app")]
impl SetClock {
    /// A clock that begins with the system's time.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(SystemTime::now())))
    }

    /// Moves it on.
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
