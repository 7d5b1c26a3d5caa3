//! Checks that run in each wire format of each server. A violated requirement is an error. Other observations are
//! recorded in the table.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use models::{MessagePart, Model, ModelError, ModelReply, ModelRequest, Provider as _, ReplyDelta, StopReason};

use crate::ask::{answered, asking, uses, with_picture, with_tool};
use crate::fake::all;
use crate::place::{ModelServer, ServedWire};

/// Text of a cell in the table, or a description of the failure.
pub(crate) type Cell = Result<String, String>;
type Check = for<'p> fn(&'p ServedWire) -> BoxFuture<'p, Cell>;

/// Rows of the table in order, each with its check.
pub(crate) const CHECKS: [(&str, Check); 21] = [
    ("lists its models", |place| listed(place).boxed()),
    ("context in the list", |place| context(place).boxed()),
    ("price in the list", |place| price(place).boxed()),
    ("text", |place| text(place).boxed()),
    ("names the model that answered", |place| check_model_name(place).boxed()),
    ("another model answered", |place| another(place).boxed()),
    ("tokens", |place| tokens(place).boxed()),
    ("thinking", |place| thinking(place).boxed()),
    ("a tool is used", |place| tool(place).boxed()),
    ("its result is answered", |place| result(place).boxed()),
    ("two tools at once", |place| parallel(place).boxed()),
    ("a picture", |place| picture(place).boxed()),
    ("the most tokens are reached", |place| most_tokens(place).boxed()),
    ("a text that ends the answer", |place| stop_text(place).boxed()),
    ("throttled", |place| scripted_error(place, "rate limit", &["rateLimited"]).boxed()),
    ("overloaded", |place| scripted_error(place, "overload", &["overloaded", "rateLimited", "provider"]).boxed()),
    ("a conversation that is too long", |place| too_long(place).boxed()),
    ("an unknown model", |place| unknown_model(place).boxed()),
    ("a wrong key", |place| wrong_key(place).boxed()),
    ("the provider stops in the middle", |place| breaks_off(place).boxed()),
    ("the provider fails in the middle", |place| fails(place).boxed()),
];

fn no() -> Cell {
    Ok("-".into())
}

async fn list(place: &ServedWire) -> Result<Vec<Model>, ModelError> {
    place.provider().models().await
}

async fn listed(place: &ServedWire) -> Cell {
    match list(place).await {
        Ok(models) if models.iter().any(|model| model.id == place.model) => Ok("yes".into()),
        Ok(models) => Ok(format!("{} others", if models.is_empty() { "no" } else { "only" })),
        Err(error) => Ok(error.code().into()),
    }
}

async fn context(place: &ServedWire) -> Cell {
    let Ok(models) = list(place).await else { return no() };
    let known = models.iter().find(|model| model.id == place.model).and_then(|model| model.context);
    Ok(known.map_or_else(|| "unknown".into(), |context| context.to_string()))
}

/// Checks that no price is derived from the name of a model if the server does not report one. Another provider may
/// charge a different price.
async fn price(place: &ServedWire) -> Cell {
    let Ok(models) = list(place).await else { return no() };
    match models.iter().find_map(|model| model.price.as_ref()) {
        None => Ok("unknown".into()),
        Some(price) => Err(format!("a price that nobody said: {price:?}")),
    }
}

async fn reply(place: &ServedWire, request: ModelRequest) -> Result<ModelReply, String> {
    all(&place.provider(), request).await.1.map_err(|error| format!("{}: {error}", error.code()))
}

async fn text(place: &ServedWire) -> Cell {
    let (came, whole) = all(&place.provider(), asking(place, "say hello")).await;
    let whole = whole.map_err(|error| error.to_string())?;
    let pieces: Vec<&str> = came
        .iter()
        .filter_map(|delta| if let ReplyDelta::Text(text) = delta { Some(text.as_str()) } else { None })
        .collect();
    if pieces.concat() != whole.message.plain_text() {
        return Err(format!("what streams is not what was said: {came:?}"));
    }
    if place.is_scripted() && pieces.concat() != "Hello! Grüße, 你好 and 👋 from the model." {
        return Err(format!("another text: {}", pieces.concat()));
    }
    Ok(match pieces.len() {
        0 => return Err("no text".into()),
        1 => "at once".into(),
        _ => "in pieces".into(),
    })
}

async fn check_model_name(place: &ServedWire) -> Cell {
    let reply = reply(place, asking(place, "say hello")).await?;
    Ok(if reply.model == place.model { "yes".into() } else { format!("as {}", reply.model) })
}

/// Requests a model that another one replaces: because the server chooses so, as a fallback of a proxy, or because
/// there is only one.
async fn another(place: &ServedWire) -> Cell {
    let (model, stands_in) = match place.server {
        ModelServer::Aimock => (place.model.as_str(), "another-model"),
        ModelServer::LiteLlm => ("falls-back", "mocked"),
        ModelServer::LlamaCpp => ("nothing", "tiny"),
    };
    let request = ModelRequest { model: model.into(), ..asking(place, "answer as another") };
    let reply = match all(&place.provider(), request).await.1 {
        Ok(reply) => reply,
        // For streams, LiteLLM's proxy does not always fall back.
        Err(error) if place.server == ModelServer::LiteLlm => return Ok(error.code().into()),
        Err(error) => return Err(error.to_string()),
    };
    Ok(if reply.model == stands_in { "told".into() } else { format!("as {}", reply.model) })
}

async fn tokens(place: &ServedWire) -> Cell {
    let usage = reply(place, asking(place, "say hello")).await?.usage;
    Ok(match (usage.input, usage.output) {
        (Some(_), Some(_)) => "both".into(),
        (None, None) => "unknown".into(),
        (Some(_), None) => "of the request".into(),
        (None, Some(_)) => "of the answer".into(),
    })
}

async fn thinking(place: &ServedWire) -> Cell {
    if !place.is_scripted() {
        return no();
    }
    let reply = reply(place, ModelRequest { thinking: true, ..asking(place, "think first") }).await?;
    if reply.message.plain_text() != "It is 42." {
        return Err(format!("what it thought is in what it said: {}", reply.message.plain_text()));
    }
    let thought =
        reply.message.parts.iter().any(|part| matches!(part, MessagePart::Thinking { text, .. } if !text.is_empty()));
    Ok(if thought { "shown" } else { "not shown" }.into())
}

async fn tool(place: &ServedWire) -> Cell {
    if !place.is_scripted() {
        return no();
    }
    let reply = reply(place, with_tool(place, "what is the weather")).await?;
    let used = uses(&reply)?;
    match (used.len(), &reply.stop) {
        (1, StopReason::ToolUse) => Ok("yes".into()),
        (number, stop) => Err(format!("{number} uses, ended by {stop:?}")),
    }
}

async fn result(place: &ServedWire) -> Cell {
    if !place.is_scripted() {
        return no();
    }
    let request = with_tool(place, "what is the weather");
    let used = reply(place, request.clone()).await?;
    let reply = reply(place, answered(request, used)).await?;
    let text = reply.message.plain_text();
    if place.is_scripted() && text != "It is sunny in Oslo." {
        return Err(format!("another answer: {text}"));
    }
    Ok("yes".into())
}

async fn parallel(place: &ServedWire) -> Cell {
    if !place.is_scripted() {
        return no();
    }
    let reply = reply(place, with_tool(place, "compare two cities")).await?;
    let cities: Vec<_> = uses(&reply)?.into_iter().map(|arguments| arguments["city"].clone()).collect();
    if cities == ["Oslo", "Lima"] { Ok("yes".into()) } else { Err(format!("in another way: {cities:?}")) }
}

async fn picture(place: &ServedWire) -> Cell {
    let (_, reply) = all(&place.provider(), with_picture(place, "what is in the picture")).await;
    match reply {
        Ok(reply) if !place.is_scripted() || reply.message.plain_text() == "A red square." => Ok("yes".into()),
        Ok(reply) => Err(format!("another answer: {}", reply.message.plain_text())),
        Err(error) => Ok(error.code().into()),
    }
}

async fn most_tokens(place: &ServedWire) -> Cell {
    let reply = reply(place, asking(place, "stop early")).await?;
    Ok(match reply.stop {
        StopReason::MaxTokens => "told".into(),
        StopReason::EndTurn => "not told".into(),
        StopReason::Other(word) => format!("as {word}"),
        stop => return Err(format!("{stop:?}")),
    })
}

async fn stop_text(place: &ServedWire) -> Cell {
    let request = ModelRequest { stop: vec!["END".into()], ..asking(place, "say hello") };
    match all(&place.provider(), request).await.1 {
        Ok(_) => Ok("taken".into()),
        Err(ModelError::CannotCarry(_)) => Ok("refused before it is sent".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Requests the error with this name, which `tests/models/provider.mjs` defines. The result must have one of the codes
/// in `right`.
async fn scripted_error(place: &ServedWire, name: &str, right: &[&str]) -> Cell {
    if !place.is_scripted() {
        return no();
    }
    let Err(error) = all(&place.provider(), asking(place, &format!("say the error {name}"))).await.1 else {
        return Err("an answer".into());
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

async fn too_long(place: &ServedWire) -> Cell {
    let text = if place.is_scripted() { "say the error context too long".into() } else { "word ".repeat(20_000) };
    match all(&place.provider(), asking(place, &text)).await.1 {
        Err(ModelError::ContextTooLong { limit: Some(limit) }) => Ok(format!("told, {limit}")),
        Err(ModelError::ContextTooLong { limit: None }) => Ok("told, limit unknown".into()),
        other => Err(format!("{other:?}")),
    }
}

async fn unknown_model(place: &ServedWire) -> Cell {
    let request = ModelRequest { model: "nothing".into(), ..asking(place, "say hello") };
    match all(&place.provider(), request).await.1 {
        Ok(_) => Ok("answers all the same".into()),
        Err(error) => Ok(error.code().into()),
    }
}

async fn wrong_key(place: &ServedWire) -> Cell {
    let error = all(&place.provider_with("sk-of-somebody-else"), asking(place, "say hello")).await.1;
    match error {
        Err(ModelError::WrongKey { said }) if said.contains("sk-of-somebody-else") => Err(format!("repeated: {said}")),
        Err(ModelError::WrongKey { .. }) => Ok("wrongKey".into()),
        // Without a database, LiteLLM can't check other keys, and reports only that.
        Err(error) if place.server == ModelServer::LiteLlm => Ok(error.code().into()),
        other => Err(format!("{other:?}")),
    }
}

/// Checks a response that the provider truncates. A proxy may make it look complete, which can't be detected.
async fn breaks_off(place: &ServedWire) -> Cell {
    if !place.is_scripted() {
        return no();
    }
    match all(&place.provider(), asking(place, "break off")).await.1 {
        Err(error) => Ok(error.code().into()),
        Ok(_) if place.server == ModelServer::LiteLlm => Ok("looks whole".into()),
        Ok(reply) => Err(format!("looks whole: {reply:?}")),
    }
}

async fn fails(place: &ServedWire) -> Cell {
    if place.server != ModelServer::LiteLlm {
        return no();
    }
    let request = ModelRequest { model: "breaks".into(), ..asking(place, "say hello") };
    match all(&place.provider(), request).await.1 {
        Err(error) => Ok(error.code().into()),
        Ok(reply) => Err(format!("looks whole: {reply:?}")),
    }
}
