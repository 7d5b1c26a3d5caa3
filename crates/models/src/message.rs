//! Messages of a conversation with a model, in terms of no provider.

use bytes::Bytes;
use serde_json::{Map, Value};

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// What it is made of, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message of one text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::Text(text.into())] }
    }

    /// All of its texts, one after the other, without thinking and results of tools.
    #[must_use]
    pub fn plain_text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The tools that it wants to use, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = (&str, &str, &Map<String, Value>)> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolUse { id, name, arguments, .. } => Some((id.as_str(), name.as_str(), arguments)),
            _ => None,
        })
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// What the model thought before it answered. Sent back as it came where its provider wants it.
    Thinking {
        /// The text, or a summary; may be empty where the provider only gives something to send back.
        text: String,
        /// What the provider wants back with it, such as a signature. Nothing else reads it.
        opaque: Option<Value>,
    },
    /// A picture.
    Image {
        /// Its media type, such as `image/png`.
        mime: String,
        /// Its bytes.
        data: Bytes,
    },
    /// A recording.
    Audio {
        /// Its media type, such as `audio/wav`.
        mime: String,
        /// Its bytes.
        data: Bytes,
    },
    /// Another file, such as a PDF.
    File {
        /// Its name.
        name: String,
        /// Its media type.
        mime: String,
        /// Its bytes.
        data: Bytes,
    },
    /// The model wants a tool to be called. Only in messages of the model.
    ToolUse {
        /// What the result is to name. Unique in a conversation.
        id: String,
        /// The tool's name, as it was offered.
        name: String,
        /// Its arguments.
        arguments: Map<String, Value>,
        /// What the provider wants back with it, such as a thought's signature.
        opaque: Option<Value>,
    },
    /// What a tool gave. Only in messages of the user.
    ToolResult {
        /// The id of the use that it answers.
        id: String,
        /// The tool's name, as it was offered.
        name: String,
        /// What it gave: texts, pictures, recordings, files.
        parts: Vec<Part>,
        /// Whether the tool failed.
        is_error: bool,
    },
}

impl Part {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}
