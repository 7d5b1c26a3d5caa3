//! Secrets in the system's keychain; where there is none, in memory until the program ends.

use host::ports::{SecretError, SecretKept, Secrets};
use host::secrets::SecretsInMemory;
use keyring::v1::{Entry, Error};

/// What all entries are filed under.
const SERVICE: &str = "drawbridge";

/// What keeps secrets for longer than the program runs.
trait Lasting: Send + Sync {
    fn read(&self, key: &str) -> Result<Option<String>, SecretError>;
    fn write(&self, key: &str, secret: &str) -> Result<(), SecretError>;
    fn remove(&self, key: &str) -> Result<(), SecretError>;
}

/// The system's own.
struct OfSystem;

/// The keychain of the system, with memory behind it.
pub(crate) struct Keychain {
    lasting: Box<dyn Lasting>,
    /// What the keychain did not take.
    memory: SecretsInMemory,
}

impl Default for Keychain {
    fn default() -> Self {
        Self { lasting: Box::new(OfSystem), memory: SecretsInMemory::default() }
    }
}

fn entry(key: &str) -> Result<Entry, SecretError> {
    Entry::new(SERVICE, key).map_err(|error| match (error, Entry::store_status()) {
        (Error::NoDefaultStore, Err(cause)) => SecretError::Failed(format!("there is none that answers ({cause})")),
        (error, _) => failure(error),
    })
}

fn failure(error: Error) -> SecretError {
    match error {
        Error::NoStorageAccess(cause) => SecretError::Locked(cause.to_string()),
        error => SecretError::Failed(error.to_string()),
    }
}

impl Lasting for OfSystem {
    fn read(&self, key: &str) -> Result<Option<String>, SecretError> {
        match entry(key)?.get_password() {
            Ok(secret) => Ok(Some(secret)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn write(&self, key: &str, secret: &str) -> Result<(), SecretError> {
        entry(key)?.set_password(secret).map_err(failure)
    }

    fn remove(&self, key: &str) -> Result<(), SecretError> {
        match entry(key) {
            // Where there is no keychain, nothing is in it.
            Err(_) => Ok(()),
            Ok(entry) => match entry.delete_credential() {
                Ok(()) | Err(Error::NoEntry) => Ok(()),
                Err(error) => Err(failure(error)),
            },
        }
    }
}

impl Keychain {
    /// What is to be said of a secret that the keychain did not take. One that it has from before counts again when the
    /// program ends, and a locked keychain does not tell whether it has one.
    fn only_this_run(&self, key: &str, refused: &SecretError) -> String {
        let has_none = matches!(self.lasting.read(key), Ok(None)) && !matches!(refused, SecretError::Locked(_));
        if has_none {
            return refused.to_string();
        }
        format!(
            "{refused}. If it has an older value of this secret, that one counts again after the next start, so enter the new one again then"
        )
    }
}

impl Secrets for Keychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        match self.memory.get(key)? {
            Some(secret) => Ok(Some(secret)),
            None => self.lasting.read(key),
        }
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretKept, SecretError> {
        match self.lasting.write(key, secret) {
            Ok(()) => {
                self.memory.delete(key)?;
                Ok(SecretKept::Keychain)
            }
            Err(refused) => {
                self.memory.set(key, secret)?;
                Ok(SecretKept::ThisRun { cause: self.only_this_run(key, &refused) })
            }
        }
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.memory.delete(key)?;
        self.lasting.remove(key)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A keychain that takes nothing, for this reason, and gives this.
    struct TakesNothing(SecretError, Result<Option<String>, SecretError>);

    impl Lasting for TakesNothing {
        fn read(&self, _key: &str) -> Result<Option<String>, SecretError> {
            self.1.clone()
        }

        fn write(&self, _key: &str, _secret: &str) -> Result<(), SecretError> {
            Err(self.0.clone())
        }

        fn remove(&self, _key: &str) -> Result<(), SecretError> {
            Err(self.0.clone())
        }
    }

    #[test]
    fn an_old_secret_that_comes_back_is_never_a_surprise() {
        let (locked, failed) = (SecretError::Locked("no".into()), SecretError::Failed("no".into()));
        let old = Ok(Some("old".to_owned()));
        let cases = [
            (locked.clone(), Err(locked.clone()), true, "a locked one may have an older value"),
            (locked, Ok(None), true, "also one that says it has none while it is locked"),
            (failed.clone(), old, true, "one that can be read only has it"),
            (failed.clone(), Ok(None), false, "one that has none has nothing to bring back"),
        ];
        for (refused, read, is_told, what) in cases {
            let keychain = Keychain { lasting: Box::new(TakesNothing(refused, read)), memory: Default::default() };
            let SecretKept::ThisRun { cause } = keychain.set("key", "new").unwrap() else {
                panic!("it is kept for this run only: {what}");
            };
            assert_eq!(cause.contains("an older value"), is_told, "{what}: {cause}");
            assert_eq!(keychain.get("key").unwrap().as_deref(), Some("new"), "the new one counts in this run: {what}");
        }
    }
}
