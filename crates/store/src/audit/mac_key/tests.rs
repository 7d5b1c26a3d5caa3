//! Tests of the audit log's seal and its key.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU32, Ordering};

use ports::SecretError;

use super::*;

/// A keychain that behaves as if it were locked for the first two requests.
#[derive(Default)]
struct LockedKeychain {
    requests: AtomicU32,
    stored: Mutex<Option<String>>,
}

impl Secrets for LockedKeychain {
    fn get(&self, _: &str) -> Result<Option<String>, SecretError> {
        if self.requests.fetch_add(1, Ordering::SeqCst) < 2 {
            return Err(SecretError::Locked("it is locked".to_owned()));
        }
        Ok(self.stored.lock().unwrap().clone())
    }

    fn set(&self, _: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        *self.stored.lock().unwrap() = Some(secret.to_owned());
        Ok(SecretPersistence::Keychain)
    }

    fn delete(&self, _: &str) -> Result<(), SecretError> {
        Ok(())
    }

    fn keys(&self, _: &str) -> Result<Vec<String>, SecretError> {
        Ok(Vec::new())
    }
}

/// A keychain that reports this status, contains nothing and stores nothing.
struct EmptyKeychain(SecretsStatus);

impl Secrets for EmptyKeychain {
    fn get(&self, _: &str) -> Result<Option<String>, SecretError> {
        Ok(None)
    }

    fn set(&self, _: &str, _: &str) -> Result<SecretPersistence, SecretError> {
        Ok(SecretPersistence::ThisRun { cause: "nothing can be kept".to_owned() })
    }

    fn delete(&self, _: &str) -> Result<(), SecretError> {
        Ok(())
    }

    fn keys(&self, _: &str) -> Result<Vec<String>, SecretError> {
        Ok(Vec::new())
    }

    fn status(&self) -> SecretsStatus {
        self.0.clone()
    }
}

#[test]
fn locked_keychain_may_contain_a_key() {
    let missing = |status: SecretsStatus| {
        let holder = MacKeyHolder::new(Arc::new(EmptyKeychain(status)));
        holder.request_key(false);
        holder.wait_for_key(Duration::from_secs(20)).err().unwrap();
        holder.resolved_key().err().unwrap()
    };
    let cause = "nothing can be kept".to_owned();
    let locked = missing(SecretsStatus::Locked { cause: "it is locked".to_owned() });
    assert_eq!(locked, MissingMacKey { cause: cause.clone(), may_exist: true }, "a log must not count as never sealed");
    let none = missing(SecretsStatus::Missing { cause: "there is none".to_owned() });
    assert_eq!(none, MissingMacKey { cause, may_exist: false }, "without a keychain nothing was ever sealed");
}

#[test]
fn keychain_without_a_key_is_asked_again_later() {
    let secrets = Arc::new(LockedKeychain::default());
    let pause = Duration::from_millis(40);
    let holder = MacKeyHolder::with_retry_interval(secrets.clone(), pause);
    let ask = || {
        holder.request_key(false);
        holder.wait_for_key(Duration::from_secs(20)).is_ok()
    };
    assert!(!ask(), "the keychain must be locked");
    std::thread::sleep(pause * 2); // sleep: the pause is one of real time.
    assert!(!ask(), "the keychain must be read again, and must still be locked");
    assert_eq!(secrets.requests.load(Ordering::SeqCst), 2, "the keychain must be read once for each request");
    std::thread::sleep(pause * 3); // sleep: the pause is one of real time.
    assert!(ask(), "an unlocked keychain must return the key to a running process");
}
