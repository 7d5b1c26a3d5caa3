//! Facts about models that providers do not report: context size, prices, supported content. Stored as a dated table.
//!
//! Prices and contexts come from the provider's list of models, or else from this table, which applies only to the
//! provider's original address. Otherwise they are unknown. Speed and intelligence of a model, relative to others, are
//! estimated from its price and displayed as an estimate. `tests/models/prices.py` generates the table.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{LongContextPrice, Model, ModelPrice, ModelRank, ProviderKind, ProviderSettings};

static KNOWN_MODELS: LazyLock<KnownModels> =
    LazyLock::new(|| serde_json::from_str(include_str!("known.json")).unwrap_or_default());

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KnownModels {
    as_of: String,
    models: Vec<KnownModel>,
}

/// Entry of the table of known models: limits, price and capabilities of one model.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KnownModel {
    kind: ProviderKind,
    id: String,
    context: u32,
    /// Maximum number of tokens in one reply of the model.
    pub(crate) max_output: u32,
    input: f64,
    output: f64,
    cached_input: Option<f64>,
    written_input: Option<f64>,
    long: Option<LongContextPrice>,
    takes: Vec<String>,
}

/// Returns the table's entry for the model `id` of a provider of this kind. For a dated version, such as
/// `gpt-4o-2024-11-20`, returns the entry of the model without the date.
pub(crate) fn find_known_model(kind: ProviderKind, id: &str) -> Option<&'static KnownModel> {
    // OpenAI serves the same models over both of its APIs.
    let kind = if kind == ProviderKind::Responses { ProviderKind::OpenAi } else { kind };
    let undated = strip_model_date(id);
    KNOWN_MODELS.models.iter().find(|known| known.kind == kind && (known.id == id || known.id == undated))
}

fn strip_model_date(id: &str) -> &str {
    let digits = id.bytes().rev().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
    let (name, date) = id.split_at(id.len() - digits);
    let is_date = |date: &str| {
        let parts: Vec<usize> = date.split('-').map(str::len).collect();
        parts == [8] || parts == [4, 2, 2]
    };
    // `claude-sonnet-4-5-20250929`: only the last number is the date.
    let mut at = date.find('-');
    while let Some(dash) = at {
        if is_date(&date[dash + 1..]) {
            return &id[..name.len() + dash];
        }
        at = date[dash + 1..].find('-').map(|next| dash + 1 + next);
    }
    id
}

/// Sets those properties of a model that its provider did not report to the values in the table of known models.
/// Estimates the rank from the price.
pub(crate) fn fill_in_known_model_properties(settings: &ProviderSettings, mut model: Model) -> Model {
    // Other hosts may serve a different model under the same name, or at a different price.
    let own_host = match settings.kind {
        ProviderKind::OpenAi | ProviderKind::Responses => Some("api.openai.com"),
        ProviderKind::Anthropic => Some("api.anthropic.com"),
        ProviderKind::Gemini => Some("generativelanguage.googleapis.com"),
        ProviderKind::Ollama => None,
    };
    if own_host.is_some()
        && settings.url.host_str() == own_host
        && let Some(known) = find_known_model(settings.kind, &model.id)
    {
        let takes = |what: &str| Some(known.takes.iter().any(|own| own == what));
        model.context = model.context.or(Some(known.context));
        model.max_output = model.max_output.or(Some(known.max_output));
        model.takes.images = model.takes.images.or(takes("images"));
        model.takes.audio = model.takes.audio.or(takes("audio"));
        model.takes.files = model.takes.files.or(takes("files"));
        model.takes.tools = model.takes.tools.or(takes("tools"));
        model.takes.thinking = model.takes.thinking.or(takes("thinking"));
        model.price = model.price.or_else(|| {
            Some(ModelPrice {
                input: known.input,
                output: known.output,
                cached_input: known.cached_input,
                written_input: known.written_input,
                long: known.long,
                currency: "USD".to_owned(),
                as_of: KNOWN_MODELS.as_of.clone(),
            })
        });
    }
    model.rank = model.rank.or_else(|| model.price.as_ref().map(estimate_rank_from_price));
    model
}

/// Estimates speed and intelligence from the price: models that cost more are assumed to be more intelligent and
/// slower. Prices between 20 cents and 60 dollars per million output tokens result in ranks between 0 and 1.
fn estimate_rank_from_price(price: &ModelPrice) -> ModelRank {
    let (low, high) = (0.2_f64.ln(), 60_f64.ln());
    let place = ((price.output.max(0.01).ln() - low) / (high - low)).clamp(0.0, 1.0);
    ModelRank { speed: 1.0 - place, intelligence: place, from: "price".to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{PROVIDER_PRESETS, TokenUsage};

    fn listed_model(provider: &str, id: &str) -> Model {
        let preset = PROVIDER_PRESETS.iter().find(|preset| preset.id == provider).unwrap();
        fill_in_known_model_properties(
            &preset.settings().unwrap(),
            Model { id: id.into(), name: id.into(), ..Model::default() },
        )
    }

    #[test]
    fn table_of_known_models_has_valid_entries() {
        assert!(KNOWN_MODELS.models.len() > 40, "the table contains only {} models", KNOWN_MODELS.models.len());
        for known in &KNOWN_MODELS.models {
            assert!(
                known.output >= known.input && known.input > 0.0,
                "{}: the output price is at least the input price",
                known.id
            );
            assert!(
                known.cached_input.is_none_or(|cached| cached < known.input),
                "{}: cached input is cheaper",
                known.id
            );
            assert!(known.long.is_none_or(|long| long.input > known.input), "{}: long requests cost more", known.id);
            assert_eq!(strip_model_date(&known.id), known.id, "{} is not parsed as a dated version", known.id);
        }
    }

    #[test]
    fn dated_model_ids_are_known_models_and_other_variants_are_not() {
        for (id, is_known) in [
            ("gpt-4o-2024-11-20", true),
            ("claude-sonnet-4-5-20250929", true),
            ("gpt-4o-audio-preview", false),
            ("gpt-4o-2024", false),
        ] {
            let price =
                if id.starts_with("gpt") { listed_model("openai", id) } else { listed_model("anthropic", id) }.price;
            assert_eq!(price.is_some(), is_known, "known price of {id}");
        }
        assert_eq!(listed_model("lm-studio", "gpt-4o").price, None, "the table doesn't apply to another provider");
    }

    #[test]
    fn cost_depends_on_prompt_length_and_cache_use() {
        let price = listed_model("anthropic", "claude-sonnet-4-5").price.unwrap();
        let usage = TokenUsage {
            input: Some(1_000_000),
            cached_input: Some(500_000),
            written_input: Some(100_000),
            output: Some(100_000),
            thinking: None,
        };
        let cost = price.cost(&usage).unwrap();
        assert!(
            (cost - (0.4 * 3.0 + 0.5 * 0.3 + 0.1 * 3.75 + 0.1 * 15.0)).abs() < 1e-9,
            "each kind of token at its own price: {cost}"
        );
        let price = listed_model("gemini", "gemini-2.5-pro").price.unwrap();
        let long = TokenUsage { input: Some(300_000), output: Some(10_000), ..TokenUsage::default() };
        let cost = price.cost(&long).unwrap();
        assert!((cost - (0.3 * 2.5 + 0.01 * 15.0)).abs() < 1e-9, "a long request costs more: {cost}");
        let unknown = TokenUsage { input: None, ..long };
        assert_eq!(price.cost(&unknown), None, "an unknown usage has no cost");
    }
}
