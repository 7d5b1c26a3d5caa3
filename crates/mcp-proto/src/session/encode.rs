//! Encodes a [`ClientRequest`] as JSON-RPC method and parameters, and checks that the server supports it.

use crate::jsonrpc::JsonObjectWriter;
use crate::revision::Revision;

use super::{ClientRequest, ServerFacts, tasks};

impl ClientRequest {
    /// Returns the name of the request's JSON-RPC method in `revision`.
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

    /// Writes all parameters of the request except `_meta`.
    pub(super) fn write_params(&self, revision: Revision, params: &mut JsonObjectWriter<'_>) {
        match self {
            ClientRequest::Ping => {}
            ClientRequest::ListTools { cursor }
            | ClientRequest::ListPrompts { cursor }
            | ClientRequest::ListResources { cursor }
            | ClientRequest::ListResourceTemplates { cursor }
            | ClientRequest::ListTasks { cursor } => {
                if let Some(cursor) = cursor {
                    params.put("cursor", cursor);
                }
            }
            ClientRequest::CallTool { name, arguments, .. } | ClientRequest::GetPrompt { name, arguments } => {
                params.put("name", name);
                params.put("arguments", arguments);
            }
            ClientRequest::ReadResource { uri }
            | ClientRequest::Subscribe { uri }
            | ClientRequest::Unsubscribe { uri } => params.put("uri", uri),
            ClientRequest::Complete { reference, argument_name, value, context } => {
                params.put("ref", reference);
                params.put_object("argument", |argument| {
                    argument.put("name", argument_name);
                    argument.put("value", value);
                });
                if revision.has_completion_context() && !context.is_empty() {
                    params.put_object("context", |known| known.put("arguments", context));
                }
            }
            ClientRequest::Extension { params: own, .. } => {
                params.put_all(own.iter().filter(|(name, _)| *name != "_meta"));
            }
            ClientRequest::SetLogLevel { level } => params.put("level", level),
        }
    }

    /// Returns `true` if repeating the request has no further effect on the server.
    pub(super) fn is_safe_to_repeat(&self) -> bool {
        !matches!(self, ClientRequest::CallTool { .. } | ClientRequest::Extension { .. })
    }

    /// Returns `true` if the server may request input from the user before it responds (`basic/patterns/mrtr`). Such
    /// requests may take long, so the client also requests progress notifications for them.
    pub(super) fn may_request_input(&self) -> bool {
        matches!(
            self,
            ClientRequest::CallTool { .. } | ClientRequest::GetPrompt { .. } | ClientRequest::ReadResource { .. }
        )
    }

    /// Returns the reason why the server does not support this request, or `None` if it does.
    pub(super) fn unsupported_reason(&self, facts: &ServerFacts) -> Option<String> {
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
            ClientRequest::ListTasks { .. } => (tasks::supports_task_list(facts), "a list of tasks"),
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
