//! From a [`ClientRequest`] to its method and parameters, and whether this server can take it.

use serde_json::{Value, json};

use crate::revision::Revision;
use crate::types::Map;

use super::{ClientRequest, Facts, tasks};

impl ClientRequest {
    /// The method on the wire in `revision`.
    pub(super) fn method(&self, revision: Revision) -> &'static str {
        match self {
            ClientRequest::Ping if revision.has_ping() => "ping",
            ClientRequest::Ping => "server/discover",
            ClientRequest::ListTools { .. } => "tools/list",
            ClientRequest::CallTool { .. } => "tools/call",
            ClientRequest::ListPrompts { .. } => "prompts/list",
            ClientRequest::GetPrompt { .. } => "prompts/get",
            ClientRequest::ListResources { .. } => "resources/list",
            ClientRequest::ListResourceTemplates { .. } => "resources/templates/list",
            ClientRequest::ReadResource { .. } => "resources/read",
            ClientRequest::Subscribe { .. } => "resources/subscribe",
            ClientRequest::Unsubscribe { .. } => "resources/unsubscribe",
            ClientRequest::Complete { .. } => "completion/complete",
            ClientRequest::ListTasks { .. } => "tasks/list",
            ClientRequest::Extension { method, .. } => method,
            ClientRequest::SetLogLevel { .. } => "logging/setLevel",
        }
    }

    /// The parameters without `_meta`; empty ones may be left out.
    pub(super) fn params(&self, revision: Revision) -> Map {
        let params = match self {
            ClientRequest::Ping => json!({}),
            ClientRequest::ListTools { cursor }
            | ClientRequest::ListPrompts { cursor }
            | ClientRequest::ListResources { cursor }
            | ClientRequest::ListResourceTemplates { cursor }
            | ClientRequest::ListTasks { cursor } => match cursor {
                Some(cursor) => json!({ "cursor": cursor }),
                None => json!({}),
            },
            ClientRequest::CallTool { name, arguments, .. } | ClientRequest::GetPrompt { name, arguments } => {
                json!({ "name": name, "arguments": arguments })
            }
            ClientRequest::ReadResource { uri }
            | ClientRequest::Subscribe { uri }
            | ClientRequest::Unsubscribe { uri } => json!({ "uri": uri }),
            ClientRequest::Complete { reference, argument_name, value, context } => {
                let mut params = json!({ "ref": reference, "argument": { "name": argument_name, "value": value } });
                if revision.has_completion_context() && !context.is_empty() {
                    params["context"] = json!({ "arguments": context });
                }
                params
            }
            ClientRequest::Extension { params, .. } => return params.clone(),
            ClientRequest::SetLogLevel { level } => json!({ "level": level }),
        };
        match params {
            Value::Object(params) => params,
            _ => Map::new(),
        }
    }

    /// Whether it changes nothing when it is done twice.
    pub(super) fn is_safe_to_repeat(&self) -> bool {
        !matches!(self, ClientRequest::CallTool { .. } | ClientRequest::Extension { .. })
    }

    /// Whether the server may ask back before it answers (`basic/patterns/mrtr`), and whether it is
    /// asked for progress: what runs for long is the same.
    pub(super) fn may_ask_back(&self) -> bool {
        matches!(
            self,
            ClientRequest::CallTool { .. } | ClientRequest::GetPrompt { .. } | ClientRequest::ReadResource { .. }
        )
    }

    /// Why this cannot be asked of the server, if it cannot.
    pub(super) fn obstacle(&self, facts: &Facts) -> Option<String> {
        let offers = &facts.capabilities;
        let (there, what) = match self {
            ClientRequest::Ping => (true, ""),
            ClientRequest::ListTools { .. } | ClientRequest::CallTool { .. } => (offers.tools.is_some(), "tools"),
            ClientRequest::ListPrompts { .. } | ClientRequest::GetPrompt { .. } => {
                (offers.prompts.is_some(), "prompts")
            }
            ClientRequest::ListResources { .. }
            | ClientRequest::ListResourceTemplates { .. }
            | ClientRequest::ReadResource { .. } => (offers.resources.is_some(), "resources"),
            ClientRequest::Subscribe { .. } | ClientRequest::Unsubscribe { .. } => (
                offers.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true)),
                "subscriptions to resources",
            ),
            ClientRequest::Complete { .. } => (
                offers.completions.is_some() || !facts.revision.has_completions_capability(),
                "completion of arguments",
            ),
            ClientRequest::ListTasks { .. } => (tasks::may_list(facts), "a list of tasks"),
            ClientRequest::Extension { extension, .. } => {
                (offers.extensions.as_ref().is_some_and(|offered| offered.contains_key(*extension)), *extension)
            }
            ClientRequest::SetLogLevel { .. } => (offers.logging.is_some(), "log messages"),
        };
        if !there {
            return Some(format!("it does not offer {what}"));
        }
        if let ClientRequest::GetPrompt { arguments, .. } = self
            && let Some((name, _)) = arguments.iter().find(|(_, value)| !value.is_string())
        {
            return Some(format!("the prompt's argument \"{name}\" is not a string"));
        }
        None
    }
}
