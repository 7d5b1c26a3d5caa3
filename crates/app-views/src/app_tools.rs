//! Tools that a shown app provides to the model of its conversation. The user turns on exactly the definitions that
//! were displayed. If the app lists other definitions later, its tools are turned off. The host decides about each call
//! before it arrives here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Instant;

use domain::app_view::{AppToolView, AppViewChange, ProvidingApp};
use domain::call::CallId;
use host::{AppToolCommand, AppTools, Host};
use mcp_apps::limits::{APP_TOOL_REQUEST_TIMEOUT, MAX_APP_TOOL_CALLS};
use mcp_apps::{AppToolCallId, AppToolError, AppToolList, View};
use mcp_proto::RpcError;
use mcp_proto::session::CallError;
use mcp_proto::types::{CallToolResult, Map, Tool};
use policy::Hash;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::AppViewError;

/// Maximum number of commands of the host that wait for the async task of an app: for each call in progress, the call
/// itself and its cancellation.
const MAX_PENDING_COMMANDS: usize = 2 * MAX_APP_TOOL_CALLS;

/// Sender for the outcome of a call.
type CallResultSender = oneshot::Sender<Result<CallToolResult, CallError>>;

/// Tools that one shown app offers, and the calls of them that the app has not answered.
pub(crate) struct OfferedAppTools {
    host: Host,
    server: String,
    app: ProvidingApp,
    /// Conversation whose model can use the tools, or `None` if the app belongs to no conversation.
    conversation: Option<String>,
    /// Tools that the app listed last.
    listed: Vec<Tool>,
    /// Number of tools in the list that are invalid or exceed the limits.
    unusable: usize,
    /// Listed tools whose names no tool of the server has.
    tools: Arc<Vec<Tool>>,
    dropped: u64,
    /// Hash of the definitions in `tools`.
    hash: Hash,
    /// Set while the user lets the model use the tools.
    is_on: bool,
    /// Set while the app is asked for its tools.
    is_listing: bool,
    /// Set if the app reported a change while it was asked for its tools.
    is_outdated: bool,
    calls: BTreeMap<AppToolCallId, (CallId, CallResultSender)>,
    sender: mpsc::Sender<AppToolCommand>,
    commands: mpsc::Receiver<AppToolCommand>,
    /// Reference to a value that exists while the app is shown.
    shown: Weak<()>,
}

impl OfferedAppTools {
    pub(crate) fn new(
        host: Host,
        server: String,
        app: ProvidingApp,
        conversation: Option<String>,
        shown: Weak<()>,
    ) -> Self {
        let (sender, commands) = mpsc::channel(MAX_PENDING_COMMANDS);
        let tools: Arc<Vec<Tool>> = Arc::default();
        Self {
            host,
            server,
            app,
            conversation,
            listed: Vec::new(),
            unusable: 0,
            hash: definitions_hash(&tools),
            tools,
            dropped: 0,
            is_on: false,
            is_listing: false,
            is_outdated: false,
            calls: BTreeMap::new(),
            sender,
            commands,
            shown,
        }
    }

    /// Waits for the next command of the host. Cancel safe.
    pub(crate) async fn next_command(&mut self) -> AppToolCommand {
        match self.commands.recv().await {
            Some(command) => command,
            // Not reached, since `sender` is retained.
            None => std::future::pending().await,
        }
    }

    /// Asks the app for its tools, if it offers any and belongs to a conversation.
    pub(crate) fn request_tool_list(&mut self, view: &mut View, now: Instant) {
        if self.conversation.is_none() {
            return;
        }
        if self.is_listing {
            self.is_outdated = true;
        } else if view.list_app_tools(now).is_ok() {
            self.is_listing = true;
        }
    }

    /// Stores the tools that the app listed, and turns off all its tools if a definition changed. Returns a description
    /// of the change to show to the user, or `None` if nothing changed.
    pub(crate) async fn on_tools_listed(
        &mut self,
        view: &mut View,
        listed: Result<AppToolList, AppToolError>,
        now: Instant,
    ) -> Option<AppViewChange> {
        self.is_listing = false;
        if std::mem::take(&mut self.is_outdated) {
            self.request_tool_list(view, now);
        }
        // An app whose tools can't be read has none.
        let AppToolList { tools, dropped } = listed.unwrap_or_default();
        self.listed = tools.into_iter().map(|tool| tool.definition).collect();
        self.unusable = dropped;
        self.refuse_names_shared_with_server().await
    }

    /// Refuses the listed tools that have the name of a tool of the server, for which they could be mistaken. Turns
    /// off all tools of the app if a remaining definition changed. Returns a description of the change to show to the
    /// user, or `None` if nothing changed.
    pub(crate) async fn refuse_names_shared_with_server(&mut self) -> Option<AppViewChange> {
        let of_server = self.listed_names_shared_with_server().await;
        let tools: Vec<Tool> = self.listed.iter().filter(|tool| !of_server.contains(&tool.name)).cloned().collect();
        let refused = self.listed.len() - tools.len();
        let (hash, dropped) = (definitions_hash(&tools), (self.unusable + refused) as u64);
        if hash == self.hash && dropped == self.dropped {
            return None;
        }
        if hash != self.hash {
            self.turn_off(false).await;
        }
        (self.tools, self.hash, self.dropped) = (Arc::new(tools), hash, dropped);
        Some(self.to_tools_changed())
    }

    /// Returns the names that listed tools share with tools of the server.
    async fn listed_names_shared_with_server(&self) -> BTreeSet<String> {
        if self.listed.is_empty() {
            return BTreeSet::new();
        }
        // Without its server, an app has no tools that can be called.
        let Ok(catalog) = self.host.catalog(self.server.clone()).await else { return BTreeSet::new() };
        let is_listed = |name: &str| self.listed.iter().any(|tool| tool.name == name);
        catalog.tools.iter().filter(|entry| is_listed(entry.name())).map(|entry| entry.name().to_owned()).collect()
    }

    /// Turns the tools on if `hash` is the hash of the current definitions, or off if it is `None`.
    ///
    /// # Errors
    ///
    /// Returns [`AppViewError::OtherTools`] if the definitions have another hash or the app belongs to no conversation,
    /// and [`AppViewError::Review`] if the decision can't be stored.
    pub(crate) async fn set_enabled_by_hash(&mut self, hash: Option<&str>) -> Result<AppViewChange, AppViewError> {
        let Some(hash) = hash else {
            self.turn_off(true).await;
            return Ok(self.to_tools_changed());
        };
        let conversation = self.conversation.clone().filter(|_| hash == self.hash.as_str() && !self.tools.is_empty());
        let tools = AppTools {
            server: self.server.clone(),
            app: self.app.clone(),
            conversation: conversation.ok_or(AppViewError::OtherTools)?,
            tools: Arc::clone(&self.tools),
            commands: self.sender.clone(),
            shown: self.shown.clone(),
        };
        self.host.turn_on_app_tools(tools, hash.to_owned()).await?;
        self.is_on = true;
        Ok(self.to_tools_changed())
    }

    /// Turns the tools off because the app's server is no longer running. Returns the change for the user if they were
    /// on.
    pub(crate) async fn on_server_not_ready(&mut self) -> Option<AppViewChange> {
        let was_on = self.is_on;
        self.turn_off(false).await;
        was_on.then(|| self.to_tools_changed())
    }

    pub(crate) async fn turn_off(&mut self, by_user: bool) {
        if std::mem::take(&mut self.is_on) {
            // Fails only if the host has shut down.
            let _ = self.host.turn_off_app_tools(self.app.view.clone(), by_user).await;
        }
    }

    /// Executes a command of the host.
    pub(crate) fn execute(&mut self, view: &mut View, command: AppToolCommand, now: Instant) {
        match command {
            AppToolCommand::Call { call, name, arguments, delivered, reply } => {
                let called = match (self.shown.strong_count(), self.is_on) {
                    // The app was closed while the call waited for this task.
                    (0, _) => Err(to_unsent_error(AppToolError::Closed)),
                    // Meanwhile the tools were turned off, perhaps because the tool now has another definition.
                    (_, false) => Err(unsent_error_with_reason("the app's tools were turned off")),
                    _ => view.call_app_tool(&name, arguments, now).map_err(to_unsent_error),
                };
                match called {
                    Ok(id) => {
                        // The host may have shut down. The view's next output is the message with the call.
                        let _ = delivered.send(());
                        self.calls.insert(id, (call, reply));
                    }
                    // The call may have been cancelled, here and below.
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
            AppToolCommand::Cancel { call } => {
                let running = self.calls.iter().find(|(_, (own, _))| *own == call).map(|(id, _)| *id);
                if let Some((id, (_, reply))) = running.and_then(|id| Some((id, self.calls.remove(&id)?))) {
                    view.cancel_app_tool_call(id);
                    let _ = reply.send(Err(CallError::Cancelled));
                }
            }
        }
    }

    /// Passes the outcome of a call to the host.
    pub(crate) fn on_call_ended(&mut self, id: AppToolCallId, result: Result<Map, AppToolError>) {
        let Some((_, reply)) = self.calls.remove(&id) else { return };
        let result = result.map_err(to_call_error).and_then(|result| {
            serde_json::from_value(Value::Object(result))
                .map_err(|error| CallError::BadAnswer { cause: error.to_string() })
        });
        let _ = reply.send(result);
    }

    /// Returns the state of the tools for the user.
    fn to_tools_changed(&self) -> AppViewChange {
        let to_view = |tool: &Tool| AppToolView {
            name: tool.name.clone(),
            // Serializing a definition can't fail.
            definition: serde_json::to_string_pretty(tool).unwrap_or_default(),
        };
        AppViewChange::ToolsChanged {
            tools: self.tools.iter().map(to_view).collect(),
            hash: self.hash.to_string(),
            dropped: self.dropped,
            on: self.is_on,
        }
    }
}

fn definitions_hash(tools: &[Tool]) -> Hash {
    Hash::of_json(&json!(tools))
}

/// Converts the reason why a call was not sent to an app.
fn to_unsent_error(error: AppToolError) -> CallError {
    match error {
        AppToolError::Closed => unsent_error_with_reason(&error.to_string()),
        error => to_call_error(error),
    }
}

fn unsent_error_with_reason(reason: &str) -> CallError {
    CallError::Undelivered { cause: format!("the call was not sent, since {reason}"), sent: false }
}

/// Converts the reason why a call of an app's tool has no result. The app belongs to a server, and the error is
/// reported as one of that server.
fn to_call_error(error: AppToolError) -> CallError {
    match error {
        AppToolError::TimedOut => CallError::Timeout { after: APP_TOOL_REQUEST_TIMEOUT, total: true },
        AppToolError::Failed(RpcError { code, message, .. }) => {
            CallError::Server(RpcError::new(code, format!("its app says: {message}")))
        }
        AppToolError::TooManyCalls => CallError::TooManyCalls,
        AppToolError::TooLarge | AppToolError::InvalidResult => CallError::BadAnswer { cause: error.to_string() },
        AppToolError::NotOffered | AppToolError::UnknownTool => CallError::Unsupported { what: error.to_string() },
        AppToolError::Closed => CallError::Undelivered { cause: error.to_string(), sent: true },
    }
}
