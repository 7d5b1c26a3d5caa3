//! A keychain with a time limit for each call. A call that exceeds the limit fails for its caller and continues in a
//! separate thread, at most one at a time.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::keychain::{Keychain, KeychainError};

/// A keychain whose calls have a time limit.
pub(super) struct TimedKeychain {
    keychain: Arc<dyn Keychain>,
    limit: Duration,
    turn: Arc<KeychainCallLock>,
}

#[derive(Default)]
struct KeychainCallLock {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

impl KeychainCallLock {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acquire(&self, within: Duration) -> bool {
        let waited = self.freed.wait_timeout_while(self.lock(), within, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut *is_taken, true)
    }
}

/// Guard that lets the next keychain call start when it is dropped, also after a panic.
struct KeychainCallLockGuard(Arc<KeychainCallLock>);

impl Drop for KeychainCallLockGuard {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.freed.notify_one();
    }
}

impl TimedKeychain {
    pub(super) fn new(keychain: Arc<dyn Keychain>, limit: Duration) -> Self {
        Self { keychain, limit, turn: Arc::default() }
    }

    fn run_with_timeout<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Keychain) -> Result<T, KeychainError> + Send + 'static,
    ) -> Result<T, KeychainError> {
        let since = Instant::now();
        // A call that hangs still occupies the keychain, so at most one thread waits for it.
        if !self.turn.acquire(self.limit) {
            return Err(self.timeout_error());
        }
        let (taken, keychain) = (KeychainCallLockGuard(Arc::clone(&self.turn)), Arc::clone(&self.keychain));
        let (done, result) = sync_channel(1);
        let work = move || {
            let outcome = act(keychain.as_ref());
            drop(taken);
            let _ = done.send(outcome);
        };
        let thread = std::thread::Builder::new().name("keychain".to_owned()).spawn(work);
        thread
            .map_err(|error| KeychainError::Broken(format!("no thread could be started for the keychain ({error})")))?;
        result.recv_timeout(self.limit.saturating_sub(since.elapsed())).unwrap_or_else(|_| Err(self.timeout_error()))
    }

    fn timeout_error(&self) -> KeychainError {
        let limit = self.limit.as_secs_f32();
        KeychainError::Locked(format!(
            "it has not answered within {limit} s; it may be waiting for its password in another window"
        ))
    }
}

impl Keychain for TimedKeychain {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, KeychainError> {
        let name = name.to_owned();
        self.run_with_timeout(move |keychain| keychain.read(&name))
    }

    fn write(&self, name: &str, secret: &[u8]) -> Result<(), KeychainError> {
        let (name, secret) = (name.to_owned(), zeroize::Zeroizing::new(secret.to_vec()));
        self.run_with_timeout(move |keychain| keychain.write(&name, &secret))
    }

    fn remove(&self, name: &str) -> Result<(), KeychainError> {
        let name = name.to_owned();
        self.run_with_timeout(move |keychain| keychain.remove(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A keychain whose reads hang until the test releases its call lock.
    #[derive(Default)]
    struct HangingKeychain(Arc<KeychainCallLock>);

    impl Keychain for HangingKeychain {
        fn read(&self, _name: &str) -> Result<Option<Vec<u8>>, KeychainError> {
            self.0.acquire(Duration::from_secs(3_600));
            drop(KeychainCallLockGuard(Arc::clone(&self.0)));
            Ok(Some(b"late".to_vec()))
        }

        fn write(&self, _name: &str, _secret: &[u8]) -> Result<(), KeychainError> {
            Ok(())
        }

        fn remove(&self, _name: &str) -> Result<(), KeychainError> {
            Ok(())
        }
    }

    #[test]
    fn hanging_keychain_times_out_and_can_recover() {
        let hangs = HangingKeychain::default();
        let gate = Arc::clone(&hangs.0);
        assert!(gate.acquire(Duration::ZERO), "the gate must be closed");
        let patience = TimedKeychain::new(Arc::new(hangs), Duration::from_millis(100));
        // The gate stays closed, so the calls below return without the keychain.
        for _ in 0..3 {
            let refused = patience.read("x");
            assert!(
                matches!(refused, Err(KeychainError::Locked(_))),
                "the call must fail without waiting: {refused:?}"
            );
        }
        assert!(matches!(patience.write("x", b"y"), Err(KeychainError::Locked(_))), "other calls must fail as well");
        drop(KeychainCallLockGuard(gate));
        let until = Instant::now() + Duration::from_secs(10);
        while patience.read("x") != Ok(Some(b"late".to_vec())) {
            assert!(Instant::now() < until, "calls must succeed once the keychain responds again");
        }
    }
}
