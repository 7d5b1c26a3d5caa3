//! Checks that run in each API of each server. A violated requirement is an error. Other observations are
//! recorded in the table.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use models::{MessagePart, Model, ModelError, ModelReply, ModelRequest, Provider as _, ReplyDelta, StopReason};

use crate::ask::{picture_request, request_with_results, text_request, tool_request, valid_tool_uses};
use crate::fake::collect_response;
use crate::place::{ModelServer, ServedWire};

/// Observation as the text of a cell in the table, or a description of the failed check.
pub(crate) type ModelCheckResult = Result<String, String>;
type ModelCheck = for<'p> fn(&'p ServedWire) -> BoxFuture<'p, ModelCheckResult>;

/// Names of the rows of the table in order, each with the check that fills its cells.
pub(crate) const MODEL_CHECKS: [(&str, ModelCheck); 21] = [
    ("lists its models", |place| check_model_list(place).boxed()),
    ("context in the list", |place| check_listed_context(place).boxed()),
    ("price in the list", |place| check_listed_price(place).boxed()),
    ("text", |place| check_text(place).boxed()),
    ("names the model that answered", |place| check_model_name(place).boxed()),
    ("another model answered", |place| check_replaced_model(place).boxed()),
    ("tokens", |place| check_token_usage(place).boxed()),
    ("thinking", |place| check_thinking(place).boxed()),
    ("a tool is used", |place| check_tool_use(place).boxed()),
    ("its result is answered", |place| check_tool_result(place).boxed()),
    ("two tools at once", |place| check_parallel_tools(place).boxed()),
    ("a picture", |place| check_picture(place).boxed()),
    ("the most tokens are reached", |place| check_token_limit(place).boxed()),
    ("a text that ends the answer", |place| check_stop_text(place).boxed()),
    ("throttled", |place| check_scripted_error(place, "rate limit", &["rateLimited"]).boxed()),
    ("overloaded", |place| check_scripted_error(place, "overload", &["overloaded", "rateLimited", "provider"]).boxed()),
    ("a conversation that is too long", |place| check_too_long_prompt(place).boxed()),
    ("an unknown model", |place| check_unknown_model(place).boxed()),
    ("a wrong key", |place| check_wrong_key(place).boxed()),
    ("the provider stops in the middle", |place| check_truncated_response(place).boxed()),
    ("the provider fails in the middle", |place| check_reported_failure(place).boxed()),
];

fn not_applicable() -> ModelCheckResult {
    Ok("-".into())
}

async fn list_models(place: &ServedWire) -> Result<Vec<Model>, ModelError> {
    place.client().models().await
}

async fn check_model_list(place: &ServedWire) -> ModelCheckResult {
    match list_models(place).await {
        Ok(models) if models.iter().any(|model| model.id == place.model) => Ok("yes".into()),
        Ok(models) => Ok(format!("{} others", if models.is_empty() { "no" } else { "only" })),
        Err(error) => Ok(error.code().into()),
    }
}

async fn check_listed_context(place: &ServedWire) -> ModelCheckResult {
    let Ok(models) = list_models(place).await else { return not_applicable() };
    let known = models.iter().find(|model| model.id == place.model).and_then(|model| model.context);
    Ok(known.map_or_else(|| "unknown".into(), |context| context.to_string()))
}

/// Checks that a listed model has no price if the server reports none. A price must not be derived from the name of the
/// model, because another provider may charge a different one.
async fn check_listed_price(place: &ServedWire) -> ModelCheckResult {
    let Ok(models) = list_models(place).await else { return not_applicable() };
    match models.iter().find_map(|model| model.price.as_ref()) {
        None => Ok("unknown".into()),
        Some(price) => Err(format!("the server reports no price, but the list contains {price:?}")),
    }
}

async fn receive_complete_reply(place: &ServedWire, request: ModelRequest) -> Result<ModelReply, String> {
    collect_response(&place.client(), request).await.1.map_err(|error| format!("{}: {error}", error.code()))
}

async fn check_text(place: &ServedWire) -> ModelCheckResult {
    let (received, whole) = collect_response(&place.client(), text_request(place, "say hello")).await;
    let whole = whole.map_err(|error| error.to_string())?;
    let pieces: Vec<&str> = received
        .iter()
        .filter_map(|delta| if let ReplyDelta::Text(text) = delta { Some(text.as_str()) } else { None })
        .collect();
    if pieces.concat() != whole.message.plain_text() {
        return Err(format!("the streamed text differs from the reply: {received:?}"));
    }
    if place.is_scripted() && pieces.concat() != "Hello! Grüße, 你好 and 👋 from the model." {
        return Err(format!("unexpected text: {}", pieces.concat()));
    }
    Ok(match pieces.len() {
        0 => return Err("no text".into()),
        1 => "at once".into(),
        _ => "in pieces".into(),
    })
}

async fn check_model_name(place: &ServedWire) -> ModelCheckResult {
    let reply = receive_complete_reply(place, text_request(place, "say hello")).await?;
    Ok(if reply.model == place.model { "yes".into() } else { format!("as {}", reply.model) })
}

/// Requests a model in whose place the server uses another one, and returns `told` if the reply names the model that
/// was used. aimock is scripted to replace the model, the proxy falls back to another one, and llama.cpp has only one.
async fn check_replaced_model(place: &ServedWire) -> ModelCheckResult {
    let (model, substitute) = match place.server {
        ModelServer::Aimock => (place.model.as_str(), "another-model"),
        ModelServer::LiteLlm => ("falls-back", "mocked"),
        ModelServer::LlamaCpp => ("nothing", "tiny"),
    };
    let request = ModelRequest { model: model.into(), ..text_request(place, "answer as another") };
    let reply = match collect_response(&place.client(), request).await.1 {
        Ok(reply) => reply,
        // For streams, LiteLLM's proxy does not always fall back.
        Err(error) if place.server == ModelServer::LiteLlm => return Ok(error.code().into()),
        Err(error) => return Err(error.to_string()),
    };
    Ok(if reply.model == substitute { "told".into() } else { format!("as {}", reply.model) })
}

async fn check_token_usage(place: &ServedWire) -> ModelCheckResult {
    let usage = receive_complete_reply(place, text_request(place, "say hello")).await?.usage;
    Ok(match (usage.input, usage.output) {
        (Some(_), Some(_)) => "both".into(),
        (None, None) => "unknown".into(),
        (Some(_), None) => "of the request".into(),
        (None, Some(_)) => "of the answer".into(),
    })
}

async fn check_thinking(place: &ServedWire) -> ModelCheckResult {
    if !place.is_scripted() {
        return not_applicable();
    }
    let reply =
        receive_complete_reply(place, ModelRequest { thinking: true, ..text_request(place, "think first") }).await?;
    if reply.message.plain_text() != "It is 42." {
        return Err(format!("the text contains the thinking: {}", reply.message.plain_text()));
    }
    let thought =
        reply.message.parts.iter().any(|part| matches!(part, MessagePart::Thinking { text, .. } if !text.is_empty()));
    Ok(if thought { "shown" } else { "not shown" }.into())
}

async fn check_tool_use(place: &ServedWire) -> ModelCheckResult {
    let reply = receive_complete_reply(place, tool_request(place, "what is the weather")).await?;
    let used = valid_tool_uses(&reply)?;
    match (used.len(), &reply.stop) {
        (1, StopReason::ToolUse) => Ok("yes".into()),
        // A model with random weights chooses the number of its calls.
        (2.., StopReason::ToolUse) if !place.is_scripted() => Ok("yes".into()),
        (number, stop) => Err(format!("{number} tool uses with stop reason {stop:?} instead of one")),
    }
}

async fn check_tool_result(place: &ServedWire) -> ModelCheckResult {
    let request = tool_request(place, "what is the weather");
    let used = receive_complete_reply(place, request.clone()).await?;
    let reply = receive_complete_reply(place, request_with_results(request, used)).await?;
    let text = reply.message.plain_text();
    let is_expected = if place.is_scripted() { text == "It is sunny in Oslo." } else { !text.is_empty() };
    if is_expected { Ok("yes".into()) } else { Err(format!("unexpected text: {text}")) }
}

async fn check_parallel_tools(place: &ServedWire) -> ModelCheckResult {
    if !place.is_scripted() {
        return not_applicable();
    }
    let reply = receive_complete_reply(place, tool_request(place, "compare two cities")).await?;
    let cities: Vec<_> = valid_tool_uses(&reply)?.into_iter().map(|arguments| arguments["city"].clone()).collect();
    if cities == ["Oslo", "Lima"] { Ok("yes".into()) } else { Err(format!("unexpected cities: {cities:?}")) }
}

async fn check_picture(place: &ServedWire) -> ModelCheckResult {
    let (_, reply) = collect_response(&place.client(), picture_request(place, "what is in the picture")).await;
    match reply {
        Ok(reply) if !place.is_scripted() || reply.message.plain_text() == "A red square." => Ok("yes".into()),
        Ok(reply) => Err(format!("unexpected text: {}", reply.message.plain_text())),
        Err(error) => Ok(error.code().into()),
    }
}

async fn check_token_limit(place: &ServedWire) -> ModelCheckResult {
    let reply = receive_complete_reply(place, text_request(place, "stop early")).await?;
    Ok(match reply.stop {
        StopReason::MaxTokens => "told".into(),
        StopReason::EndTurn => "not told".into(),
        StopReason::Other(word) => format!("as {word}"),
        stop => return Err(format!("{stop:?}")),
    })
}

async fn check_stop_text(place: &ServedWire) -> ModelCheckResult {
    let request = ModelRequest { stop: vec!["END".into()], ..text_request(place, "say hello") };
    match collect_response(&place.client(), request).await.1 {
        Ok(_) => Ok("taken".into()),
        Err(ModelError::CannotCarry(_)) => Ok("refused before it is sent".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks that the client reports the error named `name` in `tests/models/provider.mjs` with one of the codes in
/// `right`.
async fn check_scripted_error(place: &ServedWire, name: &str, right: &[&str]) -> ModelCheckResult {
    if !place.is_scripted() {
        return not_applicable();
    }
    let Err(error) = collect_response(&place.client(), text_request(place, &format!("say the error {name}"))).await.1
    else {
        return Err("the request succeeded".into());
    };
    if !right.contains(&error.code()) {
        return Err(format!("{}: {error}", error.code()));
    }
    Ok(match error {
        ModelError::RateLimited { retry_after: Some(time) } => format!("rateLimited, {} s", time.as_secs()),
        ModelError::RateLimited { retry_after: None } => "rateLimited, time unknown".into(),
        error => error.code().into(),
    })
}

async fn check_too_long_prompt(place: &ServedWire) -> ModelCheckResult {
    let text = if place.is_scripted() { "say the error context too long".into() } else { "word ".repeat(20_000) };
    match collect_response(&place.client(), text_request(place, &text)).await.1 {
        Err(ModelError::ContextTooLong { limit: Some(limit) }) => Ok(format!("told, {limit}")),
        Err(ModelError::ContextTooLong { limit: None }) => Ok("told, limit unknown".into()),
        other => Err(format!("{other:?}")),
    }
}

async fn check_unknown_model(place: &ServedWire) -> ModelCheckResult {
    let request = ModelRequest { model: "nothing".into(), ..text_request(place, "say hello") };
    match collect_response(&place.client(), request).await.1 {
        Ok(_) => Ok("answers all the same".into()),
        Err(error) => Ok(error.code().into()),
    }
}

async fn check_wrong_key(place: &ServedWire) -> ModelCheckResult {
    let error =
        collect_response(&place.client_with_key("sk-of-somebody-else"), text_request(place, "say hello")).await.1;
    match error {
        Err(ModelError::WrongKey { message }) if message.contains("sk-of-somebody-else") => {
            Err(format!("the error repeats the key: {message}"))
        }
        Err(ModelError::WrongKey { .. }) => Ok("wrongKey".into()),
        // Without a database, LiteLLM can't check other keys, and reports only that.
        Err(error) if place.server == ModelServer::LiteLlm => Ok(error.code().into()),
        other => Err(format!("{other:?}")),
    }
}

/// Checks that the client reports a response which the provider truncates as an error. Behind a proxy that makes the
/// response look complete, this can't be detected.
async fn check_truncated_response(place: &ServedWire) -> ModelCheckResult {
    if !place.is_scripted() {
        return not_applicable();
    }
    match collect_response(&place.client(), text_request(place, "break off")).await.1 {
        Err(error) => Ok(error.code().into()),
        Ok(_) if place.server == ModelServer::LiteLlm => Ok("looks whole".into()),
        Ok(reply) => Err(format!("the response looks complete: {reply:?}")),
    }
}

async fn check_reported_failure(place: &ServedWire) -> ModelCheckResult {
    if place.server != ModelServer::LiteLlm {
        return not_applicable();
    }
    let request = ModelRequest { model: "breaks".into(), ..text_request(place, "say hello") };
    match collect_response(&place.client(), request).await.1 {
        Err(error) => Ok(error.code().into()),
        Ok(reply) => Err(format!("the response looks complete: {reply:?}")),
    }
}
