//! Model providers: listing, changing and testing them.

use std::sync::Arc;

use credentials::providers::{
    ProviderError, ProviderTestResult, ProvidersView, api_key_name, api_key_name_prefix, request_test_reply,
};
use models::{ModelRef, ProviderSettings};
use ports::{SecretError, SecretPersistence};
use secrecy::{ExposeSecret, SecretString};

use super::{Host, HostClosed};

impl Host {
    /// Returns the model providers and their listed models.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn providers(&self) -> Result<ProvidersView, HostClosed> {
        self.with_owner(|owner| owner.models.providers.view()).await
    }

    /// Returns the default model of new conversations, if the user chose one.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn default_model(&self) -> Result<Option<ModelRef>, HostClosed> {
        self.with_owner(|owner| owner.models.providers.default_model()).await
    }

    /// Sets the default model of new conversations.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderError::NotFound`] if no provider has this id, [`ProviderError::Store`] if the settings can't
    /// be written, and [`ProviderError::Closing`] if the host has shut down.
    pub async fn set_default_model(&self, model: Option<ModelRef>) -> Result<(), ProviderError> {
        self.with_owner_reply_result(move |owner, reply| owner.set_default_model(model, reply)).await
    }

    /// Adds a provider, or replaces the settings of the provider with the same id.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderError::Settings`] if the settings are invalid, [`ProviderError::TooMany`] if the maximum
    /// number of providers is reached, [`ProviderError::Store`] if the settings can't be written, and
    /// [`ProviderError::Closing`] if the host has shut down.
    pub async fn set_provider(&self, settings: ProviderSettings) -> Result<(), ProviderError> {
        self.with_owner_reply_result(move |owner, reply| owner.set_provider(settings, reply)).await
    }

    /// Removes a model provider from the settings, and its keys from the keychain.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderError::NotFound`] if no provider has this id, [`ProviderError::Store`] if the settings can't
    /// be written, and [`ProviderError::Secret`] if a key can't be deleted.
    pub async fn remove_provider(&self, id: String) -> Result<(), ProviderError> {
        let name = id.clone();
        self.with_owner_reply_result(move |owner, reply| owner.remove_provider(&name, reply)).await?;
        let secrets = Arc::clone(&self.ports().secrets);
        run_blocking(move || {
            let keys = secrets.keys(&api_key_name_prefix(&id))?;
            keys.iter().try_for_each(|key| secrets.delete(key))
        })
        .await
        .map_err(ProviderError::Secret)
    }

    /// Stores the API key of a provider, bound to the provider's current address. An empty key deletes the stored one.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderError::NotFound`] if no provider has this id, and [`ProviderError::Secret`] if the key can't
    /// be stored.
    pub async fn set_provider_key(&self, id: String, key: SecretString) -> Result<SecretPersistence, ProviderError> {
        let name = id.clone();
        let settings = self.with_owner_result(move |owner| owner.models.providers.settings_of(&name)).await?;
        let (secrets, place) = (Arc::clone(&self.ports().secrets), api_key_name(&settings));
        let persistence = run_blocking(move || match key.expose_secret().trim() {
            "" => secrets.delete(&place).map(|()| SecretPersistence::Keychain),
            key => secrets.set(&place, key),
        })
        .await;
        self.with_owner(move |owner| owner.on_provider_key_changed(&id)).await?;
        persistence.map_err(ProviderError::Secret)
    }

    /// Returns the ids of providers for whose current address a key is stored. The keys themselves are not read.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn providers_with_key(&self) -> Result<Vec<String>, HostClosed> {
        let view = self.providers().await?;
        let secrets = Arc::clone(&self.ports().secrets);
        let keys = run_blocking(move || secrets.keys("model/")).await.unwrap_or_default();
        let settings = view.providers.into_iter().map(|provider| provider.settings);
        Ok(settings.filter(|own| keys.contains(&api_key_name(own))).map(|own| own.id).collect())
    }

    /// Requests the list of models from a provider, and stores it. Returns the number of models.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderError::NotFound`] if no provider has this id, and [`ProviderError::Model`] if the provider
    /// returns an error.
    pub async fn refresh_models(&self, id: String) -> Result<usize, ProviderError> {
        let name = id.clone();
        let settings = self.with_owner_result(move |owner| owner.models.providers.settings_of(&name)).await?;
        let listed = self.provider_registry().await?.models(&id).await;
        let count = listed.as_ref().map_or(0, Vec::len);
        self.with_owner_reply_result(move |owner, reply| owner.on_models_listed(&settings, listed, reply)).await?;
        Ok(count)
    }

    /// Tests a provider: requests its list of models and, if `model` is given, a short reply of that model.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderError::NotFound`] if no provider has this id, and [`ProviderError::Model`] if the provider or
    /// the model returns an error.
    pub async fn test_provider(&self, id: String, model: Option<String>) -> Result<ProviderTestResult, ProviderError> {
        let models = self.refresh_models(id.clone()).await?;
        let Some(model) = model else { return Ok(ProviderTestResult { models, reply: None }) };
        let provider = self.provider_registry().await?.provider(&id)?;
        let reply = request_test_reply(provider.as_ref(), model).await?;
        Ok(ProviderTestResult { models, reply: Some(reply) })
    }
}

/// Runs an operation on a blocking thread, since it may wait for the keychain.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SecretError> + Send + 'static,
) -> Result<T, SecretError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(SecretError::Failed(error.to_string())))
}
