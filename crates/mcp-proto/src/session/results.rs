//! From the body of an answer to a [`ServerResult`], with the place and cause when it does not fit.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::jsonrpc::{RawJson, escape};
use crate::types::{CompletionResult, Map, Prompt, Resource, ResourceContents, ResourceTemplate, Tool};

use super::{CacheHint, ClientRequest, ServerResult, tasks};

/// The body as an object. It is parsed here and only here; what follows moves its parts.
pub(super) fn object(raw: &RawJson) -> Result<Map, String> {
    match raw.parse() {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err("it is no object".into()),
        Err(error) => Err(escape(&error.to_string(), 300)),
    }
}

/// `body` as a `T`. The cause names the field.
pub(super) fn read<T: DeserializeOwned>(body: Map) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(body)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner().to_string();
        let cause = if path == "." { cause } else { format!("{path}: {cause}") };
        escape(&cause, 300)
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolsPage {
    tools: Vec<Tool>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptsPage {
    prompts: Vec<Prompt>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourcesPage {
    resources: Vec<Resource>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TemplatesPage {
    resource_templates: Vec<ResourceTemplate>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Contents {
    contents: Vec<ResourceContents>,
}

#[derive(Deserialize)]
struct Completion {
    completion: CompletionResult,
}

/// The answer to `request`.
pub(super) fn result(request: &ClientRequest, body: Map, cache: Option<CacheHint>) -> Result<ServerResult, String> {
    match request {
        ClientRequest::Ping
        | ClientRequest::Subscribe { .. }
        | ClientRequest::Unsubscribe { .. }
        | ClientRequest::SetLogLevel { .. } => Ok(ServerResult::Empty),
        ClientRequest::ListTools { .. } => {
            read(body).map(|ToolsPage { tools, next_cursor }| ServerResult::Tools { items: tools, next_cursor, cache })
        }
        ClientRequest::ListPrompts { .. } => read(body)
            .map(|PromptsPage { prompts, next_cursor }| ServerResult::Prompts { items: prompts, next_cursor, cache }),
        ClientRequest::ListResources { .. } => read(body).map(|ResourcesPage { resources, next_cursor }| {
            ServerResult::Resources { items: resources, next_cursor, cache }
        }),
        ClientRequest::ListResourceTemplates { .. } => {
            read(body).map(|TemplatesPage { resource_templates, next_cursor }| ServerResult::Templates {
                items: resource_templates,
                next_cursor,
                cache,
            })
        }
        ClientRequest::CallTool { .. } => {
            if !body.contains_key("content") && !body.contains_key("structuredContent") {
                return Err("missing field `content`".into());
            }
            read(body).map(ServerResult::Tool)
        }
        ClientRequest::GetPrompt { .. } => read(body).map(ServerResult::Prompt),
        ClientRequest::ReadResource { .. } => {
            read(body).map(|Contents { contents }| ServerResult::Contents { contents, cache })
        }
        ClientRequest::ListTasks { .. } => tasks::page(body),
        ClientRequest::Extension { .. } => Ok(ServerResult::Extension { result: body, cache }),
        ClientRequest::Complete { .. } => {
            read(body).map(|Completion { completion }| ServerResult::Completion(completion))
        }
    }
}
