//! The owner behind its lock. Callers, such as [`Host`](crate::Host), a connection or the document writer, take the
//! lock for one turn: a function over the owner's state. A tool call therefore depends on no other task until it is
//! sent to the server, and a change made in one turn is visible in every later one.
//!
//! Nothing in a turn may wait. Debug builds measure each turn; `cargo xtask soak` fails on a turn of more than 50 ms,
//! based on the messages logged here. A turn must not take another: code that runs inside of one (including a `Drop`)
//! has to spawn a task for that.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use super::Owner;
use crate::HostClosed;

/// A function over the owner's state that is created on one thread, and called on another while the state is locked.
pub(crate) struct DeferredTurn {
    name: &'static str,
    act: Box<dyn FnOnce(&mut Owner) + Send>,
}

impl DeferredTurn {
    pub(crate) fn new<F: FnOnce(&mut Owner) + Send + 'static>(act: F) -> Self {
        Self::named(std::any::type_name::<F>(), act)
    }

    pub(crate) fn named(name: &'static str, act: impl FnOnce(&mut Owner) + Send + 'static) -> Self {
        Self { name, act: Box::new(act) }
    }
}

/// A strong reference to the host's state, for locking it. A *turn* is one function call with the state locked.
///
/// # Ordering
///
/// Turns are totally ordered by the lock. A revocation, a new rule, a changed definition or a stop takes effect in one
/// turn, and is acknowledged in that turn or after it. A call is decided in one turn, and sent in the same turn or in a
/// later one, once its audit entry is written. The turn that sends it uses the permissions of that turn: if their
/// `version` has changed since the decision, the call is decided again. The receiver must also be ready in that turn.
///
/// So once an action is acknowledged, no call is sent under the permission that the action has ended, whether its
/// decision began before the acknowledgement or after it. `owner/tests/interleaved_calls.rs` tests this.
#[derive(Clone)]
pub(crate) struct SharedOwner(Arc<OwnerCell>);

/// A weak reference to the host's state, for tasks that the owner has spawned. It doesn't keep the state alive.
#[derive(Clone)]
pub(crate) struct WeakOwner(Weak<OwnerCell>);

/// The host's state behind its lock, with notifications that the host has ended or was abandoned.
struct OwnerCell {
    state: Mutex<OwnerState>,
    /// Notified once the host has shut down, or a function that had locked its state has panicked.
    ended: Notify,
    /// Notified once the last handle of the host is dropped.
    abandoned: Notify,
}

/// The host's state while nobody has locked it, or the reason why it can't be locked.
enum OwnerState {
    Open(Box<Owner>),
    /// The host has shut down, and its state can't be locked again. Its queued document writes can still be executed.
    Ended(Box<Owner>),
    /// The state is not available: it is locked, a function that had locked it has panicked, or it was dropped.
    Away,
}

impl SharedOwner {
    /// Creates the host's state by calling `make` with a weak reference to it.
    pub(crate) fn new(make: impl FnOnce(WeakOwner) -> Owner) -> Self {
        let shared =
            Arc::new(OwnerCell { state: Mutex::new(OwnerState::Away), ended: Notify::new(), abandoned: Notify::new() });
        // Tasks that `make` spawns may finish immediately. They wait here until the owner is complete.
        let _taken = TurnGuard::enter();
        let mut state = shared.lock();
        *state = OwnerState::Open(Box::new(make(WeakOwner(Arc::downgrade(&shared)))));
        drop(state);
        Self(shared)
    }

    pub(crate) fn downgrade(&self) -> WeakOwner {
        WeakOwner(Arc::downgrade(&self.0))
    }

    /// Locks the host's state, and calls `act` with it. `name` is used in log messages.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub(crate) fn run_turn<T>(&self, name: &'static str, act: impl FnOnce(&mut Owner) -> T) -> Result<T, HostClosed> {
        self.0.run_turn(name, act)
    }

    /// Notifies the host's background work that the last handle of the host was dropped.
    pub(crate) fn abandon(&self) {
        self.0.abandoned.notify_one();
    }

    /// Waits until the last handle of the host is dropped.
    pub(super) async fn wait_until_abandoned(&self) {
        self.0.abandoned.notified().await;
    }

    /// Waits until the host has shut down.
    pub(super) async fn wait_until_ended(&self) {
        self.0.ended.notified().await;
    }

    /// Returns the host's state after the shutdown, or `None` if a function that had locked it has panicked.
    pub(super) fn into_ended(self) -> Option<Box<Owner>> {
        match std::mem::replace(&mut *self.0.lock(), OwnerState::Away) {
            OwnerState::Ended(owner) => Some(owner),
            OwnerState::Open(_) | OwnerState::Away => None,
        }
    }
}

impl WeakOwner {
    /// Locks the host's state, and calls `act` with it, like [`SharedOwner::run_turn`].
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub(crate) fn run_turn<T>(&self, name: &'static str, act: impl FnOnce(&mut Owner) -> T) -> Result<T, HostClosed> {
        self.0.upgrade().ok_or(HostClosed)?.run_turn(name, act)
    }

    /// Locks the host's state, and calls the deferred function with it.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub(crate) fn run(&self, deferred: DeferredTurn) -> Result<(), HostClosed> {
        self.run_turn(deferred.name, deferred.act)
    }
}

impl OwnerCell {
    fn lock(&self) -> MutexGuard<'_, OwnerState> {
        // If a turn panics, the state remains `Away`.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_turn<T>(&self, name: &'static str, act: impl FnOnce(&mut Owner) -> T) -> Result<T, HostClosed> {
        let _taken = TurnGuard::enter();
        let mut state = self.lock();
        let mut owner = match std::mem::replace(&mut *state, OwnerState::Away) {
            OwnerState::Open(owner) => owner,
            other => {
                *state = other;
                return Err(HostClosed);
            }
        };
        // If a turn panics, the partially changed state is dropped, which ends the servers.
        let unwinding = UnwindGuard(&self.ended);
        let done = run_timed(name, || act(&mut owner));
        std::mem::forget(unwinding);
        if owner.has_ended() {
            *state = OwnerState::Ended(owner);
            self.ended.notify_one();
        } else {
            *state = OwnerState::Open(owner);
        }
        Ok(done)
    }
}

thread_local! {
    static THREAD_IS_IN_OWNER_TURN: Cell<bool> = const { Cell::new(false) };
}

/// Marks the current thread as holding the lock on the host's state. Panics if it holds it already (deadlock).
struct TurnGuard;

impl TurnGuard {
    fn enter() -> Self {
        assert!(!THREAD_IS_IN_OWNER_TURN.replace(true), "a turn of the owner takes another");
        Self
    }
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        THREAD_IS_IN_OWNER_TURN.set(false);
    }
}

/// Notifies tasks that wait for the host's end if a turn panics. If the turn returns, the guard is forgotten.
struct UnwindGuard<'a>(&'a Notify);

impl Drop for UnwindGuard<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[cfg(not(debug_assertions))]
pub(super) fn run_timed<T>(_name: &'static str, turn: impl FnOnce() -> T) -> T {
    turn()
}

#[cfg(debug_assertions)]
pub(super) use debug::run_timed;

#[cfg(debug_assertions)]
mod debug {
    use std::time::{Duration, Instant};

    /// Minimum duration of a turn (one lock of the host's state) that is logged as slow.
    const MIN_SLOW_TURN_DURATION: Duration = Duration::from_millis(5);
    /// Duration from which a turn is considered blocked even if its thread was preempted, since the scheduler preempts
    /// no thread for that long.
    const MAX_PREEMPTED_TURN_DURATION: Duration = Duration::from_secs(1);

    /// Runs `turn`, and logs it if it was slow. If the thread was preempted and never waited, only its processor time
    /// is considered, since test machines are often busy.
    pub(in super::super) fn run_timed<T>(name: &'static str, turn: impl FnOnce() -> T) -> T {
        // clock: measures the duration of a turn for the log.
        let (began, before) = (Instant::now(), ThreadUsage::now());
        let done = turn();
        let took = began.elapsed();
        if took > MIN_SLOW_TURN_DURATION {
            let used = ThreadUsage::now().since(&before);
            let own = used.duration_of_turn(took);
            if own > MIN_SLOW_TURN_DURATION {
                let (own, processor) = (own.as_millis(), used.processor.as_millis());
                tracing::warn!(
                    target: "host::turn",
                    command = name,
                    "a turn of the owner took {own} ms, {processor} of them on the processor"
                );
            }
        }
        done
    }

    /// Processor usage of the current thread.
    #[derive(Default)]
    struct ThreadUsage {
        processor: Duration,
        /// Number of involuntary context switches.
        preempted: i64,
        /// Number of voluntary context switches: the thread waited, for example for a lock or the disk.
        waits: i64,
    }

    impl ThreadUsage {
        /// Returns the duration of a turn that took `took` by the clock and used the processor like this, without the
        /// time for which the thread was preempted.
        fn duration_of_turn(&self, took: Duration) -> Duration {
            let is_only_preempted = self.preempted > 0 && self.waits == 0 && took < MAX_PREEMPTED_TURN_DURATION;
            if is_only_preempted { self.processor } else { took }
        }

        #[cfg(target_os = "linux")]
        fn now() -> Self {
            use nix::sys::resource::{UsageWho, getrusage};
            use nix::sys::time::TimeVal;

            let duration = |time: TimeVal| {
                let whole = Duration::from_secs(time.tv_sec().try_into().unwrap_or(0));
                whole + Duration::from_micros(time.tv_usec().try_into().unwrap_or(0))
            };
            let known = |used: nix::sys::resource::Usage| Self {
                processor: duration(used.user_time()) + duration(used.system_time()),
                preempted: used.involuntary_context_switches(),
                waits: used.voluntary_context_switches(),
            };
            getrusage(UsageWho::RUSAGE_THREAD).map(known).unwrap_or_default()
        }

        /// Returns zero usage on systems other than Linux, where turns are measured by the clock only.
        #[cfg(not(target_os = "linux"))]
        fn now() -> Self {
            Self::default()
        }

        fn since(&self, before: &Self) -> Self {
            Self {
                processor: self.processor.saturating_sub(before.processor),
                preempted: self.preempted - before.preempted,
                waits: self.waits - before.waits,
            }
        }
    }

    #[cfg(all(test, target_os = "linux"))]
    mod tests {
        use super::*;

        #[test]
        fn sleeping_turn_that_was_also_preempted_is_reported() {
            let before = ThreadUsage::now();
            std::thread::sleep(MIN_SLOW_TURN_DURATION);
            let used = ThreadUsage::now().since(&before);
            assert!(used.waits > 0, "a sleeping thread waits");
            let preempted = ThreadUsage { preempted: used.preempted + 1, ..used };
            let took = Duration::from_millis(50);
            assert_eq!(preempted.duration_of_turn(took), took, "the time of the wait counts");
        }

        #[test]
        fn preemption_counts_only_in_a_very_long_turn() {
            let processor = Duration::from_millis(1);
            let preempted = ThreadUsage { processor, preempted: 1, waits: 0 };
            assert_eq!(preempted.duration_of_turn(Duration::from_millis(50)), processor, "the machine was busy");
            assert_eq!(
                preempted.duration_of_turn(MAX_PREEMPTED_TURN_DURATION),
                MAX_PREEMPTED_TURN_DURATION,
                "no preemption is that long"
            );
            let undisturbed = ThreadUsage { processor, preempted: 0, waits: 0 };
            let took = Duration::from_millis(50);
            assert_eq!(undisturbed.duration_of_turn(took), took, "nothing else used the time");
        }

        #[test]
        fn waiting_turn_is_not_reported_as_preempted() {
            let before = ThreadUsage::now();
            std::thread::sleep(MIN_SLOW_TURN_DURATION);
            assert!(
                ThreadUsage::now().since(&before).processor < MIN_SLOW_TURN_DURATION,
                "a sleeping thread uses no processor time"
            );
            // clock: bounds the period in which the processor time of the thread grows.
            let (before, began) = (ThreadUsage::now(), Instant::now());
            while ThreadUsage::now().since(&before).processor < MIN_SLOW_TURN_DURATION {
                assert!(began.elapsed() < Duration::from_secs(60), "the processor time of the thread grows");
            }
        }
    }
}
