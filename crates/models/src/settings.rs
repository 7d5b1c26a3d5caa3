//! What the user says of a provider.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::wire::carries;
use crate::{Conversions, Loss, ProviderKind};

/// How long a provider may send nothing, if the user says nothing else.
const SILENCE: Duration = Duration::from_secs(120);
/// The same for one on this computer, which may have to load its model first.
const SILENCE_LOCAL: Duration = Duration::from_secs(600);

/// A provider, as the settings have it. Its key is kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSettings {
    /// What it is called in the settings, and what its key is kept under. Letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// Its name, to show.
    pub name: String,
    /// The wire it speaks.
    pub kind: ProviderKind,
    /// Where its API begins, such as `https://api.openai.com/v1`.
    pub url: Url,
    /// What is done with what its wire can't carry, where it is not what is done otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conversions: Conversions,
    /// After how many seconds without a byte an answer is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u32>,
}

fn is_default(conversions: &Conversions) -> bool {
    conversions.0.is_empty()
}

/// Why settings of a provider can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The id.
    #[error("\"{0}\" can't be a provider's id: use 1 to 64 letters, digits, \"-\", \"_\" and \".\"")]
    Id(String),
    /// The address.
    #[error("the address must begin with https:// or http://, and have no user, password, \"?\" or \"#\"")]
    Url,
}

impl ProviderSettings {
    /// Whether they can be used.
    ///
    /// # Errors
    /// With what is wrong.
    pub fn check(&self) -> Result<(), SettingsError> {
        let is_id = (1..=64).contains(&self.id.len())
            && self.id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if !is_id {
            return Err(SettingsError::Id(self.id.clone()));
        }
        let url = &self.url;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.host().is_some();
        if is_plain && matches!(url.scheme(), "https" | "http") { Ok(()) } else { Err(SettingsError::Url) }
    }

    /// Whether it runs on this computer.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// Whether a key and what is asked could be read on the way.
    #[must_use]
    pub fn is_readable_on_the_way(&self) -> bool {
        self.url.scheme() != "https" && !self.is_local()
    }

    /// Its scheme, host and port: what a key is entered for.
    #[must_use]
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// What its wire can't carry, and what is done with each.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        carries(self, None).never().into_iter().map(|what| self.conversions.of(what)).collect()
    }

    /// After how long without a byte an answer is given up.
    #[must_use]
    pub fn silence(&self) -> Duration {
        let otherwise = if self.is_local() { SILENCE_LOCAL } else { SILENCE };
        self.silence_seconds.map_or(otherwise, |seconds| Duration::from_secs(u64::from(seconds.clamp(5, 3_600))))
    }

    /// An address below its own.
    pub(crate) fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        url
    }
}

/// Providers that are set up by a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ProviderPreset {
    /// The id that it proposes.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The wire.
    pub kind: ProviderKind,
    /// Where its API begins.
    pub url: &'static str,
    /// Whether it wants a key.
    pub wants_key: bool,
    /// Where a key is made, if it is a page.
    pub keys_at: Option<&'static str>,
}

/// All presets, in the order to show them.
pub const PRESETS: [ProviderPreset; 9] = [
    ProviderPreset {
        id: "openai",
        name: "OpenAI",
        kind: ProviderKind::OpenAi,
        url: "https://api.openai.com/v1",
        wants_key: true,
        keys_at: Some("https://platform.openai.com/api-keys"),
    },
    ProviderPreset {
        id: "openai-responses",
        name: "OpenAI Responses",
        kind: ProviderKind::Responses,
        url: "https://api.openai.com/v1",
        wants_key: true,
        keys_at: Some("https://platform.openai.com/api-keys"),
    },
    ProviderPreset {
        id: "anthropic",
        name: "Anthropic",
        kind: ProviderKind::Anthropic,
        url: "https://api.anthropic.com/v1",
        wants_key: true,
        keys_at: Some("https://console.anthropic.com/settings/keys"),
    },
    ProviderPreset {
        id: "gemini",
        name: "Google Gemini",
        kind: ProviderKind::Gemini,
        url: "https://generativelanguage.googleapis.com/v1beta",
        wants_key: true,
        keys_at: Some("https://aistudio.google.com/apikey"),
    },
    ProviderPreset {
        id: "openrouter",
        name: "OpenRouter",
        kind: ProviderKind::OpenAi,
        url: "https://openrouter.ai/api/v1",
        wants_key: true,
        keys_at: Some("https://openrouter.ai/settings/keys"),
    },
    ProviderPreset {
        id: "ollama",
        name: "Ollama",
        kind: ProviderKind::Ollama,
        url: "http://127.0.0.1:11434",
        wants_key: false,
        keys_at: None,
    },
    ProviderPreset {
        id: "lm-studio",
        name: "LM Studio",
        kind: ProviderKind::OpenAi,
        url: "http://127.0.0.1:1234/v1",
        wants_key: false,
        keys_at: None,
    },
    ProviderPreset {
        id: "llama-cpp",
        name: "llama.cpp",
        kind: ProviderKind::OpenAi,
        url: "http://127.0.0.1:8080/v1",
        wants_key: false,
        keys_at: None,
    },
    ProviderPreset {
        id: "vllm",
        name: "vLLM",
        kind: ProviderKind::OpenAi,
        url: "http://127.0.0.1:8000/v1",
        wants_key: false,
        keys_at: None,
    },
];

impl ProviderPreset {
    /// The settings that it stands for.
    ///
    /// # Errors
    /// Never for the presets here.
    pub fn settings(&self) -> Result<ProviderSettings, SettingsError> {
        Ok(ProviderSettings {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            kind: self.kind,
            url: Url::parse(self.url).map_err(|_| SettingsError::Url)?,
            conversions: Conversions::default(),
            silence_seconds: None,
        })
    }
}
