//! The providers of models: listed, changed, tried.

use std::sync::Arc;

use credentials::providers::{ProviderError, ProvidersView, Tried, key_place, key_prefix, try_model};
use models::{ModelRef, ProviderSettings};
use ports::{SecretError, SecretKept};
use secrecy::{ExposeSecret, SecretString};

use super::{Host, HostClosed};

impl Host {
    /// The providers of models, and what they listed.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn providers(&self) -> Result<ProvidersView, HostClosed> {
        self.with(|owner| owner.models.providers.view()).await
    }

    /// The model that new conversations begin with.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn default_model(&self) -> Result<Option<ModelRef>, HostClosed> {
        self.with(|owner| owner.models.providers.default_model()).await
    }

    /// Sets the model that new conversations begin with.
    ///
    /// # Errors
    /// If there is no such provider, or it can't be written.
    pub async fn set_default_model(&self, model: Option<ModelRef>) -> Result<(), ProviderError> {
        self.with_reply(move |owner, reply| owner.set_default_model(model, reply)).await?
    }

    /// Adds a provider, or changes the one with that id.
    ///
    /// # Errors
    /// If the settings can't be used or not be written.
    pub async fn set_provider(&self, settings: ProviderSettings) -> Result<(), ProviderError> {
        self.with_reply(move |owner, reply| owner.set_provider(settings, reply)).await?
    }

    /// Takes a provider out, and its keys.
    ///
    /// # Errors
    /// If there is none, or it can't be written; or if a key can't be forgotten.
    pub async fn remove_provider(&self, id: String) -> Result<(), ProviderError> {
        let name = id.clone();
        self.with_reply(move |owner, reply| owner.remove_provider(&name, reply)).await??;
        let secrets = Arc::clone(&self.ports().secrets);
        beside(move || {
            let keys = secrets.keys(&key_prefix(&id))?;
            keys.iter().try_for_each(|key| secrets.delete(key))
        })
        .await
        .map_err(ProviderError::Secret)
    }

    /// Keeps a provider's key, for the address that it has now; an empty one is forgotten.
    ///
    /// # Errors
    /// If there is no such provider, or the key can't be kept.
    pub async fn set_provider_key(&self, id: String, key: SecretString) -> Result<SecretKept, ProviderError> {
        let name = id.clone();
        let settings = self.with(move |owner| owner.models.providers.settings_of(&name)).await??;
        let (secrets, place) = (Arc::clone(&self.ports().secrets), key_place(&settings));
        let kept = beside(move || match key.expose_secret().trim() {
            "" => secrets.delete(&place).map(|()| SecretKept::Keychain),
            key => secrets.set(&place, key),
        })
        .await;
        self.with(move |owner| owner.key_changed(&id)).await?;
        kept.map_err(ProviderError::Secret)
    }

    /// The providers that have a key for the address that they have now. The keychain is not asked.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn providers_with_key(&self) -> Result<Vec<String>, HostClosed> {
        let view = self.providers().await?;
        let secrets = Arc::clone(&self.ports().secrets);
        let kept = beside(move || secrets.keys("model/")).await.unwrap_or_default();
        let settings = view.providers.into_iter().map(|provider| provider.settings);
        Ok(settings.filter(|own| kept.contains(&key_place(own))).map(|own| own.id).collect())
    }

    /// Asks a provider for its models, and keeps the list.
    ///
    /// # Errors
    /// If there is no such provider, or it does not answer as it should.
    pub async fn refresh_models(&self, id: String) -> Result<usize, ProviderError> {
        let name = id.clone();
        let settings = self.with(move |owner| owner.models.providers.settings_of(&name)).await??;
        let listed = self.models().await?.models(&id).await;
        let count = listed.as_ref().map_or(0, Vec::len);
        self.with_reply(move |owner, reply| owner.on_listed(&settings, listed, reply)).await??;
        Ok(count)
    }

    /// Tries a provider: whether it lists its models and, if one is given, what that model says.
    ///
    /// # Errors
    /// If there is no such provider, or it does not answer as it should.
    pub async fn test_provider(&self, id: String, model: Option<String>) -> Result<Tried, ProviderError> {
        let models = self.refresh_models(id.clone()).await?;
        let Some(model) = model else { return Ok(Tried { models, said: None }) };
        let provider = self.models().await?.provider(&id)?;
        let said = try_model(provider.as_ref(), model).await?;
        Ok(Tried { models, said: Some(said) })
    }
}

/// Runs what may wait for the keychain where it holds nobody up.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SecretError> + Send + 'static,
) -> Result<T, SecretError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(SecretError::Failed(error.to_string())))
}
