//! Records of a server's content that was read in a conversation: output of a tool, a prompt, or a resource. The data
//! flow settings of a server ([`crate::data_flow`]) determine which content makes later calls of the same server
//! require consent.

use serde::{Deserialize, Serialize};

use crate::call::CallKind;

/// Maximum length of a name or URI in a [`ReadContent`], in characters.
const MAX_READ_CONTENT_NAME_CHARS: usize = 200;

/// Record that content of a server was read in a conversation, and so may influence the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Reading"))]
#[serde(rename_all = "camelCase")]
pub struct ReadContent {
    /// Name of the server in the settings.
    pub server: String,
    /// Kind of the content: output of a tool, a prompt, or a resource.
    pub kind: ReadContentKind,
    /// Name of the tool or prompt, or URI of the resource, truncated to [`MAX_READ_CONTENT_NAME_CHARS`] characters.
    /// Empty if unknown.
    pub name: String,
    /// Set if the tool's definition claimed, at the time of the call, that the tool reaches an open world
    /// (`openWorldHint`).
    pub open_world: bool,
}

/// Kind of a server's content that was read in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ReadingKind"))]
#[serde(rename_all = "snake_case")]
pub enum ReadContentKind {
    /// Output of a tool call of the server.
    Tool,
    /// Messages of a prompt of the server.
    Prompt,
    /// Contents of a resource of the server.
    Resource,
    /// Content of an unknown kind, in a conversation that an older version of Drawbridge wrote.
    Unknown,
}

impl ReadContentKind {
    /// All kinds of content, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::Unknown];

    /// Returns the name of this kind in the database of the history.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Unknown => "unknown",
        }
    }
}

impl From<CallKind> for ReadContentKind {
    fn from(kind: CallKind) -> Self {
        match kind {
            CallKind::Tool => Self::Tool,
            CallKind::Prompt => Self::Prompt,
            CallKind::Resource => Self::Resource,
        }
    }
}

impl ReadContent {
    /// Creates the record of content from a server, with `open_world` unset. `name` is truncated to
    /// [`MAX_READ_CONTENT_NAME_CHARS`] characters.
    #[must_use]
    pub fn new(server: &str, kind: ReadContentKind, name: &str) -> Self {
        let name = name.chars().take(MAX_READ_CONTENT_NAME_CHARS).collect();
        Self { server: server.to_owned(), kind, name, open_world: false }
    }

    /// Returns `true` if the content may include text of third parties. Prompts, resources and unknown content always
    /// may. Output of a tool may if the tool claims to reach an open world.
    #[must_use]
    pub const fn may_contain_third_party_text(&self) -> bool {
        self.open_world || !matches!(self.kind, ReadContentKind::Tool)
    }
}
