//! What is kept in the vault, and what is remembered of it. Other programs may have the same vault, such as the app and its
//! command line.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretSlice};
use tokio::time::Instant;

use crate::dpop::seconds;
use crate::error::{AuthError, Cause, Phase};
use crate::record::Record;
use crate::registration::Registration;
use crate::settings::DpopUse;
use crate::shared::{InVault, Shared};
use crate::vault::{Kept, VaultError, VaultKind};

/// How long a vault that could not be read is left alone by requests: it may take its time to fail.
const PAUSE: Duration = Duration::from_secs(10);

impl Shared {
    pub(crate) async fn load(&self) -> Result<(), AuthError> {
        if self.state().loaded {
            return Ok(());
        }
        let began = Instant::now();
        let _turn = self.keeping.lock().await;
        {
            let state = self.state();
            if state.loaded {
                return Ok(());
            }
            // Those who waited for a read that failed do not try it once more each.
            if let Some((_, error)) = state.unread.as_ref().filter(|(at, _)| *at >= began) {
                return Err(unread(error.clone()));
            }
        }
        let entry = match self.settings.vault.read(&self.key(VaultKind::Account)).await {
            Ok(entry) => entry,
            Err(error) => {
                self.state().unread = Some((Instant::now(), error.clone()));
                return Err(unread(error));
            }
        };
        let record = self.record(entry.as_ref());
        {
            let mut state = self.state();
            state.in_vault = InVault::of(entry.as_ref());
            // A sign-in that came to its end meanwhile counts for more.
            if state.loaded {
                return Ok(());
            }
            state.loaded = true;
            state.unread = None;
            state.record = record;
            state.generation += 1;
        }
        self.tell();
        Ok(())
    }

    /// Reads the vault for a request that is about to be sent, unless that has just failed. What then goes out unsigned is
    /// good for servers that want no sign-in; any other refuses it, and the user is told.
    pub(crate) async fn load_if_possible(&self) {
        let has_failed = self.state().unread.as_ref().is_some_and(|(at, _)| at.elapsed() < PAUSE);
        if !has_failed {
            let _ = self.load().await;
        }
    }

    /// Reads the vault again: another program may have renewed the tokens, signed in or signed out. If so, that is what
    /// counts from now on, and true.
    pub(crate) async fn look_again(&self) -> bool {
        let before = self.state().generation;
        if !self.state().loaded {
            return self.load().await.is_ok() && self.state().generation != before;
        }
        let _turn = self.keeping.lock().await;
        // One that cannot be read at the moment changes nothing.
        let Ok(entry) = self.settings.vault.read(&self.key(VaultKind::Account)).await else { return false };
        let record = self.record(entry.as_ref());
        {
            let mut state = self.state();
            let found = InVault::of(entry.as_ref());
            let known = std::mem::replace(&mut state.in_vault, found);
            let ours = InVault::of(state.record.as_ref().map(Record::entry).as_ref());
            // What could not be read before is older than what has happened since; and what cannot be understood is no
            // reason to forget what can.
            let is_older = known == InVault::Unknown;
            if known == found || ours == found || is_older || (record.is_none() && entry.is_some()) {
                return false;
            }
            state.record = record;
            state.generation += 1;
            state.failed = None;
            state.kept = None;
        }
        let what = if entry.is_some() { "renewed or signed in" } else { "signed out" };
        self.web.note(Phase::Storage, &format!("another program {what}; that counts here as well"));
        self.tell();
        true
    }

    /// The record that an entry of the vault holds.
    fn record(&self, entry: Option<&SecretSlice<u8>>) -> Option<Record> {
        let mut record = Record::read(entry?, &self.server)?;
        // What the user set since then counts.
        if self.settings.issuer.as_ref().is_some_and(|issuer| *issuer != record.issuer) {
            return None;
        }
        self.learn(&record);
        if self.settings.dpop == DpopUse::Always && record.tokens.as_ref().is_some_and(|tokens| !tokens.bound) {
            record.tokens = None;
            record.ended =
                Some("the token is bound to no key, which the settings of this server now require".to_owned());
        }
        Some(record)
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
        {
            let mut state = self.state();
            state.record = Some(record);
            state.loaded = true;
            state.generation += 1;
            state.failed = None;
        }
        let _turn = self.keeping.lock().await;
        let entry = self.state().record.as_ref().map(Record::entry);
        // Forgotten meanwhile.
        let Some(entry) = entry else { return };
        let written = InVault::of(Some(&entry));
        let kept = self.settings.vault.write(&self.key(VaultKind::Account), entry).await;
        {
            let mut state = self.state();
            state.kept = Some(match kept {
                Ok(kept) => {
                    state.in_vault = written;
                    kept
                }
                Err(error) => Kept::ThisRun { cause: error.cause },
            });
        }
        self.tell();
    }

    /// Forgets the record. What the client is at its authorization server stays with `keep_client`.
    ///
    /// # Errors
    /// If the vault may still have it; here it is forgotten in any case.
    pub(crate) async fn forget(&self, keep_client: bool) -> Result<(), VaultError> {
        let record = {
            let mut state = self.state();
            state.loaded = true;
            state.generation += 1;
            state.resource_nonce = None;
            state.kept = None;
            state.failed = None;
            state.record.take()
        };
        self.server_nonces.clear();
        let removed = {
            let _turn = self.keeping.lock().await;
            let removed = self.settings.vault.remove(&self.key(VaultKind::Account)).await;
            if removed.is_ok() {
                self.state().in_vault = InVault::Nothing;
            }
            removed
        };
        if let Some(record) = record.filter(|_| !keep_client) {
            self.forget_client(&record.issuer).await;
        }
        self.tell();
        removed
    }

    /// The registration with an authorization server. One that cannot be read is made anew.
    pub(crate) async fn registration(&self, issuer: &str) -> Option<Registration> {
        let key = self.key(VaultKind::Client { issuer: issuer.to_owned() });
        match self.settings.vault.read(&key).await {
            Ok(entry) => Registration::read(&entry?, issuer, seconds(self.now())),
            Err(error) => {
                self.web.note(Phase::ClientId, &format!("what was registered could not be read: {error}"));
                None
            }
        }
    }

    /// Keeps a registration. If that fails, the next sign-in registers anew, which is no reason to fail this one.
    pub(crate) async fn keep_registration(&self, registration: &Registration) {
        let key = self.key(VaultKind::Client { issuer: registration.issuer.clone() });
        if self.settings.vault.write(&key, registration.entry()).await.is_err() {
            self.web.note(Phase::ClientId, "the registration could not be kept");
        }
    }

    pub(crate) async fn forget_client(&self, issuer: &str) {
        let key = self.key(VaultKind::Client { issuer: issuer.to_owned() });
        if let Err(error) = self.settings.vault.remove(&key).await {
            self.web.note(Phase::ClientId, &format!("the registration could not be removed: {error}"));
        }
    }

    /// Which authorization server the client id of the settings was first used with: `client_id` and issuer.
    pub(crate) async fn first_issuer(&self, client_id: &str) -> Result<Option<String>, AuthError> {
        let entry = self.settings.vault.read(&self.key(VaultKind::FirstIssuer)).await;
        let entry = entry.map_err(|error| Phase::ClientId.error(Cause::Vault(error)))?;
        let pair = entry.and_then(|entry| serde_json::from_slice::<(String, String)>(entry.expose_secret()).ok());
        Ok(pair.filter(|(id, _)| id == client_id).map(|(_, issuer)| issuer))
    }

    /// The client id of the settings belongs to this authorization server from now on, if it belongs to none yet.
    pub(crate) async fn keep_first_issuer(&self, issuer: &str) {
        let client = self.settings.client.preregistered.as_ref().filter(|client| client.issuer.is_none());
        let Some(client) = client else { return };
        if matches!(self.first_issuer(&client.client_id).await, Ok(Some(_))) {
            return;
        }
        let entry = serde_json::to_vec(&(&client.client_id, issuer)).unwrap_or_default();
        if self.settings.vault.write(&self.key(VaultKind::FirstIssuer), entry.into()).await.is_err() {
            self.web.note(Phase::ClientId, "which authorization server the client id is for could not be kept");
        }
    }
}

fn unread(error: VaultError) -> AuthError {
    Phase::Storage.error(Cause::Vault(error))
}
