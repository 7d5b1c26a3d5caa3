//! Where tokens are kept: among the app's secrets, each under all that it belongs to. What one server, or one entry of
//! `mcp.json`, has is never found under another.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_auth::{Kept, Vault, VaultError, VaultKey, VaultKind};
use secrecy::{ExposeSecret as _, SecretSlice};
use serde_json::json;

use crate::ports::{SecretError, SecretKept, Secrets};

/// The tokens of one entry of `mcp.json`. Two entries may lead to the same server with two accounts.
pub(crate) struct SecretsVault {
    entry: String,
    secrets: Arc<dyn Secrets>,
}

impl SecretsVault {
    pub(crate) fn new(entry: &str, secrets: Arc<dyn Secrets>) -> Self {
        Self { entry: entry.to_owned(), secrets }
    }

    /// What an entry is kept under. As JSON, so that no two keys can be the same text.
    fn key(&self, key: &VaultKey) -> String {
        let kind = match &key.kind {
            VaultKind::Account => json!(["account"]),
            VaultKind::FirstIssuer => json!(["first-issuer"]),
            VaultKind::Client { issuer } => json!(["client", issuer]),
        };
        json!(["sign-in", self.entry, key.server, kind]).to_string()
    }

    /// Runs something that blocks: the keychain may ask the user.
    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Secrets) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let secrets = Arc::clone(&self.secrets);
        let done = tokio::task::spawn_blocking(move || act(secrets.as_ref())).await;
        done.map_err(|error| error.to_string())
            .and_then(|done| done.map_err(|error| error.to_string()))
            .map_err(|cause| VaultError { cause })
    }
}

#[async_trait]
impl Vault for SecretsVault {
    async fn read(&self, key: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError> {
        let key = self.key(key);
        let kept = self.blocking(move |secrets| secrets.get(&key)).await?;
        let Some(kept) = kept else { return Ok(None) };
        let bytes = STANDARD.decode(kept).map_err(|_| VaultError {
            cause: "what is kept of this sign-in can't be read; sign in again".to_owned(),
        })?;
        Ok(Some(bytes.into()))
    }

    async fn write(&self, key: &VaultKey, entry: SecretSlice<u8>) -> Result<Kept, VaultError> {
        let key = self.key(key);
        let kept = self.blocking(move |secrets| secrets.set(&key, &STANDARD.encode(entry.expose_secret()))).await?;
        Ok(match kept {
            SecretKept::Keychain => Kept::Safely,
            SecretKept::ThisRun { cause } => Kept::ThisRun { cause },
        })
    }

    async fn remove(&self, key: &VaultKey) -> Result<(), VaultError> {
        let key = self.key(key);
        self.blocking(move |secrets| secrets.delete(&key)).await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::secrets::SecretsInMemory;

    #[tokio::test]
    async fn nothing_is_found_under_another_key() {
        let secrets: Arc<dyn Secrets> = Arc::new(SecretsInMemory::default());
        let key = |server: &str, kind| VaultKey { server: server.to_owned(), kind };
        let client = |issuer: &str| VaultKind::Client { issuer: issuer.to_owned() };
        let (one, two) = ("https://a.example/mcp", "https://b.example/mcp");
        // Texts that would be the same without their bounds are among them.
        let all = [
            ("work", key(one, VaultKind::Account)),
            ("home", key(one, VaultKind::Account)),
            ("work", key(two, VaultKind::Account)),
            ("work", key(one, client("https://i.example"))),
            ("work", key(one, client("https://i.example/"))),
            ("work\",\"x", key(one, VaultKind::Account)),
            ("work", key("x\",\"https://a.example/mcp", VaultKind::Account)),
        ];
        for (at, (entry, key)) in all.iter().enumerate() {
            let vault = SecretsVault::new(entry, Arc::clone(&secrets));
            assert!(vault.read(key).await.unwrap().is_none(), "nothing is there before: {entry} {key:?}");
            let kept = vault.write(key, vec![at as u8, 0xff].into()).await.unwrap();
            assert!(matches!(kept, Kept::ThisRun { .. }), "that it does not last is told");
        }
        for (at, (entry, key)) in all.iter().enumerate() {
            let vault = SecretsVault::new(entry, Arc::clone(&secrets));
            let found = vault.read(key).await.unwrap().unwrap();
            assert_eq!(found.expose_secret(), [at as u8, 0xff], "its own is there, byte for byte: {entry} {key:?}");
            vault.remove(key).await.unwrap();
            assert!(vault.read(key).await.unwrap().is_none(), "and gone: {entry} {key:?}");
        }
    }
}
