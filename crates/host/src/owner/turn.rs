//! Commands for the owner loop, and in debug builds the time that each turn of the loop takes: nothing in it may wait.
//!
//! `cargo xtask soak` fails on a turn of more than 50 ms, by the lines that are logged here.

use super::Owner;

/// A command: it runs on the owner's loop.
pub(crate) struct Command {
    name: &'static str,
    act: Box<dyn FnOnce(&mut Owner) + Send>,
}

impl Command {
    pub(crate) fn of<F: FnOnce(&mut Owner) + Send + 'static>(act: F) -> Self {
        Self::named(std::any::type_name::<F>(), act)
    }

    pub(crate) fn named(name: &'static str, act: impl FnOnce(&mut Owner) + Send + 'static) -> Self {
        Self { name, act: Box::new(act) }
    }

    pub(super) fn run(self, owner: &mut Owner) {
        timed(self.name, || (self.act)(owner));
    }
}

#[cfg(not(debug_assertions))]
pub(super) fn timed<T>(_name: &'static str, turn: impl FnOnce() -> T) -> T {
    turn()
}

#[cfg(debug_assertions)]
pub(super) use debug::timed;

#[cfg(debug_assertions)]
mod debug {
    use std::time::{Duration, Instant};

    /// Longer turns are logged.
    const LONG: Duration = Duration::from_millis(5);
    /// No thread has to wait for the processor for that long: what takes longer was blocked.
    const NEVER_PREEMPTED: Duration = Duration::from_secs(1);

    /// Runs a turn of the loop, and logs one that took long. A turn from which other programs took the processor counts by its time
    /// on it: a test machine is often busy.
    pub(in super::super) fn timed<T>(name: &'static str, turn: impl FnOnce() -> T) -> T {
        let (began, before) = (Instant::now(), ThreadUse::now());
        let done = turn();
        let took = began.elapsed();
        if took > LONG {
            let used = ThreadUse::now().since(&before);
            let own = if used.preempted > 0 && took < NEVER_PREEMPTED { used.processor } else { took };
            if own > LONG {
                let (own, processor) = (own.as_millis(), used.processor.as_millis());
                tracing::warn!(
                    target: "host::turn",
                    command = name,
                    "a turn of the owner loop took {own} ms, {processor} of them on the processor"
                );
            }
        }
        done
    }

    /// What this thread had of the processor.
    #[derive(Default)]
    struct ThreadUse {
        processor: Duration,
        /// How often it could have gone on and another one ran.
        preempted: i64,
    }

    impl ThreadUse {
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
            };
            getrusage(UsageWho::RUSAGE_THREAD).map(known).unwrap_or_default()
        }

        /// Elsewhere a turn counts by the clock.
        #[cfg(not(target_os = "linux"))]
        fn now() -> Self {
            Self::default()
        }

        fn since(&self, before: &Self) -> Self {
            Self {
                processor: self.processor.saturating_sub(before.processor),
                preempted: self.preempted - before.preempted,
            }
        }
    }

    #[cfg(all(test, target_os = "linux"))]
    mod tests {
        use super::*;

        #[test]
        fn a_turn_that_only_waits_is_not_taken_for_one_that_was_preempted() {
            let before = ThreadUse::now();
            std::thread::sleep(LONG);
            assert!(ThreadUse::now().since(&before).processor < LONG, "it used no processor");
            let (before, began) = (ThreadUse::now(), Instant::now());
            while ThreadUse::now().since(&before).processor < LONG {
                assert!(began.elapsed() < Duration::from_secs(60), "what it uses is counted");
            }
        }
    }
}
