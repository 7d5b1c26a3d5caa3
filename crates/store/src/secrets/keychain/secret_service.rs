//! The Secret Service of Linux and other Unixes, which GNOME Keyring and KWallet offer on the session's message bus.
//!
//! It is opened anew for each call, with the store that `keyring` uses here, and not with `keyring` itself: `keyring` opens
//! it once, and if there is none at that moment it says so until the program ends. But a keychain is a program of its own: one
//! that was not there may have been started since, and a connection to one that has ended is of no use.

use keyring_core::api::CredentialStoreApi as _;
use keyring_core::{Entry, Error};
use zbus_secret_service_keyring_store::Store;

use super::{Refusal, SERVICE, refusal};

/// The entry of this name, there or not.
pub(super) fn entry(name: &str) -> Result<Entry, Refusal> {
    let store = Store::new().map_err(|error| match error {
        Error::NoStorageAccess(cause) => Refusal::Locked(cause.to_string()),
        error => Refusal::Missing(error.to_string()),
    })?;
    store.build(SERVICE, name, None).map_err(refusal)
}
