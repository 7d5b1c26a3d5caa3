//! Where accounts and registrations are kept, seen from here: a map whose keys say all that an entry belongs to.

use async_trait::async_trait;
use secrecy::SecretSlice;

/// Keeps entries, encrypted, and gives one back under the very key it was kept under and no other.
#[async_trait]
pub trait Vault: Send + Sync {
    /// The entry, if there is one.
    ///
    /// # Errors
    /// If it cannot be told whether there is one.
    async fn read(&self, key: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError>;

    /// Replaces the entry.
    ///
    /// # Errors
    /// If it could not be kept even for this run.
    async fn write(&self, key: &VaultKey, entry: SecretSlice<u8>) -> Result<Kept, VaultError>;

    /// Removes the entry; it is no error if there is none.
    ///
    /// # Errors
    /// If it may still be there.
    async fn remove(&self, key: &VaultKey) -> Result<(), VaultError>;

    /// Keeps other programs with the same vault from renewing what lies under this key, until what it gives is dropped: a
    /// refresh token that two of them use is void for both. None where that is not possible.
    async fn hold(&self, _key: &VaultKey) -> Option<Box<dyn Send>> {
        None
    }
}

/// What an entry belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VaultKey {
    /// The server's URL without fragment.
    pub server: String,
    /// What is kept of it.
    pub kind: VaultKind,
}

/// What is kept of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VaultKind {
    /// Tokens, and whom they are from.
    Account,
    /// The client id (and secret) that this authorization server gave us for this server.
    Client {
        /// The authorization server's issuer identifier, byte for byte.
        issuer: String,
    },
    /// Which authorization server a client id from the settings was first used with, when the settings do not say.
    FirstIssuer,
}

/// How long what was written stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Until it is removed.
    Safely,
    /// Until the app ends.
    ThisRun {
        /// Why no longer, in words for the user.
        cause: String,
    },
}

/// The vault could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct VaultError {
    /// What is the matter with the vault.
    pub kind: VaultProblem,
    /// In words for the user, with what to do.
    pub cause: String,
}

/// What is the matter with a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultProblem {
    /// It waits to be unlocked, or its user does not let us in.
    Locked,
    /// There is none.
    Missing,
    /// It, or what lies in it, can't be used as it is.
    Broken,
    /// It is not used any more: what it was for is gone.
    Closed,
}
