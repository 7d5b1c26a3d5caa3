//! Settings of model providers, and presets for well-known ones.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::wire::wire_capabilities;
use crate::{ConversionChoices, LossyConversion, ProviderKind};

/// Default for [`ProviderSettings::silence_seconds`] of a provider on another computer.
const REMOTE_PROVIDER_IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// Default for [`ProviderSettings::silence_seconds`] of a provider on this computer, which may have to load the model
/// first.
const LOCAL_PROVIDER_IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// Settings of a model provider. The provider's API key is stored with the app's other secrets instead:
/// encrypted, with a key in the system's keychain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSettings {
    /// Identifier of the provider, under which its API key is stored: letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// Display name of the provider.
    pub name: String,
    /// API in which requests are encoded.
    pub kind: ProviderKind,
    /// Base URL of the API, such as `https://api.openai.com/v1`.
    pub url: Url,
    /// Conversions of unsupported content that the user chose instead of the defaults.
    #[serde(default, skip_serializing_if = "are_default_conversions")]
    pub conversions: ConversionChoices,
    /// Time in seconds without data after which a reply fails, between 5 and 3,600. `None` for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u32>,
}

fn are_default_conversions(conversions: &ConversionChoices) -> bool {
    conversions.0.is_empty()
}

/// The reason why settings of a provider are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderSettingsError {
    /// The identifier of the provider is invalid.
    #[error("\"{0}\" can't be a provider's id: use 1 to 64 letters, digits, \"-\", \"_\" and \".\"")]
    Id(String),
    /// The base URL of the provider is invalid.
    #[error("the address must begin with https:// or http://, and have no user, password, \"?\" or \"#\"")]
    Url,
}

impl ProviderSettings {
    /// Validates the settings.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderSettingsError::Id`] or [`ProviderSettingsError::Url`] for the field that is invalid.
    ///
    /// # Examples
    ///
    /// ```
    /// use models::{PROVIDER_PRESETS, ProviderSettingsError};
    ///
    /// let ollama = PROVIDER_PRESETS.iter().find(|preset| preset.id == "ollama").expect("the preset exists");
    /// let mut settings = ollama.settings()?;
    /// assert_eq!(settings.check(), Ok(()));
    /// assert!(settings.is_local() && !settings.sends_requests_unencrypted());
    ///
    /// settings.url = "http://models.example:11434".parse()?;
    /// assert_eq!(settings.check(), Ok(()));
    /// assert!(settings.sends_requests_unencrypted(), "others on the network could read the requests");
    ///
    /// settings.url = "https://ann:s3cret@models.example".parse()?;
    /// assert_eq!(settings.check(), Err(ProviderSettingsError::Url), "keys are stored separately");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self) -> Result<(), ProviderSettingsError> {
        let is_id = (1..=64).contains(&self.id.len())
            && self.id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if !is_id {
            return Err(ProviderSettingsError::Id(self.id.clone()));
        }
        let url = &self.url;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.host().is_some();
        if is_plain && matches!(url.scheme(), "https" | "http") { Ok(()) } else { Err(ProviderSettingsError::Url) }
    }

    /// Returns `true` if the provider runs on this computer, according to the host in its address.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.url.host().is_some_and(|host| foreign::is_loopback(&host))
    }

    /// Returns `true` if requests and the API key are sent over a network without encryption.
    #[must_use]
    pub fn sends_requests_unencrypted(&self) -> bool {
        self.url.scheme() != "https" && !self.is_local()
    }

    /// Returns scheme, host and port of the address. The stored API key is bound to them.
    #[must_use]
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Returns all features that the provider's API does not support for at least one model, each with the conversion
    /// that applies to it.
    #[must_use]
    pub fn possible_lossy_conversions(&self) -> Vec<LossyConversion> {
        wire_capabilities(self, None)
            .unsupported_features()
            .into_iter()
            .map(|what| self.conversions.conversion(what))
            .collect()
    }

    /// Returns the time without data after which a reply fails.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        let otherwise = if self.is_local() { LOCAL_PROVIDER_IDLE_TIMEOUT } else { REMOTE_PROVIDER_IDLE_TIMEOUT };
        self.silence_seconds.map_or(otherwise, |seconds| Duration::from_secs(u64::from(seconds.clamp(5, 3_600))))
    }

    /// Returns the URL of a path below the base URL.
    pub(crate) fn url_at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        url
    }
}

/// Suggested settings with which the user configures a well-known provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ProviderPreset {
    /// Suggested identifier of the provider.
    pub id: &'static str,
    /// Display name of the well-known provider.
    pub name: &'static str,
    /// API in which requests to the provider are encoded.
    pub kind: ProviderKind,
    /// Default base URL of the API.
    pub url: &'static str,
    /// Set if the provider requires an API key.
    pub requires_key: bool,
    /// URL of the page where the user creates API keys, or `None` if there is none.
    pub key_page_url: Option<&'static str>,
}

/// All presets for well-known providers, in display order.
pub const PROVIDER_PRESETS: [ProviderPreset; 9] = [
    ProviderPreset {
        id: "openai",
        name: "OpenAI",
        kind: ProviderKind::OpenAi,
        url: "https://api.openai.com/v1",
        requires_key: true,
        key_page_url: Some("https://platform.openai.com/api-keys"),
    },
    ProviderPreset {
        id: "openai-responses",
        name: "OpenAI Responses",
        kind: ProviderKind::Responses,
        url: "https://api.openai.com/v1",
        requires_key: true,
        key_page_url: Some("https://platform.openai.com/api-keys"),
    },
    ProviderPreset {
        id: "anthropic",
        name: "Anthropic",
        kind: ProviderKind::Anthropic,
        url: "https://api.anthropic.com/v1",
        requires_key: true,
        key_page_url: Some("https://console.anthropic.com/settings/keys"),
    },
    ProviderPreset {
        id: "gemini",
        name: "Google Gemini",
        kind: ProviderKind::Gemini,
        url: "https://generativelanguage.googleapis.com/v1beta",
        requires_key: true,
        key_page_url: Some("https://aistudio.google.com/apikey"),
    },
    ProviderPreset {
        id: "openrouter",
        name: "OpenRouter",
        kind: ProviderKind::OpenAi,
        url: "https://openrouter.ai/api/v1",
        requires_key: true,
        key_page_url: Some("https://openrouter.ai/settings/keys"),
    },
    ProviderPreset {
        id: "ollama",
        name: "Ollama",
        kind: ProviderKind::Ollama,
        url: "http://127.0.0.1:11434",
        requires_key: false,
        key_page_url: None,
    },
    ProviderPreset {
        id: "lm-studio",
        name: "LM Studio",
        kind: ProviderKind::OpenAi,
        url: "http://127.0.0.1:1234/v1",
        requires_key: false,
        key_page_url: None,
    },
    ProviderPreset {
        id: "llama-cpp",
        name: "llama.cpp",
        kind: ProviderKind::OpenAi,
        url: "http://127.0.0.1:8080/v1",
        requires_key: false,
        key_page_url: None,
    },
    ProviderPreset {
        id: "vllm",
        name: "vLLM",
        kind: ProviderKind::OpenAi,
        url: "http://127.0.0.1:8000/v1",
        requires_key: false,
        key_page_url: None,
    },
];

impl ProviderPreset {
    /// Returns provider settings with the values of the preset.
    ///
    /// # Errors
    ///
    /// Returns [`ProviderSettingsError::Url`] for an invalid URL. The presets in [`PROVIDER_PRESETS`] have valid ones.
    pub fn settings(&self) -> Result<ProviderSettings, ProviderSettingsError> {
        Ok(ProviderSettings {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            kind: self.kind,
            url: Url::parse(self.url).map_err(|_| ProviderSettingsError::Url)?,
            conversions: ConversionChoices::default(),
            silence_seconds: None,
        })
    }
}
