//! Messages of a conversation with a model, independent of providers.

use bytes::Bytes;
use serde_json::{Map, Value};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user. Tool results have this role as well.
    User,
    /// The language model that answers.
    Assistant,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMessage {
    /// Author of the message.
    pub role: Role,
    /// Content of the message, in order.
    pub parts: Vec<MessagePart>,
}

impl ModelMessage {
    /// Creates a message with a single text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![MessagePart::Text(text.into())] }
    }

    /// Returns the concatenated texts, without thinking and tool results.
    #[must_use]
    pub fn plain_text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                MessagePart::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Returns the tool calls that the message requests, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = (&str, &str, &Map<String, Value>)> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::ToolUse { id, name, arguments, .. } => Some((id.as_str(), name.as_str(), arguments)),
            _ => None,
        })
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    /// Text of the author.
    Text(String),
    /// Thinking of the model before its answer. Sent back unchanged to providers that require it.
    Thinking {
        /// Text or summary. Empty if the provider only supplies a value to send back.
        text: String,
        /// Value that the provider requires with it, such as a signature. Opaque to everything else.
        opaque: Option<Value>,
    },
    /// An image in a message or tool result.
    Image {
        /// Media type, such as `image/png`.
        mime: String,
        /// Content of the image.
        data: Bytes,
    },
    /// An audio recording in a message.
    Audio {
        /// Media type, such as `audio/wav`.
        mime: String,
        /// Content of the recording.
        data: Bytes,
    },
    /// Another kind of file, such as a PDF.
    File {
        /// Name of the file.
        name: String,
        /// Media type of the file.
        mime: String,
        /// Content of the file.
        data: Bytes,
    },
    /// A tool call that the model requests. Only in messages of the model.
    ToolUse {
        /// Identifier that the result refers to, unique in a conversation.
        id: String,
        /// Name of the tool, as offered in the request.
        name: String,
        /// Arguments of the call.
        arguments: Map<String, Value>,
        /// Value that the provider requires with it, such as a signature of a thought.
        opaque: Option<Value>,
    },
    /// The result of a tool call. Only in messages of the user.
    ToolResult {
        /// Identifier of the tool call.
        id: String,
        /// Name of the tool, as offered in the request.
        name: String,
        /// Content of the result: texts, images, recordings, files.
        parts: Vec<MessagePart>,
        /// Set if the tool call failed.
        is_error: bool,
    },
}

impl MessagePart {
    /// Creates a text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}
