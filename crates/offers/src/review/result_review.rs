//! Examines the results of calls for the user's review. Called by `host/src/handle/results.rs`.

use domain::item::{Content, ToolResult};
use models::MessagePart;

use super::{Flag, flags_of_result_text, unescaped_result_parts};

/// Maximum total size of the texts in a result that can be reviewed, in bytes. A larger result is withheld from the
/// model, since nobody would read more, and a model must not read text that was not displayed.
const MAX_REVIEWED_TEXT_BYTES: usize = 1 << 20;
/// Maximum total size of a result's images, audio and files that can be reviewed, in bytes.
const MAX_REVIEWED_DATA_BYTES: usize = 8 << 20;

/// Returns the flags of suspicious content in a result. Examines the text as sent by the server, and the text that the
/// model would read.
#[must_use]
pub fn flags_of_tool_result(result: &ToolResult) -> Vec<Flag> {
    let read = unescaped_result_parts(result).into_iter().filter_map(|part| match part {
        MessagePart::Text(text) | MessagePart::File { name: text, .. } => Some(text),
        _ => None,
    });
    // The names of linked resources are quoted in the text for the model, where hidden characters are escaped.
    let names = result.content.iter().filter_map(|content| match content {
        Content::ResourceLink { name, .. } => Some(name.clone()),
        _ => None,
    });
    flags_of_result_text(&read.chain(names).collect::<Vec<_>>().join("\n"))
}

/// Returns `true` if the content of a result is small enough to be reviewed by the user.
#[must_use]
pub fn is_small_enough_to_review(parts: &[MessagePart]) -> bool {
    let (mut text, mut bytes) = (0, 0);
    for part in parts {
        match part {
            MessagePart::Text(own) => text += own.len(),
            MessagePart::Image { data, .. } | MessagePart::Audio { data, .. } | MessagePart::File { data, .. } => {
                bytes += data.len()
            }
            MessagePart::Thinking { .. } | MessagePart::ToolUse { .. } | MessagePart::ToolResult { .. } => {}
        }
    }
    text <= MAX_REVIEWED_TEXT_BYTES && bytes <= MAX_REVIEWED_DATA_BYTES
}
