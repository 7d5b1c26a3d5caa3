//! Access to the system's keychain: entries of bytes, and the reasons for failures.

#[cfg(target_os = "macos")]
mod macos;
#[cfg(all(unix, not(target_os = "macos")))]
mod secret_service;
#[cfg(windows)]
mod windows;

use keyring_core::Error;
use ports::{SecretError, SecretsStatus};

#[cfg(target_os = "macos")]
use macos::keychain_entry;
#[cfg(all(unix, not(target_os = "macos")))]
use secret_service::keychain_entry;
#[cfg(windows)]
use windows::keychain_entry;

/// Service name under which all keychain entries are stored.
const KEYCHAIN_SERVICE_NAME: &str = "drawbridge";

/// The reason why the keychain can't be used. Each variant contains a message for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeychainError {
    /// The keychain is locked, or the user denied access.
    Locked(String),
    /// There is no keychain on this computer.
    Missing(String),
    /// The keychain returned an error, did not respond, or contains invalid data.
    Broken(String),
}

impl From<KeychainError> for SecretsStatus {
    fn from(refusal: KeychainError) -> Self {
        match refusal {
            KeychainError::Locked(cause) => Self::Locked { cause },
            KeychainError::Missing(cause) => Self::Missing { cause },
            KeychainError::Broken(cause) => Self::Broken { cause },
        }
    }
}

impl From<KeychainError> for SecretError {
    fn from(refusal: KeychainError) -> Self {
        match refusal {
            KeychainError::Locked(cause) => Self::Locked(cause),
            KeychainError::Missing(cause) => Self::Missing(cause),
            KeychainError::Broken(cause) => Self::Failed(cause),
        }
    }
}

/// A store of named entries: the keychain of the operating system, or a scripted one in tests. Calls block.
pub(super) trait Keychain: Send + Sync {
    /// Reads a keychain entry. `None` does not prove that the entry does not exist: a locked keychain may return
    /// `None`, too.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, KeychainError>;
    fn write(&self, name: &str, secret: &[u8]) -> Result<(), KeychainError>;
    /// Removes a keychain entry. Succeeds if the entry does not exist.
    fn remove(&self, name: &str) -> Result<(), KeychainError>;
}

/// The keychain of the operating system. It is opened differently on each operating system.
pub(super) struct SystemKeychain;

fn keychain_error(error: Error) -> KeychainError {
    match error {
        Error::NoStorageAccess(cause) => KeychainError::Locked(cause.to_string()),
        // D-Bus error name for a service that no process provides.
        Error::PlatformFailure(cause) if cause.to_string().contains("ServiceUnknown") => {
            KeychainError::Missing(cause.to_string())
        }
        error @ Error::NoDefaultStore => KeychainError::Missing(error.to_string()),
        // The error contains the secret.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            KeychainError::Broken("the entry in it is damaged".to_owned())
        }
        error => KeychainError::Broken(format!("the keychain failed ({error}); restart it, or the computer")),
    }
}

impl Keychain for SystemKeychain {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, KeychainError> {
        match keychain_entry(name)?.get_secret() {
            Ok(secret) => Ok(Some(secret)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(keychain_error(error)),
        }
    }

    fn write(&self, name: &str, secret: &[u8]) -> Result<(), KeychainError> {
        keychain_entry(name)?.set_secret(secret).map_err(keychain_error)
    }

    fn remove(&self, name: &str) -> Result<(), KeychainError> {
        match keychain_entry(name)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(keychain_error(error)),
        }
    }
}
