//! Messages of a conversation with a model, independent of providers.

use bytes::Bytes;
use serde_json::{Map, Value};

/// The author of a message in a conversation with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user. Tool results have this role as well.
    User,
    /// The language model that replies.
    Assistant,
}

/// A message of the user or the model in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMessage {
    /// Author of the message: the user or the model.
    pub role: Role,
    /// Parts of the message, in order.
    pub parts: Vec<MessagePart>,
}

impl ModelMessage {
    /// Creates a message that consists of this text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![MessagePart::Text(text.into())] }
    }

    /// Returns the concatenated text parts of the message, without reasoning and tool results.
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

    /// Returns id, name and arguments of each tool call in the message, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = (&str, &str, &Map<String, Value>)> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::ToolUse { id, name, arguments, .. } => Some((id.as_str(), name.as_str(), arguments)),
            _ => None,
        })
    }
}

/// A part of a message: text, reasoning, a file, a tool call, or the result of one.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    /// Text that the author of the message wrote.
    Text(String),
    /// Reasoning of the model before its reply. Sent back unchanged to providers that require it.
    Thinking {
        /// Reasoning or its summary. Empty if the provider supplied only the opaque value.
        text: String,
        /// Value that the provider requires unchanged together with the reasoning, such as a signature.
        opaque: Option<Value>,
    },
    /// An image in a message or tool result.
    Image {
        /// Media type, such as `image/png`.
        mime: String,
        /// Bytes of the image file.
        data: Bytes,
    },
    /// An audio recording in a message.
    Audio {
        /// Media type, such as `audio/wav`.
        mime: String,
        /// Bytes of the audio file.
        data: Bytes,
    },
    /// Another kind of file, such as a PDF.
    File {
        /// Name of the file.
        name: String,
        /// Media type of the file.
        mime: String,
        /// Bytes of the file.
        data: Bytes,
    },
    /// A tool call that the model requests. Only in messages of the model.
    ToolUse {
        /// Identifier to which the tool result refers, unique in the conversation.
        id: String,
        /// Name of the tool, as in the request's list of tools.
        name: String,
        /// JSON object that the model generated as arguments.
        arguments: Map<String, Value>,
        /// Value that the provider requires unchanged together with the call, such as a signature.
        opaque: Option<Value>,
    },
    /// The result of a tool call. Only in messages of the user.
    ToolResult {
        /// Identifier of the tool call to which the result belongs.
        id: String,
        /// Name of the tool, as in the request's list of tools.
        name: String,
        /// Content of the result: texts, images, recordings, files.
        parts: Vec<MessagePart>,
        /// Set if the tool call failed.
        is_error: bool,
    },
}

impl MessagePart {
    /// Creates a message part that contains this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}
