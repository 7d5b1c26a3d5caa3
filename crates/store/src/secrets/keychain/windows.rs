//! The Credential Manager of Windows. The Credential Manager is part of the operating system and always available, so
//! `keyring` may keep it open.

use keyring::v1::Entry;

use super::{KEYCHAIN_SERVICE_NAME, KeychainError, keychain_error};

/// Returns a handle to the entry of this name, which need not exist.
pub(super) fn keychain_entry(name: &str) -> Result<Entry, KeychainError> {
    Entry::new(KEYCHAIN_SERVICE_NAME, name).map_err(keychain_error)
}
