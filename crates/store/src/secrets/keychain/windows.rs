//! The Credential Manager of Windows. It is part of the system and always there, so `keyring` may keep it open.

use keyring::v1::Entry;

use super::{Refusal, SERVICE, refusal};

/// The entry of this name, there or not.
pub(super) fn entry(name: &str) -> Result<Entry, Refusal> {
    Entry::new(SERVICE, name).map_err(refusal)
}
