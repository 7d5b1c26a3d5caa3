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
    pub(crate) fn new<F: FnOnce(&mut Owner) + Send + 'static>(act: F) -> Self {
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

    /// Runs a turn of the loop, and logs one that took long: on the processor or blocked, but not while the thread could have run and
    /// other programs had the processor.
    pub(in super::super) fn timed<T>(name: &'static str, turn: impl FnOnce() -> T) -> T {
        let (began, waited) = (Instant::now(), waited_for_processor());
        let done = turn();
        let took = began.elapsed();
        if took > LONG {
            let own = took.saturating_sub(waited_for_processor().saturating_sub(waited));
            if own > LONG {
                tracing::warn!(target: "host::turn", command = name, "a turn of the owner loop took {} ms", own.as_millis());
            }
        }
        done
    }

    /// How long this thread was ready to run and did not; zero where the system does not tell.
    #[cfg(target_os = "linux")]
    fn waited_for_processor() -> Duration {
        use std::cell::RefCell;
        use std::fs::File;
        use std::os::unix::fs::FileExt as _;

        thread_local! {
            static FILE: RefCell<Option<File>> = RefCell::new(File::open("/proc/thread-self/schedstat").ok());
        }
        let mut bytes = [0; 64];
        let read = FILE.with_borrow(|file| file.as_ref().and_then(|file| file.read_at(&mut bytes, 0).ok()));
        // Nanoseconds on the processor, nanoseconds of waiting for it, number of turns.
        let waited = std::str::from_utf8(&bytes[..read.unwrap_or(0)]).unwrap_or_default().split_whitespace().nth(1);
        Duration::from_nanos(waited.and_then(|waited| waited.parse().ok()).unwrap_or(0))
    }

    #[cfg(not(target_os = "linux"))]
    const fn waited_for_processor() -> Duration {
        Duration::ZERO
    }
}
