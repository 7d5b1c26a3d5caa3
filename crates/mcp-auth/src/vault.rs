//! Storage of sign-ins and client registrations: a map whose keys consist of the server and the kind of the entry.

use async_trait::async_trait;
use secrecy::SecretSlice;

/// Encrypted storage of entries. An entry is returned only for exactly the key with which it was stored.
#[async_trait]
pub trait Vault: Send + Sync {
    /// Returns the entry with this key, or `None` if there is none.
    ///
    /// # Errors
    /// Returns a [`VaultError`] if it is unknown whether the entry exists.
    async fn read(&self, key: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError>;

    /// Stores an entry, replaces an existing one, and returns how long it persists.
    ///
    /// # Errors
    /// Returns a [`VaultError`] if the entry could not be stored even in memory.
    async fn write(&self, key: &VaultKey, entry: SecretSlice<u8>) -> Result<VaultEntryPersistence, VaultError>;

    /// Removes the entry, if there is one.
    ///
    /// # Errors
    /// Returns a [`VaultError`] if the entry may still exist.
    async fn remove(&self, key: &VaultKey) -> Result<(), VaultError>;

    /// Locks a vault entry, so that no other process with the same vault renews its tokens until the returned value is
    /// dropped. Two processes that renew with the same refresh token would invalidate it for both. Returns `None` if
    /// locking is not possible.
    async fn lock_entry(&self, _key: &VaultKey) -> Option<Box<dyn Send>> {
        None
    }
}

/// Key of an entry in the vault: the server, and the kind of the entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VaultKey {
    /// URL of the server without fragment.
    pub server: String,
    /// Kind of data in the entry.
    pub kind: VaultEntryKind,
}

/// Kind of data in a vault entry for one server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VaultEntryKind {
    /// Tokens and other state of the sign-in at the server.
    Account,
    /// Client id and credentials that an authorization server issued for this server.
    Client {
        /// Issuer identifier of the authorization server, exactly as its metadata spells it.
        issuer: String,
    },
    /// Issuer with which a pre-registered client id without a configured issuer was first used.
    FirstIssuer,
}

/// Tells how long an entry that was written to the vault is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultEntryPersistence {
    /// The entry is stored until it is removed.
    Safely,
    /// The entry is stored in memory until the app exits.
    ThisRun {
        /// Human-readable reason why the entry is not stored permanently.
        cause: String,
    },
}

/// Failure of a vault operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct VaultError {
    /// Kind of failure, from which the caller derives its next action.
    pub kind: VaultProblem,
    /// Human-readable cause, with an action for the user.
    pub cause: String,
}

/// Kind of failure of a vault operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultProblem {
    /// The vault is locked, or the user denied access to it.
    Locked,
    /// The system has no secure storage that could serve as a vault.
    Missing,
    /// The vault or an entry in it is damaged or unusable.
    Broken,
    /// The vault refuses access to the entries of a server that was removed.
    Closed,
}
