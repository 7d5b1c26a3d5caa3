//! Tools that shown apps (MCP Apps) provide to the model of their conversation. An entry exists while the user has the
//! tools of a shown MCP app turned on. Used by `host/src/owner/app_tools.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use domain::app_view::{AppViewId, ProvidingApp};
use domain::call::{CallFailure, CallId};
use mcp_proto::session::CallError;
use mcp_proto::types::{CallToolResult, Tool};
use offers::definitions::call_hash;
use policy::Hash;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

/// Kind of a call of an app's tool in the audit log.
pub const APP_TOOL_CALL_AUDIT_KIND: &str = "app-tool";

/// Command of the host to the async task of a shown MCP app.
#[derive(Debug)]
pub enum AppToolCommand {
    /// Call a tool of the app. The call has already been approved in a consent request.
    Call {
        /// Identifier of this call for the page, the history and [`AppToolCommand::Cancel`].
        call: CallId,
        /// Name of the tool, as the app defines it.
        name: String,
        /// Arguments of the call.
        arguments: Map<String, Value>,
        /// Sender that notifies the host when the call is sent to the app's page. Dropped if the call is never sent.
        delivered: oneshot::Sender<()>,
        /// Sender on which the app's task returns the outcome of the call.
        reply: oneshot::Sender<Result<CallToolResult, CallError>>,
    },
    /// Cancel a call, and send [`CallError::Cancelled`] as its outcome.
    Cancel {
        /// Identifier of the call to cancel, from [`AppToolCommand::Call`].
        call: CallId,
    },
}

/// Tools that one shown MCP app provides, while the user lets a model use them.
#[derive(Debug, Clone)]
pub struct AppTools {
    /// Name of the app's server.
    pub server: String,
    /// Shown MCP app that provides the tools.
    pub app: ProvidingApp,
    /// Conversation whose model may use the tools.
    pub conversation: String,
    /// Definitions of the tools as displayed to the user. No two have the same name.
    pub tools: Arc<Vec<Tool>>,
    /// Sender of commands to the async task of the app.
    pub commands: mpsc::Sender<AppToolCommand>,
    /// Reference to a value that exists while the app is displayed. The code that closes the app drops the value, so
    /// that the app's tools are unavailable at that moment, and not only after the app's task has ended.
    pub shown: Weak<()>,
}

impl AppTools {
    /// Returns `true` if the app is still displayed.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.shown.strong_count() > 0 && !self.commands.is_closed()
    }

    /// Returns the hash of the tool definitions. The user's permission to use the tools is valid only for this hash.
    #[must_use]
    pub fn definitions_hash(&self) -> Hash {
        Hash::of_json(&json!(*self.tools))
    }
}

/// Tools of a shown MCP app that are offered to the model of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct AppToolsForModel {
    /// Name of the app's server.
    pub server: String,
    /// Shown MCP app that provides the tools.
    pub app: ProvidingApp,
    /// Definitions of the tools, which are unverified claims of the app.
    pub tools: Arc<Vec<Tool>>,
}

/// Tools of all shown MCP apps whose tools the user has turned on, by identifier of the shown app.
#[derive(Debug, Default)]
pub struct AppToolTable(BTreeMap<AppViewId, AppTools>);

impl AppToolTable {
    /// Adds the tools of an app, or replaces them.
    pub fn insert(&mut self, tools: AppTools) {
        self.0.insert(tools.app.view.clone(), tools);
    }

    /// Removes and returns the tools of an app. Returns `None` if they are not turned on.
    pub fn remove(&mut self, view: &str) -> Option<AppTools> {
        self.0.remove(view)
    }

    /// Returns the definition of a tool that a shown MCP app of this server provides, or `None` if the app is closed,
    /// its tools are not turned on for the conversation, or it has no such tool.
    pub fn tool(&self, server: &str, app: &ProvidingApp, conversation: Option<&str>, name: &str) -> Option<&Tool> {
        let own = self.0.get(&app.view).filter(|own| own.is_shown())?;
        let is_same = own.server == server && own.app == *app && Some(&*own.conversation) == conversation;
        own.tools.iter().filter(|_| is_same).find(|tool| tool.name == name)
    }

    /// Returns the tools of apps that are offered to the model of a conversation, in a stable order.
    pub fn tools_for_model(&self, conversation: &str) -> Vec<AppToolsForModel> {
        let own = self.0.values().filter(|own| own.conversation == conversation && own.is_shown());
        own.map(|AppTools { server, app, tools, .. }| AppToolsForModel {
            server: server.clone(),
            app: app.clone(),
            tools: Arc::clone(tools),
        })
        .collect()
    }

    /// Sends a command to the async task of an app. Returns the sender of the app's commands, with which the caller can
    /// cancel the call even after the tools are turned off.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::NotFound`] if the app is closed or its tools are not turned on, and [`CallFailure::Busy`]
    /// if too many commands wait.
    pub fn send_command(
        &self,
        app: &ProvidingApp,
        command: AppToolCommand,
    ) -> Result<mpsc::Sender<AppToolCommand>, CallFailure> {
        let own = self.0.get(&app.view).filter(|own| own.is_shown()).ok_or_else(|| missing_app_failure(app))?;
        send_app_tool_command((&own.server, app), &own.commands, command)?;
        Ok(own.commands.clone())
    }

    /// Returns the identifiers of a server's shown MCP apps whose tools are turned on.
    pub fn app_views_of_server(&self, server: &str) -> Vec<AppViewId> {
        self.0.values().filter(|own| own.server == server).map(|own| own.app.view.clone()).collect()
    }
}

/// Sends a command to the async task of a server's shown MCP app.
///
/// # Errors
///
/// Returns [`CallFailure::NotFound`] if the app is closed, and [`CallFailure::Busy`] if too many commands wait.
pub(crate) fn send_app_tool_command(
    (server, app): (&str, &ProvidingApp),
    commands: &mpsc::Sender<AppToolCommand>,
    command: AppToolCommand,
) -> Result<(), CallFailure> {
    commands.try_send(command).map_err(|error| match error {
        TrySendError::Full(_) => CallFailure::Busy { server: server.to_owned() },
        TrySendError::Closed(_) => missing_app_failure(app),
    })
}

/// Returns the failure of a call whose app is closed, or whose tools are not turned on.
pub fn missing_app_failure(app: &ProvidingApp) -> CallFailure {
    CallFailure::NotFound(format!("shown app of \"{}\" whose tools are turned on", app.tool))
}

/// Returns the hash of a call of an app's tool, which covers the app, the tool's definition and the arguments.
pub fn app_tool_call_hash(app: &ProvidingApp, tool: &Tool, arguments: &Map<String, Value>) -> Hash {
    let ProvidingApp { view, tool: app } = app;
    Hash::of_json(&json!({ "app": app, "view": view, "call": call_hash(tool, arguments) }))
}

/// Returns the text by which the audit log names the called tool of an app.
pub fn app_tool_subject(app: &ProvidingApp, name: &str) -> String {
    policy::canonical_json(&json!({ "app": app.tool, "tool": name }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(view: &str) -> ProvidingApp {
        ProvidingApp { view: view.to_owned(), tool: "show".to_owned() }
    }

    /// Returns the tools of an app, the receiver of its commands, and a value. The app counts as displayed while the
    /// receiver and the value exist.
    fn app_tools(view: &str, conversation: &str) -> (AppTools, mpsc::Receiver<AppToolCommand>, Arc<()>) {
        let (commands, received) = mpsc::channel(1);
        let shown = Arc::new(());
        let tools = Arc::new(vec![Tool { name: "move".to_owned(), ..Tool::default() }]);
        let (server, conversation) = ("board".to_owned(), conversation.to_owned());
        let tools = AppTools { server, app: app(view), conversation, tools, commands, shown: Arc::downgrade(&shown) };
        (tools, received, shown)
    }

    #[test]
    fn tools_exist_for_one_app_one_conversation_and_while_the_app_is_open() {
        let mut table = AppToolTable::default();
        let (own, received, _shown) = app_tools("1", "c");
        table.insert(own);
        let found = |table: &AppToolTable, server, view, conversation, name| {
            table.tool(server, &app(view), conversation, name).is_some()
        };
        assert!(found(&table, "board", "1", Some("c"), "move"));
        assert!(!found(&table, "other", "1", Some("c"), "move"), "another server");
        assert!(!found(&table, "board", "2", Some("c"), "move"), "another shown app");
        assert!(!found(&table, "board", "1", Some("d"), "move"), "another conversation");
        assert!(!found(&table, "board", "1", None, "move"), "no conversation");
        assert!(!found(&table, "board", "1", Some("c"), "other"), "another tool");
        assert_eq!((table.tools_for_model("c").len(), table.tools_for_model("d").len()), (1, 0));
        drop(received);
        assert!(!found(&table, "board", "1", Some("c"), "move"), "the app is closed");
        assert_eq!(table.tools_for_model("c"), [], "a model gets no tools of a closed app");
        let cancel = || AppToolCommand::Cancel { call: "a".to_owned() };
        assert!(matches!(table.send_command(&app("1"), cancel()), Err(CallFailure::NotFound(_))));
        assert!(table.remove("1").is_some() && table.remove("1").is_none());
        assert!(matches!(table.send_command(&app("1"), cancel()), Err(CallFailure::NotFound(_))));
    }

    #[test]
    fn tools_are_gone_when_the_app_is_closed_and_before_its_task_ends() {
        let mut table = AppToolTable::default();
        let (own, mut received, shown) = app_tools("1", "c");
        table.insert(own);
        assert_eq!(table.tools_for_model("c").len(), 1);
        drop(shown);
        assert_eq!(table.tools_for_model("c"), []);
        assert!(table.tool("board", &app("1"), Some("c"), "move").is_none());
        let cancel = AppToolCommand::Cancel { call: "a".to_owned() };
        assert!(matches!(table.send_command(&app("1"), cancel), Err(CallFailure::NotFound(_))));
        assert!(received.try_recv().is_err(), "the app should receive nothing");
        assert!(table.remove("1").is_some(), "the end of the permission is still to be recorded");
    }

    #[test]
    fn commands_waiting_for_an_app_are_bounded() {
        let mut table = AppToolTable::default();
        let (own, _received, _shown) = app_tools("1", "c");
        table.insert(own);
        let send = || table.send_command(&app("1"), AppToolCommand::Cancel { call: "a".to_owned() });
        assert!(send().is_ok());
        assert!(matches!(send(), Err(CallFailure::Busy { .. })));
    }

    #[test]
    fn app_tool_call_hash_covers_app_definition_and_arguments() {
        let (tool, arguments) = (Tool { name: "move".to_owned(), ..Tool::default() }, Map::new());
        let hash = app_tool_call_hash(&app("1"), &tool, &arguments);
        assert_eq!(hash, app_tool_call_hash(&app("1"), &tool, &arguments));
        let other_app = ProvidingApp { tool: "edit".to_owned(), ..app("1") };
        let other_tool = Tool { description: Some("Moves".to_owned()), ..tool.clone() };
        let other_arguments: Map<String, Value> = std::iter::once(("x".to_owned(), json!(1))).collect();
        for other in [
            app_tool_call_hash(&app("2"), &tool, &arguments),
            app_tool_call_hash(&other_app, &tool, &arguments),
            app_tool_call_hash(&app("1"), &other_tool, &arguments),
            app_tool_call_hash(&app("1"), &tool, &other_arguments),
            call_hash(&tool, &arguments),
        ] {
            assert_ne!(hash, other);
        }
    }
}
