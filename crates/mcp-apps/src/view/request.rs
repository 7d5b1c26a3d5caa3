//! Requests of a page that the host decides and carries out, and the host's responses.

use mcp_proto::RpcError;
use mcp_proto::types::{ContentBlock, CreateMessageParams, Map, Resource, ResourceContents};
use url::Url;

use crate::display_mode::DisplayMode;

/// Identifier of a page's request within its view. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppRequestId(pub(super) u64);

impl AppRequestId {
    /// Returns the number of the request, unique within its view.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Request of a page. All contents are untrusted, and a click in the page is no consent of the user.
#[derive(Debug, Clone, PartialEq)]
pub enum AppRequest {
    /// Call of a tool of the page's server that apps may call.
    CallTool {
        /// Name of the tool.
        name: String,
        /// Arguments of the call.
        arguments: Map,
    },
    /// List of tools of the page's server.
    ListTools {
        /// Cursor of the wanted part of the list.
        cursor: Option<String>,
    },
    /// Contents of a resource of the page's server.
    ReadResource {
        /// URI of the resource.
        uri: String,
    },
    /// List of resources of the page's server.
    ListResources {
        /// Cursor of the wanted part of the list.
        cursor: Option<String>,
    },
    /// List of resource templates of the page's server.
    ListResourceTemplates {
        /// Cursor of the wanted part of the list.
        cursor: Option<String>,
    },
    /// List of prompts of the page's server.
    ListPrompts {
        /// Cursor of the wanted part of the list.
        cursor: Option<String>,
    },
    /// Link to open in the system's browser. The scheme is `https`, `http` or `mailto`.
    OpenLink {
        /// Address that is both shown and opened.
        url: Url,
    },
    /// Files to save.
    DownloadFile {
        /// Files, at least one.
        files: Vec<Download>,
    },
    /// Message of the user's side to add to the conversation. It starts a turn of the model.
    SendMessage {
        /// Blocks of the message, at least one.
        content: Vec<ContentBlock>,
    },
    /// Context for the model's next turns, in place of the previous one.
    UpdateModelContext(ModelContext),
    /// Display mode that the page and the host both declare, and that is not in force.
    RequestDisplayMode {
        /// Wanted mode.
        mode: DisplayMode,
    },
    /// Request for a model's answer.
    Sample(Box<CreateMessageParams>),
}

/// A file that a page offers for saving.
#[derive(Debug, Clone, PartialEq)]
pub struct Download {
    /// Name for the file: the last part of its URI, without characters that are unsafe in names.
    pub file_name: String,
    /// Place of the contents.
    pub source: DownloadSource,
}

/// Place of the contents of a file that a page offers.
#[derive(Debug, Clone, PartialEq)]
pub enum DownloadSource {
    /// Contents in the request.
    Embedded(ResourceContents),
    /// Link to a resource, which the host has to fetch under its rules for addresses.
    Link(Resource),
}

/// Context that a page gives to models.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelContext {
    /// Blocks of content.
    pub content: Vec<ContentBlock>,
    /// Structured content, if the page sent any.
    pub structured_content: Option<Map>,
}

/// Response of the host to a page's request.
#[derive(Debug, Clone, PartialEq)]
pub enum HostResponse {
    /// Result of an MCP request: calls, lists, resources and sampling. Sent unchanged, but tools that apps may not call
    /// are removed from lists.
    Result(Map),
    /// The host did what the page requested: links, files, messages and model context.
    Done,
    /// Display mode that is in force after the request.
    DisplayMode(DisplayMode),
    /// The user or the policy refused the request. Has the reason for the page.
    Refused(String),
    /// The request failed. Sent unchanged.
    Failed(RpcError),
}

/// Reason why a response of the host is not accepted. The request, if any, still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// The request does not exist, was withdrawn, or has its response.
    #[error("the request does not wait for a response")]
    NotOpen,
    /// The response is for another kind of request.
    #[error("the response is for another kind of request")]
    WrongKind,
    /// The display mode is neither in force nor declared by the page.
    #[error("the page does not support this display mode")]
    UndeclaredMode,
}
