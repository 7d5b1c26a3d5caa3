//! Polls what seldom happens only when it has woken the task: to ask a process, a timer and a silent pipe each time that a
//! message comes would cost more than the message.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// One for each thing that is waited for. What it waits for has to be polled with [`Bell::poll`] and nothing else.
#[derive(Debug)]
pub struct Bell {
    shared: Arc<Shared>,
    waker: Waker,
    /// The task that is woken, as `shared` has it.
    task: Option<Waker>,
}

#[derive(Debug, Default)]
struct Shared {
    rung: AtomicBool,
    /// Stays here when it is woken: it is not registered again at each look.
    task: Mutex<Option<Waker>>,
}

impl Wake for Shared {
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

impl Default for Bell {
    fn default() -> Self {
        let shared = Arc::new(Shared { rung: AtomicBool::new(true), ..Shared::default() });
        Self { waker: Waker::from(Arc::clone(&shared)), shared, task: None }
    }
}

impl Bell {
    /// Polls, if there is a reason to: it is the first time, it was woken since, or it was ready the last time.
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
            self.ring();
        }
        polled
    }

    /// Something else is waited for from now on: it is polled the next time.
    pub fn ring(&self) {
        self.shared.rung.store(true, Ordering::Release);
    }

    /// As [`Bell::poll`], of a future that stays where it is.
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
    async fn nothing_that_comes_is_missed_and_nothing_is_asked_in_vain() {
        let (sender, mut receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for number in 0..100 {
                // Now and then it is awaited, and now and then there already.
                if number % 3 == 0 {
                    tokio::task::yield_now().await;
                }
                if sender.send(number).await.is_err() {
                    return;
                }
            }
        });
        let (mut bell, mut polls, mut looks) = (Bell::default(), 0, 0);
        let mut came = Vec::new();
        loop {
            let next = poll_fn(|context| {
                looks += 1;
                let polled = bell.poll(context, |context| {
                    polls += 1;
                    receiver.poll_recv(context)
                });
                // The task has other things to do as well.
                if polled.is_pending() && looks % 4 != 0 {
                    context.waker().wake_by_ref();
                }
                polled
            });
            match tokio::time::timeout(Duration::from_secs(10), next).await {
                Ok(Some(number)) => came.push(number),
                Ok(None) => break,
                Err(_) => panic!("it was not woken after {} numbers", came.len()),
            }
        }
        assert_eq!(came, (0..100).collect::<Vec<_>>(), "each number came, in order");
        assert!(polls < looks, "of {looks} looks only {polls} asked");
    }

    #[tokio::test]
    async fn another_task_that_waits_is_woken_as_well() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut bell = Bell::default();
        let first = poll_fn(|context| Poll::Ready(bell.poll(context, |context| receiver.poll_recv(context)))).await;
        assert!(first.is_pending(), "nothing has come");
        let waits =
            tokio::spawn(
                async move { poll_fn(|context| bell.poll(context, |context| receiver.poll_recv(context))).await },
            );
        tokio::task::yield_now().await;
        let sent = sender.send(7).await;
        assert_eq!(sent, Ok(()), "it is taken");
        let came = tokio::time::timeout(Duration::from_secs(10), waits).await;
        assert_eq!(came.ok().and_then(Result::ok).flatten(), Some(7), "whoever looked last is woken");
    }
}
