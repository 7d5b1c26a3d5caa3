//! Temperature and maximum reply length of a conversation: bounds, and the values for the model that replies.

use models::{MAX_TEMPERATURE, ProviderKind};

use super::error::MAX_REPLY_TOKENS;
use super::{ConversationError, ConversationSettings};

/// Temperature and maximum reply length in one request to a model.
#[derive(Debug, PartialEq)]
pub(super) struct ModelParameters {
    pub(super) temperature: Option<f64>,
    pub(super) max_tokens: Option<u32>,
    /// Notices for the user about values that were lowered to a limit of the model.
    pub(super) lowered: Vec<String>,
}

impl ModelParameters {
    /// Returns the parameters of a conversation, lowered to the limits of the model that replies. The user may have
    /// chosen this model after the parameters. `max_output` is the model's limit of reply tokens, if known.
    pub(super) fn for_model(settings: &ConversationSettings, kind: ProviderKind, max_output: Option<u32>) -> Self {
        let mut lowered = Vec::new();
        let temperature = settings.temperature.map(|chosen| {
            let limit = kind.max_temperature();
            if chosen > limit {
                lowered.push(format!("temperature: lowered from {chosen} to {limit}, the maximum of this provider"));
            }
            chosen.min(limit)
        });
        let max_tokens = settings.max_tokens.map(|chosen| match max_output {
            Some(limit) if chosen > limit => {
                lowered
                    .push(format!("maximum reply tokens: lowered from {chosen} to {limit}, the limit of this model"));
                limit
            }
            _ => chosen,
        });
        Self { temperature, max_tokens, lowered }
    }
}

/// Checks temperature and maximum reply length of a conversation against the bounds that hold for every model.
///
/// # Errors
///
/// Returns [`ConversationError::Temperature`] or [`ConversationError::ReplyTokens`] for a value out of bounds.
pub(super) fn check_model_parameters(settings: &ConversationSettings) -> Result<(), ConversationError> {
    if settings.temperature.is_some_and(|chosen| !(0.0..=MAX_TEMPERATURE).contains(&chosen)) {
        return Err(ConversationError::Temperature);
    }
    if settings.max_tokens.is_some_and(|chosen| !(1..=MAX_REPLY_TOKENS).contains(&chosen)) {
        return Err(ConversationError::ReplyTokens);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(temperature: Option<f64>, max_tokens: Option<u32>) -> ConversationSettings {
        ConversationSettings { temperature, max_tokens, ..ConversationSettings::default() }
    }

    #[test]
    fn model_parameters_out_of_bounds_are_rejected() {
        for temperature in [-0.1, 2.1, f64::NAN, f64::INFINITY] {
            let checked = check_model_parameters(&settings(Some(temperature), None));
            assert_eq!(checked, Err(ConversationError::Temperature), "temperature {temperature}");
        }
        for tokens in [0, MAX_REPLY_TOKENS + 1] {
            let checked = check_model_parameters(&settings(None, Some(tokens)));
            assert_eq!(checked, Err(ConversationError::ReplyTokens), "{tokens} tokens");
        }
        for within in [settings(None, None), settings(Some(0.0), Some(1)), settings(Some(2.0), Some(MAX_REPLY_TOKENS))]
        {
            assert_eq!(check_model_parameters(&within), Ok(()), "{within:?}");
        }
    }

    #[test]
    fn parameters_are_lowered_to_the_limits_of_the_model() {
        let chosen = settings(Some(1.5), Some(9_000));
        let same = ModelParameters::for_model(&chosen, ProviderKind::OpenAi, None);
        let unchanged = ModelParameters { temperature: Some(1.5), max_tokens: Some(9_000), lowered: Vec::new() };
        assert_eq!(same, unchanged, "an unknown limit changes nothing");
        let lower = ModelParameters::for_model(&chosen, ProviderKind::Anthropic, Some(4_096));
        assert_eq!((lower.temperature, lower.max_tokens), (Some(1.0), Some(4_096)), "both are lowered");
        assert_eq!(lower.lowered.len(), 2, "and both are reported: {:?}", lower.lowered);
        let unset = ModelParameters::for_model(&settings(None, None), ProviderKind::Anthropic, Some(4_096));
        assert_eq!((unset.temperature, unset.max_tokens), (None, None), "unset parameters stay unset");
    }
}
