//! Calls of tools, prompts and resources, and related requests. Used by the commands of `api` and the command line, and
//! by `chat` for tool calls of any origin.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallId, CallKind};
use mcp_proto::jsonrpc::code;
use mcp_proto::session::{CallError, ClientRequest, ServerResult};
use mcp_proto::types::{
    CallToolResult, CompletionReference, CompletionResult, GetPromptResult, LogLevel, ResourceContents,
};
use offers::resource_cache::ResourceReadResult;
use offers::skills::SKILLS_EXTENSION;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Host;
use crate::connection::PING_TIMEOUT;
use crate::owner::{CallOrigin, CallReply, NewCall, Owner, SentNotifier};

/// Origin of calls that the user makes outside of conversations.
const USER_OUTSIDE_CONVERSATION: CallOrigin = CallOrigin::User { conversation: None };

impl Host {
    pub(super) async fn call(&self, call: NewCall) -> CallReply {
        let (reply, replied) = oneshot::channel();
        self.owner.0.run_turn("call", |owner| owner.accept_call(call, reply))?;
        replied.await.map_err(|_| CallFailure::Closing)?
    }

    /// Calls a tool on behalf of `origin`, after the user's consent if required. Calls of a model require consent more
    /// often than calls of the user. `sent` is notified when the call is sent to the server, with the arguments if the
    /// user changed them.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without a result of the tool.
    pub async fn call_tool_as(
        &self,
        origin: CallOrigin,
        id: String,
        server: String,
        tool: String,
        arguments: Map<String, Value>,
        sent: SentNotifier,
    ) -> Result<CallToolResult, CallFailure> {
        self.call_server_or_app_tool(origin, (id, None), (server, None), tool, arguments, sent).await
    }

    /// Calls a tool for the user, who repeats the earlier call `repeats` with it. No consent is required if the user
    /// approved that call a short time ago, the payload is the same, and calls of the tool require consent by default
    /// only. Otherwise like [`call_tool_as`](Self::call_tool_as).
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without a result of the tool.
    pub async fn repeat_tool_call(
        &self,
        origin: CallOrigin,
        (id, repeats): (CallId, CallId),
        server: String,
        tool: String,
        arguments: Map<String, Value>,
        sent: SentNotifier,
    ) -> Result<CallToolResult, CallFailure> {
        self.call_server_or_app_tool(origin, (id, Some(repeats)), (server, None), tool, arguments, sent).await
    }

    /// Calls a tool of a shown app of a server, after the user's consent. Otherwise like
    /// [`call_tool_as`](Self::call_tool_as).
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without a result of the tool.
    pub async fn call_app_tool_as(
        &self,
        origin: CallOrigin,
        id: String,
        (server, app): (String, ProvidingApp),
        tool: String,
        arguments: Map<String, Value>,
        sent: SentNotifier,
    ) -> Result<CallToolResult, CallFailure> {
        self.call_server_or_app_tool(origin, (id, None), (server, Some(app)), tool, arguments, sent).await
    }

    async fn call_server_or_app_tool(
        &self,
        origin: CallOrigin,
        (id, repeats): (CallId, Option<CallId>),
        (server, app): (String, Option<ProvidingApp>),
        tool: String,
        arguments: Map<String, Value>,
        sent: SentNotifier,
    ) -> Result<CallToolResult, CallFailure> {
        let request = ClientRequest::CallTool { name: tool.clone(), arguments, as_task: false };
        let (kind, name, shown, sent) = (CallKind::Tool, tool, None, Some(sent));
        let call = NewCall { id, server: server.clone(), kind, name, origin, app, request, shown, repeats, sent };
        match self.call(call).await? {
            ServerResult::Tool(result) => Ok(*result),
            _ => Err(mismatched_response_failure(server)),
        }
    }

    /// Gets the messages of a prompt.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without the prompt's messages.
    pub async fn get_prompt(
        &self,
        id: String,
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
    ) -> Result<GetPromptResult, CallFailure> {
        self.get_prompt_as_shown(id, server, prompt, arguments, None).await
    }

    /// Gets the messages of a prompt that was displayed to the user. `shown` is the hash of the displayed definition.
    /// If it is given, the call fails if the definition has changed.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`get_prompt`](Self::get_prompt).
    pub async fn get_prompt_as_shown(
        &self,
        id: String,
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
        shown: Option<String>,
    ) -> Result<GetPromptResult, CallFailure> {
        let arguments = arguments.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        let request = ClientRequest::GetPrompt { name: prompt.clone(), arguments };
        let (kind, name, origin) = (CallKind::Prompt, prompt, USER_OUTSIDE_CONVERSATION);
        let (app, repeats, sent) = (None, None, None);
        let call = NewCall { id, server: server.clone(), kind, name, origin, app, request, shown, repeats, sent };
        match self.call(call).await? {
            ServerResult::Prompt(result) => Ok(*result),
            _ => Err(mismatched_response_failure(server)),
        }
    }

    /// Reads a resource from the server, or from the cache while its contents are fresh.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without the resource's contents.
    pub async fn read_resource(
        &self,
        id: String,
        server: String,
        uri: String,
    ) -> Result<Vec<ResourceContents>, CallFailure> {
        Ok(self.read_resource_with_freshness(id, server, uri, false).await?.contents)
    }

    /// Reads a resource like [`read_resource`](Self::read_resource), and also returns the freshness of the contents.
    /// With `refresh` set, the cache is not used.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without the resource's contents.
    pub async fn read_resource_with_freshness(
        &self,
        id: String,
        server: String,
        uri: String,
        refresh: bool,
    ) -> Result<ResourceReadResult, CallFailure> {
        self.read_resource_as(USER_OUTSIDE_CONVERSATION, id, server, uri, refresh).await
    }

    /// Reads a resource for the given originator, such as an app of the same server.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without the resource's contents.
    pub async fn read_resource_as(
        &self,
        origin: CallOrigin,
        id: String,
        server: String,
        uri: String,
        refresh: bool,
    ) -> Result<ResourceReadResult, CallFailure> {
        let target = (server.clone(), uri.clone());
        let fresh = self.with_owner(move |owner| owner.cached_resource_read(&target.0, &target.1)).await?;
        if let Some(read) = fresh.filter(|_| !refresh) {
            return Ok(read);
        }
        let request = ClientRequest::ReadResource { uri: uri.clone() };
        let (kind, name) = (CallKind::Resource, uri.clone());
        let (app, shown, repeats, sent) = (None, None, None, None);
        let call = NewCall { id, server: server.clone(), kind, name, origin, app, request, shown, repeats, sent };
        match self.call(call).await.map_err(|failure| to_missing_resource_failure(failure, &uri))? {
            ServerResult::Contents { contents, cache } => {
                let keep = move |owner: &mut Owner| {
                    let fresh_until = owner.cache_resource_read(&server, &uri, &contents, cache);
                    ResourceReadResult { contents, cached: false, fresh_until }
                };
                Ok(self.with_owner(keep).await?)
            }
            _ => Err(mismatched_response_failure(server)),
        }
    }

    /// Cancels the call with this id, or its preparation. Returns `true` if the call had been sent to its server.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if no call in progress has this id, and [`CallFailure::Closing`] if the host
    /// has shut down.
    pub async fn cancel_call(&self, id: String) -> Result<bool, CallFailure> {
        if self.preparations.cancel(&id) {
            return Ok(false);
        }
        self.with_owner_result(move |owner| owner.cancel_call(&id)).await
    }

    async fn send_request(
        &self,
        server: String,
        request: ClientRequest,
        times: (Duration, Duration),
    ) -> Result<ServerResult, CallFailure> {
        let (reply, replied) = oneshot::channel();
        self.with_owner(move |owner| owner.send_request(&server, request, times, reply)).await?;
        replied.await.map_err(|_| CallFailure::Closing)?
    }

    /// Sends a request of the skills extension to a server: for a page of the list of skills, or for one entry. It is
    /// not recorded as a call. Returns the fields of the result.
    ///
    /// # Errors
    ///
    /// Returns a [`CallFailure`] if the server is not running, doesn't support skills, or doesn't respond in time.
    pub async fn request_skills(
        &self,
        server: String,
        method: &'static str,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallFailure> {
        let request = ClientRequest::Extension { extension: SKILLS_EXTENSION, method, params };
        match self.send_request(server, request, self.times.list).await? {
            ServerResult::Extension { result, .. } => Ok(result),
            _ => Err(CallFailure::Internal),
        }
    }

    /// Requests from a server the completion values for an argument of a prompt or resource template.
    ///
    /// # Errors
    ///
    /// Returns a [`CallFailure`] if the server is not running, doesn't support completions, or doesn't respond in time.
    pub async fn complete_argument(
        &self,
        server: String,
        reference: CompletionReference,
        argument_name: String,
        value: String,
        context: BTreeMap<String, String>,
    ) -> Result<CompletionResult, CallFailure> {
        let request = ClientRequest::Complete { reference, argument_name, value, context };
        match self.send_request(server.clone(), request, self.times.complete).await? {
            ServerResult::Completion(mut result) => {
                // The specification allows at most 100 values, so further ones are dropped.
                result.values.truncate(100);
                Ok(*result)
            }
            _ => Err(mismatched_response_failure(server)),
        }
    }

    /// Subscribes to a resource, or cancels the subscription if `on` is `false`.
    ///
    /// # Errors
    ///
    /// Returns a [`CallFailure`] if the server is not running, doesn't support subscriptions, or doesn't respond in
    /// time.
    pub async fn subscribe(&self, server: String, uri: String, on: bool) -> Result<(), CallFailure> {
        let request = if on {
            ClientRequest::Subscribe { uri: uri.clone() }
        } else {
            ClientRequest::Unsubscribe { uri: uri.clone() }
        };
        self.send_request(server.clone(), request, self.times.read).await?;
        self.with_owner(move |owner| owner.on_subscribed(&server, uri, on)).await?;
        Ok(())
    }

    /// Sets the minimum level of the log messages that a server sends.
    ///
    /// # Errors
    ///
    /// Returns a [`CallFailure`] if the server is not running, doesn't support logging, or doesn't respond in time.
    pub async fn set_log_level(&self, server: String, level: LogLevel) -> Result<(), CallFailure> {
        self.send_request(server.clone(), ClientRequest::SetLogLevel { level }, self.times.read).await?;
        self.with_owner(move |owner| owner.on_log_level_set(&server, level)).await?;
        Ok(())
    }

    /// Pings a server and returns the round-trip time. Sends `ping` (`basic/utilities/ping`), or `server/discover` to
    /// servers of revision 2026-07-28, which has no ping. A server that doesn't respond is not stopped.
    ///
    /// # Errors
    ///
    /// Returns a [`CallFailure`] if the server is not running, or doesn't respond within [`PING_TIMEOUT`].
    pub async fn ping(&self, server: String) -> Result<Duration, CallFailure> {
        let began = Instant::now();
        self.send_request(server, ClientRequest::Ping, (PING_TIMEOUT, PING_TIMEOUT)).await?;
        Ok(began.elapsed())
    }
}

/// Converts a failure with the error code for a nonexistent resource to [`CallFailure::NotFound`]. The code is -32602
/// since revision 2026-07-28, and -32002 before (`server/resources`).
fn to_missing_resource_failure(failure: CallFailure, uri: &str) -> CallFailure {
    match &failure {
        CallFailure::Session { server, error } => match &**error {
            CallError::Server(rpc) if [code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS].contains(&rpc.code) => {
                CallFailure::NotFound(format!("resource \"{uri}\" on {server}, which says: {rpc}"))
            }
            _ => failure,
        },
        _ => failure,
    }
}

fn mismatched_response_failure(server: String) -> CallFailure {
    let cause = "it is the response to another request".to_owned();
    CallFailure::Session { server, error: Box::new(mcp_proto::session::CallError::BadAnswer { cause }) }
}
