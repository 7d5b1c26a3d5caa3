//! Conversion of tool results that a model would read, for the consent request in which the user reviews them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use models::MessagePart;

use crate::data::*;

/// Converts a part of a tool result to the API's content block. Returns `None` for parts that tool results do not
/// contain.
pub(in crate::handler) fn to_api_content(part: MessagePart) -> Option<Content> {
    Some(match part {
        MessagePart::Text(text) => Content::Text { text },
        MessagePart::Image { mime, data } => Content::Image { data: STANDARD.encode(&data), mime_type: mime },
        MessagePart::Audio { mime, data } => Content::Audio { data: STANDARD.encode(&data), mime_type: mime },
        MessagePart::File { name, mime, data } => {
            let (uri, mime_type, blob) = (name, Some(mime), Some(STANDARD.encode(&data)));
            Content::Resource { contents: ResourceContents { uri, mime_type, text: None, blob } }
        }
        // Tool results do not contain these parts.
        MessagePart::Thinking { .. } | MessagePart::ToolUse { .. } | MessagePart::ToolResult { .. } => return None,
    })
}
