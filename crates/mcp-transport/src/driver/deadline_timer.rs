//! Timer of a driver, created once for each driver, because creating a timer in each step of its event loop would cost
//! more than the step.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until};

use super::driver_core::tokio_clock_now;
use super::wake_flag::WakeFlag;

/// Time after which the driver's timer fires while no deadline is set.
const DELAY_WITHOUT_DEADLINE: Duration = Duration::from_secs(3600);

/// Timer of a driver, which fires no later than the driver's earliest deadline. May fire earlier, since it is not reset
/// when a deadline is extended.
#[derive(Debug)]
pub(crate) struct DeadlineTimer {
    timer: Pin<Box<Sleep>>,
    wake_flag: WakeFlag,
}

impl DeadlineTimer {
    pub(crate) fn new() -> DeadlineTimer {
        DeadlineTimer {
            timer: Box::pin(sleep_until((tokio_clock_now() + DELAY_WITHOUT_DEADLINE).into())),
            wake_flag: WakeFlag::default(),
        }
    }

    /// Moves the timer's deadline to `due` if `due` is earlier.
    pub(crate) fn fire_no_later_than(&mut self, due: Option<Instant>) {
        if let Some(due) = due
            && due < self.timer.deadline().into_std()
        {
            self.timer.as_mut().reset(due.into());
            self.wake_flag.force_poll();
        }
    }

    /// Waits until the timer fires. The caller must then set the next deadline with
    /// [`DeadlineTimer::fire_no_later_than`]. Cancel safe.
    pub(crate) async fn wait_until_due(&mut self) {
        poll_fn(|context| self.wake_flag.poll_future(context, self.timer.as_mut())).await;
        self.timer.as_mut().reset((tokio_clock_now() + DELAY_WITHOUT_DEADLINE).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn timer_fires_once_at_the_earliest_deadline() {
        let begin = tokio_clock_now();
        let mut alarm = DeadlineTimer::new();
        for seconds in [5, 2, 9] {
            alarm.fire_no_later_than(Some(begin + Duration::from_secs(seconds)));
        }
        alarm.wait_until_due().await;
        assert_eq!(tokio_clock_now() - begin, Duration::from_secs(2), "the timer must fire at the earliest deadline");
        alarm.fire_no_later_than(None);
        alarm.wait_until_due().await;
        assert_eq!(
            tokio_clock_now() - begin,
            Duration::from_secs(2) + DELAY_WITHOUT_DEADLINE,
            "the timer must not fire for old deadlines"
        );
    }
}
