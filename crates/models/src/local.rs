//! Finds what serves models on this computer: Ollama and LM Studio, where they usually listen, when somebody looks at the list of models.
//! No other address is asked, and no key is sent.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Client;

use crate::{HttpProvider, Model, PRESETS, Provider, ProviderSettings};

/// How long each may take to say what it has.
const TIME: Duration = Duration::from_millis(500);
/// How long it may take to say more of each.
const DETAILS: Duration = Duration::from_secs(3);
/// Those that are looked for.
const LOOKED_FOR: [&str; 2] = ["ollama", "lm-studio"];

/// A provider that was found on this computer.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The settings to use it with.
    pub settings: ProviderSettings,
    /// Its models; their names only if it was slow to say more.
    pub models: Vec<Model>,
}

/// Looks for Ollama and LM Studio where they listen when nobody changed it.
pub async fn find_local(client: &Client) -> Vec<Found> {
    let presets = PRESETS.iter().filter(|preset| LOOKED_FOR.contains(&preset.id));
    find_at(client, presets.filter_map(|preset| preset.settings().ok()).collect()).await
}

/// Looks for these, with little patience: most are not there.
pub async fn find_at(client: &Client, candidates: Vec<ProviderSettings>) -> Vec<Found> {
    let asked = candidates.into_iter().map(|settings| async {
        let provider = HttpProvider::new(settings.clone(), None, client.clone());
        let names = tokio::time::timeout(TIME, provider.names()).await.ok()?.ok()?;
        let models = match tokio::time::timeout(DETAILS, provider.models()).await {
            Ok(Ok(models)) => models,
            Ok(Err(_)) | Err(_) => names,
        };
        Some(Found { settings, models })
    });
    join_all(asked).await.into_iter().flatten().collect()
}
