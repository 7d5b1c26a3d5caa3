//! Operations on the disk and the keychain for the page, on blocking threads: the audit log, secrets of servers, and
//! the state of encryption. Used by `api`.

use std::path::PathBuf;
use std::sync::Arc;

use domain::StoreError;
use ports::{AuditEntry, AuditQuery, AuditVerdict, Ports, SecretError, SecretPersistence, SecretsStatus};
use secrecy::SecretString;

use super::{Host, HostClosed};

/// Error of an operation on the disk or in the keychain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The audit log or a stored document, such as the settings, can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The keychain can't read, write or delete a secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The dialog for saving a file failed or the file can't be written, with the cause as text.
    #[error("{0}")]
    File(String),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl Host {
    /// Calls `act` with the host's ports on a blocking thread.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the runtime shuts down, or if `act` panics.
    pub async fn with_ports_blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Ports) -> T + Send + 'static,
    ) -> Result<T, HostClosed> {
        let ports = self.ports.clone();
        tokio::task::spawn_blocking(move || act(&ports)).await.map_err(|error| {
            tracing::error!(%error, "a disk operation panicked");
            HostClosed
        })
    }

    /// Returns the entries of the audit log that match the query.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::Store`] if the log can't be read, and [`StorageError::Closed`] if the blocking thread
    /// panicked.
    pub async fn read_audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>, StorageError> {
        self.with_ports_blocking(move |ports| ports.audit.read(&query)).await?.map_err(StorageError::Store)
    }

    /// Verifies the integrity of the audit log.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::Store`] if the log can't be read, and [`StorageError::Closed`] if the blocking thread
    /// panicked.
    pub async fn verify_audit(&self) -> Result<AuditVerdict, StorageError> {
        self.with_ports_blocking(|ports| ports.audit.verify()).await?.map_err(StorageError::Store)
    }

    /// Writes the audit log to a file whose path the user chooses. Returns `None` if the user cancels the dialog.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::File`] with the cause if the log can't be read, or the dialog or the write fails.
    pub async fn export_audit(&self, proposed_name: &str) -> Result<Option<PathBuf>, StorageError> {
        let log = Arc::clone(&self.ports.audit);
        self.save_file(proposed_name, move |file| log.export(file).map(drop)).await
    }

    /// Stores secrets of servers, each given with its key. Returns [`SecretPersistence::ThisRun`] if one of them can't
    /// be stored permanently.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::Secret`] at the first secret that can't be stored. The secrets after it are not stored.
    pub async fn store_secrets(&self, secrets: Vec<(String, String)>) -> Result<SecretPersistence, StorageError> {
        let persistence = self.with_ports_blocking(move |ports| {
            let mut all = SecretPersistence::Keychain;
            for (key, value) in secrets {
                if let persistence @ SecretPersistence::ThisRun { .. } = ports.secrets.set(&key, &value)? {
                    all = persistence;
                }
            }
            Ok::<_, SecretError>(all)
        });
        persistence.await?.map_err(StorageError::Secret)
    }

    /// Reads a secret by its key, or returns `None` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::Secret`] if the keychain can't be read, and [`StorageError::Closed`] if the blocking
    /// thread panicked.
    pub(super) async fn secret(&self, key: String) -> Result<Option<SecretString>, StorageError> {
        let read = self.with_ports_blocking(move |ports| ports.secrets.get(&key));
        read.await?.map(|secret| secret.map(SecretString::from)).map_err(StorageError::Secret)
    }

    /// Deletes secrets that no server uses any more. Errors of single deletions are only logged.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the blocking thread panicked.
    pub async fn forget_secrets(&self, keys: Vec<String>) -> Result<(), HostClosed> {
        let forgotten = self.with_ports_blocking(move |ports| {
            for key in keys {
                if let Err(error) = ports.secrets.delete(&key) {
                    tracing::warn!(%error, "an unused secret could not be deleted from the keychain");
                }
            }
        });
        forgotten.await
    }

    /// Returns how long secrets are stored: permanently, or only until Drawbridge exits.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the blocking thread panicked.
    pub async fn secrets_status(&self) -> Result<SecretsStatus, HostClosed> {
        self.with_ports_blocking(|ports| ports.secrets.status()).await
    }

    /// Determines if the content of the conversation history (first result) and of the audit log (second result) is
    /// encrypted on disk. A result is an error if that can't be determined.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the blocking thread panicked.
    pub async fn content_encryption(&self) -> Result<[Result<bool, StoreError>; 2], HostClosed> {
        self.with_ports_blocking(|ports| [ports.history.is_encrypted(), ports.audit.is_encrypted()]).await
    }
}
