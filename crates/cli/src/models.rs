//! The `models` commands: manage model providers. API keys are read from the environment or from standard input,
//! because other programs can read command line arguments.

use std::io::Read as _;

use api::data::{
    DefaultModel, EmptyObject, Model, ModelProvider, ModelRef, Models, ProviderId, ProviderKind, ProviderPreset,
    SecretStorageReport, SetProvider, SetProviderKey, TestProvider,
};
use api::{ErrorCode, Handler as _};
use serde_json::Value;

use crate::arguments::{ModelsCommand, NewProvider, ProviderKindName};
use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::published_names::{
    MODELS_FIELD_NAMES, PROVIDER_FIELD_NAMES, PROVIDER_TEST_FIELD_NAMES, with_published_field_names,
};
use crate::session::CommandSession;
use crate::table::format_table;
use crate::terminal_escape;

/// Environment variable from which the `models` commands read the API key of a provider.
const API_KEY_VARIABLE: &str = "DRAWBRIDGE_MODEL_KEY";
/// Maximum length of an API key, in bytes.
const MAX_API_KEY_BYTES: u64 = 8 << 10;

/// Runs a `models` command, and returns its result as JSON.
pub(crate) async fn run(session: &CommandSession, command: Option<ModelsCommand>) -> Result<Value, CommandFailure> {
    match command.unwrap_or(ModelsCommand::List { provider: None }) {
        ModelsCommand::List { provider } => list_providers(session, provider).await,
        ModelsCommand::Add(new) => add_provider(session, new).await,
        ModelsCommand::Key { provider } => {
            find_provider(session, &provider).await?;
            let response = store_provider_key(session, provider, read_provider_key(session).await?).await?;
            session.output.print_text("stored, encrypted with a key in the keychain");
            Ok(to_json_value(&response))
        }
        ModelsCommand::Test { provider, model } => test_provider(session, provider, model).await,
        ModelsCommand::Default { model } => set_default_model(session, &model).await,
        ModelsCommand::Remove { provider } => {
            session.api.remove_provider(ProviderId { id: provider }).await?;
            session.output.print_text("removed, and its key");
            Ok(to_json_value(&EmptyObject {}))
        }
    }
}

async fn read_models(session: &CommandSession) -> Result<Models, CommandFailure> {
    Ok(session.api.list_models(EmptyObject {}).await?)
}

async fn find_provider(session: &CommandSession, provider: &str) -> Result<ModelProvider, CommandFailure> {
    let found = read_models(session).await?.providers.into_iter().find(|own| own.id == provider);
    found.ok_or_else(|| CommandFailure::new(ErrorCode::NotFound, format!("no provider \"{provider}\" is set up")))
}

async fn list_providers(session: &CommandSession, provider: Option<String>) -> Result<Value, CommandFailure> {
    if let Some(provider) = provider {
        session.api.refresh_models(ProviderId { id: provider.clone() }).await?;
        let provider = find_provider(session, &provider).await?;
        session.output.print_text(&format_table(&provider.models.iter().map(model_row).collect::<Vec<_>>()));
        return Ok(with_published_field_names(to_json_value(&provider), PROVIDER_FIELD_NAMES));
    }
    let models = read_models(session).await?;
    let rows: Vec<_> = models.providers.iter().map(|own| provider_row(own, models.default.as_ref())).collect();
    session.output.print_text(&format_table(&rows));
    for found in &models.found {
        let (name, count) = (terminal_escape::escape_line(&found.name), found.models.len());
        let words =
            format!("{name} runs on this computer, with {count} models: drawbridge-cli models add {}", found.preset);
        session.output.print_text(&words);
    }
    if rows.is_empty() && models.found.is_empty() {
        let presets: Vec<_> = models.presets.iter().map(|preset| preset.id).collect();
        session.output.print_text(&format!("no providers; add one of {}, or any by --url", presets.join(", ")));
    }
    Ok(with_published_field_names(to_json_value(&models), MODELS_FIELD_NAMES))
}

fn provider_row(own: &ModelProvider, default: Option<&ModelRef>) -> Vec<String> {
    let mut more = Vec::new();
    if let Some(default) = default.filter(|default| default.provider == own.id) {
        more.push(format!("default: {}", terminal_escape::escape_line(&default.model)));
    }
    if own.is_unencrypted {
        more.push("others on the network can read what is sent there".to_owned());
    }
    if let Some(problem) = &own.problem {
        more.push(terminal_escape::escape_line(&problem.message));
    }
    vec![
        terminal_escape::escape_line(&own.id),
        terminal_escape::escape_line(&own.url),
        if own.has_key { "key" } else { "no key" }.to_owned(),
        format!("{} models", own.models.len()),
        more.join("; "),
    ]
}

fn model_row(own: &Model) -> Vec<String> {
    let context =
        own.context.map_or_else(|| "context unknown".to_owned(), |count| format!("{} k tokens", count / 1_000));
    let price = own.price.as_ref().map_or_else(
        || "price unknown".to_owned(),
        |price| {
            format!(
                "{} / {} {} per million ({})",
                price.input,
                price.output,
                price.currency,
                terminal_escape::escape_line(&price.as_of)
            )
        },
    );
    vec![terminal_escape::escape_line(&own.id), context, price]
}

async fn add_provider(session: &CommandSession, new: NewProvider) -> Result<Value, CommandFailure> {
    let all = read_models(session).await?;
    let preset = all.presets.iter().find(|preset| preset.id == new.provider);
    let settings = provider_settings(&new, preset)?;
    let requires_key = new.key || preset.is_some_and(|preset| preset.requires_key);
    // The key is read before any setting is changed.
    let key = if requires_key || std::env::var_os(API_KEY_VARIABLE).is_some() {
        Some(read_provider_key(session).await?)
    } else {
        None
    };
    session.api.set_provider(settings).await?;
    if let Some(key) = key {
        store_provider_key(session, new.provider.clone(), key).await?;
    }
    session.output.print_text(&format!("added; try it with: drawbridge-cli models test {}", new.provider));
    let provider = find_provider(session, &new.provider).await?;
    Ok(with_published_field_names(to_json_value(&provider), PROVIDER_FIELD_NAMES))
}

fn provider_settings(new: &NewProvider, preset: Option<&ProviderPreset>) -> Result<SetProvider, CommandFailure> {
    let kind = match (new.kind, preset) {
        (Some(kind), _) => provider_kind(kind),
        (None, Some(preset)) => preset.kind,
        (None, None) => ProviderKind::OpenAi,
    };
    let url = new.url.clone().or_else(|| preset.map(|preset| preset.url.to_owned()));
    let url = url.ok_or_else(|| {
        CommandFailure::usage_error(format!(
            "\"{}\" is not a known provider; give its address with --url",
            new.provider
        ))
    })?;
    let name = new.name.clone().or_else(|| preset.map(|preset| preset.name.to_owned()));
    Ok(SetProvider {
        id: new.provider.clone(),
        name: name.unwrap_or_else(|| new.provider.clone()),
        kind,
        url,
        silence_seconds: None,
        conversions: Vec::new(),
    })
}

const fn provider_kind(name: ProviderKindName) -> ProviderKind {
    match name {
        ProviderKindName::Openai => ProviderKind::OpenAi,
        ProviderKindName::Responses => ProviderKind::Responses,
        ProviderKindName::Anthropic => ProviderKind::Anthropic,
        ProviderKindName::Gemini => ProviderKind::Gemini,
        ProviderKindName::Ollama => ProviderKind::Ollama,
    }
}

/// Reads a provider's API key from the environment, or else from standard input.
async fn read_provider_key(session: &CommandSession) -> Result<String, CommandFailure> {
    let key = match std::env::var(API_KEY_VARIABLE) {
        Ok(key) => key,
        Err(_) => {
            session.output.print_prompt("Paste the key, then press Enter and Ctrl+D:\n");
            let read = tokio::task::spawn_blocking(|| {
                let mut text = String::new();
                std::io::stdin().lock().take(MAX_API_KEY_BYTES).read_to_string(&mut text).map(|_| text)
            });
            let text = read.await.map_err(|error| CommandFailure::new(ErrorCode::Internal, error.to_string()))?;
            text.map_err(|error| CommandFailure::usage_error(format!("standard input: {error}")))?
        }
    };
    let key = key.trim();
    if key.is_empty() {
        return Err(CommandFailure::usage_error(format!(
            "no key: pass it in {API_KEY_VARIABLE}, or on standard input"
        )));
    }
    Ok(key.to_owned())
}

/// Stores the API key of a model provider. Returns a failure if the key would be lost when the program exits.
async fn store_provider_key(
    session: &CommandSession,
    id: String,
    key: String,
) -> Result<SecretStorageReport, CommandFailure> {
    let response = session.api.set_provider_key(SetProviderKey { id, key }).await?;
    match response.only_this_run {
        Some(cause) => Err(CommandFailure::new(ErrorCode::System, format!("the key could not be stored: {cause}"))),
        None => Ok(response),
    }
}

async fn test_provider(session: &CommandSession, id: String, model: Option<String>) -> Result<Value, CommandFailure> {
    let tried = session.api.test_provider(TestProvider { id, model }).await?;
    if let Some(problem) = &tried.problem {
        let failure = CommandFailure::new(ErrorCode::Server, problem.message.clone());
        return Err(CommandFailure { data: Some(Box::new(to_json_value(problem))), ..failure });
    }
    let mut words = format!("it lists {} models", tried.models);
    if let (Some(reply), Some(time)) = (&tried.reply, tried.first_token_milliseconds) {
        words = format!("{words}; after {time} ms the model replied: {}", terminal_escape::escape_line(reply));
    }
    session.output.print_text(&words);
    Ok(with_published_field_names(to_json_value(&tried), PROVIDER_TEST_FIELD_NAMES))
}

async fn set_default_model(session: &CommandSession, model: &str) -> Result<Value, CommandFailure> {
    let Some((provider, model)) = model.split_once('/') else {
        return Err(CommandFailure::usage_error("name the model as PROVIDER/MODEL"));
    };
    let model = ModelRef { provider: provider.to_owned(), model: model.to_owned() };
    session.api.set_default_model(DefaultModel { model: Some(model.clone()) }).await?;
    session.output.print_text("new conversations start with it");
    Ok(to_json_value(&model))
}
