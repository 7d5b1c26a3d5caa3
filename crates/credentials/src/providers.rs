//! Model providers that the user has configured: their settings, and access to their API keys.
//!
//! `models.json` contains the settings. An API key is stored in [`Secrets`] under the provider and the origin for which
//! the user entered it, so that it is never sent to another origin. It is read on first use.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{Millis, StoreError};
use models::{
    HttpProvider, LocalProvider, LossyConversion, Model, ModelError, ModelRef, ModelRequest, Provider, ProviderKind,
    ProviderSettings, ProviderSettingsError, ReplyStream, Role,
};
use ports::{SecretError, Secrets};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

/// Maximum number of model providers that the user can configure.
pub const MAX_MODEL_PROVIDERS: usize = 50;

/// Contents of the file `models.json`: the configured model providers and the default model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvidersFile {
    /// Model of new conversations, or `None` if the user chose none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<ModelRef>,
    /// Providers, in the order in which they were added.
    #[serde(default)]
    pub providers: Vec<ProviderSettings>,
}

/// Models that a provider returned when Drawbridge last requested its list of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// Models in the order in which the provider returned them.
    pub models: Vec<Model>,
    /// Time at which the list was received, in milliseconds since 1970.
    pub at: Millis,
}

/// Contents of the file `model-lists.json`: the last list of models by provider id.
pub type ModelLists = BTreeMap<String, ModelList>;

/// Model provider with its models, as the page shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderView {
    /// Settings of the provider, without its API key.
    pub settings: ProviderSettings,
    /// Models that the provider last listed.
    pub models: Vec<Model>,
    /// Time at which the provider last listed its models, in milliseconds since 1970, or `None` if it never did.
    pub listed_at: Option<Millis>,
    /// Error of the last request for the provider's models since Drawbridge started, or `None` if the request
    /// succeeded.
    pub problem: Option<ModelError>,
}

/// All configured model providers, as the page shows them.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvidersView {
    /// Providers in the order in which they were added.
    pub providers: Vec<ProviderView>,
    /// Default model of new conversations, or `None` if the user chose none.
    pub default: Option<ModelRef>,
}

/// Result of listing a provider's models and, optionally, requesting a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderTestResult {
    /// Number of models that the provider lists.
    pub models: usize,
    /// Text of a model's reply, and the time until its first part arrived, in milliseconds. `None` if no model was
    /// tested.
    pub reply: Option<(String, Millis)>,
}

/// Error of a command that adds, changes, removes or tests a model provider.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProviderError {
    /// No provider has this id.
    #[error("no provider \"{0}\" is set up")]
    NotFound(String),
    /// The settings are invalid.
    #[error(transparent)]
    Settings(#[from] ProviderSettingsError),
    /// [`MAX_MODEL_PROVIDERS`] providers are configured already.
    #[error("there are {MAX_MODEL_PROVIDERS} providers, and no room for more; remove one first")]
    TooMany,
    /// The settings could not be written to disk.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The API key could not be stored.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The provider or its model returned an error.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The host is shutting down.
    #[error("Drawbridge is closing")]
    Closing,
}

/// Returns the name under which the API key of a provider is stored. It contains the origin of the provider's URL.
pub fn api_key_name(settings: &ProviderSettings) -> String {
    format!("{}{}", api_key_name_prefix(&settings.id), settings.origin())
}

/// Returns the common prefix of the names under which API keys of a provider are stored, for all origins.
pub fn api_key_name_prefix(id: &str) -> String {
    format!("model/{id} @ ")
}

/// Searches for model servers on this computer.
pub async fn find_local_providers() -> Vec<LocalProvider> {
    match mcp_transport::http::client_for_models(true) {
        Ok(client) => models::find_local_providers(&client).await,
        Err(_) => Vec::new(),
    }
}

/// Requests a short reply from a model. Returns the text, truncated to 500 characters, and the time until its first
/// part in milliseconds.
///
/// # Errors
///
/// Returns the [`ModelError`] of the request or of the stream.
pub async fn request_test_reply(provider: &dyn Provider, model: String) -> Result<(String, Millis), ModelError> {
    use futures_util::StreamExt as _;

    let begun = tokio::time::Instant::now();
    let request = ModelRequest {
        model,
        messages: vec![models::ModelMessage::text(Role::User, "Say hello in one short sentence.")],
        max_tokens: Some(256),
        ..ModelRequest::default()
    };
    let mut deltas = provider.stream(request).await?;
    let (mut first, mut reply_text) = (None, String::new());
    while let Some(delta) = deltas.next().await {
        match delta? {
            models::ReplyDelta::Ended(reply) => reply_text = reply.message.plain_text().chars().take(500).collect(),
            _ => first = first.or(Some(begun.elapsed())),
        }
    }
    let first = first.unwrap_or_else(|| begun.elapsed());
    Ok((reply_text, u64::try_from(first.as_millis()).unwrap_or(u64::MAX)))
}

/// Provider whose API key is read from the keychain at the first request.
pub struct StoredKeyProvider {
    settings: ProviderSettings,
    secrets: Arc<dyn Secrets>,
    /// Provider without an API key, for methods that send no request.
    keyless: HttpProvider,
    client: reqwest::Client,
    ready: Mutex<Option<Arc<HttpProvider>>>,
}

impl StoredKeyProvider {
    /// Creates a provider with these settings. Its API key is read from `secrets` at the first request.
    ///
    /// # Errors
    ///
    /// Returns [`ModelError::Unreachable`] if no HTTP client can be created.
    pub fn new(settings: ProviderSettings, secrets: Arc<dyn Secrets>) -> Result<Self, ModelError> {
        let client = mcp_transport::http::client_for_models(settings.is_local())
            .map_err(|error| ModelError::Unreachable { cause: error.without_url().to_string() })?;
        let keyless = HttpProvider::new(settings.clone(), None, client.clone());
        Ok(Self { settings, secrets, keyless, client, ready: Mutex::default() })
    }

    async fn provider_with_key(&self) -> Result<Arc<HttpProvider>, ModelError> {
        let mut ready = self.ready.lock().await;
        if let Some(provider) = &*ready {
            return Ok(Arc::clone(provider));
        }
        let (secrets, place) = (Arc::clone(&self.secrets), api_key_name(&self.settings));
        let key = tokio::task::spawn_blocking(move || secrets.get(&place)).await;
        let unreadable = |cause: String| ModelError::KeyUnreadable { cause };
        let key = match key.map_err(|error| unreadable(error.to_string()))? {
            Ok(key) => key.map(SecretString::from),
            // A local provider rarely requires an API key. If it does, it rejects the request, and the key is read
            // again for the next one.
            Err(_) if self.settings.is_local() => None,
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let provider = Arc::new(HttpProvider::new(self.settings.clone(), key, self.client.clone()));
        *ready = Some(Arc::clone(&provider));
        Ok(provider)
    }

    /// Returns `result`. If the provider rejected the API key, also discards the key, so that the next request reads it
    /// from the keychain again, where another process may have stored a new one.
    async fn discard_rejected_key<T>(&self, result: Result<T, ModelError>) -> Result<T, ModelError> {
        if matches!(result, Err(ModelError::WrongKey { .. } | ModelError::NoKey)) {
            *self.ready.lock().await = None;
        }
        result
    }
}

#[async_trait::async_trait]
impl Provider for StoredKeyProvider {
    fn kind(&self) -> ProviderKind {
        self.settings.kind
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        let listed = self.provider_with_key().await?.models().await;
        self.discard_rejected_key(listed).await
    }

    fn find_lossy_conversions(&self, request: &ModelRequest) -> Vec<LossyConversion> {
        self.keyless.find_lossy_conversions(request)
    }

    async fn stream(&self, request: ModelRequest) -> Result<ReplyStream, ModelError> {
        let deltas = self.provider_with_key().await?.stream(request).await;
        self.discard_rejected_key(deltas).await
    }
}

/// Provider that rejects all requests, because another program set its URL and the user has not confirmed it.
pub struct UnconfirmedProvider {
    /// Kind of the provider: the API that it has.
    pub kind: ProviderKind,
    /// Error that every request returns.
    pub problem: ModelError,
}

#[async_trait::async_trait]
impl Provider for UnconfirmedProvider {
    fn kind(&self) -> ProviderKind {
        self.kind
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        Err(self.problem.clone())
    }

    fn find_lossy_conversions(&self, _: &ModelRequest) -> Vec<LossyConversion> {
        Vec::new()
    }

    async fn stream(&self, _: ModelRequest) -> Result<ReplyStream, ModelError> {
        Err(self.problem.clone())
    }
}
