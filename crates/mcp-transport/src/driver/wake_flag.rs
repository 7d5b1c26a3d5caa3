//! Avoids polling idle event sources: polling a process, a timer and a silent pipe for each message would cost more
//! than processing the message.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Records if one event source of a task, such as a pipe or a timer, has woken the task since the source was last
/// polled. The source must be polled only with [`WakeFlag::poll`].
#[derive(Debug)]
pub struct WakeFlag {
    shared: Arc<WakeState>,
    waker: Waker,
    /// Copy of the waker that is registered in `WakeState`, with which a new waker is detected without taking the lock.
    task: Option<Waker>,
}

#[derive(Debug, Default)]
struct WakeState {
    rung: AtomicBool,
    /// Waker of the task that polls the event source. Remains registered after a wakeup, so that not every poll has to
    /// register it again.
    task: Mutex<Option<Waker>>,
}

impl Wake for WakeState {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        if let Some(task) = &*self.task.lock().unwrap_or_else(PoisonError::into_inner) {
            task.wake_by_ref();
        }
    }
}

impl Default for WakeFlag {
    fn default() -> Self {
        let shared = Arc::new(WakeState { rung: AtomicBool::new(true), ..WakeState::default() });
        Self { waker: Waker::from(Arc::clone(&shared)), shared, task: None }
    }
}

impl WakeFlag {
    /// Calls the closure `poll` if the event source may make progress: on the first call, after a wakeup, and after
    /// `poll` returned `Ready`. Otherwise returns `Pending`.
    pub fn poll<T>(&mut self, context: &Context<'_>, poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        if !self.task.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
            self.task = Some(context.waker().clone());
            *self.shared.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
        }
        if !self.shared.rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let polled = poll(&mut Context::from_waker(&self.waker));
        if polled.is_ready() {
            self.force_poll();
        }
        polled
    }

    /// Forces the next [`WakeFlag::poll`] to poll the event source, for instance because the source was replaced.
    pub fn force_poll(&self) {
        self.shared.rung.store(true, Ordering::Release);
    }

    /// Polls a pinned future if it may make progress, as [`WakeFlag::poll`] does.
    pub fn poll_future<F: Future + ?Sized>(&mut self, context: &Context<'_>, future: Pin<&mut F>) -> Poll<F::Output> {
        self.poll(context, |context| future.poll(context))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn no_wake_up_is_lost_and_idle_polls_are_avoided() {
        let (sender, mut receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for number in 0..100 {
                // Some values are awaited, others are ready at once.
                if number % 3 == 0 {
                    tokio::task::yield_now().await;
                }
                if sender.send(number).await.is_err() {
                    return;
                }
            }
        });
        let (mut wake_flag, mut polls, mut looks) = (WakeFlag::default(), 0, 0);
        let mut received = Vec::new();
        loop {
            let next = poll_fn(|context| {
                looks += 1;
                let polled = wake_flag.poll(context, |context| {
                    polls += 1;
                    receiver.poll_recv(context)
                });
                // The task also polls for other reasons.
                if polled.is_pending() && looks % 4 != 0 {
                    context.waker().wake_by_ref();
                }
                polled
            });
            match tokio::time::timeout(Duration::from_secs(10), next).await {
                Ok(Some(number)) => received.push(number),
                Ok(None) => break,
                Err(_) => panic!("the task was not woken after {} numbers", received.len()),
            }
        }
        assert_eq!(received, (0..100).collect::<Vec<_>>(), "each number must be received, in order");
        assert!(polls < looks, "{polls} of {looks} polls must be fewer");
    }

    #[tokio::test]
    async fn latest_polling_task_is_woken() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut wake_flag = WakeFlag::default();
        let first =
            poll_fn(|context| Poll::Ready(wake_flag.poll(context, |context| receiver.poll_recv(context)))).await;
        assert!(first.is_pending(), "the channel must be empty");
        let waits = tokio::spawn(async move {
            poll_fn(|context| wake_flag.poll(context, |context| receiver.poll_recv(context))).await
        });
        tokio::task::yield_now().await;
        let sent = sender.send(7).await;
        assert_eq!(sent, Ok(()), "the value must be sent");
        let received = tokio::time::timeout(Duration::from_secs(10), waits).await;
        assert_eq!(received.ok().and_then(Result::ok).flatten(), Some(7), "the task that polled last must be woken");
    }
}
