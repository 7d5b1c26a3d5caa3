//! Requests to a server and their results.

use std::collections::BTreeMap;

use crate::types::{
    CallToolResult, CompletionReference, CompletionResult, GetPromptResult, ListEntry, LogLevel, Map, Prompt, Resource,
    ResourceContents, ResourceTemplate, Tool,
};

use super::{CacheHint, TaskState};

/// A request to the server, in the same form for every revision.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientRequest {
    /// Checks that the server responds (`basic/utilities/ping`). Sent as `server/discover` in 2026-07-28, which has no
    /// ping. No other request is possible before the handshake is complete.
    Ping,
    /// Lists one page of tools (`server/tools`).
    ListTools {
        /// `next_cursor` of the previous page, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Calls a tool (`server/tools`).
    CallTool {
        /// Name of the tool, as the server listed it.
        name: String,
        /// Arguments of the tool, which must match its `inputSchema`. The session does not validate them.
        arguments: Map,
        /// `true` to run the tool as a task if the revision leaves the choice to the client (2025-11-25). A tool that
        /// requires a task always runs as one.
        as_task: bool,
    },
    /// Lists one page of prompts (`server/prompts`).
    ListPrompts {
        /// `next_cursor` of the previous page, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Gets the messages of a prompt (`server/prompts`).
    GetPrompt {
        /// Name of the prompt, as the server listed it.
        name: String,
        /// Values of the prompt's arguments by name. Each value must be a string.
        arguments: Map,
    },
    /// Lists one page of resources (`server/resources`).
    ListResources {
        /// `next_cursor` of the previous page, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Lists one page of resource templates (`server/resources`).
    ListResourceTemplates {
        /// `next_cursor` of the previous page, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Reads the contents of a resource (`server/resources`).
    ReadResource {
        /// URI from a list, a resource template or a resource link.
        uri: String,
    },
    /// Subscribes to changes of a resource (`server/resources`; `subscriptions/listen` in 2026-07-28).
    Subscribe {
        /// URI of the resource. Updates may also concern its sub-resources.
        uri: String,
    },
    /// Ends the client's subscription to a resource.
    Unsubscribe {
        /// URI of a resource that the client is subscribed to.
        uri: String,
    },
    /// Requests suggested values for an argument (`server/utilities/completion`).
    Complete {
        /// Prompt or resource template that the argument belongs to.
        reference: CompletionReference,
        /// Name of a prompt argument, or of a variable of the resource template.
        argument_name: String,
        /// Text of the argument that the user has entered so far.
        value: String,
        /// Values of other arguments that the user has entered, sent since 2025-06-18.
        context: BTreeMap<String, String>,
    },
    /// Lists one page of the server's tasks (`basic/utilities/tasks`, 2025-11-25 only).
    ListTasks {
        /// `next_cursor` of the previous page, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Calls a method of an extension, which the server must declare (`basic/lifecycle`: extensions). The server cannot
    /// request input before it responds.
    Extension {
        /// Identifier of the extension, such as `io.modelcontextprotocol/tasks`.
        extension: &'static str,
        /// JSON-RPC method that the extension defines.
        method: &'static str,
        /// Parameters of the method. The session adds `_meta`.
        params: Map,
    },
    /// Sets the minimum level of log messages (`server/utilities/logging`). In 2026-07-28 every later request carries
    /// the level.
    SetLogLevel {
        /// Minimum level of the log messages that the server should send.
        level: LogLevel,
    },
}

/// Successful result of a [`ClientRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum ServerResult {
    /// The request succeeded, and its result has no value.
    Empty,
    /// One page of the server's tools.
    Tools {
        /// Valid tools of the page.
        items: Vec<ListEntry<Tool>>,
        /// Cursor of the next page. An empty string is a valid cursor.
        next_cursor: Option<String>,
        /// Caching hint of the server, if present.
        cache: Option<CacheHint>,
    },
    /// One page of the server's prompts.
    Prompts {
        /// Valid prompts of the page.
        items: Vec<ListEntry<Prompt>>,
        /// Cursor of the next page. An empty string is a valid cursor.
        next_cursor: Option<String>,
        /// Caching hint of the server, if present.
        cache: Option<CacheHint>,
    },
    /// One page of the server's resources.
    Resources {
        /// Valid resources of the page.
        items: Vec<ListEntry<Resource>>,
        /// Cursor of the next page. An empty string is a valid cursor.
        next_cursor: Option<String>,
        /// Caching hint of the server, if present.
        cache: Option<CacheHint>,
    },
    /// One page of the server's resource templates.
    Templates {
        /// Valid templates of the page.
        items: Vec<ListEntry<ResourceTemplate>>,
        /// Cursor of the next page. An empty string is a valid cursor.
        next_cursor: Option<String>,
        /// Caching hint of the server, if present.
        cache: Option<CacheHint>,
    },
    /// Output of a called tool, which may be an error of the tool.
    Tool(Box<CallToolResult>),
    /// Messages that the server built from a prompt and its arguments.
    Prompt(Box<GetPromptResult>),
    /// Contents that the server returned for a resource URI.
    Contents {
        /// Text or binary parts. An empty list means that the resource exists and is empty.
        contents: Vec<ResourceContents>,
        /// Caching hint of the server, if present.
        cache: Option<CacheHint>,
    },
    /// One page of the server's tasks (2025-11-25).
    Tasks {
        /// State of each task at the time of the response.
        items: Vec<TaskState>,
        /// Cursor of the next page. An empty string is a valid cursor.
        next_cursor: Option<String>,
    },
    /// Suggested values for a prompt argument or a template variable.
    Completion(Box<CompletionResult>),
    /// Result of an extension's method, which the session does not interpret.
    Extension {
        /// All members of the result, unchanged.
        result: Map,
        /// Caching hint of the server, if present.
        cache: Option<CacheHint>,
    },
}
