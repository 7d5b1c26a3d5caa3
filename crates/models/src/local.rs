//! Finds what serves models on this computer. Only known addresses are asked, without any key.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Client;

use crate::{HttpProvider, Model, PRESETS, Provider, ProviderSettings};

/// How long each may take.
const TIME: Duration = Duration::from_millis(500);
/// Those that are looked for.
const LOOKED_FOR: [&str; 2] = ["ollama", "lm-studio"];

/// A provider that was found on this computer.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The settings to use it with.
    pub settings: ProviderSettings,
    /// Its models.
    pub models: Vec<Model>,
}

/// Looks for Ollama and LM Studio where they listen when nobody changed it.
pub async fn find_local(client: &Client) -> Vec<Found> {
    let presets = PRESETS.iter().filter(|preset| LOOKED_FOR.contains(&preset.id));
    find(client, presets.filter_map(|preset| preset.settings().ok()).collect()).await
}

async fn find(client: &Client, candidates: Vec<ProviderSettings>) -> Vec<Found> {
    let asked = candidates.into_iter().map(|settings| async {
        let provider = HttpProvider::new(settings.clone(), None, client.clone());
        match tokio::time::timeout(TIME, provider.models()).await {
            Ok(Ok(models)) => Some(Found { settings, models }),
            Ok(Err(_)) | Err(_) => None,
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}
