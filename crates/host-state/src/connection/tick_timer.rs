//! Schedules the ticks at which a run of a server forwards its gathered reports to the owner.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_transport::driver::WakeFlag;
use tokio::time::{Instant, Sleep};

/// Interval at which activity, progress and changed resources are forwarded to the owner.
pub const TICK_INTERVAL: Duration = Duration::from_millis(50);

/// Schedule of the next tick, at which gathered reports are forwarded, and the timer that waits for it.
#[derive(Debug)]
pub struct TickTimer {
    next: Option<Instant>,
    /// Timer that expires at the next tick.
    alarm: Pin<Box<Sleep>>,
    bell: WakeFlag,
    /// Set if [`schedule_soon`](Self::schedule_soon) was called since the last tick.
    is_soon: bool,
}

impl Default for TickTimer {
    fn default() -> Self {
        Self::new()
    }
}

impl TickTimer {
    /// Returns a timer without a scheduled tick.
    #[must_use]
    pub fn new() -> Self {
        Self {
            next: None,
            alarm: Box::pin(tokio::time::sleep(TICK_INTERVAL)),
            bell: WakeFlag::default(),
            is_soon: false,
        }
    }

    /// Schedules a tick within [`TICK_INTERVAL`], unless this function was already called since the last tick.
    pub fn schedule_soon(&mut self) {
        if !std::mem::replace(&mut self.is_soon, true) {
            self.schedule_by(Instant::now() + TICK_INTERVAL);
        }
    }

    /// Schedules the next tick at this time, unless an earlier tick is scheduled.
    pub fn schedule_by(&mut self, at: Instant) {
        self.next = Some(self.next.map_or(at, |tick| tick.min(at)));
    }

    /// Returns `true` if the scheduled tick is due.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|tick| tick <= now)
    }

    /// Cancels the scheduled tick.
    pub const fn clear(&mut self) {
        self.next = None;
        self.is_soon = false;
    }

    /// Returns `Ready` when the scheduled tick is due, and `Pending` while no tick is scheduled.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(tick) = self.next else { return Poll::Pending };
        if tick != self.alarm.deadline() {
            self.alarm.as_mut().reset(tick);
            self.bell.force_poll();
        }
        self.bell.poll_future(context, self.alarm.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn earliest_scheduled_tick_is_first() {
        let (mut ticks, start) = (TickTimer::new(), Instant::now());
        assert!(!ticks.is_due(start + TICK_INTERVAL), "no tick is scheduled");
        ticks.schedule_by(start + 10 * TICK_INTERVAL);
        ticks.schedule_soon();
        tokio::time::advance(TICK_INTERVAL / 2).await;
        ticks.schedule_soon();
        std::future::poll_fn(|context| ticks.poll(context)).await;
        assert_eq!(start.elapsed(), TICK_INTERVAL, "a second call of `soon` doesn't postpone the tick");
        assert!(ticks.is_due(Instant::now()), "the tick is due");
        ticks.clear();
        assert!(!ticks.is_due(start + 100 * TICK_INTERVAL), "clearing cancels the later tick too");
    }
}
