//! Reads and writes the sign-in in the vault, and keeps a copy in memory. Other processes may use the same vault: both
//! the app and its command line do.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretSlice};
use tokio::time::Instant;

use crate::authorization_context::{AuthorizationContext, LastKnownVaultContents};
use crate::client_registration::ClientRegistration;
use crate::dpop::unix_seconds;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::settings::DpopUse;
use crate::sign_in_record::SignInRecord;
use crate::vault::{VaultEntryKind, VaultEntryPersistence, VaultError};

/// Minimum time between a failed read of the vault and the next attempt by a request, since a failing read may take
/// long.
const VAULT_READ_RETRY_DELAY: Duration = Duration::from_secs(10);

impl AuthorizationContext {
    pub(crate) async fn load_stored_sign_in(&self) -> Result<(), AuthError> {
        if self.state().loaded {
            return Ok(());
        }
        let began = Instant::now();
        let _lock = self.record_lock.lock().await;
        {
            let state = self.state();
            if state.loaded {
                return Ok(());
            }
            // Callers that waited for a failed read do not retry individually.
            if let Some((_, error)) = state.last_read_error.as_ref().filter(|(at, _)| *at >= began) {
                return Err(vault_read_error(error.clone()));
            }
        }
        let entry = match self.settings.vault.read(&self.vault_key(VaultEntryKind::Account)).await {
            Ok(entry) => entry,
            Err(error) => {
                self.state().last_read_error = Some((Instant::now(), error.clone()));
                return Err(vault_read_error(error));
            }
        };
        let record = self.parse_sign_in_record(entry.as_ref());
        {
            let mut state = self.state();
            state.in_vault = LastKnownVaultContents::from_entry(entry.as_ref());
            // A sign-in that completed meanwhile takes precedence.
            if state.loaded {
                return Ok(());
            }
            state.loaded = true;
            state.last_read_error = None;
            state.record = record;
            state.generation += 1;
        }
        self.notify_change();
        Ok(())
    }

    /// Reads the vault before a request is sent, unless a recent read has failed. If that yields no tokens, the request
    /// is sent without authorization: servers without sign-in accept it, and others refuse it, which is reported to the
    /// user.
    pub(crate) async fn load_record_unless_recently_failed(&self) {
        let has_failed =
            self.state().last_read_error.as_ref().is_some_and(|(at, _)| at.elapsed() < VAULT_READ_RETRY_DELAY);
        if !has_failed {
            let _ = self.load_stored_sign_in().await;
        }
    }

    /// Reads the sign-in record from the vault again and replaces the one in memory, since another process may have
    /// renewed the tokens, signed in or signed out. Returns `true` if the tokens changed.
    pub(crate) async fn reload_record(&self) -> bool {
        let before = self.state().generation;
        if !self.state().loaded {
            return self.load_stored_sign_in().await.is_ok() && self.state().generation != before;
        }
        let _lock = self.record_lock.lock().await;
        // A temporary read error has no effect.
        let Ok(entry) = self.settings.vault.read(&self.vault_key(VaultEntryKind::Account)).await else { return false };
        let record = self.parse_sign_in_record(entry.as_ref());
        {
            let mut state = self.state();
            let found = LastKnownVaultContents::from_entry(entry.as_ref());
            let known = std::mem::replace(&mut state.in_vault, found);
            let ours =
                LastKnownVaultContents::from_entry(state.record.as_ref().map(SignInRecord::to_vault_entry).as_ref());
            // An entry that could not be read before is older than the current state. An entry that cannot be parsed
            // does not replace a valid record.
            let is_older = known == LastKnownVaultContents::Unknown;
            if known == found || ours == found || is_older || (record.is_none() && entry.is_some()) {
                return false;
            }
            state.record = record;
            state.generation += 1;
            state.failed_refresh = None;
            state.persistence = None;
        }
        let what = if entry.is_some() { "renewed or signed in" } else { "signed out" };
        self.web.note(AuthPhase::Storage, &format!("another process {what}; this sign-in was updated"));
        self.notify_change();
        true
    }

    /// Parses a vault entry as a sign-in record. Returns `None` if the record does not match the settings, such as the
    /// configured issuer.
    fn parse_sign_in_record(&self, entry: Option<&SecretSlice<u8>>) -> Option<SignInRecord> {
        let mut record = SignInRecord::from_vault_entry(entry?, &self.mcp_server)?;
        // A record of another issuer than the configured one is not used.
        if self.settings.issuer.as_ref().is_some_and(|issuer| *issuer != record.issuer) {
            return None;
        }
        self.register_record_secrets_to_redact(&record);
        if self.settings.dpop == DpopUse::Always && record.tokens.as_ref().is_some_and(|tokens| !tokens.bound) {
            record.tokens = None;
            record.ended =
                Some("the token is bound to no key, which the settings of this server now require".to_owned());
        }
        Some(record)
    }

    fn register_record_secrets_to_redact(&self, record: &SignInRecord) {
        let tokens = record.tokens.as_ref();
        let secrets = [
            tokens.map(|tokens| &tokens.access),
            tokens.and_then(|tokens| tokens.refresh.as_ref()),
            record.id_token.as_ref(),
            record.dpop_key.as_ref(),
        ];
        for secret in secrets.into_iter().flatten() {
            self.web.register_secret(&secret.0);
        }
    }

    /// Replaces the sign-in record in memory and in the vault. If the vault can't store it, the record stays in memory
    /// until the app exits.
    pub(crate) async fn store_record(&self, record: SignInRecord) {
        self.register_record_secrets_to_redact(&record);
        {
            let mut state = self.state();
            state.record = Some(record);
            state.loaded = true;
            state.generation += 1;
            state.failed_refresh = None;
        }
        let _lock = self.record_lock.lock().await;
        let entry = self.state().record.as_ref().map(SignInRecord::to_vault_entry);
        // The record was removed meanwhile.
        let Some(entry) = entry else { return };
        let written = LastKnownVaultContents::from_entry(Some(&entry));
        let result = self.settings.vault.write(&self.vault_key(VaultEntryKind::Account), entry).await;
        {
            let mut state = self.state();
            state.persistence = Some(match result {
                Ok(result) => {
                    state.in_vault = written;
                    result
                }
                Err(error) => VaultEntryPersistence::ThisRun { cause: error.cause },
            });
        }
        self.notify_change();
    }

    /// Removes the sign-in record from memory and from the vault. The client registration is removed too, unless
    /// `keep_client` is set.
    ///
    /// # Errors
    /// Returns a [`VaultError`] if the vault may still have the record. It is removed from memory in any case.
    pub(crate) async fn remove_sign_in_record(&self, keep_client: bool) -> Result<(), VaultError> {
        let record = {
            let mut state = self.state();
            state.loaded = true;
            state.generation += 1;
            state.resource_nonce = None;
            state.persistence = None;
            state.failed_refresh = None;
            state.record.take()
        };
        self.authorization_nonces.clear();
        let removed = {
            let _lock = self.record_lock.lock().await;
            let removed = self.settings.vault.remove(&self.vault_key(VaultEntryKind::Account)).await;
            if removed.is_ok() {
                self.state().in_vault = LastKnownVaultContents::Nothing;
            }
            removed
        };
        if let Some(record) = record.filter(|_| !keep_client) {
            self.forget_client(&record.issuer).await;
        }
        self.notify_change();
        removed
    }

    /// Returns the stored client registration at an authorization server, or `None` if there is none or it cannot be
    /// read.
    pub(crate) async fn load_registration(&self, issuer: &str) -> Option<ClientRegistration> {
        let key = self.vault_key(VaultEntryKind::Client { issuer: issuer.to_owned() });
        match self.settings.vault.read(&key).await {
            Ok(entry) => ClientRegistration::from_vault_entry(&entry?, issuer, unix_seconds(self.now())),
            Err(error) => {
                self.web.note(AuthPhase::ClientId, &format!("the registration could not be read: {error}"));
                None
            }
        }
    }

    /// Stores a registration. Failures are ignored, since the next sign-in can register again.
    pub(crate) async fn store_registration(&self, registration: &ClientRegistration) {
        let key = self.vault_key(VaultEntryKind::Client { issuer: registration.issuer.clone() });
        if self.settings.vault.write(&key, registration.to_vault_entry()).await.is_err() {
            self.web.note(AuthPhase::ClientId, "the registration could not be stored");
        }
    }

    pub(crate) async fn forget_client(&self, issuer: &str) {
        let key = self.vault_key(VaultEntryKind::Client { issuer: issuer.to_owned() });
        if let Err(error) = self.settings.vault.remove(&key).await {
            self.web.note(AuthPhase::ClientId, &format!("the registration could not be removed: {error}"));
        }
    }

    /// Returns the issuer with which the pre-registered client id was first used.
    pub(crate) async fn issuer_bound_to_client_id(&self, client_id: &str) -> Result<Option<String>, AuthError> {
        let entry = self.settings.vault.read(&self.vault_key(VaultEntryKind::FirstIssuer)).await;
        let entry = entry.map_err(|error| AuthPhase::ClientId.error(AuthErrorCause::Vault(error)))?;
        let pair = entry.and_then(|entry| serde_json::from_slice::<(String, String)>(entry.expose_secret()).ok());
        Ok(pair.filter(|(id, _)| id == client_id).map(|(_, issuer)| issuer))
    }

    /// Stores this issuer as the one with which the pre-registered client id was first used, unless one is stored
    /// already.
    pub(crate) async fn bind_client_id_to_issuer(&self, issuer: &str) {
        let client = self.settings.client.preregistered.as_ref().filter(|client| client.issuer.is_none());
        let Some(client) = client else { return };
        if matches!(self.issuer_bound_to_client_id(&client.client_id).await, Ok(Some(_))) {
            return;
        }
        let entry = serde_json::to_vec(&(&client.client_id, issuer)).unwrap_or_default();
        if self.settings.vault.write(&self.vault_key(VaultEntryKind::FirstIssuer), entry.into()).await.is_err() {
            self.web.note(AuthPhase::ClientId, "the issuer of the client id could not be stored");
        }
    }
}

fn vault_read_error(error: VaultError) -> AuthError {
    AuthPhase::Storage.error(AuthErrorCause::Vault(error))
}
