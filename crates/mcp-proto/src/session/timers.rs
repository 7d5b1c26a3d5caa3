//! Timeouts of calls, and the next time at which the session must act.

use std::time::{Duration, Instant};

use super::handshake::SessionPhase;
use super::{CallDeadline, CallError, CallId, Session};

/// Returns the deadline `now + wait`, or `None` for no deadline if the sum overflows.
pub(super) fn checked_deadline(now: Instant, wait: Duration) -> Option<Instant> {
    now.checked_add(wait)
}

/// Returns `true` if the time `at` is set and not later than `now`.
pub(super) fn is_due(at: Option<Instant>, now: Instant) -> bool {
    at.is_some_and(|at| at <= now)
}

/// Deadlines of one call, which are paused while a request of the server that the call caused is open.
#[derive(Debug)]
pub(super) struct CallTimer {
    deadline: CallDeadline,
    state: TimerState,
}

#[derive(Debug)]
enum TimerState {
    Running { idle_at: Option<Instant>, total_at: Option<Instant> },
    Paused { left: Duration },
}

impl CallTimer {
    pub(super) fn start(deadline: CallDeadline, now: Instant) -> CallTimer {
        CallTimer { deadline, state: running_timer_state(deadline.idle, deadline.total, now) }
    }

    /// Restarts the idle deadline after a progress notification or other activity of the server.
    pub(super) fn on_activity(&mut self, now: Instant) {
        if let TimerState::Running { idle_at, .. } = &mut self.state {
            *idle_at = checked_deadline(now, self.deadline.idle);
        }
    }

    /// Removes the total deadline. A task may run for any time, and only its inactivity is limited.
    pub(super) fn remove_total_deadline(&mut self, now: Instant) {
        self.deadline.total = Duration::MAX;
        self.state = match self.state {
            TimerState::Running { idle_at, .. } => {
                TimerState::Running { idle_at, total_at: checked_deadline(now, Duration::MAX) }
            }
            TimerState::Paused { .. } => TimerState::Paused { left: Duration::MAX },
        };
    }

    pub(super) fn pause(&mut self, now: Instant) {
        if let TimerState::Running { total_at, .. } = self.state {
            let left = total_at.map_or(Duration::MAX, |at| at.saturating_duration_since(now));
            self.state = TimerState::Paused { left };
        }
    }

    pub(super) fn resume(&mut self, now: Instant) {
        if let TimerState::Paused { left } = self.state {
            self.state = running_timer_state(self.deadline.idle, left, now);
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        match self.state {
            TimerState::Running { idle_at, total_at } => earliest_instant([idle_at, total_at]),
            TimerState::Paused { .. } => None,
        }
    }

    fn timeout_error(&self, now: Instant) -> Option<CallError> {
        let TimerState::Running { idle_at, total_at } = self.state else { return None };
        if is_due(total_at, now) {
            Some(CallError::Timeout { after: self.deadline.total, total: true })
        } else if is_due(idle_at, now) {
            Some(CallError::Timeout { after: self.deadline.idle, total: false })
        } else {
            None
        }
    }
}

fn running_timer_state(idle: Duration, total: Duration, now: Instant) -> TimerState {
    TimerState::Running { idle_at: checked_deadline(now, idle), total_at: checked_deadline(now, total) }
}

pub(super) fn earliest_instant(times: impl IntoIterator<Item = Option<Instant>>) -> Option<Instant> {
    times.into_iter().flatten().min()
}

impl Session {
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let handshake = match &self.phase {
            SessionPhase::Probing { until, .. } | SessionPhase::Initializing { until, .. } => *until,
            SessionPhase::Ready | SessionPhase::Failed(_) | SessionPhase::Closed(_) => None,
        };
        earliest_instant([self.calls.next_due(), handshake, self.liveness.next_due(), self.listen.next_due()])
    }

    pub(super) fn process_due_timers(&mut self, now: Instant) {
        self.time_out_handshake(now);
        let expired: Vec<(CallId, CallError)> =
            self.calls.iter().filter_map(|(id, call)| Some((*id, call.clock.timeout_error(now)?))).collect();
        for (id, error) in expired {
            self.cancel_call_with_error(id, "no answer in time", error, now);
        }
        self.resend_due_requests(now);
        self.poll_due_tasks(now);
        self.process_due_subscription_timers(now);
        self.check_liveness(now);
        self.calls.recompute_next_due();
    }
}
