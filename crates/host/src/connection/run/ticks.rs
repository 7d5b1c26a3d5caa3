//! The time at which a run passes on what has gathered.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_transport::driver::Bell;
use tokio::time::{Instant, Sleep};

/// How often activity, progress and changed resources are passed on.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// The next tick, and the timer for it.
pub(super) struct Ticks {
    next: Option<Instant>,
    /// Rings at the next tick.
    alarm: Pin<Box<Sleep>>,
    bell: Bell,
    /// Whether the next tick is one that comes soon.
    is_soon: bool,
}

impl Ticks {
    pub(super) fn new() -> Self {
        Self { next: None, alarm: Box::pin(tokio::time::sleep(TICK)), bell: Bell::default(), is_soon: false }
    }

    /// Has the next tick come within [`TICK`].
    pub(super) fn soon(&mut self) {
        if !std::mem::replace(&mut self.is_soon, true) {
            self.at(Instant::now() + TICK);
        }
    }

    /// The next tick is not later than this, whatever else waits for a later one.
    pub(super) fn at(&mut self, at: Instant) {
        self.next = Some(self.next.map_or(at, |tick| tick.min(at)));
    }

    /// Returns true once the time of the next tick has come.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|tick| tick <= now)
    }

    /// No tick is wanted any more.
    pub(super) const fn clear(&mut self) {
        self.next = None;
        self.is_soon = false;
    }

    /// Is ready at the next tick; pending while none is wanted.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(tick) = self.next else { return Poll::Pending };
        if tick != self.alarm.deadline() {
            self.alarm.as_mut().reset(tick);
            self.bell.ring();
        }
        self.bell.poll_future(context, self.alarm.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_earliest_of_the_wanted_ticks_comes_first() {
        let (mut ticks, start) = (Ticks::new(), Instant::now());
        assert!(!ticks.is_due(start + TICK), "none is wanted");
        ticks.at(start + 10 * TICK);
        ticks.soon();
        tokio::time::advance(TICK / 2).await;
        ticks.soon();
        std::future::poll_fn(|context| ticks.poll(context)).await;
        assert_eq!(start.elapsed(), TICK, "another one that comes soon moves it no further");
        assert!(ticks.is_due(Instant::now()), "its time has come");
        ticks.clear();
        assert!(!ticks.is_due(start + 100 * TICK), "the later one is gone with it");
    }
}
