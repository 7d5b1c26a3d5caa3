//! Reads and writes on the disk and in the keychain for the page, on threads that may wait: the audit log, secrets of servers, and what is
//! encrypted. Caller: `api`.

use std::path::PathBuf;
use std::sync::Arc;

use domain::StoreError;
use ports::{AuditEntry, AuditQuery, AuditVerdict, Ports, SecretError, SecretKept, SecretsStatus};
use secrecy::SecretString;

use super::{Host, HostClosed};

/// Why something on the disk or in the keychain can't be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The audit log fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The keychain fails.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A file that the user saves, or the dialog for it, fails; in words.
    #[error("{0}")]
    File(String),
    /// The host ends.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl Host {
    /// Uses the ports on a thread that may wait.
    async fn on_disk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Ports) -> T + Send + 'static,
    ) -> Result<T, HostClosed> {
        let ports = self.ports.clone();
        tokio::task::spawn_blocking(move || act(&ports)).await.map_err(|error| {
            tracing::error!(%error, "a thread that reads or writes ended without a result");
            HostClosed
        })
    }

    /// Entries of the audit log.
    ///
    /// # Errors
    /// If the log can't be read.
    pub async fn read_audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>, StorageError> {
        Ok(self.on_disk(move |ports| ports.audit.read(&query)).await??)
    }

    /// Checks the audit log.
    ///
    /// # Errors
    /// If the log can't be read.
    pub async fn verify_audit(&self) -> Result<AuditVerdict, StorageError> {
        Ok(self.on_disk(|ports| ports.audit.verify()).await??)
    }

    /// Writes the audit log to a file that the user picks, with a proposed name. None if they pick none.
    ///
    /// # Errors
    /// If the log can't be read, or the dialog or the file fails.
    pub async fn export_audit(&self, proposed_name: &str) -> Result<Option<PathBuf>, StorageError> {
        let log = Arc::clone(&self.ports.audit);
        self.save_file(proposed_name, move |file| log.export(file).map(drop)).await
    }

    /// Writes secrets of servers, by their keys. Says if one of them lasts for this run only.
    ///
    /// # Errors
    /// If one can't be kept at all; those after it are not written.
    pub async fn keep_secrets(&self, secrets: Vec<(String, String)>) -> Result<SecretKept, StorageError> {
        let kept = self.on_disk(move |ports| {
            let mut all = SecretKept::Keychain;
            for (key, value) in secrets {
                if let kept @ SecretKept::ThisRun { .. } = ports.secrets.set(&key, &value)? {
                    all = kept;
                }
            }
            Ok::<_, SecretError>(all)
        });
        Ok(kept.await??)
    }

    /// Reads a secret by its key. None if there is none.
    ///
    /// # Errors
    /// If the keychain can't be read, or the host has ended.
    pub(super) async fn secret(&self, key: String) -> Result<Option<SecretString>, StorageError> {
        let read = self.on_disk(move |ports| ports.secrets.get(&key));
        Ok(read.await??.map(SecretString::from))
    }

    /// Deletes secrets that no server uses any more. One that can't be deleted is logged.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn forget_secrets(&self, keys: Vec<String>) -> Result<(), HostClosed> {
        let forgotten = self.on_disk(move |ports| {
            for key in keys {
                if let Err(error) = ports.secrets.delete(&key) {
                    tracing::warn!(%error, "a secret that is no longer used could not be taken out of the keychain");
                }
            }
        });
        forgotten.await
    }

    /// How long secrets last.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn secrets_status(&self) -> Result<SecretsStatus, HostClosed> {
        self.on_disk(|ports| ports.secrets.status()).await
    }

    /// True for the history, and for the audit log, if its content is encrypted on the disk; an error where that can't be read.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn content_encryption(&self) -> Result<[Result<bool, StoreError>; 2], HostClosed> {
        self.on_disk(|ports| [ports.history.is_encrypted(), ports.audit.is_encrypted()]).await
    }
}
