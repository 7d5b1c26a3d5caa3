//! What a conversation has read from a server: a tool's output, a prompt, a resource. The data flow of a server ([`crate::flow`]) decides
//! which of it makes a later call of the same server ask.

use serde::{Deserialize, Serialize};

use crate::call::CallKind;

/// The longest name that is kept of what was read, in characters.
const MAX_NAME: usize = 200;

/// Content of one server in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// The server.
    pub server: String,
    /// Which kind of content.
    pub kind: ReadingKind,
    /// The tool, the prompt, or the resource's URI; its beginning, where that is long. Empty if unknown.
    pub name: String,
    /// Whether the definition of the tool said, when it was called, that it reaches an open world.
    pub open_world: bool,
}

/// Kinds of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ReadingKind {
    /// The output of a tool.
    Tool,
    /// A prompt's messages.
    Prompt,
    /// A resource's contents.
    Resource,
    /// Unknown: an older version wrote the conversation.
    Unknown,
}

impl ReadingKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::Unknown];

    /// The name of this kind in the history's database.
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

impl From<CallKind> for ReadingKind {
    fn from(kind: CallKind) -> Self {
        match kind {
            CallKind::Tool => Self::Tool,
            CallKind::Prompt => Self::Prompt,
            CallKind::Resource => Self::Resource,
        }
    }
}

impl Reading {
    /// Content of a server, under at most the first 200 characters of its name.
    #[must_use]
    pub fn new(server: &str, kind: ReadingKind, name: &str) -> Self {
        let name = name.chars().take(MAX_NAME).collect();
        Self { server: server.to_owned(), kind, name, open_world: false }
    }

    /// Whether it may hold what somebody else wrote: prompts, resources and unknown content always may, the output of a tool if the
    /// tool says so.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open_world || !matches!(self.kind, ReadingKind::Tool)
    }
}
