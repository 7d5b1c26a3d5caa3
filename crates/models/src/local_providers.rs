//! Finds model servers on this computer: Ollama and LM Studio, at their default addresses, when the user opens the list
//! of models. No other address is contacted, and no API key is sent.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Client;

use crate::{HttpProvider, Model, PROVIDER_PRESETS, Provider, ProviderSettings};

/// Timeout of the request for the names of a server's models.
const LOCAL_MODEL_NAMES_TIMEOUT: Duration = Duration::from_millis(500);
/// Timeout of the requests for the details of a server's models.
const LOCAL_MODEL_DETAILS_TIMEOUT: Duration = Duration::from_secs(3);
/// Identifiers of the provider presets whose addresses are probed for a model server on this computer.
const PROBED_LOCAL_PROVIDER_PRESETS: [&str; 2] = ["ollama", "lm-studio"];

/// A model server that was found on this computer.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalProvider {
    /// Settings with which the server can be added as a provider.
    pub settings: ProviderSettings,
    /// Models of the server. Only their names are known if the details did not arrive in time.
    pub models: Vec<Model>,
}

/// Searches for running model servers (Ollama and LM Studio) at their default addresses.
pub async fn find_local_providers(client: &Client) -> Vec<LocalProvider> {
    let presets = PROVIDER_PRESETS.iter().filter(|preset| PROBED_LOCAL_PROVIDER_PRESETS.contains(&preset.id));
    probe_providers(client, presets.filter_map(|preset| preset.settings().ok()).collect()).await
}

/// Requests the list of models from each of `candidates` with short timeouts. Returns those that responded.
pub async fn probe_providers(client: &Client, candidates: Vec<ProviderSettings>) -> Vec<LocalProvider> {
    let probes = candidates.into_iter().map(|settings| async {
        let provider = HttpProvider::new(settings.clone(), None, client.clone());
        let names = tokio::time::timeout(LOCAL_MODEL_NAMES_TIMEOUT, provider.list_model_names()).await.ok()?.ok()?;
        let models = match tokio::time::timeout(LOCAL_MODEL_DETAILS_TIMEOUT, provider.models()).await {
            Ok(Ok(models)) => models,
            Ok(Err(_)) | Err(_) => names,
        };
        Some(LocalProvider { settings, models })
    });
    join_all(probes).await.into_iter().flatten().collect()
}
