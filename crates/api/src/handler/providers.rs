//! Commands for model providers.

use std::collections::BTreeMap;
use std::time::Duration;

use credentials::providers::{ProviderError, ProviderView, find_local_providers};
use models::{Conversion, ConversionChoices, PROVIDER_PRESETS, ProviderSettings, UnsupportedFeature};
use ports::SecretPersistence;
use serde_json::Value;

use super::{Api, errors};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// Maximum age of a stored list of models. If the list is older when the page reads the models, it is requested from
/// the provider again.
const MAX_MODEL_LIST_AGE: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) async fn list_models(api: &Api) -> Result<Models, ApiError> {
    let (view, keyed, found) =
        tokio::join!(api.host.providers(), api.host.providers_with_key(), find_local_providers());
    let (view, keyed) = (view?, keyed?);
    let found = found.into_iter().filter(|found| {
        let is_known = |own: &ProviderView| own.settings.origin() == found.settings.origin();
        !view.providers.iter().any(is_known)
    });
    let found = found.map(|found| FoundModelServer {
        preset: found.settings.id,
        name: found.settings.name,
        url: found.settings.url.to_string(),
        models: found.models.into_iter().map(|model| model.name).collect(),
    });
    let found = found.collect();
    refresh_outdated_model_lists(api, &view.providers);
    let providers = view.providers.into_iter().map(|own| {
        let has_key = keyed.contains(&own.settings.id);
        provider_view(own, has_key)
    });
    Ok(Models { providers: providers.collect(), default: view.default, found, presets: PROVIDER_PRESETS.to_vec() })
}

/// Spawns tasks that request the outdated lists of models from their providers. The page receives an event when a list
/// arrives.
fn refresh_outdated_model_lists(api: &Api, providers: &[ProviderView]) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let oldest = u64::try_from(now.saturating_sub(MAX_MODEL_LIST_AGE).as_millis()).unwrap_or_default();
    for own in providers {
        // After a failed request, only the user retries the provider.
        if own.problem.is_none() && own.listed_at.is_some_and(|at| at < oldest) {
            let (host, id) = (api.host.clone(), own.settings.id.clone());
            tokio::spawn(async move { host.refresh_models(id).await });
        }
    }
}

pub(super) async fn set_provider(api: &Api, r: SetProvider) -> Result<EmptyObject, ApiError> {
    let url = r.url.trim().parse().map_err(|_| ProviderError::from(models::ProviderSettingsError::Url))?;
    let conversions = r
        .conversions
        .into_iter()
        .map(|choice| Ok((parse_enum_variant(choice.feature)?, parse_enum_variant(choice.conversion)?)));
    let conversions: BTreeMap<UnsupportedFeature, Conversion> = conversions.collect::<Result<_, ApiError>>()?;
    let settings = ProviderSettings {
        id: r.id,
        name: r.name.trim().chars().take(100).collect(),
        kind: r.kind,
        url,
        conversions: ConversionChoices(conversions),
        silence_seconds: r.silence_seconds,
    };
    api.host.set_provider(settings).await?;
    Ok(EmptyObject {})
}

pub(super) async fn remove_provider(api: &Api, r: ProviderId) -> Result<EmptyObject, ApiError> {
    api.host.remove_provider(r.id).await?;
    Ok(EmptyObject {})
}

pub(super) async fn set_provider_key(api: &Api, r: SetProviderKey) -> Result<SecretStorageReport, ApiError> {
    let key = r.key.trim();
    if key.len() > 4_096 || key.chars().any(char::is_control) {
        return Err(ApiError::new(ErrorCode::Invalid, "a key has at most 4,096 bytes and no control characters"));
    }
    let persistence = api.host.set_provider_key(r.id, key.to_owned().into()).await?;
    Ok(SecretStorageReport {
        only_this_run: match persistence {
            SecretPersistence::Keychain => None,
            SecretPersistence::ThisRun { cause } => Some(cause),
        },
    })
}

pub(super) async fn test_provider(api: &Api, r: TestProvider) -> Result<ProviderTest, ApiError> {
    match api.host.test_provider(r.id, r.model).await {
        Ok(tried) => {
            let (reply, first) = tried.reply.unzip();
            let models = u32::try_from(tried.models).unwrap_or(u32::MAX);
            Ok(ProviderTest { models, reply, first_token_milliseconds: first, problem: None })
        }
        Err(ProviderError::Model(error)) => {
            let problem = Some(ModelProblem::from(&error));
            Ok(ProviderTest { models: 0, reply: None, first_token_milliseconds: None, problem })
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn refresh_models(api: &Api, r: ProviderId) -> Result<EmptyObject, ApiError> {
    api.host.refresh_models(r.id).await?;
    Ok(EmptyObject {})
}

pub(super) async fn set_default_model(api: &Api, r: DefaultModel) -> Result<EmptyObject, ApiError> {
    api.host.set_default_model(r.model).await?;
    Ok(EmptyObject {})
}

/// Parses the serialized name of an enum variant, such as a provider kind, from a command.
fn parse_enum_variant<T: serde::de::DeserializeOwned>(word: String) -> Result<T, ApiError> {
    let unknown = format!("\"{word}\" is not known here");
    serde_json::from_value(Value::String(word)).map_err(|_| ApiError::new(ErrorCode::BadRequest, unknown))
}

/// Returns the serialized name of an enum variant, for a response.
fn enum_variant_name(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn provider_view(view: ProviderView, has_key: bool) -> ModelProvider {
    let ProviderView { settings, models, listed_at, problem } = view;
    let losses = settings.possible_lossy_conversions().into_iter().map(|loss| LossyConversion {
        feature: loss.what.code().to_owned(),
        conversion: enum_variant_name(loss.then),
        choices: loss.what.conversions().iter().map(enum_variant_name).collect(),
    });
    ModelProvider {
        losses: losses.collect(),
        has_key,
        local: settings.is_local(),
        is_unencrypted: settings.sends_requests_unencrypted(),
        models: models.into_iter().map(model_view).collect(),
        listed_at,
        problem: problem.as_ref().map(ModelProblem::from),
        kind: settings.kind,
        url: settings.url.to_string(),
        silence_seconds: settings.silence_seconds,
        id: settings.id,
        name: settings.name,
    }
}

fn model_view(model: models::Model) -> Model {
    Model {
        id: model.id,
        name: model.name,
        context: model.context,
        max_output: model.max_output,
        price: model.price.map(|price| ModelPrice {
            input: price.input,
            output: price.output,
            currency: price.currency,
            as_of: price.as_of,
        }),
        images: model.takes.images,
        audio: model.takes.audio,
        files: model.takes.files,
        tools: model.takes.tools,
        thinking: model.takes.thinking,
    }
}

impl From<ProviderError> for ApiError {
    fn from(error: ProviderError) -> Self {
        match &error {
            ProviderError::NotFound(_) => Self::new(ErrorCode::NotFound, error.to_string()),
            ProviderError::Settings(_) | ProviderError::TooMany => Self::new(ErrorCode::Invalid, error.to_string()),
            ProviderError::Closing => Self::new(ErrorCode::Internal, error.to_string()),
            ProviderError::Store(_) | ProviderError::Secret(_) => errors::system_error(error.to_string()),
            ProviderError::Model(model) => {
                let data = serde_json::json!({ "model": model.code() });
                Self { data: Some(data), ..Self::new(ErrorCode::Server, error.to_string()) }
            }
        }
    }
}
