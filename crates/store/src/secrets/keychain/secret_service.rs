//! The Secret Service of Linux and other Unixes, which GNOME Keyring and KWallet provide on the session's message bus.
//!
//! Each call opens the service anew with the store that `keyring` uses, and not with `keyring` itself: `keyring` opens
//! the service once, and if the service is not running at that moment, fails until the process ends. The service is a
//! separate process: it may be started later, and a connection to a service that has ended is useless.

use keyring_core::api::CredentialStoreApi as _;
use keyring_core::{Entry, Error};
use zbus_secret_service_keyring_store::Store;

use super::{KEYCHAIN_SERVICE_NAME, KeychainError, keychain_error};

/// Returns a handle to the entry of this name, which need not exist.
pub(super) fn keychain_entry(name: &str) -> Result<Entry, KeychainError> {
    let store = Store::new().map_err(|error| match error {
        Error::NoStorageAccess(cause) => KeychainError::Locked(cause.to_string()),
        error => KeychainError::Missing(error.to_string()),
    })?;
    store.build(KEYCHAIN_SERVICE_NAME, name, None).map_err(keychain_error)
}
