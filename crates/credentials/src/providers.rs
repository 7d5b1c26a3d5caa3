//! The providers of models that the user has: what is kept of them, and how their keys reach them.
//!
//! `models.json` has the settings; a key is kept by [`Secrets`] under the provider and the origin that it was entered for, so that
//! another address never gets it. It is read when it is first needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{Millis, StoreError};
use models::{
    Deltas, Found, HttpProvider, Loss, Model, ModelError, ModelRef, Provider, ProviderKind, ProviderSettings, Request,
    Role, SettingsError,
};
use ports::{SecretError, Secrets};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

/// The most providers.
pub const MAX_PROVIDERS: usize = 50;

/// `models.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvidersFile {
    /// The model that new conversations begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<ModelRef>,
    /// The providers, in the order in which they were added.
    #[serde(default)]
    pub providers: Vec<ProviderSettings>,
}

/// The models of a provider as it listed them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The models.
    pub models: Vec<Model>,
    /// The time of the list.
    pub at: Millis,
}

/// `model-lists.json`, by provider.
pub type Lists = BTreeMap<String, Listed>;

/// A provider, to show.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderView {
    /// Its settings.
    pub settings: ProviderSettings,
    /// Its models, as it listed them last.
    pub models: Vec<Model>,
    /// When it listed them; none if it never did.
    pub listed_at: Option<Millis>,
    /// Why it did not answer, if it did not when it was asked last in this run.
    pub problem: Option<ModelError>,
}

/// All providers, to show.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvidersView {
    /// The providers, in order.
    pub providers: Vec<ProviderView>,
    /// The model that new conversations begin with.
    pub default: Option<ModelRef>,
}

/// What a test of a provider found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// How many models it lists.
    pub models: usize,
    /// What a model said, and after how many milliseconds it began; none if none was asked.
    pub said: Option<(String, Millis)>,
}

/// Why providers can't be changed or asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProviderError {
    /// There is none.
    #[error("no provider \"{0}\" is set up")]
    NotFound(String),
    /// The settings can't be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// There are too many.
    #[error("there are {MAX_PROVIDERS} providers, and no room for more; remove one first")]
    TooMany,
    /// They can't be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key can't be kept.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The provider does not answer as it should.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Drawbridge is closing.
    #[error("Drawbridge is closing")]
    Closing,
}

/// What a provider's key is kept under.
pub fn key_place(settings: &ProviderSettings) -> String {
    format!("{}{}", key_prefix(&settings.id), settings.origin())
}

/// What all keys of a provider begin with, whatever address they are for.
pub fn key_prefix(id: &str) -> String {
    format!("model/{id} @ ")
}

/// Looks for what serves models on this computer.
pub async fn find_local() -> Vec<Found> {
    match mcp_transport::http::for_models(true) {
        Ok(client) => models::find_local(&client).await,
        Err(_) => Vec::new(),
    }
}

/// Asks a model to say something short. Gives what it said, and after how long it began.
pub async fn try_model(provider: &dyn Provider, model: String) -> Result<(String, Millis), ModelError> {
    use futures_util::StreamExt as _;

    let begun = tokio::time::Instant::now();
    let request = Request {
        model,
        messages: vec![models::Message::text(Role::User, "Say hello in one short sentence.")],
        max_tokens: Some(256),
        ..Request::default()
    };
    let mut deltas = provider.stream(request).await?;
    let (mut first, mut said) = (None, String::new());
    while let Some(delta) = deltas.next().await {
        match delta? {
            models::Delta::Ended(reply) => said = reply.message.plain_text().chars().take(500).collect(),
            _ => first = first.or(Some(begun.elapsed())),
        }
    }
    let first = first.unwrap_or_else(|| begun.elapsed());
    Ok((said, u64::try_from(first.as_millis()).unwrap_or(u64::MAX)))
}

/// A provider whose key is read from the keychain when it is first asked.
pub struct Keyed {
    settings: ProviderSettings,
    secrets: Arc<dyn Secrets>,
    /// What can be told without a key.
    keyless: HttpProvider,
    client: reqwest::Client,
    ready: Mutex<Option<Arc<HttpProvider>>>,
}

impl Keyed {
    /// A provider with these settings; its key stays in `secrets` until it is needed.
    pub fn new(settings: ProviderSettings, secrets: Arc<dyn Secrets>) -> Result<Self, ModelError> {
        let client = mcp_transport::http::for_models(settings.is_local())
            .map_err(|error| ModelError::Unreachable { cause: error.without_url().to_string() })?;
        let keyless = HttpProvider::new(settings.clone(), None, client.clone());
        Ok(Self { settings, secrets, keyless, client, ready: Mutex::default() })
    }

    async fn ready(&self) -> Result<Arc<HttpProvider>, ModelError> {
        let mut ready = self.ready.lock().await;
        if let Some(provider) = &*ready {
            return Ok(Arc::clone(provider));
        }
        let (secrets, place) = (Arc::clone(&self.secrets), key_place(&self.settings));
        let key = tokio::task::spawn_blocking(move || secrets.get(&place)).await;
        let unreadable = |cause: String| ModelError::KeyUnreadable { cause };
        let key = match key.map_err(|error| unreadable(error.to_string()))? {
            Ok(key) => key.map(SecretString::from),
            // One on this computer seldom has a key; if it wants one after all, it says so, and the key is read again.
            Err(_) if self.settings.is_local() => None,
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let provider = Arc::new(HttpProvider::new(self.settings.clone(), key, self.client.clone()));
        *ready = Some(Arc::clone(&provider));
        Ok(provider)
    }

    /// A key that is not taken is read anew the next time: another program may have entered a new one.
    async fn looked_at<T>(&self, result: Result<T, ModelError>) -> Result<T, ModelError> {
        if matches!(result, Err(ModelError::WrongKey { .. } | ModelError::NoKey)) {
            *self.ready.lock().await = None;
        }
        result
    }
}

#[async_trait::async_trait]
impl Provider for Keyed {
    fn kind(&self) -> ProviderKind {
        self.settings.kind
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        let listed = self.ready().await?.models().await;
        self.looked_at(listed).await
    }

    fn cannot_carry(&self, request: &Request) -> Vec<Loss> {
        self.keyless.cannot_carry(request)
    }

    async fn stream(&self, request: Request) -> Result<Deltas, ModelError> {
        let deltas = self.ready().await?.stream(request).await;
        self.looked_at(deltas).await
    }
}

/// A provider that is asked nothing, as another program says where it is.
pub struct UnconfirmedProvider {
    /// The protocol that it speaks.
    pub kind: ProviderKind,
    /// The answer to every request.
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

    fn cannot_carry(&self, _: &Request) -> Vec<Loss> {
        Vec::new()
    }

    async fn stream(&self, _: Request) -> Result<Deltas, ModelError> {
        Err(self.problem.clone())
    }
}
