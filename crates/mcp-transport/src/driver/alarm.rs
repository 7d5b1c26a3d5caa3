//! When a driver looks at what is due. It is made once: to make a timer at each step would cost more than the step.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until};

use super::bell::Bell;
use super::core::now;

/// It is set so far ahead when nothing is due.
const FAR: Duration = Duration::from_secs(3600);

/// Rings no later than what is due first. It may ring too early, as most of what is due moves on before it is.
#[derive(Debug)]
pub(crate) struct Alarm {
    timer: Pin<Box<Sleep>>,
    bell: Bell,
}

impl Alarm {
    pub(crate) fn new() -> Alarm {
        Alarm { timer: Box::pin(sleep_until((now() + FAR).into())), bell: Bell::default() }
    }

    /// Something is due at this time.
    pub(crate) fn set(&mut self, due: Option<Instant>) {
        if let Some(due) = due
            && due < self.timer.deadline().into_std()
        {
            self.timer.as_mut().reset(due.into());
            self.bell.ring();
        }
    }

    /// Waits until it rings; then it has to be set anew. May be dropped and called again.
    pub(crate) async fn ring(&mut self) {
        poll_fn(|context| self.bell.poll_future(context, self.timer.as_mut())).await;
        self.timer.as_mut().reset((now() + FAR).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_rings_at_the_first_that_is_due_and_is_silent_then() {
        let begin = now();
        let mut alarm = Alarm::new();
        for seconds in [5, 2, 9] {
            alarm.set(Some(begin + Duration::from_secs(seconds)));
        }
        alarm.ring().await;
        assert_eq!(now() - begin, Duration::from_secs(2), "the earliest counts");
        alarm.set(None);
        alarm.ring().await;
        assert_eq!(now() - begin, Duration::from_secs(2) + FAR, "what was not set again does not ring");
    }
}
