//! Secrets in the system's keychain; where there is none, in memory until the program ends.

use host::ports::{SecretError, SecretKept, Secrets};
use host::secrets::SecretsInMemory;
use keyring::v1::{Entry, Error};

/// What all entries are filed under.
const SERVICE: &str = "drawbridge";

/// The keychain of the system, with memory behind it.
#[derive(Default)]
pub(crate) struct Keychain {
    /// What the keychain did not take.
    memory: SecretsInMemory,
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

impl Secrets for Keychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        if let Some(secret) = self.memory.get(key)? {
            return Ok(Some(secret));
        }
        match entry(key)?.get_password() {
            Ok(secret) => Ok(Some(secret)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretKept, SecretError> {
        match entry(key).and_then(|entry| entry.set_password(secret).map_err(failure)) {
            Ok(()) => {
                self.memory.delete(key)?;
                Ok(SecretKept::Keychain)
            }
            Err(error) => {
                self.memory.set(key, secret)?;
                Ok(SecretKept::ThisRun { cause: error.to_string() })
            }
        }
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.memory.delete(key)?;
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
