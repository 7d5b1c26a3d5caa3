//! What is kept in the vault, and what is remembered of it.

use std::sync::PoisonError;

use secrecy::ExposeSecret as _;

use crate::authorization::Shared;
use crate::dpop::seconds;
use crate::error::{AuthError, Cause, Phase};
use crate::record::Record;
use crate::registration::Registration;
use crate::vault::{Kept, VaultKind};

impl Shared {
    pub(crate) async fn load(&self) -> Result<(), AuthError> {
        let is_loaded = || self.state().loaded;
        if is_loaded() {
            return Ok(());
        }
        let _turn = self.loading.lock().await;
        if is_loaded() {
            return Ok(());
        }
        let entry = self.settings.vault.read(&self.key(VaultKind::Account)).await;
        let entry = entry.map_err(|error| Phase::Storage.error(Cause::Vault(error)))?;
        let record = entry.and_then(|entry| Record::read(&entry, &self.server));
        // What the user set since then counts.
        let record =
            record.filter(|record| self.settings.issuer.as_ref().is_none_or(|issuer| *issuer == record.issuer));
        if let Some(record) = &record {
            self.learn(record);
        }
        let mut state = self.state();
        state.loaded = true;
        state.record = record;
        state.generation += 1;
        drop(state);
        self.tell();
        Ok(())
    }

    fn learn(&self, record: &Record) {
        let tokens = record.tokens.as_ref();
        let secrets = [
            tokens.map(|tokens| &tokens.access),
            tokens.and_then(|tokens| tokens.refresh.as_ref()),
            record.id_token.as_ref(),
            record.dpop_key.as_ref(),
        ];
        for secret in secrets.into_iter().flatten() {
            self.web.learn(&secret.0);
        }
    }

    /// Replaces the record, here and in the vault. One that the vault does not take counts until the app ends.
    pub(crate) async fn install(&self, record: Record) {
        self.learn(&record);
        let entry = record.entry();
        {
            let mut state = self.state();
            state.record = Some(record);
            state.generation += 1;
            state.renew_after = None;
        }
        let kept = self.settings.vault.write(&self.key(VaultKind::Account), entry).await;
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => Kept::ThisRun { cause: error.cause },
        };
        self.state().kept = Some(kept);
        self.tell();
    }

    /// Forgets the record. What the client is at its authorization server stays with `keep_client`.
    ///
    /// # Errors
    /// If the vault may still have it.
    pub(crate) async fn forget(&self, keep_client: bool) -> Result<(), AuthError> {
        let record = {
            let mut state = self.state();
            state.generation += 1;
            state.resource_nonce = None;
            state.kept = None;
            state.record.take()
        };
        *self.server_nonce.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let failed = |error| Phase::Storage.error(Cause::Vault(error));
        self.settings.vault.remove(&self.key(VaultKind::Account)).await.map_err(failed)?;
        if let Some(record) = record.filter(|_| !keep_client) {
            self.forget_client(&record.issuer).await?;
        }
        self.tell();
        Ok(())
    }

    pub(crate) async fn registration(&self, issuer: &str) -> Result<Option<Registration>, AuthError> {
        let key = self.key(VaultKind::Client { issuer: issuer.to_owned() });
        let entry = self.settings.vault.read(&key).await;
        let entry = entry.map_err(|error| Phase::ClientId.error(Cause::Vault(error)))?;
        Ok(entry.and_then(|entry| Registration::read(&entry, issuer, seconds(self.now()))))
    }

    /// Keeps a registration. If that fails, the next sign-in registers anew, which is no reason to fail this one.
    pub(crate) async fn keep_registration(&self, registration: &Registration) {
        let key = self.key(VaultKind::Client { issuer: registration.issuer.clone() });
        if self.settings.vault.write(&key, registration.entry()).await.is_err() {
            self.web.note(Phase::ClientId, "the registration could not be kept");
        }
    }

    pub(crate) async fn forget_client(&self, issuer: &str) -> Result<(), AuthError> {
        let key = self.key(VaultKind::Client { issuer: issuer.to_owned() });
        self.settings.vault.remove(&key).await.map_err(|error| Phase::Storage.error(Cause::Vault(error)))
    }

    /// Which authorization server the client id of the settings was first used with: `client_id` and issuer.
    pub(crate) async fn first_issuer(&self, client_id: &str) -> Result<Option<String>, AuthError> {
        let entry = self.settings.vault.read(&self.key(VaultKind::FirstIssuer)).await;
        let entry = entry.map_err(|error| Phase::ClientId.error(Cause::Vault(error)))?;
        let pair = entry.and_then(|entry| serde_json::from_slice::<(String, String)>(entry.expose_secret()).ok());
        Ok(pair.filter(|(id, _)| id == client_id).map(|(_, issuer)| issuer))
    }

    pub(crate) async fn keep_first_issuer(&self, client_id: &str, issuer: &str) {
        let entry = serde_json::to_vec(&(client_id, issuer)).unwrap_or_default();
        if self.settings.vault.write(&self.key(VaultKind::FirstIssuer), entry.into()).await.is_err() {
            self.web.note(Phase::ClientId, "which authorization server the client id is for could not be kept");
        }
    }
}
