//! What can be asked of a server, and what comes back.

use std::collections::BTreeMap;

use crate::types::{
    CallToolResult, CompletionReference, CompletionResult, GetPromptResult, Listed, LogLevel, Map, Prompt, Resource,
    ResourceContents, ResourceTemplate, Tool,
};

use super::{CacheHint, TaskView};

/// One question to the server. The same in every revision: the session finds the way.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientRequest {
    /// Is the server alive (`basic/utilities/ping`)? In 2026-07-28, which has no ping, `server/discover`
    /// serves for it. The only request that may be sent while the server is opening.
    Ping,
    /// One page of tools (`server/tools`).
    ListTools {
        /// `next_cursor` of the page before; `None` for the first.
        cursor: Option<String>,
    },
    /// Run a tool (`server/tools`).
    CallTool {
        /// The tool's name.
        name: String,
        /// Its arguments.
        arguments: Map,
        /// Whether it should run as a task even if it need not, where the revision leaves that to the
        /// client (2025-11-25). A tool that must run as a task always does.
        as_task: bool,
    },
    /// One page of prompts (`server/prompts`).
    ListPrompts {
        /// `next_cursor` of the page before; `None` for the first.
        cursor: Option<String>,
    },
    /// The messages of a prompt (`server/prompts`).
    GetPrompt {
        /// The prompt's name.
        name: String,
        /// Its arguments; each value has to be a string.
        arguments: Map,
    },
    /// One page of resources (`server/resources`).
    ListResources {
        /// `next_cursor` of the page before; `None` for the first.
        cursor: Option<String>,
    },
    /// One page of resource templates (`server/resources`).
    ListResourceTemplates {
        /// `next_cursor` of the page before; `None` for the first.
        cursor: Option<String>,
    },
    /// A resource's contents (`server/resources`).
    ReadResource {
        /// The resource.
        uri: String,
    },
    /// Be told when a resource changes (`server/resources`; `subscriptions/listen` in 2026-07-28).
    Subscribe {
        /// The resource.
        uri: String,
    },
    /// Be told no longer.
    Unsubscribe {
        /// The resource.
        uri: String,
    },
    /// Values for an argument (`server/utilities/completion`).
    Complete {
        /// What the argument belongs to.
        reference: CompletionReference,
        /// The argument.
        argument_name: String,
        /// What the user has typed.
        value: String,
        /// Arguments that are already known; sent since 2025-06-18.
        context: BTreeMap<String, String>,
    },
    /// One page of the server's tasks (`basic/utilities/tasks`, 2025-11-25 only).
    ListTasks {
        /// `next_cursor` of the page before; `None` for the first.
        cursor: Option<String>,
    },
    /// A method of an extension, which only a server that declares the extension is asked for
    /// (`basic/lifecycle`: extensions). The server can't ask back before it answers.
    Extension {
        /// The extension's identifier.
        extension: &'static str,
        /// The method.
        method: &'static str,
        /// Its parameters without `_meta`.
        params: Map,
    },
    /// The least severe log messages to be sent (`server/utilities/logging`). In 2026-07-28 the level
    /// goes with every later request.
    SetLogLevel {
        /// The level.
        level: LogLevel,
    },
}

/// What the server answered.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerResult {
    /// It was done; there is nothing to return.
    Empty,
    /// One page of tools.
    Tools {
        /// The tools.
        items: Vec<Listed<Tool>>,
        /// For the next page; an empty string is a cursor like any other.
        next_cursor: Option<String>,
        /// How long the page may be kept, if the server says so.
        cache: Option<CacheHint>,
    },
    /// One page of prompts.
    Prompts {
        /// The prompts.
        items: Vec<Listed<Prompt>>,
        /// For the next page; an empty string is a cursor like any other.
        next_cursor: Option<String>,
        /// How long the page may be kept, if the server says so.
        cache: Option<CacheHint>,
    },
    /// One page of resources.
    Resources {
        /// The resources.
        items: Vec<Listed<Resource>>,
        /// For the next page; an empty string is a cursor like any other.
        next_cursor: Option<String>,
        /// How long the page may be kept, if the server says so.
        cache: Option<CacheHint>,
    },
    /// One page of resource templates.
    Templates {
        /// The templates.
        items: Vec<Listed<ResourceTemplate>>,
        /// For the next page; an empty string is a cursor like any other.
        next_cursor: Option<String>,
        /// How long the page may be kept, if the server says so.
        cache: Option<CacheHint>,
    },
    /// What a tool returned.
    Tool(Box<CallToolResult>),
    /// A prompt's messages.
    Prompt(Box<GetPromptResult>),
    /// A resource's contents.
    Contents {
        /// The contents; none means that it is there and empty.
        contents: Vec<ResourceContents>,
        /// How long they may be kept, if the server says so.
        cache: Option<CacheHint>,
    },
    /// One page of tasks.
    Tasks {
        /// The tasks.
        items: Vec<TaskView>,
        /// For the next page; an empty string is a cursor like any other.
        next_cursor: Option<String>,
    },
    /// Values for an argument.
    Completion(Box<CompletionResult>),
    /// What a method of an extension answered, as it came.
    Extension {
        /// The result.
        result: Map,
        /// How long it may be kept, if the server says so.
        cache: Option<CacheHint>,
    },
}
