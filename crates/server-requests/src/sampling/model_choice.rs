//! Selects the user's model that answers a sampling request: by the server's hints in order, then by its priorities
//! for cost, speed and intelligence (`client/sampling`, model preferences). The user can always select another.
//!
//! A model that the user set for a server takes precedence over the server's hints. If a server states no preference,
//! the user's default model answers. The consent request shows the reason ([`ModelChoiceReason`]).

use mcp_proto::types::ModelPreferences;
use models::{Model, ModelRef};

/// Maximum number of a request's hints that are considered.
const MAX_MODEL_HINTS: usize = 20;
/// Maximum number of characters of a server's model hint that are displayed.
const MAX_HINT_CHARS: usize = 80;
/// Score, between 0 and 1, that a model gets for its price, speed or intelligence if that is unknown.
const SCORE_OF_UNKNOWN_PROPERTY: f64 = 0.5;
/// Substrings of model names by which models are recognized that do not generate text, such as embedding models.
const NON_CHAT_MODEL_NAME_PARTS: [&str; 7] =
    ["embed", "whisper", "tts", "moderation", "dall-e", "rerank", "transcribe"];

/// Reason why a model was selected to answer a sampling request.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelChoiceReason {
    /// The user selected the model for this request.
    User,
    /// The user selected the model for this server, in its settings.
    Setting,
    /// The name of the model contains this hint of the server.
    Hint(String),
    /// No model's name contains this hint of the server, and the model is the most similar to the one that the hint
    /// names.
    Equivalent(String),
    /// The model has the best score for these priorities of the server, most important first.
    Priorities(Vec<ModelPriority>),
    /// The model is the user's default model, since the server has no preference.
    Default,
    /// No default model is set, and this model is the most capable one, or the first one if capabilities are unknown.
    First,
}

/// A priority in the model preferences of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPriority {
    /// Preference for a low price.
    Cost,
    /// Preference for fast responses.
    Speed,
    /// Preference for high capability.
    Intelligence,
}

/// Preferences of the server and of the user that decide which model is selected.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelSelectionPreferences<'a> {
    /// Model preferences in the server's sampling request, if there are any.
    pub preferences: Option<&'a ModelPreferences>,
    /// Model that the user set for this server.
    pub setting: Option<&'a ModelRef>,
    /// The user's default model.
    pub default: Option<&'a ModelRef>,
}

/// Selects the model that answers a sampling request. Returns it with the reason, or `None` if there are no models.
pub fn choose_model(
    wish: ModelSelectionPreferences<'_>,
    all: &[(ModelRef, &Model)],
) -> Option<(ModelRef, ModelChoiceReason)> {
    if let Some(model) = wish.setting {
        return Some((model.clone(), ModelChoiceReason::Setting));
    }
    let talks = |(model, _): &&(ModelRef, &Model)| {
        !NON_CHAT_MODEL_NAME_PARTS.iter().any(|word| model.model.to_lowercase().contains(word))
    };
    let all: Vec<&(ModelRef, &Model)> = all.iter().filter(talks).collect();
    let no_preferences = ModelPreferences::default();
    let preferences = wish.preferences.unwrap_or(&no_preferences);
    let priorities = PriorityWeights::from_preferences(preferences);
    let hints: Vec<&str> = preferences
        .hints
        .iter()
        .filter_map(|hint| hint.name.as_deref().map(str::trim))
        .filter(|hint| !hint.is_empty())
        .take(MAX_MODEL_HINTS)
        .collect();
    for hint in &hints {
        let requested = hint.to_lowercase();
        let named: Vec<_> = all.iter().copied().filter(|model| model_name_contains(model, &requested)).collect();
        if let Some(model) = find_best_model(&named, &priorities, wish.default) {
            return Some((model.clone(), ModelChoiceReason::Hint(shorten_hint(hint))));
        }
    }
    for hint in &hints {
        let Some(requested) = ModelTier::from_name(&hint.to_lowercase()) else { continue };
        if let Some(model) = find_model_of_closest_intelligence(&all, requested) {
            return Some((model.clone(), ModelChoiceReason::Equivalent(shorten_hint(hint))));
        }
    }
    if !priorities.is_empty()
        && let Some(model) = find_best_model(&all, &priorities, wish.default)
    {
        return Some((model.clone(), ModelChoiceReason::Priorities(priorities.sorted_priorities())));
    }
    if let Some(default) = wish.default {
        return Some((default.clone(), ModelChoiceReason::Default));
    }
    find_best_model(&all, &priorities, None).map(|model| (model.clone(), ModelChoiceReason::First))
}

fn shorten_hint(hint: &str) -> String {
    hint.chars().take(MAX_HINT_CHARS).collect()
}

fn model_name_contains((id, model): &(ModelRef, &Model), requested: &str) -> bool {
    id.model.to_lowercase().contains(requested) || model.name.to_lowercase().contains(requested)
}

/// Weights of the priorities, from 0 to 1.
#[derive(Debug, Clone, Copy)]
struct PriorityWeights {
    cost: f64,
    speed: f64,
    intelligence: f64,
}

impl PriorityWeights {
    fn from_preferences(preferences: &ModelPreferences) -> Self {
        let within = |value: Option<f64>| value.filter(|value| value.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0);
        Self {
            cost: within(preferences.cost_priority),
            speed: within(preferences.speed_priority),
            intelligence: within(preferences.intelligence_priority),
        }
    }

    fn is_empty(&self) -> bool {
        self.cost + self.speed + self.intelligence <= 0.0
    }

    /// Returns the priorities with a weight above 0, the most important first.
    fn sorted_priorities(&self) -> Vec<ModelPriority> {
        let mut named = vec![
            (self.cost, ModelPriority::Cost),
            (self.speed, ModelPriority::Speed),
            (self.intelligence, ModelPriority::Intelligence),
        ];
        named.retain(|(matters, _)| *matters > 0.0);
        named.sort_by(|a, b| b.0.total_cmp(&a.0));
        named.into_iter().map(|(_, priority)| priority).collect()
    }
}

/// Returns the model with the highest score. If no priority is set, returns the default model if it is a candidate, or
/// else the most capable one.
fn find_best_model<'a>(
    of: &[&'a (ModelRef, &Model)],
    priorities: &PriorityWeights,
    default: Option<&ModelRef>,
) -> Option<&'a ModelRef> {
    if priorities.is_empty()
        && let Some((model, _)) = of.iter().find(|(model, _)| Some(model) == default)
    {
        return Some(model);
    }
    let prices: Vec<f64> = of.iter().filter_map(|(_, model)| combined_price(model)).collect();
    let score = |model: &Model| {
        if priorities.is_empty() {
            return known_intelligence(model);
        }
        let speed = model.rank.as_ref().map_or(SCORE_OF_UNKNOWN_PROPERTY, |rank| rank.speed);
        priorities.cost * price_score(model, &prices)
            + priorities.speed * speed
            + priorities.intelligence * known_intelligence(model)
    };
    // If several models have the highest score, the first is used.
    let mut found: Option<(f64, &ModelRef)> = None;
    for (id, model) in of {
        let own = score(model);
        if found.is_none_or(|(best, _)| own > best) {
            found = Some((own, id));
        }
    }
    found.map(|(_, model)| model)
}

fn known_intelligence(model: &Model) -> f64 {
    model.rank.as_ref().map_or(SCORE_OF_UNKNOWN_PROPERTY, |rank| rank.intelligence)
}

fn combined_price(model: &Model) -> Option<f64> {
    model.price.as_ref().map(|price| price.input + price.output)
}

/// Returns the score of a model's price among the prices of all models: 1 for the cheapest model, 0 for the most
/// expensive.
fn price_score(model: &Model, prices: &[f64]) -> f64 {
    let Some(own) = combined_price(model) else { return SCORE_OF_UNKNOWN_PROPERTY };
    let (least, most) = prices.iter().fold((own, own), |(least, most), price| (least.min(*price), most.max(*price)));
    if most > least { (most - own) / (most - least) } else { SCORE_OF_UNKNOWN_PROPERTY }
}

/// The size class of a model, as its name suggests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelTier {
    Small,
    Middle,
    Large,
}

impl ModelTier {
    const ALL: [(Self, &'static [&'static str]); 3] = [
        (Self::Small, &["haiku", "mini", "nano", "flash", "lite", "small", "tiny"]),
        (Self::Large, &["opus", "pro", "large", "max", "ultra"]),
        (
            Self::Middle,
            &["sonnet", "medium", "turbo", "claude", "gpt", "gemini", "mistral", "llama", "qwen", "deepseek"],
        ),
    ];

    /// Returns the size class that the name of a model suggests, or `None` if it suggests none. Only whole words count:
    /// `gemini` is not `mini`.
    fn from_name(name: &str) -> Option<Self> {
        let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
        Self::ALL.iter().find(|(_, known)| words.iter().any(|word| known.contains(word))).map(|(tier, _)| *tier)
    }

    /// Returns the assumed intelligence of models of this size class, from 0 to 1.
    const fn intelligence(self) -> f64 {
        match self {
            Self::Small => 0.4,
            Self::Middle => 0.7,
            Self::Large => 1.0,
        }
    }
}

/// Returns the model whose intelligence is closest to that of a size class. If the intelligence of a model is unknown,
/// uses the size class in its name. Skips models for which both are unknown.
fn find_model_of_closest_intelligence<'a>(
    all: &[&'a (ModelRef, &Model)],
    requested: ModelTier,
) -> Option<&'a ModelRef> {
    let distance = |(id, model): &&&(ModelRef, &Model)| {
        let own = match &model.rank {
            Some(rank) => rank.intelligence,
            None => ModelTier::from_name(&id.model.to_lowercase())?.intelligence(),
        };
        Some((own - requested.intelligence()).abs())
    };
    let known = all.iter().filter_map(|model| Some((distance(&model)?, &model.0)));
    known.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, model)| model)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use models::{ModelPrice, ModelRank};
    use serde_json::json;

    use super::*;

    fn model_with_known_data(id: &str, known: Option<(f64, f64, f64)>) -> Model {
        let price = known.map(|(price, ..)| {
            let price = json!({ "input": price, "output": price, "currency": "USD", "as_of": "2026-11-01", "asOf": "2026-11-01" });
            serde_json::from_value::<ModelPrice>(price).unwrap()
        });
        let rank = known.map(|(_, speed, intelligence)| ModelRank { speed, intelligence, from: "a test".into() });
        Model { id: id.into(), name: id.to_uppercase(), price, rank, ..Model::default() }
    }

    fn model_ref(id: &str) -> ModelRef {
        ModelRef { provider: "p".into(), model: id.into() }
    }

    /// Selects one of three typical models: an intelligent expensive one, a fast cheap one, and an unknown one.
    fn choose_from_three_example_models(
        preferences: serde_json::Value,
        default: Option<&str>,
    ) -> (String, ModelChoiceReason) {
        let models = [
            model_with_known_data("text-embedding-3", None),
            model_with_known_data("gpt-5.2", Some((15.0, 0.3, 0.95))),
            model_with_known_data("gpt-5.2-mini", Some((0.5, 0.9, 0.45))),
            model_with_known_data("gemini-3-pro", Some((12.0, 0.5, 0.9))),
            model_with_known_data("homemade", None),
        ];
        let all: Vec<(ModelRef, &Model)> = models.iter().map(|model| (model_ref(&model.id), model)).collect();
        let preferences: ModelPreferences = serde_json::from_value(preferences).unwrap();
        let default = default.map(model_ref);
        let wish =
            ModelSelectionPreferences { preferences: Some(&preferences), setting: None, default: default.as_ref() };
        let (model, by) = choose_model(wish, &all).expect("there are models");
        (model.model, by)
    }

    #[test]
    fn model_hints_apply_in_order_and_before_priorities() {
        let hints = |names: &[&str]| names.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>();
        let (model, by) = choose_from_three_example_models(
            json!({ "hints": hints(&["claude-9", "gemini", "gpt"]), "costPriority": 1.0 }),
            None,
        );
        assert_eq!(
            model, "gemini-3-pro",
            "[sampling-hints-order]: the first matching hint must take precedence over cost"
        );
        assert_eq!(
            by,
            ModelChoiceReason::Hint("gemini".into()),
            "[sampling-hints-over-priorities]: the reason must name the hint"
        );
        let (model, _) = choose_from_three_example_models(json!({ "hints": hints(&["5.2-MINI"]) }), None);
        assert_eq!(
            model, "gpt-5.2-mini",
            "[sampling-hints-substring]: a hint must match a part of the name, in any case"
        );
        let (model, _) =
            choose_from_three_example_models(json!({ "hints": hints(&["gpt"]), "speedPriority": 1.0 }), None);
        assert_eq!(
            model, "gpt-5.2-mini",
            "[sampling-respect-hints]: among several matches, the priorities must decide"
        );
        let (model, _) = choose_from_three_example_models(json!({ "hints": hints(&["gpt"]) }), Some("gpt-5.2-mini"));
        assert_eq!(
            model, "gpt-5.2-mini",
            "[sampling-respect-hints]: without priorities, the user's default must be selected"
        );
        let (model, by) = choose_from_three_example_models(json!({ "hints": hints(&["", "  "]) }), Some("homemade"));
        assert_eq!((model.as_str(), by), ("homemade", ModelChoiceReason::Default), "an empty hint must be ignored");
        let (model, _) = choose_from_three_example_models(json!({ "hints": hints(&["embedding"]) }), Some("homemade"));
        assert_eq!(
            model, "homemade",
            "[sampling-respect-hints]: a model that does not generate text must not be selected"
        );
    }

    #[test]
    fn hint_for_an_unavailable_model_selects_an_equivalent() {
        for (hint, expected) in
            [("claude-haiku", "gpt-5.2-mini"), ("claude-opus-4", "gpt-5.2"), ("o9-nano", "gpt-5.2-mini")]
        {
            let (model, by) =
                choose_from_three_example_models(json!({ "hints": [{ "name": hint }] }), Some("homemade"));
            assert_eq!(model, expected, "[sampling-hints-map]: {hint}");
            assert_eq!(
                by,
                ModelChoiceReason::Equivalent(hint.into()),
                "[sampling-hints-map]: the reason must name the hint"
            );
        }
        let (model, by) = choose_from_three_example_models(
            json!({ "hints": [{ "name": "claude-haiku" }, { "name": "homemade" }] }),
            None,
        );
        assert_eq!(
            (model.as_str(), by),
            ("homemade", ModelChoiceReason::Hint("homemade".into())),
            "a matching name must take precedence over a similar model"
        );
        let (model, _) = choose_from_three_example_models(json!({ "hints": [{ "name": "zephyr" }] }), Some("homemade"));
        assert_eq!(model, "homemade", "[sampling-hints-map]: an unknown name must have no similar model");
    }

    #[test]
    fn priorities_decide_if_no_hint_matches_a_model() {
        for (priorities, expected) in [
            (json!({ "costPriority": 1.0 }), "gpt-5.2-mini"),
            (json!({ "speedPriority": 0.8 }), "gpt-5.2-mini"),
            (json!({ "intelligencePriority": 1.0 }), "gpt-5.2"),
            (json!({ "intelligencePriority": 1.0, "costPriority": 0.05, "speedPriority": 0.05 }), "gpt-5.2"),
        ] {
            let (model, by) = choose_from_three_example_models(priorities.clone(), Some("homemade"));
            assert_eq!(model, expected, "[sampling-respect-hints]: {priorities}");
            assert!(matches!(by, ModelChoiceReason::Priorities(_)), "the reason must be the priorities: {by:?}");
        }
        let (_, by) =
            choose_from_three_example_models(json!({ "costPriority": 0.1, "intelligencePriority": 0.9 }), None);
        assert_eq!(
            by,
            ModelChoiceReason::Priorities(vec![ModelPriority::Intelligence, ModelPriority::Cost]),
            "the most important priority must be first"
        );
        let (model, by) =
            choose_from_three_example_models(json!({ "costPriority": f64::MAX, "speedPriority": -5.0 }), None);
        assert_eq!(
            (model.as_str(), by),
            ("gpt-5.2-mini", ModelChoiceReason::Priorities(vec![ModelPriority::Cost])),
            "priorities must be clamped"
        );
        let (model, by) = choose_from_three_example_models(json!({}), None);
        assert_eq!(
            (model.as_str(), by),
            ("gpt-5.2", ModelChoiceReason::First),
            "without preferences and default, the most capable model must be selected"
        );
    }

    #[test]
    fn user_choice_precedes_the_preferences_of_the_server() {
        let (only, setting) = (model_with_known_data("only", None), model_ref("mine"));
        let preferences: ModelPreferences = serde_json::from_value(json!({ "hints": [{ "name": "only" }] })).unwrap();
        let wish =
            ModelSelectionPreferences { preferences: Some(&preferences), setting: Some(&setting), default: None };
        let found = choose_model(wish, &[(model_ref("only"), &only)]);
        assert_eq!(
            found,
            Some((setting, ModelChoiceReason::Setting)),
            "[sampling-user-controls]: the model in the server's settings must be selected"
        );
        assert_eq!(
            choose_model(ModelSelectionPreferences::default(), &[]),
            None,
            "without models none must be selected"
        );
    }
}
