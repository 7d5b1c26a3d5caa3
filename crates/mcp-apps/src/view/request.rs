//! Requests of a page that the host decides on and executes, and the host's responses.

use mcp_proto::RpcError;
use mcp_proto::types::{ContentBlock, CreateMessageParams, CreateMessageResult, Map, Resource, ResourceContents};
use url::Url;

use super::sampling::SamplingResultProblem;
use crate::display_mode::DisplayMode;

/// Identifier of an app page's request, unique in its view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppRequestId(pub(super) u64);

impl AppRequestId {
    /// Returns the number of the request, unique within its view.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Request of a page to the host. All contents are untrusted, and a click in the app page is not the user's consent.
#[derive(Debug, Clone, PartialEq)]
pub enum AppRequest {
    /// Calls a tool of the page's server that apps may call.
    CallTool {
        /// Name of the tool.
        name: String,
        /// Arguments of the call.
        arguments: Map,
    },
    /// Lists one page of the tools of the page's server.
    ListTools {
        /// Cursor of the requested page of the list, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Reads a resource of the app page's server.
    ReadResource {
        /// URI of the resource.
        uri: String,
    },
    /// Lists one page of the resources of the page's server.
    ListResources {
        /// Cursor of the requested page of the list, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Lists one page of the resource templates of the page's server.
    ListResourceTemplates {
        /// Cursor of the requested page of the list, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Lists one page of the prompts of the page's server.
    ListPrompts {
        /// Cursor of the requested page of the list, or `None` for the first page.
        cursor: Option<String>,
    },
    /// Opens a link in the system's browser.
    OpenLink {
        /// `https` or `http` URL without user name and password, of at most
        /// [`MAX_LINK_BYTES`](super::limits::MAX_LINK_BYTES) bytes, that the host must both show to the user and open.
        url: Url,
    },
    /// Offers files for the user to save.
    DownloadFile {
        /// Offered files, at least one.
        files: Vec<OfferedFile>,
    },
    /// Adds a message with the role of the user to the conversation, which starts a turn of the model.
    SendMessage {
        /// Content blocks of the message, at least one.
        content: Vec<ContentBlock>,
    },
    /// Replaces the context that the app page provides for the model's next turns.
    UpdateModelContext(ModelContext),
    /// Requests another display mode, which the app page and the host both support.
    RequestDisplayMode {
        /// Requested display mode.
        mode: DisplayMode,
    },
    /// Requests a response of a model (sampling). Valid like such a request of a server: content types, and the balance
    /// of tool uses and tool results.
    Sample(Box<CreateMessageParams>),
}

/// A file that an app page offers for saving.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedFile {
    /// Name for the file: the last path segment of its URI, without characters that are unsafe in file names.
    pub file_name: String,
    /// Contents of the file, or the link to them.
    pub source: OfferedFileContents,
}

/// Source of the contents of a file that an app page offers.
#[derive(Debug, Clone, PartialEq)]
pub enum OfferedFileContents {
    /// The request contains the contents.
    Embedded(ResourceContents),
    /// The request links to a resource, which the host has to fetch under its rules for addresses.
    Link(Resource),
}

/// Context that an app page provides for models.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelContext {
    /// Content blocks of the context.
    pub content: Vec<ContentBlock>,
    /// Structured content, if the app page sent any.
    pub structured_content: Option<Map>,
}

/// Response of the host to an app page's request.
#[derive(Debug, Clone, PartialEq)]
pub enum HostResponse {
    /// Result of a tool call, list or resource request. Sent to the page unchanged, except that tools that apps may not
    /// call are removed from lists.
    Result(Map),
    /// Result of a sampling request. Sent in the form that the request asks for
    /// ([`SamplingResultRequirements`](super::SamplingResultRequirements)).
    Sampling(Box<CreateMessageResult>),
    /// The host executed the requested action: opened a link, saved files, added a message or replaced the context for
    /// models.
    Done,
    /// Display mode that is current after the request.
    DisplayMode(DisplayMode),
    /// The user or the policy refused the request. Contains the reason for the app page.
    Refused(String),
    /// The request failed. The error is sent to the app page unchanged.
    Failed(RpcError),
}

/// Reason why a view does not accept a response of the host. If the request exists, it remains pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostResponseError {
    /// The request does not exist, was withdrawn, or was already answered.
    #[error("the request does not wait for a response")]
    NotOpen,
    /// The response is for another kind of request.
    #[error("the response is for another kind of request")]
    WrongKind,
    /// The result is not valid for the sampling request.
    #[error("the result is not valid for the request: {0}")]
    InvalidResult(SamplingResultProblem),
    /// The display mode is neither current nor declared by the app page.
    #[error("the page does not support this display mode")]
    UndeclaredDisplayMode,
}
