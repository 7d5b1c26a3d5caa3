//! Conversion of tool results that a model would read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use models::Part;

use crate::data::*;

/// Converts a part of a result to content for the page.
pub(in crate::handler) fn to_read(part: Part) -> Option<Content> {
    Some(match part {
        Part::Text(text) => Content::Text { text },
        Part::Image { mime, data } => Content::Image { data: STANDARD.encode(&data), mime_type: mime },
        Part::Audio { mime, data } => Content::Audio { data: STANDARD.encode(&data), mime_type: mime },
        Part::File { name, mime, data } => {
            let (uri, mime_type, blob) = (name, Some(mime), Some(STANDARD.encode(&data)));
            Content::Resource { contents: ResourceContents { uri, mime_type, text: None, blob } }
        }
        // Results do not contain these parts.
        Part::Thinking { .. } | Part::ToolUse { .. } | Part::ToolResult { .. } => return None,
    })
}
